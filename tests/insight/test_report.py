"""The report on a course, read from a database: who counts, what is told, and when it is made anew."""

import json
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import update

from app.insight.mistakes import STOPPED
from app.insight.renewal import renew_reports
from app.insight.report import FEW, REPORT, CourseReport, ReportedItem, make_report
from app.store import item_reports, learners, moments, progress
from app.store.classes import new_member
from app.store.database import Database, now
from app.store.progress import NewAttempt
from app.store.tables import Assignment, Class, ExerciseEdition, Learner, Membership
from app.store.tables import ItemReport as Row
from app.store.written_sentences import NewSentence, write_sentence
from tests.courses import course_in

pytestmark = pytest.mark.anyio

COURSE = course_in(Path(__file__).resolve().parents[1] / "web" / "course")
LESSON, QUIZ, BOX = "linear-layer", "pick", "linear-backward"
LEAST = 3


async def people(database: Database, count: int) -> list[int]:
    async with database.write() as db:
        return [(await learners.begin_session(db))[0] for _ in range(count)]


async def answer(database: Database, learner: int, *options: str) -> None:
    """Choose *options* one after the other; the second is right."""
    for option in options:
        right = option == "1"
        verdict = json.dumps({"correct": right, "echo": ""})
        attempt = NewAttempt(kind="quiz", text=json.dumps([option]), verdict=verdict, correct=right)
        async with database.write() as db:
            await progress.record_attempt(db, learner, LESSON, QUIZ, attempt)
            if right:
                await progress.mark_solved(db, learner, LESSON, QUIZ)


async def check(database: Database, learner: int, text: str, code: str | None, line: int = 1) -> None:
    verdict = json.dumps({"outcome": "graded", "names": [{"name": "dX", "code": code, "line": line}]})
    attempt = NewAttempt(kind="code", text=text, verdict=verdict, correct=False, code=code)
    async with database.write() as db:
        await progress.record_attempt(db, learner, LESSON, BOX, attempt)


async def report(database: Database) -> CourseReport:
    return await make_report(database, COURSE, LEAST)


def of(made: CourseReport, exercise: str) -> ReportedItem:
    (item,) = [item for item in made.items if item.exercise == exercise]
    return item


async def test_tries_are_counted_by_learner_and_by_mistake(database: Database) -> None:
    for learner in await people(database, 4):
        await answer(database, learner, "0", "1")
    for learner in await people(database, 3):
        await answer(database, learner, "1")

    item = of(await report(database), QUIZ)

    assert (item.counts.tried, item.counts.first, item.counts.right) == (7, 3, 7)
    (mistake,) = item.mistakes
    assert (json.loads(mistake.key), mistake.people, mistake.after.right) == ([0, "0"], 4, 4)


async def test_what_fewer_than_the_least_did_is_not_told(database: Database) -> None:
    for learner in await people(database, 3):
        await answer(database, learner, "1")
    for learner in await people(database, 2):
        await answer(database, learner, "0")
        await check(database, learner, "dX = secret", "dX:unrecognised")

    made = await report(database)

    item = of(made, QUIZ)
    assert item.mistakes == ()
    assert (item.counts.tried, item.counts.first, item.counts.in_few) == (5, 3, 3)
    assert [item.exercise for item in made.items] == [QUIZ]
    assert "secret" not in REPORT.dump_json(made).decode()


async def test_a_count_of_people_below_the_least_is_few(database: Database) -> None:
    for learner in await people(database, 4):
        await answer(database, learner, "0")
    for learner in await people(database, 1):
        await answer(database, learner, "1")

    counts = of(await report(database), QUIZ).counts

    assert (counts.tried, counts.first, counts.right, counts.in_few, counts.median_tries) == (5, FEW, FEW, FEW, None)


async def test_lines_that_several_wrote_are_told_and_no_others(database: Database) -> None:
    for learner in await people(database, 3):
        await check(database, learner, "# mine\ndX  =  dY @ W  # here", "dX:matmul-order", line=2)
    for number, learner in enumerate(await people(database, 3)):
        await check(database, learner, f"dX = {number}", "dX:unrecognised")
    for learner in await people(database, 3):
        await check(database, learner, "dX = (", None)

    by_key = {mistake.key: mistake for mistake in of(await report(database), BOX).mistakes}

    assert set(by_key) == {"dX:matmul-order", "dX:unrecognised", STOPPED}
    assert [(line.line, line.people) for line in by_key["dX:matmul-order"].lines] == [("dX = dY @ W", 3)]
    assert by_key["dX:unrecognised"].lines == ()
    assert [mistake.recognised for mistake in by_key.values()] == [key != "dX:unrecognised" for key in by_key]
    assert of(await report(database), BOX).unrecognised == 3


async def test_who_teaches_or_assists_is_left_out(database: Database) -> None:
    for learner in (everybody := await people(database, 5)):
        await answer(database, learner, "1")
    async with database.write() as db:
        await db.execute(update(Learner).where(Learner.id == everybody[0]).values(teaches=True))
        db.add(Class(id=1, name="Thursday", timezone="UTC", joining="open", created_at=now()))
        await db.flush()
        row = {"class_id": 1, "name": "Ada", "joined_at": now(), "blocked": False}
        db.add(Membership(learner_id=everybody[1], role="assistant", **row))
        db.add(Membership(learner_id=everybody[2], role="learner", **row))

    assert of(await report(database), QUIZ).counts.tried == 3


async def test_a_class_is_counted_alone_and_only_what_is_assigned_to_it(database: Database) -> None:
    everybody = await people(database, 6)
    for learner in everybody:
        await answer(database, learner, "1")
        await check(database, learner, "dX = dY @ W", "dX:matmul-order")
    async with database.write() as db:
        db.add(Class(id=4, name="Thursday", timezone="UTC", joining="open", created_at=now()))
        await db.flush()
        for learner in everybody[:4]:
            db.add(new_member(4, learner, "learner", "Ada"))
        db.add(Assignment(class_id=4, lesson=LESSON, exercises_json=json.dumps([QUIZ]), points=1, late_share=0.5))

    of_class = await make_report(database, COURSE, LEAST, 4)

    assert [(item.exercise, item.counts.tried) for item in of_class.items] == [(QUIZ, 4)]
    assert sorted(item.counts.tried for item in (await report(database)).items) == [6, 6]


async def test_mistakes_that_nothing_names_are_grouped_by_their_numbers(database: Database) -> None:
    for key, texts in {"3a": ("dX = 1 + dY", "dX = dY + 1"), "77": ("dX = 2 + dY",)}.items():
        for number, learner in enumerate(await people(database, 4)):
            text, code = texts[number % len(texts)], f"dX:unrecognised:{key}"
            verdict = {
                "outcome": "graded",
                "names": [{"name": "dX", "code": "dX:unrecognised", "key": code, "line": 1}],
            }
            attempt = NewAttempt(kind="code", text=text, verdict=json.dumps(verdict), correct=False, code=code)
            async with database.write() as db:
                await progress.record_attempt(db, learner, LESSON, BOX, attempt)

    item = of(await report(database), BOX)

    assert {(mistake.key, mistake.people, mistake.recognised) for mistake in item.mistakes} == {
        ("dX:unrecognised:3a", 4, False),
        ("dX:unrecognised:77", 4, False),
    }
    assert [line.line for mistake in item.mistakes for line in mistake.lines] == ["dX = 2 + dY"]
    assert item.unrecognised == 8

    new = NewSentence(
        class_id=None, lesson=LESSON, exercise=BOX, edition="", mistake="dX:unrecognised:77", said="No 2.", example=""
    )
    async with database.write() as db:
        await write_sentence(db, new, learner)

    written = of(await report(database), BOX)
    assert {mistake.key: mistake.recognised for mistake in written.mistakes}["dX:unrecognised:77"]
    assert written.unrecognised == 4


async def test_before_and_after_a_change_of_words_are_told_apart(database: Database) -> None:
    async with database.write() as db:
        await moments.record_editions(db, {(LESSON, QUIZ): "before"})
        await db.execute(update(ExerciseEdition).values(since=now() - timedelta(days=30)))
    for learner in await people(database, 3):
        await answer(database, learner, "0", "1")
    async with database.write() as db:
        await moments.record_editions(db, {(LESSON, QUIZ): "after"})
    for learner in await people(database, 4):
        await answer(database, learner, "1")

    items = [item for item in (await report(database)).items if item.exercise == QUIZ]

    told = {item.edition: (item.counts.tried, item.counts.first, item.current) for item in items}
    assert told == {1: (3, 0, False), 2: (4, 4, True)}


async def test_hints_are_counted_with_the_next_try(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = (now() + timedelta(seconds=second) for second in count())
    for module in (progress, moments):
        monkeypatch.setattr(module, "now", lambda: next(clock))
    for learner in await people(database, 4):
        await answer(database, learner, "0")
        async with database.write() as db:
            await progress.open_hint(db, learner, LESSON, QUIZ, 2)
        await answer(database, learner, "1")

    item = of(await report(database), QUIZ)

    (hint,) = item.counts.hints
    assert (hint.number, hint.people, hint.after.tries, hint.after.right) == (1, 4, 4, 4)
    assert item.counts.after_hint == 4
    assert item.counts.unhelped.tries == 0


async def test_curves_tell_how_often_a_family_went_wrong_at_first(database: Database) -> None:
    for learner in await people(database, 4):
        await check(database, learner, "dX = dY @ W", "dX:transposed")
        await check(database, learner, "dX = dY @ W", "dX:transposed")

    curves = {curve.family: curve for curve in (await report(database)).curves}

    (point,) = curves["matmul"].points
    assert (point.people, point.wrong) == (4, 4)
    assert [list(slips) for slips in (curve.slips for curve in curves.values())].count(["transposed"]) == 1
    assert all(point.wrong == 0 for family, curve in curves.items() if family != "matmul" for point in curve.points)


async def test_never_chosen_options_are_told_once_many_answered(database: Database) -> None:
    for learner in await people(database, 30):
        await answer(database, learner, "1")

    assert of(await report(database), QUIZ).never == (0,)


async def test_nobody_yet_makes_an_empty_report(database: Database) -> None:
    made = await report(database)

    assert (made.items, made.curves) == ((), ())
    assert REPORT.validate_json(REPORT.dump_json(made)) == made


async def test_it_is_made_when_it_was_asked_for_and_stays_fresh_for_ten_minutes(database: Database, url: str) -> None:
    assert not await renew_reports(database, url, COURSE, LEAST)
    async with database.read() as db:
        assert item_reports.is_stale(await item_reports.stored_report(db))
    async with database.write() as db:
        await item_reports.ask_report(db)

    assert await renew_reports(database, url, COURSE, LEAST)

    assert not await renew_reports(database, url, COURSE, LEAST)
    async with database.read() as db:
        row = await item_reports.stored_report(db)
    assert row is not None
    assert REPORT.validate_json(row.report_json).items == ()
    assert not item_reports.is_stale(row)
    earlier = now() - item_reports.FRESH - timedelta(seconds=1)
    async with database.write() as db:
        await db.execute(update(Row).values(made_at=earlier, asked_at=earlier))
    async with database.read() as db:
        assert item_reports.is_stale(await item_reports.stored_report(db))


async def test_a_report_of_long_ago_is_forgotten(database: Database) -> None:
    async with database.write() as db:
        await item_reports.ask_report(db)
        await item_reports.store_report(db, "{}")

    async with database.write() as db:
        await item_reports.forget_report(db, now() - timedelta(days=1))
        assert await item_reports.stored_report(db) is not None
        await item_reports.forget_report(db, now() + timedelta(days=1))

    async with database.read() as db:
        assert await item_reports.stored_report(db) is None
