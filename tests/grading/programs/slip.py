"""One wrong edit, and what the judge says of it."""

from dataclasses import dataclass

from app.grading.judge.verdict import NameVerdict, Verdict
from tests.grading.programs.edits import Edit
from tests.grading.programs.load import Program

AT_FAULT = frozenset({"wrong", "aliased", "mutated"})


@dataclass(frozen=True, eq=False)
class Slip:
    """An edit that torch says is wrong, and what the judge says of it."""

    program: Program
    edit: Edit
    verdict: Verdict
    wrong: frozenset[str]

    @property
    def red(self) -> tuple[NameVerdict, ...]:
        return tuple(one for one in self.verdict.names if one.verdict in AT_FAULT)

    @property
    def survives(self) -> bool:
        return self.verdict.passed

    @property
    def one_line(self) -> bool:
        """Whether exactly one line is red: a gradient, or a line that stops."""
        return len(self.red) == 1 or (not self.red and self.verdict.outcome != "graded" and bool(self.verdict.message))

    @property
    def named(self) -> bool:
        return self.one_line and all(not (one.code or "").endswith(":unrecognised") for one in self.red)

    def __str__(self) -> str:
        said = "; ".join(f"[{one.code}] {one.message}" for one in self.red) or self.verdict.message
        return f"{self.program.name} ({self.edit.kind})\n    {self.edit.before}\n    {self.edit.after}\n    {said}"
