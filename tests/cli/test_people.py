"""What an operator does for somebody who has lost the way in."""

import json
import os
import stat
import zipfile
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from typer.testing import CliRunner

from app.accounts.credentials import VerifiedIdentity, create
from app.cli.commands import app
from app.course.course import load_course
from app.settings import Settings
from app.store import classes, learners
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.tables import Assignment, Attempt, AuditEvent, FormerMember, Learner
from app.web.application import create_app
from tests.store import postgres
from tests.web.conftest import FakeGrader

COURSE = Path(__file__).parents[1] / "web" / "course"
IN_EACH_DATABASE = pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(autouse=True)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two called Bob, one of whom has an account, an id and a grade; Ada teaches."""
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    shared = request.getfixturevalue("postgres_url") if getattr(request, "param", "sqlite") == "postgresql" else ""
    monkeypatch.setenv("BACKHAND_DATABASE_URL", shared)

    async def fill() -> None:
        url = Settings().resolved_database_url
        await (postgres.without_rows(url) if shared else migrate(url))
        database = Database(url)
        async with database.write() as db:
            bob, other, ada = [(await learners.begin_session(db))[0] for _ in range(3)]
            for learner, name in ((bob, "Bob"), (other, "Bob"), (ada, "Ada")):
                await learners.set_display_name(db, learner, name)
            algebra = await classes.create_class(db, "Algebra", "UTC", ada, "Ada")
            geometry = await classes.create_class(db, "Geometry", "UTC", None)
            member = classes.new_member(algebra.id, bob, "learner", "Bob B")
            member.external_id = "s-7"
            db.add(member)
            db.add(classes.new_member(geometry.id, other, "learner", "Bob"))
            db.add(Assignment(class_id=algebra.id, lesson="a", late_share=0.5, points=1.0))
            await create(db, bob, VerifiedIdentity(kind="password", issuer="", subject="bob@example.org", secret="x"))
            db.add(Attempt(learner_id=bob, lesson="a", exercise="e", kind="code", text="dX = 7", verdict_json="{}",
                           created_at=now()))  # fmt: skip
        await database.close()

    anyio.run(fill)
    return tmp_path


def run(*words: str, given: str | None = None, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["person", *words], input=given)
    assert done.exit_code == status, done.output
    return done.output


def names() -> list[str | None]:
    async def ask() -> list[str | None]:
        database = Database(Settings().resolved_database_url)
        async with database.read() as db:
            found = list(await db.scalars(select(Learner.name).order_by(Learner.id)))
        await database.close()
        return found

    return anyio.run(ask)


def former_members() -> list[tuple[str, str | None]]:
    async def ask() -> list[tuple[str, str | None]]:
        database = Database(Settings().resolved_database_url)
        async with database.read() as db:
            found = [(one.name, one.external_id) for one in await db.scalars(select(FormerMember))]
        await database.close()
        return found

    return anyio.run(ask)


def become(name: str) -> tuple[int, str]:
    """A new learner, called so, with a session."""

    async def begun() -> tuple[int, str]:
        database = Database(Settings().resolved_database_url)
        async with database.write() as db:
            learner, token = await learners.begin_session(db)
            await learners.set_display_name(db, learner, name)
        await database.close()
        return learner, token

    return anyio.run(begun)


def test_the_browser_of_somebody_who_was_deleted_is_nobodys_at_once() -> None:
    served = create_app(Settings(), load_course(COURSE), FakeGrader())
    with TestClient(served, base_url="http://localhost") as client:
        learner, token = become("Carl")
        client.cookies.set("session", token)
        before = client.get("/me").text
        run("delete", f"#{learner}", "--yes")
        # The newest number is given again by SQLite: who is remembered by it would be somebody else.
        again, _ = become("Dora")
        after = client.get("/me").text

    assert "Carl" in before
    assert again == learner
    assert "Carl" not in after
    assert "Dora" not in after


@pytest.mark.parametrize("typed", ["s-7", "BOB@example.org", "bob b", "#1"])
def test_somebody_is_found_by_id_address_name_and_number(typed: str) -> None:
    (found,) = json.loads(run("find", typed, "--json"))["people"]

    assert (found["learner"], found["ways"], found["attempts"]) == (1, ["password bob@example.org"], 1)
    assert found["classes"] == ["Algebra: learner Bob B, id s-7"]


def test_namesakes_are_told_apart_by_class_or_number() -> None:
    refused = run("takeout", "Bob", "bob.zip", status=2)

    assert "2 people fit 'Bob'" in refused
    assert "#1  Bob" in refused
    assert json.loads(run("find", "Bob", "--class", "2", "--json"))["people"][0]["learner"] == 2
    assert "Nobody here is called 'Eve'" in run("delete", "Eve", status=2)


@IN_EACH_DATABASE
def test_everything_of_a_person_is_written_to_an_archive(place: Path) -> None:
    target = place / "bob.zip"
    os.umask(0o022)

    said = run("takeout", "s-7", str(target))

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with zipfile.ZipFile(target) as archive:
        texts = [archive.read(one).decode() for one in archive.namelist() if one.startswith("texts/")]
    assert texts == ["dX = 7"]
    assert "bob.zip" in said
    assert "is there already" in run("takeout", "s-7", str(target), status=2)


@IN_EACH_DATABASE
def test_a_confirmed_deletion_of_a_person_lists_what_stays() -> None:
    asked = run("delete", "s-7", given="n\n", status=1)
    still = names()
    done = run("delete", "s-7", given="y\n")

    assert "Delete everything of them?" in asked
    assert (still, names()) == (["Bob", "Bob", "Ada"], ["Bob", "Ada"])
    assert "Deleted: #1" in done
    assert "Name, id and points stay in the gradebook of Algebra" in done
    assert former_members() == [("Bob B", "s-7")]


@IN_EACH_DATABASE
def test_grades_of_a_person_go_where_the_operator_says_so(place: Path) -> None:
    run("delete", "s-7", "--yes", "--with-grades")

    async def left() -> list[object]:
        database = Database(Settings().resolved_database_url)
        async with database.read() as db:
            events = select(AuditEvent.data_json).where(AuditEvent.verb == "deleted")
            found = [*await db.scalars(select(FormerMember)), *await db.scalars(events)]
        await database.close()
        return found

    assert anyio.run(left) == ['{"said": "the operator deleted learner 1"}']
    assert place.is_dir()


@IN_EACH_DATABASE
def test_the_only_instructor_is_not_deleted() -> None:
    assert "They are the only instructor of Algebra" in run("delete", "Ada", "--yes", status=2)


def test_a_link_for_a_new_password_is_printed_for_an_account_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "/sign-in/reset?token=" in run("reset", "s-7")
    monkeypatch.setenv("BACKHAND_ADDRESS", "https://host.example")
    monkeypatch.setenv("BACKHAND_PREFIX", "/learn")
    assert "https://host.example/learn/sign-in/reset?token=" in run("reset", "s-7")
    assert "They have no account" in run("reset", "#2", status=2)
