"""What is said where no answer comes."""

from typing import Any

import pytest

from app.engine.codec import from_json_value, to_json_value
from app.engine.pool import grader_client
from app.engine.pool.grader_client import BUSY, GraderClient, NoResponseError
from app.engine.pool.questions import QUESTIONS, TOO_MUCH, UNREAD
from tests.grading.boxes.load import BOXES

pytestmark = pytest.mark.anyio


class Away(GraderClient):
    """Nobody carries a question."""

    async def send_request(self, question: dict[str, Any], seconds: float) -> Any:
        raise NoResponseError("busy", BUSY if question and seconds else "")

    @property
    def _full(self) -> bool:
        return False


async def test_texts_of_tasks_are_kept_for_so_many_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grader_client, "MOST_TEXTS", 3)
    away, made = Away(gate=True, at_once=1), []
    monkeypatch.setattr(grader_client, "to_json_value", lambda task: made.append(task) or {})
    tasks = [BOXES[0].task() for _ in range(10)]

    for task in (*tasks, tasks[-1]):
        await away.check(task, "")

    assert len(made) == 10
    assert len(away._texts) == 3


async def test_every_question_has_an_answer_where_nobody_is_there() -> None:
    away, task = Away(gate=True, at_once=1), BOXES[0].task()

    assert await away.export_problems(["1", "2"]) == (UNREAD, UNREAD)
    assert [(one.outcome, one.message) for one in (await away.check(task, ""), await away.run(task, ""))] == [
        ("busy", BUSY),
        ("busy", BUSY),
    ]
    assert (await away.facts(task.forward)).error == BUSY
    assert (await away.line_shapes(task, "")).lines == ()


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(("outcome", "message"), [("refused", TOO_MUCH), ("busy", BUSY)])
async def test_what_is_said_instead_of_an_answer_crosses_the_wire(name: str, outcome: str, message: str) -> None:
    question = QUESTIONS[name]

    instead = question.instead({"name": "dW", "texts": ["1", "2"]}, outcome, message)

    assert from_json_value(question.kind, to_json_value(instead)) == instead
