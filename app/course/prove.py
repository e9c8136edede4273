"""Prove a course: every forward program runs, every solution passes, everything wrong is refused with its reason."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from app.check.findings import Finding, in_order
from app.check.proof_setup import ProofSetup
from app.check.prove_literals import literals_of_forward
from app.check.unanswered import UNANSWERED, not_proved, to_author
from app.content.blocks import Exercise, Forward, Lesson, Quiz, Visual
from app.course.prove_quizzes import prove_inference, prove_quiz
from app.engine.grader import ProvingGrader
from app.grading.forward.facts import Facts
from app.kinds.registry import block_kind


async def prove_lessons(
    lessons: Iterable[Lesson],
    grader: ProvingGrader,
    *,
    mutate: bool = True,
    reach: Collection[Lesson] = (),
) -> tuple[Finding, ...]:
    """Findings of all *lessons*, in file order.

    Args:
        mutate: Whether every single-edit mutant of every solution is tried as well.
        reach: Other lessons, which these may use.
    """
    lessons = list(lessons)
    proofs = (_lesson(lesson, grader, (*lessons, *reach), mutate=mutate) for lesson in lessons)
    batches = await asyncio.gather(*proofs)
    return in_order(finding for batch in batches for finding in batch)


async def _lesson(lesson: Lesson, grader: ProvingGrader, lessons: Sequence[Lesson], *, mutate: bool) -> list[Finding]:
    forwards = lesson.all_of(Forward)
    facts = dict(
        zip((program.name for program in forwards), await asyncio.gather(*map(grader.facts, forwards)), strict=True)
    )
    findings = [_does_not_run(program, facts[program.name]) for program in forwards if facts[program.name].error]
    pinned = [program for program in forwards if facts[program.name].pinned]
    numbers = await asyncio.gather(*(literals_of_forward(program, grader) for program in pinned))
    for forward, literals in zip(pinned, numbers, strict=True):
        findings += literals or [_runs_alone(forward, facts[forward.name])]
    findings += [one_sided for program in forwards for one_sided in _one_sided(program, facts[program.name])]
    findings += [wrong for program in forwards for wrong in prove_inference(program, facts[program.name])]
    findings += [finding for quiz in lesson.all_of(Quiz) for finding in prove_quiz(lesson, quiz, facts)]
    setup = ProofSetup(grader=grader, facts=facts, lessons=lessons, mutate=mutate)
    failing = {name for name, of_program in facts.items() if of_program.error}
    pictures = (block for block in lesson.blocks if isinstance(block, Visual))
    provable: list[Visual | Exercise] = [*pictures, *lesson.exercises]
    work = [
        kind.prove(lesson, block, setup)
        for block in provable
        if (kind := block_kind(block)) and kind.prove and block.forward not in failing
    ]
    return findings + [finding for batch in await asyncio.gather(*work) for finding in batch]


def _does_not_run(forward: Forward, facts: Facts) -> Finding:
    if facts.outcome in UNANSWERED:
        return not_proved(forward.place, facts.error)
    place = replace(forward.place, line=facts.line, column=1) if facts.line else forward.place
    return Finding(
        place,
        "error",
        "forward-fails",
        f"The forward program {forward.name!r} fails: {_first_line(to_author(facts.error))}",
    )


def _first_line(message: str) -> str:
    """Without the signatures that torch lists below what it says."""
    return message.partition("\n")[0].removesuffix(", but expected one of:")


def _runs_alone(forward: Forward, facts: Facts) -> Finding:
    """Nothing would be tried on other sizes, and what fits these alone would pass."""
    place = replace(forward.place, line=facts.line, column=1) if facts.line else forward.place
    message = (
        f"The program {forward.name!r} runs on the sizes of the lesson alone: {facts.pinned}. Write sizes by the names "
        "of their dims, relate them (`D: heads * d`), or give others that fit in `:hidden:`."
    )
    return Finding(place, "error", "hidden-lost", message)


def _one_sided(forward: Forward, facts: Facts) -> Iterator[Finding]:
    """Find conditions that all hidden runs decide in one way: a solution without them would pass."""
    for line, source in facts.one_sided:
        message = (
            f"In `{source}` all numbers of the hidden runs fall on one side, so a solution that leaves the other side "
            'out would pass. Draw the inputs so that both occur, such as `"[N, D] normal(0, 5)"`.'
        )
        yield Finding(
            replace(forward.place, line=line or forward.place.line, column=1), "warning", "one-sided", message
        )
