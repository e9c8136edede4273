"""A submission is saved before it is graded, and recorded with its verdict."""

import asyncio

import pytest
from fastapi import FastAPI

from app.store import learners, progress
from app.store.drafts import draft_of
from app.web.middleware.visitor import RetryLaterError
from app.web.submission import Submission
from tests.web.conftest import RIGHT, WRONG

pytestmark = pytest.mark.usefixtures("client")

BOX = ("linear-layer", "linear-backward")


def submission(app: FastAPI, learner: int, code: str) -> Submission:
    site = app.state.site
    lesson = next(lesson for lesson in site.course.lessons if lesson.name == BOX[0])
    return Submission(site, learner, lesson, lesson.exercise(BOX[1]), code, None, watched=False)


async def begun(app: FastAPI) -> int:
    async with app.state.site.database.write() as db:
        learner, _ = await learners.begin_session(db)
    return learner


@pytest.mark.parametrize("code", [RIGHT, WRONG], ids=["right", "wrong"])
def test_an_attempt_is_recorded_and_only_a_right_one_solves(app: FastAPI, code: str) -> None:
    async def sent() -> tuple[int, bool, set[str]]:
        sent = submission(app, learner := await begun(app), code)
        saved, stored = await sent.save()
        tries, _ = await sent.record(saved, await sent.grade(stored))
        async with app.state.site.database.read() as db:
            return tries.count, bool(tries.newest.correct), (await progress.lesson_state(db, learner, BOX[0])).solved

    right = code == RIGHT
    assert asyncio.run(sent()) == (1, right, {BOX[1]} if right else set())


def test_a_text_is_saved_though_no_grader_is_free(app: FastAPI) -> None:
    async def sent() -> str:
        sent = submission(app, learner := await begun(app), "busy")
        _, stored = await sent.save()
        with pytest.raises(RetryLaterError):
            await sent.grade(stored)
        async with app.state.site.database.read() as db:
            draft = await draft_of(db, learner, *BOX)
            assert await progress.attempts_at(db, learner, *BOX) == []
            return draft.text

    assert asyncio.run(sent()) == "busy"


def test_the_same_text_finds_its_verdict_whoever_sends_it(app: FastAPI) -> None:
    async def sent() -> list[bool]:
        found = []
        for _ in range(2):
            sent = submission(app, await begun(app), f"{WRONG}# sent by two")
            saved, stored = await sent.save()
            result = await sent.grade(stored)
            await sent.record(saved, result)
            found.append(result.found)
        return found

    assert asyncio.run(sent()) == [False, True]
