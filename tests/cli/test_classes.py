"""What scripts need of classes."""

import json
import shutil
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from app.cli.commands import app
from app.settings import Settings
from app.store import classes, cleanup
from app.store.database import Database, now
from app.store.tables import Assignment, AuditEvent, Class, Learner

COURSE = Path(__file__).parents[1] / "web" / "course"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("BACKHAND_LESSONS", str(COURSE))


def run(*words: str, given: str | None = None, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), input=given)
    assert done.exit_code == status, done.output
    return done.output


def facts(*words: str, **more: str) -> dict:
    return json.loads(run(*words, "--json", **more))


def asked(question):
    async def ask():
        database = Database(Settings().resolved_database_url)
        try:
            async with database.read() as db:
                return (await db.scalars(question)).all()
        finally:
            await database.close()

    return anyio.run(ask)


def test_a_class_is_made_filled_assigned_given_out_and_ended() -> None:
    made = facts("class", "create", "Algebra", "--timezone", "Europe/Berlin", "--instructor", "Ada")
    number = str(made["id"])
    listed = facts("class", "roster", number, "-", given="name;id\nBob;1\n")
    assigned = facts("class", "assign", number, "linear-layer", "--due", "2026-12-24", "--exercises", "dw-shape")
    book = facts("class", "export", number)
    ended = facts("class", "archive", number)

    assert (made["code"][3], len(made["instructor_word"])) == ("-", 11)
    assert (listed["new"], listed["faults"]) == (1, [])
    assert (assigned["due_at"], assigned["points"]) == ("2026-12-24 22:59:00+00:00", 1.0)
    assert [one["name"] for one in book["learners"]] == ["Bob"]
    assert ended["archived"]
    assert [one["name"] for one in facts("class", "list")["classes"]] == ["Algebra"]
    verbs = ["class-made", "expected", "roster-listed", "assigned", "archived", "class-changed"]
    assert [one.verb for one in asked(select(AuditEvent).order_by(AuditEvent.id))] == verbs


def test_bad_lines_are_told_and_the_others_are_taken(tmp_path: Path) -> None:
    run("class", "create", "Algebra")
    file = tmp_path / "list.csv"
    file.write_text("name,id\nBob,1\n,2\n")

    said = run("class", "roster", "1", str(file), status=1)

    assert f"{file}:3: It has no name." in said
    assert "1 new" in said
    assert "Bob,1" in run("class", "roster", "1")


def test_a_dry_run_changes_nothing() -> None:
    run("class", "create", "Algebra")

    assert "1 would be new" in run("class", "roster", "1", "-", "--dry-run", given="Bob\n")
    assert "Bob" not in run("class", "roster", "1")


def test_columns_that_are_not_read_and_notes_are_told() -> None:
    run("class", "create", "Algebra")
    head = "Name;Vorname;Mtk;Studiengang\n"
    lines = "Vogt;Lena;1;Informatik\nVogt;Lena;2;Physik\nPoints Possible;;;\n"

    said = run("class", "roster", "1", "-", "--dry-run", given=head + lines)
    told = facts("class", "roster", "1", "-", given=head + lines)

    assert "Not read: Mtk, Studiengang." in said
    assert "-:3: Two people called Lena Vogt have no id, here and in line 2." in said
    assert "-:4: Points Possible is left out: it is nobody." in said
    assert told["unread"] == ["Mtk", "Studiengang"]
    assert [one["line"] for one in told["notes"]] == [4, 3]
    assert told["faults"] == []


LINEAR = ("class", "assign", "1", "linear-layer")
PAST = ("--due", "2026-01-05 12:00")


@pytest.mark.parametrize(
    ("words", "doubt"),
    [
        (PAST, "It would be due Mon 5 Jan 2026, 12:00"),
        (("--due", "2100-01-05"), "This lesson is assigned already, never due"),
    ],
)
def test_a_slip_is_asked_about_before_it_counts(
    words: tuple[str, ...], doubt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("class", "create", "Algebra")
    run(*LINEAR, *([] if words is PAST else ["--heading", "Once"]))
    before = len(asked(select(Assignment)))

    refused = run(*LINEAR, *words, status=2)
    monkeypatch.setattr("app.cli.refuse.is_at_terminal", lambda: True)
    run(*LINEAR, *words, given="n\n", status=1)
    assert len(asked(select(Assignment))) == before

    said = run(*LINEAR, *words, given="y\n")

    assert doubt in refused
    assert "--anyway" in refused
    assert doubt in said
    assert len(asked(select(Assignment))) == before + 1


def test_a_lesson_opens_as_its_day_begins_and_ends_as_its_day_ends() -> None:
    run("class", "create", "Algebra")
    days = {"opens": "2199-12-30", "due": "2199-12-30", "late-until": "2199-12-31", "solutions": "2199-12-30"}

    assigned = facts(*LINEAR, *(word for name, day in days.items() for word in (f"--{name}", day)))

    assert [assigned[name] for name in ("opens_at", "due_at", "late_until", "solutions_at")] == [
        "2199-12-30 00:00:00+00:00",
        "2199-12-30 23:59:00+00:00",
        "2199-12-31 23:59:00+00:00",
        "2199-12-30 23:59:00+00:00",
    ]


def test_an_exercise_that_is_named_twice_counts_once() -> None:
    run("class", "create", "Algebra")

    assigned = facts(*LINEAR, "--exercises", "half, dw-shape,half")

    (row,) = asked(select(Assignment))
    assert (assigned["points"], row.points, json.loads(row.exercises_json)) == (2.0, 2.0, ["dw-shape", "half"])


def test_all_exercises_by_name_are_all_that_there_will_be() -> None:
    run("class", "create", "Algebra")
    facts(*LINEAR)
    (row,) = asked(select(Assignment))

    facts(*LINEAR, "--exercises", ",".join(reversed(json.loads(row.known_exercises_json))), "--anyway")

    assert [row.exercises_json for row in asked(select(Assignment))] == [None, None]


def test_what_is_meant_is_assigned_without_a_question() -> None:
    run("class", "create", "Algebra")

    first = facts(*LINEAR, *PAST, "--anyway")
    second = facts(*LINEAR, "--due", "2100-01-05", "--anyway")

    assert [one.id for one in asked(select(Assignment).order_by(Assignment.id))] == [first["id"], second["id"]]


def test_practice_that_a_class_is_given_again_is_its_next_round() -> None:
    run("class", "create", "Algebra")

    given = [facts("class", "assign", "1", "practice/set-matmul") for _ in range(3)]

    assert [one["lesson"] for one in given] == ["practice/set-matmul", "practice/set-matmul-2", "practice/set-matmul-3"]
    assert given[2]["heading"] == "Practice: Matrix products, round 3"
    assert [one.lesson for one in asked(select(Assignment).order_by(Assignment.id))] == [one["lesson"] for one in given]


def test_an_assignment_is_called_as_the_gradebook_should_call_it() -> None:
    run("class", "create", "Algebra")

    named = facts(*LINEAR, "--heading", "  Sheet 1 ")
    taken = run(*LINEAR, "--heading", "Sheet 1", "--anyway", status=2)

    assert named["heading"] == "Sheet 1"
    assert facts("class", "export", "1")["assignments"][0].startswith("Sheet 1 (")
    assert "Another assignment of this class is called 'Sheet 1'" in taken


@pytest.mark.in_turn(turns=4, places=("app",))
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["class", "create", " "], "Write what the class is called"),
        (["class", "create", "x", "--timezone", "Mars"], "There is no time zone 'Mars'"),
        (["class", "archive", "7"], "There is no class 7"),
        (["class", "archive", "9" * 20], "There is no class"),
        (["class", "roster", "1", "/no/such.csv"], "cannot be read"),
        (["class", "assign", "1", "nope"], "no lesson 'nope'"),
        (["class", "assign", "1", "practice/set-nope"], "no lesson 'practice/set-nope'"),
        (["class", "assign", "1", "linear-layer", "--exercises", "x"], "no exercise 'x'"),
        (["class", "assign", "1", "linear-layer", "--due", "soon"], "'soon' is no date"),
        (["class", "assign", "1", "linear-layer", "--points", "-1"], "Points are from 0"),
        (["class", "keep", "1", "soon"], "'soon' is no day"),
        (["instructor", "add", "Max"], "No account is called Max"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(words: list[str], message: str) -> None:
    run("class", "create", "Algebra")

    assert message in run(*words, status=2)


def test_a_class_is_forgotten_after_its_day_and_its_learners_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    run("class", "create", "Algebra", "--instructor", "Ada")
    run("class", "create", "Geometry")
    week = now().date() + classes.NOTICE + timedelta(days=1)
    run("class", "keep", "1", str(week))
    run("class", "keep", "2", str(week + timedelta(days=1)))

    async def forget() -> None:
        database = Database(Settings().resolved_database_url)
        for hours in range(-48, 49, 24):
            at = datetime.combine(week + timedelta(days=1), time(1), UTC) + timedelta(hours=hours - 48)
            monkeypatch.setattr(cleanup, "now", lambda at=at: at)
            await cleanup.delete_expired(database)
            if hours < 48:
                assert len(await left(database)) == 2
        await database.close()

    async def left(database: Database) -> list[Class]:
        async with database.read() as db:
            return list(await db.scalars(select(Class)))

    anyio.run(forget)

    assert [one.name for one in asked(select(Class))] == ["Geometry"]
    assert asked(select(Learner)) == []
    assert [one.verb for one in asked(select(AuditEvent).where(AuditEvent.class_id.is_(None)))] == ["class-forgotten"]
    assert date.fromisoformat(facts("class", "list")["classes"][0]["keep_until"]) == week + timedelta(days=1)


@pytest.mark.parametrize(("days", "why"), [(-250, "is past"), (0, "is today"), (6, "is less than a week away")])
def test_a_day_that_leaves_no_week_of_notice_is_refused(days: int, why: str) -> None:
    run("class", "create", "Algebra")
    day = now().date() + timedelta(days=days)

    refused = run("class", "keep", "1", str(day), status=2)

    assert f"'{day}' {why}" in refused
    assert "delete it" in refused
    assert facts("class", "list")["classes"][0]["keep_until"] is None


def test_a_class_is_deleted_by_its_name_and_by_no_other() -> None:
    run("class", "create", "Algebra", "--instructor", "Ada")

    refused = run("class", "delete", "1", given="Geometry\n", status=2)
    there = asked(select(Class))
    gone = run("class", "delete", "1", given=" Algebra \n")

    assert "is 'Geometry', and not that of this class" in refused
    assert (len(there), asked(select(Class)), asked(select(Learner))) == (1, [], [])
    assert "Algebra is deleted" in gone


def test_a_word_for_an_instructor_is_printed() -> None:
    assert len(facts("instructor", "add")["word"]) == 11


def test_a_private_unit_is_given_to_a_class_and_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = tmp_path / "course"
    shutil.copytree(COURSE, course)
    unit = next(course.glob("1-*/unit.md"))
    unit.write_text(unit.read_text("utf-8").replace("---\n", "---\nprivate: true\n", 1), "utf-8")
    monkeypatch.setenv("BACKHAND_LESSONS", str(course))
    run("class", "create", "Algebra")
    slug = unit.parent.name.partition("-")[2]

    assert f"has no private unit 'none'. It has {slug}." in run("class", "give", "1", "none", status=2)
    assert facts("class", "give", "1", slug)["units"] == [slug]
    assert facts("class", "give", "1")["units"] == [slug]
    assert facts("class", "give", "1", slug, "--back")["units"] == []
