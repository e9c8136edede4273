"""What is said where no answer comes."""

from typing import Any

import pytest

from app.engine.pool import grader_client
from app.engine.pool.grader_client import BUSY, UNREAD, GraderClient, NoResponseError
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
