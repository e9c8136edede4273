"""A submission whose loops are unrolled, and its verdicts in the words of the text that the learner wrote."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.grading.diagnosis.helper_lines import SAY
from app.grading.judge.parsed_submission import ParsedSubmission, SubmissionStatement, parse_submission
from app.grading.judge.run_reports import RunReport
from app.grading.judge.shared_steps import MADE_BY
from app.grading.judge.unrolling.unroller import UnrolledLine, unroll
from app.grading.judge.verdict import NameVerdict
from app.syntax import (
    Expression,
    Statement,
    elements_of,
    function_of,
    is_assignment,
    is_collection,
    is_loop,
    name_of,
    nodes_in,
    right_side,
    source_text,
    targets_of,
)

_SAME = 1e-9
_TURNS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_QUOTED = re.compile(r"^In `[^`]*`, ")
MADE_OF = "which is made of what line {line} gives; begin there."
_OPERAND = re.compile(r":wrong-(?:operand|upstream):(\w+)$")


@dataclass(frozen=True, slots=True)
class UnrolledSubmission:
    """*plan* is the unrolled text, whose lines have the numbers of those that they come from.

    Args:
        origins: By statement: the turn of its loop, and what it takes from lists.
        shown: By name that the learner's text does not have: how the learner's text calls it.
    """

    plan: ParsedSubmission
    origins: tuple[UnrolledLine, ...]
    shown: Mapping[str, str]

    def told(self, verdicts: Sequence[NameVerdict]) -> tuple[NameVerdict, ...]:
        """*verdicts*: of those that one line is at fault for, in several turns, the first; the rest follow from it."""
        first: dict[int, str] = {}
        told = list[NameVerdict]()
        moved: dict[str, str] = {}
        faults = Counter(verdict.line for verdict in verdicts if verdict.verdict == "wrong")
        for verdict in verdicts:
            at = self._statement(verdict)
            if verdict.verdict != "wrong" or at is None or verdict.line is None or not self.origins[at].turn:
                told.append(self._in_own_words(verdict))
                continue
            placed = self._with_turn(verdict, at, faults[verdict.line] == 1)
            assert placed.line is not None
            if placed.line != verdict.line:
                moved[MADE_BY.format(line=verdict.line)] = MADE_OF.format(line=placed.line)
            if placed.line in first:
                told.append(self._in_own_words(_same_line(placed, first[placed.line], placed.line == verdict.line)))
            else:
                first[placed.line] = verdict.name
                told.append(self._in_own_words(placed))
        return tuple(_by_list(verdict, moved) for verdict in told)

    def placed(self, verdicts: Sequence[NameVerdict], written: ParsedSubmission) -> tuple[NameVerdict, ...]:
        """*verdicts* on the text as it is *written*: what only gives a name to a part of a list is not at fault."""
        return tuple(
            replace(verdict, line=self.plan.line_of(verdict.name) or verdict.line)
            if verdict.verdict == "wrong"
            and not verdict.step
            and ":exchanged:" not in (verdict.code or "")
            and verdict.line == written.line_of(verdict.name)
            else verdict
            for verdict in verdicts
        )

    def _statement(self, verdict: NameVerdict) -> int | None:
        """The statement that is at fault; the first of several."""
        name = verdict.step or verdict.name
        writing = (at for at, line in enumerate(self.plan.lines) if name in line.writes and line.line == verdict.line)
        return next(writing, None)

    def _with_turn(self, verdict: NameVerdict, at: int, alone: bool) -> NameVerdict:
        """*verdict* with the turn that goes wrong; on the line of the list that gives this one turn a wrong tensor.

        Args:
            alone: No other turn of the line goes wrong.
        """
        line = self.plan.lines[at]
        mine = [other for other in self.plan.lines if other.line == line.line and self._is_of(verdict.name, other)]
        if len(mine) > 1:
            return verdict
        turn = self.origins[at].turn
        which = _TURNS[turn - 1] if turn <= len(_TURNS) else f"{turn}th"
        stands = SAY["stands"].format(line=line.line, step=verdict.step)
        message = _QUOTED.sub("", verdict.message).replace(stands, "")
        said, at_fault = f"line {line.line} is `{source_text(line.node)}`", verdict.line
        code = _OPERAND.search(verdict.code or "")
        listed = self.origins[at].listed.get(code[1]) if code and alone else None
        if code and listed:
            said, at_fault = f"line {listed[1]} gives `{listed[0]}` the value of `{code[1]}`", listed[1]
        message = f"In the {which} turn of the loop, {said}. {message[:1].upper()}{message[1:]}"
        return replace(verdict, message=message, line=at_fault)

    def _is_of(self, name: str, line: SubmissionStatement) -> bool:
        """True if *line* writes *name*, or in another turn what the learner's text calls so."""
        return any(self.shown.get(written, written) == name for written in line.writes)

    def _in_own_words(self, verdict: NameVerdict) -> NameVerdict:
        """*verdict* with the learner's words for the names that only the unrolled text has."""
        if not self.shown:
            return verdict
        names = re.compile(rf"\b({'|'.join(map(re.escape, self.shown))})\b")

        def own(text: str) -> str:
            return names.sub(lambda match: self.shown[match[1]], text)

        return replace(verdict, message=own(verdict.message), word=own(verdict.word), step=own(verdict.step))


def _by_list(verdict: NameVerdict, moved: Mapping[str, str]) -> NameVerdict:
    """*verdict* with what is said in *moved* of a line that is right, but for a part of a list."""
    message = verdict.message
    for before, now in moved.items():
        message = message.replace(before, now)
    return replace(verdict, message=message)


def _same_line(verdict: NameVerdict, first: str, by_turns: bool) -> NameVerdict:
    does = "makes it as well, in another turn of the loop" if by_turns else "gives it the same value"
    message = f"Line {verdict.line} {does}; begin at `{first}`."
    word = f"the same line as {first}"
    return replace(
        verdict, verdict="follows", code=None, key="", message=message, word=word, worst=(), differences=None, also=()
    )


def unroll_submission(
    plan: ParsedSubmission, sizes: Mapping[str, int], wanted: Collection[str]
) -> UnrolledSubmission | None:
    """*plan* with its loops unrolled; None where there are none that can be, or lines are no Python."""
    if plan.faults or not _may_unroll(plan, wanted):
        return None
    unrolled = unroll([line.node for line in plan.lines], sizes, wanted)
    if unrolled is None:
        return None
    parsed = parse_submission("\n".join(source_text(line.node) for line in unrolled.lines))
    if len(parsed.lines) != len(unrolled.lines):
        return None
    lines = tuple(_placed(line, origin) for line, origin in zip(parsed.lines, unrolled.lines, strict=True))
    return UnrolledSubmission(replace(parsed, lines=lines), unrolled.lines, unrolled.shown)


def _may_unroll(plan: ParsedSubmission, wanted: Collection[str]) -> bool:
    """True if a look at the lines from outside shows a list, a loop that makes what is wanted, or a name used again."""
    bound = [name for line in plan.lines for name in line.fresh if name not in wanted]
    return len({*bound}) < len(bound) or any(_gathers(line.node, wanted) for line in plan.lines)


def _gathers(node: Statement, wanted: Collection[str]) -> bool:
    if is_loop(node):
        made = (inner for inner in nodes_in(node) if is_assignment(inner))
        return any(name_of(target) in wanted for inner in made for target in targets_of(inner))
    if not is_assignment(node):
        return False
    value = right_side(node)
    if is_collection(value) or name_of(function_of(value)) in {"list", "dict"}:
        return True
    parts = [part for target in targets_of(node) for part in elements_of(target) or ()]
    return any(name_of(part) in wanted for part in parts) or bool(parts and value and elements_of(value))


def _placed(line: SubmissionStatement, origin: UnrolledLine) -> SubmissionStatement:
    """*line* with the line numbers of what it comes from."""
    pairs = zip(_statements_in(line.node), _statements_in(origin.node), strict=True)
    for statement, written in pairs:
        for node in nodes_in(statement):
            if isinstance(node, Statement | Expression):
                node.lineno, node.end_lineno = written.lineno, written.end_lineno
    return replace(line, line=origin.node.lineno, end_line=origin.node.end_lineno or origin.node.lineno)


def _statements_in(node: Statement) -> list[Statement]:
    return [each for each in nodes_in(node) if isinstance(each, Statement)]


def came_to_same(first: Mapping[str, RunReport], other: Mapping[str, RunReport], names: Collection[str]) -> bool:
    """True if two runs of a text, of which the other one is unrolled, came to the same gradients."""
    for run in ("v", "true"):
        if first[run].errors or other[run].errors:
            return False
        for name in names:
            before, now = first[run].final(name), other[run].final(name)
            if before is None or now is None or before.shape != now.shape:
                return False
            if not np.allclose(before, now, rtol=_SAME, atol=_SAME, equal_nan=True):
                return False
    return True
