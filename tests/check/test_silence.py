"""A grader that does not answer is never taken for one that refuses, nor a lesson for a wrong one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.check.findings import Finding
from app.check.mutants import Mutant
from app.check.prove_boxes import prove_mutants
from app.content.blocks import Bug, Checker, Grad, Lesson
from app.course.parse import parse_lesson
from app.course.prove import prove_lessons
from app.engine.pool.grader_client import BUSY, FAULT
from app.grading.forward.facts import Facts
from app.grading.judge.verdict import Verdict

PATH = Path(__file__).parents[1] / "content" / "fixtures" / "good" / "09-boxes.md"
SILENT = Verdict(outcome="fault", message=FAULT)
RIGHT = Verdict(outcome="graded", passed=True)


def lesson() -> Lesson:
    read, errors = parse_lesson(PATH.read_text(encoding="utf-8"), PATH.name)
    assert read is not None, errors
    return read


LESSON = lesson()
SOLUTIONS = {
    code.source
    for box in LESSON.exercises
    if isinstance(box, Grad | Bug | Checker)
    for code in (box.solution, *box.alternatives)
}


class Answers:
    """A grader that gives *verdict* to every code that it is asked."""

    def __init__(self, verdict: Callable[[str], Verdict], facts: Facts) -> None:
        self._verdict = verdict
        self._facts = facts

    async def check(self, _task: object, code: str) -> Verdict:
        return self._verdict(code)

    async def facts(self, forward: Any) -> Facts:
        return replace(self._facts, gradable=(*(one.name for one in forward.inputs), forward.output))


def proved(verdict: Callable[[str], Verdict], **facts: Any) -> list[Finding]:
    grader: Any = Answers(verdict, Facts(shapes={}, gradable=(), **facts))
    return [one for one in asyncio.run(prove_lessons([LESSON], grader)) if one.level == "error"]


def is_solution(code: str) -> bool:
    return any(code.startswith(solution.rstrip()) for solution in SOLUTIONS)


def test_a_program_that_nobody_ran_is_not_said_to_fail() -> None:
    found = proved(lambda _: RIGHT, error=BUSY, outcome="busy")

    programs = [one for one in found if "no grader was free in time" in one.message]
    assert {one.code for one in programs} == {"not-proved"}
    assert not [one for one in found if one.code == "forward-fails"]


def test_a_solution_that_nobody_ran_is_not_said_to_fail() -> None:
    found = proved(lambda _: SILENT)

    solutions = {box.mended.place for box in LESSON.exercises if isinstance(box, Bug)}
    assert {one.code for one in found} == {"not-proved"}
    assert solutions <= {one.place for one in found}
    assert "your text is saved" not in str(found)


def test_a_silent_mutant_does_not_hide_one_that_passes() -> None:
    box = next(one for one in LESSON.exercises if isinstance(one, Checker))
    verdicts = iter([SILENT, RIGHT])
    grader: Any = Answers(lambda _: next(verdicts), Facts(shapes={}, gradable=()))
    task: Any = None
    mutants = [Mutant(code=f"x = {number}", line=1, edit="another number") for number in range(2)]

    found = asyncio.run(prove_mutants(task, box, mutants, grader))

    assert [one.code for one in found] == ["mutant-passes", "not-proved"]


@pytest.mark.parametrize("others", [SILENT, Verdict(outcome="busy", message=BUSY)])
def test_a_mistake_or_a_mutant_that_nobody_ran_is_not_taken_for_refused(others: Verdict) -> None:
    found = proved(lambda code: RIGHT if is_solution(code) else others)

    assert found
    assert {one.code for one in found} == {"not-proved"}


def test_a_fault_of_the_exercise_itself_is_told_in_its_own_words() -> None:
    found = proved(lambda _: Verdict(outcome="fault", message="A case of this exercise failed."))

    assert "The solution ends in fault: A case of this exercise failed." in [one.message for one in found]
