"""A server that a learning platform opens pages of, and that platform."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.lti.keys import encryption_in, make_keys
from app.settings import Settings
from app.store.database import Database, now
from app.store.lti_platforms import add_platform
from app.store.tables import LtiPlatform
from app.web.application import create_app
from app.web.site import open_to
from tests.courses import course_in
from tests.lti.platform import Platform
from tests.web.asking import without_jobs
from tests.web.conftest import BROWSER, FakeGrader, Shared, settings_in, started

ADDRESS = "http://testserver"
COURSE = Path(__file__).parents[1] / "course"


def register(settings: Settings, platform: Platform, **values: Any) -> None:
    """What `backhand lti add` does."""

    async def add() -> None:
        database = Database(settings.resolved_database_url)
        row = {
            "issuer": platform.url, "client_id": platform.client_id, "name": "Moodle",
            "auth_url": f"{platform.url}/auth", "token_url": f"{platform.url}/token",
            "jwks_url": f"{platform.url}/jwks", "private": True,
        }  # fmt: skip
        async with database.write() as db:
            await make_keys(db, encryption_in(settings.lti_secret_path, make=True))
            await add_platform(db, LtiPlatform(**{**row, **values}, added_at=now()), [platform.deployment])
        await database.close()

    asyncio.run(add())


@contextmanager
def tool_of(platform: Platform, folder: Path, database: Path) -> Iterator[Shared]:
    """A server that *platform* opens pages of."""
    plain = settings_in(folder, database)
    settings, grader = plain.model_copy(update={"address": ADDRESS, "sign_in_tries_per_minute": 0}), FakeGrader()
    register(settings, platform)
    app = create_app(settings, course_in(COURSE), grader)
    with ExitStack() as ends:
        with without_jobs():  # while it starts: it stays for many files, of which some want theirs
            client = ends.enter_context(started(app))
        platform.tool_keys = lambda: client.get("/lti/jwks").json()
        yield Shared(settings, grader, app, client)


@pytest.fixture(scope="module")
def standing_platform(lti_tool: tuple[Platform, Shared]) -> Platform:
    return lti_tool[0]


@pytest.fixture(scope="module")
def shared(lti_tool: tuple[Platform, Shared]) -> Shared:
    return lti_tool[1]


@pytest.fixture
def platform(standing_platform: Platform) -> Platform:
    standing_platform.begin_anew()
    return standing_platform


@pytest.fixture
def exam(app: FastAPI) -> Iterator[str]:
    """A lesson of a private unit, which the course of the server has beside its own."""
    site, unit = app.state.site, app.state.site.whole.units[0]
    moved = {"name": "the-exam", "slug": "the-exam", "title": "The exam", "path": "9-exam/01-the-exam.md"}
    lesson = replace(unit.lessons[0], **moved, address="")
    private = replace(unit, slug="exam", number=9, title="Exam", lessons=(lesson,), private=True)
    whole = Course(units=(*site.whole.units, private))
    app.state.site = replace(site, whole=whole, course=open_to(whole))
    yield lesson.name
    app.state.site = site


def frame(app: FastAPI) -> TestClient:
    """The browser of somebody else."""
    return TestClient(app, headers=BROWSER)
