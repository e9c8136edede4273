"""A slip in a program: its kind, its line, what the sentence about it names, and the program in which it is undone."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from app.grading.judge.slips.trees import Replacement, replace_nodes
from app.syntax import Program

_TABLES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files("app.grading.judge.slips").joinpath("phrases.toml").read_text(encoding="utf-8")
)
VAGUE = "piece"
"""The kind of a slip whose sentence says no more than where it is: whatever has a name comes before it."""
PHRASES: Mapping[str, str] = {kind: sentence for table in _TABLES.values() for kind, sentence in table.items()}


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip of a learner.

    Args:
        kind: A row of `phrases.toml`.
        line: In the learner's text.
        tree: The learner's program with the slip undone; every statement keeps its line.
    """

    kind: str
    line: int
    tree: Program
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """The mistake is known by a name, and its sentence says all."""
        return self.kind in _TABLES["NAMED"]

    @property
    def is_only(self) -> bool:
        """The sentence says that all else is right, so that it holds of no two slips."""
        return self.kind in _TABLES["ONLY"]

    @property
    def sentence(self) -> str:
        return PHRASES[self.kind].format(line=self.line, **self.fields)


def slips_at(tree: Program, kind: str, replacements: Sequence[Replacement], **fields: str) -> Iterator[Slip]:
    """The slip on the lines of *replacements*, all at once; none where there are none."""
    if replacements:
        line = min(getattr(old, "lineno", 1) for old, _ in replacements)
        yield Slip(kind, line, replace_nodes(tree, replacements), fields)
