"""`backhand class …` and `backhand instructor add`: what scripts need of classes, without a browser."""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import typer
from sqlalchemy import exists, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.cli import environment
from app.cli.refuse import ask_whether_meant, refuse
from app.content.blocks import Lesson
from app.course.course import read_course
from app.practice.item_lessons import Curriculum, exercises_in
from app.store import assignments, classes, database_errors, invitations, roster_lists, rosters
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.grades import build_gradebook
from app.store.migrate import migrate
from app.store.progress import SITTINGS
from app.store.tables import Class, Credential, Learner, Membership
from app.teaching import dates
from app.teaching.codes import shown_code
from app.teaching.roster import read_roster
from app.teaching.sheets import as_sheet, text_of
from app.teaching.text_input import name_fault, one_line
from app.web.views.grade_sheet import assignment_titles, heading_for

KNOWN_COLUMNS = "A column is read that is called name, first name, last name, id or label, or as schools call these."
T = TypeVar("T")
Facts = dict[str, Any]


def create(name: str, timezone: str, instructor: str, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> Facts:
        called = one_line(instructor)
        fault = dates.zone_fault(timezone) or (name_fault(called) if called else "")
        if fault or not one_line(name):
            raise RefusedError(fault or classes.NO_CLASS_NAME)
        group = await classes.create_class(db, one_line(name)[:200], timezone, None)
        word = await _seat(db, group, called) if called else ""
        return {**_facts(group), "instructor_word": word}

    group = run_transaction(work)
    lines = [
        f"Class {group['id']}: {group['name']}. Its code is {group['code']}; learners join at /join/{group['code']}."
    ]
    if word := group["instructor_word"]:
        lines.append(f"{one_line(instructor)} becomes its instructor at /join/{word}, once.")
    print_facts(group, lines, as_json=as_json)


async def _seat(db: AsyncSession, group: Class, called: str) -> str:
    """A word for the seat of its instructor."""
    learner = await rosters.reserve_seat(db, group, called, "instructor")
    return shown_code((await invitations.seat_words(db, [learner]))[learner.learner_id])


def list_(*, as_json: bool) -> None:
    async def work(db: AsyncSession) -> list[Facts]:
        there = func.count(Membership.learner_id)
        active = (Membership.class_id == Class.id) & Membership.left_at.is_(None) & Membership.joined_at.is_not(None)
        rows = await db.execute(
            select(Class, there).outerjoin(Membership, active).group_by(Class.id).order_by(Class.id)
        )
        return [{**_facts(group), "people": count} for group, count in rows]

    class_rows = run_transaction(work)
    lines = [f"{row['id']}  {row['code'] or '-':11}  {row['people']:4}  {row['name']}" for row in class_rows]
    print_facts(
        {"classes": class_rows}, lines or ["There is no class yet: backhand class create NAME"], as_json=as_json
    )


def roster(number: int, file: Path | None, *, dry_run: bool, as_json: bool) -> None:
    if file is None:
        _print_roster(number, as_json=as_json)
        return
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}.")
    listing = read_roster(text_of(data))

    async def work(db: AsyncSession) -> Facts:
        group = await find_class(db, number)
        if dry_run:
            planned = roster_lists.roster_changes(listing.entries, await classes.list_members(db, group.id))
        else:
            planned = await roster_lists.apply_list(db, group, listing.entries, None)
        return {kind: sum(change.kind == kind for change in planned) for kind in ("new", "changed", "same")}

    lines_by_kind = {"faults": listing.faults, "notes": listing.notes}
    counts = {**run_transaction(work), "unread": listing.unread} | {
        kind: [dataclasses.asdict(roster_issue) for roster_issue in lines] for kind, lines in lines_by_kind.items()
    }
    lines = [
        f"{file}:{roster_issue.line}: {roster_issue.message}" for roster_issue in (*listing.faults, *listing.notes)
    ]
    if listing.unread:
        lines.insert(0, f"Not read: {', '.join(listing.unread)}. {KNOWN_COLUMNS}")
    would = "would be " if dry_run else ""
    lines.append(f"{counts['new']} {would}new, {counts['changed']} {would}changed, {counts['same']} as they were.")
    print_facts(counts, lines, as_json=as_json)
    if listing.faults:
        sys.exit(1)


def _print_roster(number: int, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> list[Facts]:
        listed = await classes.list_members(db, (await find_class(db, number)).id)
        return [
            {
                "name": membership.name,
                "id": membership.external_id,
                "label": membership.label,
                "role": membership.role,
                "joined": membership.joined_at,
            }
            for membership in listed
        ]

    people = run_transaction(work)
    rows = [[row[key] for key in ("name", "id", "label", "role", "joined")] for row in people]
    sheet = as_sheet([("name", "id", "label", "role", "joined"), *rows])
    print_facts({"people": people}, [sheet.removeprefix("\ufeff").rstrip()], as_json=as_json)


def assign(
    number: int,
    lesson: str,
    typed: Mapping[str, str],
    late_share: float,
    points: float | None,
    exercises: str,
    *,
    heading: str,
    anyway: bool,
    as_json: bool,
) -> None:
    curriculum = _curriculum()
    target = curriculum.assigned(lesson)
    if target is None or lesson.startswith(SITTINGS):
        refuse(f"The course has no lesson {lesson!r}. A lesson's id stands at the top of its file.")
    known = [exercise.name for exercise in target.exercises]
    chosen = [part.strip() for part in exercises.split(",") if part.strip()]
    if odd := [name for name in chosen if name not in known]:
        refuse(f"The lesson {lesson!r} has no exercise {odd[0]!r}.")

    async def planned(db: AsyncSession) -> tuple[Class, Lesson, assignments.AssignmentSettings]:
        group = await find_class(db, number)
        moments = {key: dates.parse_local_date(text, group.timezone) if text else None for key, text in typed.items()}
        rows = await assignments.assignments_of(db, group.id)
        meant = curriculum.next_round(lesson, [row.lesson for row in rows]) or target
        return (
            group,
            meant,
            assignments.AssignmentSettings(
                exercises=chosen or None,
                late_share=late_share,
                points=float(len(chosen or known)) if points is None else points,
                heading=heading_for(heading, meant.title, assignment_titles(curriculum.assigned, rows)),
                known_exercises=known,
                **moments,
            ),
        )

    async def doubts(db: AsyncSession) -> list[str]:
        group, meant, terms = await planned(db)
        return await assignments.assignment_doubts(db, group, meant.name, terms)

    async def work(db: AsyncSession) -> Facts:
        group, meant, terms = await planned(db)
        row = await assignments.assign_lesson(db, group.id, meant.name, terms, None)
        facts = {"id": row.id, "class": number, "lesson": meant.name, "heading": row.heading, "points": row.points}
        return facts | {key: getattr(terms, key) for key in typed}

    if not anyway and (odd := run_transaction(doubts)):
        ask_whether_meant(" ".join(odd), "Assign it", "--anyway")
    assignment = run_transaction(work)
    print_facts(
        assignment,
        [f"Assignment {assignment['id']}: {assignment['lesson']}, {assignment['points']:g} points."],
        as_json=as_json,
    )


def export(number: int, *, as_json: bool) -> None:
    assigned = _curriculum().assigned

    async def work(db: AsyncSession) -> Facts:
        book = await build_gradebook(db, await find_class(db, number), lambda name: exercises_in(assigned(name)))
        heads = assignment_titles(assigned, book.assignments)
        names = [f"{head} ({assignment.points:g})" for head, assignment in zip(heads, book.assignments, strict=True)]
        rows = [
            {
                "name": row.person.name,
                "id": row.person.external_id,
                "label": row.person.label,
                "left_at": row.left_at,
                "grades": [got.points for got in row.grades],
                "points": row.points,
                "possible": row.possible,
            }
            for row in book.rows
        ]
        return {"assignments": names, "learners": rows}

    book = run_transaction(work)
    head = ["name", "id", "label", *book["assignments"], "points", "possible", "left"]
    rows = [
        [item["name"], item["id"], item["label"], *item["grades"], item["points"], item["possible"], item["left_at"]]
        for item in book["learners"]
    ]
    print_facts(book, [as_sheet([head, *rows]).removeprefix("\ufeff").rstrip()], as_json=as_json)


def archive(number: int, *, over: bool, as_json: bool) -> None:
    group = _change_settings(number, archived=over)
    print_facts(group, [f"{group['name']} {'is over' if over else 'goes on'}."], as_json=as_json)


def keep(number: int, until: str, *, as_json: bool) -> None:
    try:
        day = None if until == "ever" else dates.parse_day(until)
    except ValueError as error:
        refuse(str(error))
    group = _change_settings(number, keep_until=day)
    words = f"is kept until {day}, and forgotten then" if day else "is kept"
    print_facts(group, [f"{group['name']} {words}."], as_json=as_json)


def give(number: int, unit: str, *, back: bool, as_json: bool) -> None:
    course, errors = read_course(environment.load_settings().lessons)
    if course is None:
        refuse("\n".join(map(str, errors)))
    private = [item.slug for item in course.units if item.private]
    if unit and unit not in private:
        refuse(f"The course has no private unit {unit!r}. It has {', '.join(private) or 'none'}.")

    async def work(db: AsyncSession) -> Facts:
        group = await find_class(db, number)
        if unit:
            await assignments.give_unit(db, group.id, unit, back=back)
        return {**_facts(group), "units": list(await assignments.units_given(db, group.id))}

    changed = run_transaction(work)
    units = ", ".join(changed["units"]) or "no private unit"
    print_facts(changed, [f"Instructors of {changed['name']} see and assign {units}."], as_json=as_json)


def delete(number: int, typed: str, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> Facts:
        group = await find_class(db, number)
        facts = _facts(group)
        await classes.delete_class(db, group, typed, None)
        return facts

    gone = run_transaction(work)
    print_facts(gone, [f"{gone['name']} is deleted. What its learners wrote is theirs and stays."], as_json=as_json)


def _change_settings(number: int, **values: Any) -> Facts:
    async def work(db: AsyncSession) -> Facts:
        group = await find_class(db, number)
        terms = classes.ClassSettings(
            group.name,
            group.timezone,
            group.keep_until,
            archived=group.archived_at is not None,
            assistants_grade=group.assistants_grade,
        )
        await classes.change_class(db, group, dataclasses.replace(terms, **values), None)
        return _facts(group)

    return run_transaction(work)


def add_instructor(name: str, *, as_json: bool) -> None:
    async def work(db: AsyncSession) -> Facts:
        if not name:
            return {"word": shown_code(await invitations.teacher_word(db))}
        has_account = exists().where(Credential.learner_id == Learner.id)
        accounts = (await db.scalars(select(Learner.id).where(Learner.name == one_line(name), has_account))).all()
        if len(accounts) != 1:
            how_many = f"{len(accounts)} accounts are" if accounts else "No account is"
            raise RefusedError(f"{how_many} called {name}. Leave the name out: a word is printed that works once.")
        await invitations.let_teach(db, accounts[0])
        return {"learner": accounts[0], "name": name}

    result = run_transaction(work)
    if word := result.get("word"):
        print_facts(result, [f"Whoever opens /join/{word} first may make classes."], as_json=as_json)
    else:
        print_facts(result, [f"{name} may make classes."], as_json=as_json)


def _facts(group: Class) -> Facts:
    return {
        "id": group.id,
        "name": group.name,
        "code": shown_code(group.join_code) if group.join_code else None,
        "timezone": group.timezone,
        "joining": group.joining,
        "archived": group.archived_at,
        "keep_until": group.keep_until,
    }


async def find_class(db: AsyncSession, number: int) -> Class:
    group = await db.get(Class, number) if number < 2**31 else None
    if group is None:
        raise RefusedError(f"There is no class {number}. `backhand class list` names them.")
    return group


def _curriculum() -> Curriculum:
    """Exercises that can be assigned, by name; a lesson with errors is as it would be without them, or left out."""
    course, errors = read_course(environment.load_settings().lessons)
    if course is None:
        refuse("\n".join(map(str, errors)))
    return Curriculum(course)


def run_transaction(work: Callable[[AsyncSession], Awaitable[T]]) -> T:
    """Run *work* in one transaction and return its result; ends the command with a sentence if it fails."""
    url = environment.load_settings().resolved_database_url

    async def run() -> T:
        await migrate(url)
        database = Database(url)
        try:
            async with database.write() as db:
                return await work(db)
        finally:
            await database.close()

    try:
        return asyncio.run(run())
    except (RefusedError, ValueError) as error:
        refuse(str(error))
    except (SQLAlchemyError, OSError) as error:
        refuse(f"The database cannot be used: {database_errors.unusable_reason(url, error)}")


def print_facts(facts: Facts, lines: list[str], *, as_json: bool) -> None:
    typer.echo(json.dumps(facts, default=str, ensure_ascii=False) if as_json else "\n".join(lines))
