import asyncio
from typing import Any

from app.check.patient import TRIES, Patient
from app.grading.verdict import Outcome, Verdict


class Moody:
    """Answers with the given outcomes, one after the other."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)

    async def check(self, _task: object, _code: str) -> Verdict:
        return Verdict(outcome=self.outcomes.pop(0))


def asked(*outcomes: Outcome) -> str:
    grader: Any = Moody(*outcomes)
    task: Any = None
    return asyncio.run(Patient(grader).check(task, "")).outcome


def test_a_fault_of_the_grader_is_asked_again() -> None:
    assert asked("fault", "busy", "graded") == "graded"


def test_a_fault_that_stays_is_told() -> None:
    assert asked(*["fault"] * TRIES) == "fault"


def test_an_answer_is_taken_at_once() -> None:
    assert asked("timeout") == "timeout"
