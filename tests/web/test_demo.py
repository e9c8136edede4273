"""A public demonstration: nothing of accounts and classes, and nothing that is kept for longer than a day."""

import asyncio
import re
from datetime import timedelta

import pytest
from pydantic import ValidationError
from sqlalchemy import func, select
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.installation import version
from app.settings import Settings
from app.store import cleanup
from app.store.database import Database
from app.store.tables import Learner
from app.web.application import create_app
from tests.web.conftest import FakeGrader, started

QUIZ = "/lessons/linear/quiz/dw-shape"


@pytest.fixture
def demo(settings: Settings) -> Settings:
    return settings.model_copy(update={"demo": True, "database_url": ""})


@pytest.mark.parametrize("path", ["/sign-in", "/classes", "/classes/new", "/join", "/join/ABC-DEF-GHI"])
def test_a_demonstration_has_no_page_of_accounts_or_classes(demo: Settings, course: Course, path: str) -> None:
    with started(create_app(demo, course, FakeGrader())) as client:
        assert client.get(path).status_code == 404


def test_pages_of_a_demonstration_say_so_and_link_to_nothing_missing(demo: Settings, course: Course) -> None:
    with started(create_app(demo, course, FakeGrader())) as client:
        client.post(QUIZ, data={"answer": "(4, 3)"})
        seen, ahead = set(), ["/", "/nowhere"]
        while ahead:
            path = ahead.pop()
            page = client.get(path)
            seen.add(path)
            assert page.status_code == 200 or path == "/nowhere", path
            if page.headers["content-type"].startswith("text/html"):
                assert "A demonstration." in page.text, path
                assert "Sign in" not in page.text, path
                links = {link.partition("#")[0] for link in re.findall(r'href="(/[^"?]*)', page.text)}
                ahead += sorted(links - seen - set(ahead))
    assert {"/me", "/practice"} <= seen


def test_work_of_a_demonstration_is_deleted_after_a_day(demo: Settings, course: Course, monkeypatch) -> None:
    async def left() -> int:
        database = Database(demo.resolved_database_url)
        await cleanup.delete_demo_work(database)
        async with database.read() as db:
            learners = await db.scalar(select(func.count()).select_from(Learner)) or 0
        await database.close()
        return learners

    with started(create_app(demo, course, FakeGrader())) as client:
        client.post(QUIZ, data={"answer": "(4, 3)"})
        assert asyncio.run(left()) > 0

        moment = cleanup.now() + timedelta(days=1, seconds=1)
        monkeypatch.setattr(cleanup, "now", lambda: moment)
        assert asyncio.run(left()) == 0


def test_a_demonstration_never_deletes_from_a_lasting_database(demo: Settings) -> None:
    assert demo.resolved_database_url.endswith("/demo.db")
    for name, value in (
        ("database_url", "sqlite+aiosqlite:///work.db"),
        ("smtp", "smtp://mail.example.org"),
    ):
        others = {"address": "https://example.org", "mail_from": "a@example.org", name: value}
        with pytest.raises(ValidationError, match=f"unset BACKHAND_{name.upper()}"):
            Settings(demo=True, **others)


def test_the_version_is_in_the_footer_and_in_healthz(settings: Settings, course: Course) -> None:
    with TestClient(create_app(settings, course, FakeGrader())) as client:
        assert f"Backhand {version()}</span>" in client.get("/").text
        assert client.get("/healthz").json() == {"status": "ok", "version": version()}
