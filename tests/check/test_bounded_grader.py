import asyncio
from typing import Any

from app.check.bounded_grader import GIVEN_UP, TRIES, RetryingGrader
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.verdict import Verdict


class Counting:
    """Counts how many questions it has at once."""

    def __init__(self) -> None:
        self.asked = self.most = 0

    async def check(self, _task: object, _code: str) -> Verdict:
        self.asked += 1
        self.most = max(self.most, self.asked)
        await asyncio.sleep(0)
        self.asked -= 1
        return Verdict(outcome="graded")


class Moody:
    """Answers with the given outcomes, one after the other."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)

    async def check(self, _task: object, _code: str) -> Verdict:
        return Verdict(outcome=self.outcomes.pop(0))

    async def facts(self, _forward: object) -> Facts:
        return Facts(shapes={}, gradable=(), outcome=self.outcomes.pop(0))


def asked(*outcomes: Outcome) -> str:
    grader: Any = Moody(*outcomes)
    task: Any = None
    return asyncio.run(RetryingGrader(grader).check(task, "")).outcome


def test_a_fault_of_the_grader_is_asked_again() -> None:
    assert asked("fault", "busy", "graded") == "graded"


def test_a_fault_that_stays_is_told() -> None:
    assert asked(*["fault"] * TRIES) == "fault"


def test_facts_that_nobody_derived_are_asked_for_again() -> None:
    grader: Any = Moody("fault", "graded")
    forward: Any = None

    assert asyncio.run(RetryingGrader(grader).facts(forward)).outcome == "graded"


def test_no_more_than_so_many_questions_wait_at_once() -> None:
    grader: Any = Counting()
    task: Any = None

    async def ask() -> None:
        patient = RetryingGrader(grader, at_once=3)
        await asyncio.gather(*(patient.check(task, "") for _ in range(10)))

    asyncio.run(ask())
    assert grader.most == 3


def test_a_task_of_which_no_answer_comes_is_given_up_and_no_other() -> None:
    asked = [0]

    class Silent:
        async def check(self, _task: object, code: str) -> Verdict:
            asked[0] += 1
            return Verdict(outcome="fault", message=code)

    grader: Any = Silent()
    long: Any = ["a long task"]
    other: Any = ["another one"]

    async def ask() -> list[Verdict]:
        patient = RetryingGrader(grader, at_once=2)
        answers = await asyncio.gather(*(patient.check(long, "") for _ in range(100)))
        assert asked[0] <= GIVEN_UP + 1
        await patient.check(other, "")
        return answers

    answers = asyncio.run(ask())
    assert {one.outcome for one in answers} == {"fault"}
    assert asked[0] <= GIVEN_UP + 1 + TRIES


def test_every_code_that_was_judged_is_counted_once() -> None:
    grader: Any = Moody("fault", "graded", "graded")
    task: Any = None
    counted: list[int] = []

    async def ask() -> None:
        patient = RetryingGrader(grader, answered=lambda: counted.append(1))
        await patient.check(task, "")
        await patient.check(task, "")

    asyncio.run(ask())
    assert len(counted) == 2


def test_an_answer_is_taken_at_once() -> None:
    assert asked("timeout") == "timeout"
