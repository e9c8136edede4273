"""Proof of an exercise before learners get it: its solution passes by rule, and all that is nearly it is refused.

The forward program runs on three sets of numbers, the lesson's own and two hidden ones; no gradient is zero by nature;
no single-edit mutant of the solution passes; and what the exercise was drawn for can be seen at it.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from app.check.mutants import Mutant, mutants_of
from app.check.unanswered import UNANSWERED
from app.engine.task import AnyTask
from app.grading.diagnosis.phrases import slips_of
from app.grading.judge.verdict import NameVerdict, Verdict
from app.practice.backward import ForwardStep
from app.practice.draw import generate_item, named_items
from app.practice.item import GeneratedItem

SEEDS = 50
"""How many are tried before it is given up."""
CURATED: Mapping[int, Sequence[int]] = {
    1: range(150),
    2: [seed for seed in range(150) if seed not in {37, 62, 98}],
    3: [seed for seed in range(150) if seed not in {4, 20, 55, 133}],
}
"""By level: seeds that were proved, drawn without a wish from all operations."""
RED = frozenset({"wrong", "aliased", "mutated"})


class SupportsCheck(Protocol):
    """The part of a grader that proofs need."""

    async def check(self, task: AnyTask, code: str) -> Verdict: ...


class NotProvedError(RuntimeError):
    """The graders did not answer; nothing is known of the exercise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Result of proving an exercise.

    Args:
        reason: Why it is not kept; empty where it is.
        solved: Whether its solution passes.
        mutants: How many were tried, and of them *survived*, gave *one_red* line, and were *unrecognised*.
        rows: The rows of the diagnosis that were seen.
    """

    reason: str = ""
    solved: bool = False
    mutants: int = 0
    survived: int = 0
    one_red: int = 0
    unrecognised: int = 0
    rows: frozenset[str] = frozenset()

    @property
    def kept(self) -> bool:
        return not self.reason


async def prove_item(item: GeneratedItem, grader: SupportsCheck) -> Proof:
    """The proof of *item*.

    Raises:
        NotProvedError: The graders were busy or broken.
    """
    solution = _checked_verdict(await grader.check(item.task, item.solution))
    if not solution.passed:
        return Proof(reason=f"its solution does not pass: {solution.message or _first_message(solution)}")
    if notes := [name_verdict.note for name_verdict in solution.names if name_verdict.note]:
        return Proof(reason=f"a gradient says nothing: {notes[0]}", solved=True)
    mutants = mutants_of(item.solution, frozenset(item.require))
    slips = [mutant for mutant in wrong_lines(item) if mutant.edit.startswith(item.wanted)] if item.wanted else []
    tried = (*mutants, *slips)
    verdicts = await asyncio.gather(*(grader.check(item.task, mutant.code) for mutant in tried))
    seen = [_checked_verdict(verdict) for verdict in verdicts]
    return _proof(item, seen[: len(mutants)], frozenset(row for verdict in seen for row in _rows(verdict)))


def _proof(item: GeneratedItem, verdicts: Sequence[Verdict], rows: frozenset[str]) -> Proof:
    survived = sum(verdict.passed for verdict in verdicts)
    reds = [[name for name in verdict.names if name.verdict in RED] for verdict in verdicts if not verdict.passed]
    reason = f"{survived} wrong solutions pass" if survived else ""
    if not reason and item.wanted and not any(f"{row}:".startswith(f"{item.wanted}:") for row in rows):
        reason = f"no mistake at it is named {item.wanted!r}"
    return Proof(
        reason=reason,
        solved=True,
        mutants=len(verdicts),
        survived=survived,
        one_red=sum(len(red) == 1 for red in reds),
        unrecognised=sum(any(row_of(name) == "unrecognised" for name in red) for red in reds),
        rows=rows,
    )


def _checked_verdict(verdict: Verdict) -> Verdict:
    if verdict.outcome in UNANSWERED and not verdict.message.startswith("This exercise"):
        raise NotProvedError(verdict.message)
    return verdict


def _first_message(verdict: Verdict) -> str:
    return next((name_verdict.message for name_verdict in verdict.names if name_verdict.message), "")


def _rows(verdict: Verdict) -> Iterator[str]:
    return (row_of(name_verdict) for name_verdict in verdict.names if name_verdict.verdict in RED)


def row_of(verdict: NameVerdict) -> str:
    """The row of the diagnosis, such as `mean` of `db:mean`."""
    return (verdict.code or "").partition(":")[2]


def wrong_lines(item: GeneratedItem) -> Iterator[Mutant]:
    """The solution with one of the slips that have a sentence of their own; its row is the edit."""
    for step in item.steps:
        if step is not None:
            for at in range(len(step.operation.back[: len(step.operands)])):
                yield from _slips(item, step, at)


def _slips(item: GeneratedItem, step: ForwardStep, at: int) -> Iterator[Mutant]:
    right = step.sent(at, step.operation.back[at])
    to = f"d{step.operands[at]}"
    places = [rank for rank, line in enumerate(item.lines) if line in (f"{to} = {right}", f"{to} += {right}")]
    for rule, slip in slips_of(step.operation.rule, at).items() if len(places) == 1 else ():
        try:
            wrong = step.sent(at, rule)
        except KeyError:
            continue  # a slip in words that are none of torch's
        lines = list(item.lines)
        lines[places[0]] = f"{lines[places[0]].partition('= ')[0]}= {wrong}"
        yield Mutant(code="\n".join(lines) + "\n", line=places[0] + 1, edit=slip.code)


async def drawn_and_proved(
    level: int, wanted: str, grader: SupportsCheck, seed: int = 0, within: Sequence[str] = ()
) -> tuple[GeneratedItem | None, int]:
    """The first exercise from *seed* on that is proved, or None after `SEEDS` of them, and the next seed.

    Raises:
        NothingFitsError: No exercise is like that.
        NotProvedError: The graders were busy or broken.
    """
    for each in range(seed, seed + SEEDS):
        item = generate_item(level, each, wanted, within)
        if (await prove_item(item, grader)).kept:
            return item, each + 1
    return None, seed + SEEDS


@cache
def curated_items(level: int) -> tuple[GeneratedItem, ...]:
    """The exercises that were proved before, for where there is no time or no luck."""
    return (*named_items(level), *(generate_item(level, seed) for seed in CURATED[level]))
