"""`backhand class …` and `backhand instructor add`: what scripts need of classes, without a browser."""

import dataclasses
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.cli import environment
from app.cli.refuse import ask_whether_meant, refuse
from app.cli.transactions import AsJson, Facts, Printed, in_transaction, print_facts, run_transaction
from app.content.blocks import Course
from app.course.course import read_course
from app.practice.item_lessons import Curriculum, exercises_in
from app.store import assignments, classes, invitations, roster_lists, rosters
from app.store.classes import RefusedError
from app.store.grades import build_gradebook
from app.store.progress import SITTINGS
from app.store.tables import Class, Credential, Learner, Membership
from app.teaching import dates
from app.teaching.codes import shown_code
from app.teaching.roster import read_roster
from app.teaching.sheets import as_sheet, text_of
from app.teaching.text_input import name_fault, one_line
from app.web.views.grade_sheet import assignment_titles, heading_for

KNOWN_COLUMNS = "A column is read that is called name, first name, last name, id or label, or as schools call these."
Number = Annotated[int, typer.Argument(help="The number of the class; `backhand class list` tells it.", min=1)]
commands, instructors = typer.Typer(), typer.Typer()


@commands.command()
@in_transaction
async def create(
    db: AsyncSession,
    name: Annotated[str, typer.Argument(help="What the class is called.")],
    timezone: Annotated[str, typer.Option(help="In which its dates are meant.")] = "UTC",
    instructor: Annotated[str, typer.Option(help="Who looks after it; they get a word that works once.")] = "",
) -> Printed:
    """Make a class; print its code, and a word for its instructor."""
    called = one_line(instructor)
    fault = dates.zone_fault(timezone) or (name_fault(called) if called else "")
    if fault or not one_line(name):
        raise RefusedError(fault or classes.NO_CLASS_NAME)
    group = await classes.create_class(db, one_line(name)[:200], timezone, None)
    facts, word = _facts(group), await _seat(db, group, called) if called else ""
    lines = [
        f"Class {group.id}: {group.name}. Its code is {facts['code']}; learners join at /join/{facts['code']}.",
        *([f"{called} becomes its instructor at /join/{word}, once."] if word else []),
    ]
    return {**facts, "instructor_word": word}, lines


async def _seat(db: AsyncSession, group: Class, called: str) -> str:
    """A word for the seat of its instructor."""
    learner = await rosters.reserve_seat(db, group, called, "instructor")
    return shown_code((await invitations.seat_words(db, [learner]))[learner.learner_id])


@commands.command("list")
@in_transaction
async def list_(db: AsyncSession) -> Printed:
    """Print every class with its code and how many are in it."""
    there = func.count(Membership.learner_id)
    active = (Membership.class_id == Class.id) & Membership.left_at.is_(None) & Membership.joined_at.is_not(None)
    rows = await db.execute(select(Class, there).outerjoin(Membership, active).group_by(Class.id).order_by(Class.id))
    listed = [{**_facts(group), "people": count} for group, count in rows]
    lines = [f"{row['id']}  {row['code'] or '-':11}  {row['people']:4}  {row['name']}" for row in listed]
    return {"classes": listed}, lines or ["There is no class yet: backhand class create NAME"]


@commands.command()
def roster(
    number: Number,
    file: Annotated[Path | None, typer.Argument(help="CSV to lay over the roster; - reads standard input.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the roster, or import a list: names, ids, labels. No one is removed."""
    if file is None:
        print_facts(*run_transaction(partial(_list_people, number)), as_json=as_json)
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


async def _list_people(number: int, db: AsyncSession) -> Printed:
    people = [
        {"name": row.name, "id": row.external_id, "label": row.label, "role": row.role, "joined": row.joined_at}
        for row in await classes.list_members(db, (await find_class(db, number)).id)
    ]
    return {"people": people}, [_sheet(("name", "id", "label", "role", "joined"), [row.values() for row in people])]


def _sheet(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    return as_sheet([[*head], *([*row] for row in rows)]).removeprefix("\ufeff").rstrip()


@commands.command()
def assign(
    number: Number,
    lesson: Annotated[str, typer.Argument(help="The id of a lesson, or practice such as practice/set-matmul.")],
    opens: Annotated[str, typer.Option(help="2026-11-30 08:00, in the time zone of the class.")] = "",
    due: Annotated[str, typer.Option(help="When it is due.")] = "",
    late_until: Annotated[str, typer.Option(help="Until when it counts in part.")] = "",
    late_share: Annotated[float, typer.Option(help="Which part that is.")] = 0.5,
    points: Annotated[float | None, typer.Option(help="Default: one for each exercise.")] = None,
    solutions: Annotated[str, typer.Option(help="Until when solutions stay closed.")] = "",
    exercises: Annotated[str, typer.Option(help="Those that count, with commas between; default: all.")] = "",
    heading: Annotated[str, typer.Option(help="Its name in the gradebook; default: that of the lesson.")] = "",
    anyway: Annotated[bool, typer.Option("--anyway", help="Do not ask about what looks like a slip.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assign a lesson, or some of its exercises. Asks about a past date, and about what is assigned already."""
    typed = {"opens_at": opens, "due_at": due, "late_until": late_until, "solutions_at": solutions}
    curriculum = Curriculum(_course())
    target = curriculum.assigned(lesson)
    if target is None or lesson.startswith(SITTINGS):
        refuse(f"The course has no lesson {lesson!r}. A lesson's id stands at the top of its file.")
    known = [exercise.name for exercise in target.exercises]
    named = [part.strip() for part in exercises.split(",") if part.strip()]
    if odd := [name for name in named if name not in known]:
        refuse(f"The lesson {lesson!r} has no exercise {odd[0]!r}.")
    chosen = [name for name in known if name in named] if named else known

    async def work(db: AsyncSession, *, meant: bool) -> Printed:
        """Assign it and return the assignment; or, unless that is *meant*, return what looks like a slip."""
        group = await find_class(db, number)
        rows = await assignments.assignments_of(db, group.id)
        given = curriculum.next_round(lesson, [row.lesson for row in rows]) or target
        moments = {
            key: dates.parse_local_date(text, group.timezone, opens=key == "opens_at") if text else None
            for key, text in typed.items()
        }
        terms = assignments.AssignmentSettings(
            exercises=None if chosen == known else chosen,
            late_share=late_share,
            points=float(len(chosen)) if points is None else points,
            heading=heading_for(heading, given.title, assignment_titles(curriculum.assigned, rows)),
            known_exercises=known,
            **moments,
        )
        if not meant and (doubts := await assignments.assignment_doubts(db, group, given.name, terms)):
            return {}, doubts
        row = await assignments.assign_lesson(db, group.id, given.name, terms, None)
        facts = {"id": row.id, "class": number, "lesson": given.name, "heading": row.heading, "points": row.points}
        return facts | moments, []

    assignment, doubts = run_transaction(partial(work, meant=anyway))
    if doubts:
        ask_whether_meant(" ".join(doubts), "Assign it", "--anyway")
        assignment, _ = run_transaction(partial(work, meant=True))
    line = f"Assignment {assignment['id']}: {assignment['lesson']}, {assignment['points']:g} points."
    print_facts(assignment, [line], as_json=as_json)


@commands.command()
@in_transaction
async def export(db: AsyncSession, number: Number) -> Printed:
    """Print the gradebook as CSV, or as JSON."""
    assigned = Curriculum(_course()).assigned
    book = await build_gradebook(db, await find_class(db, number), lambda name: exercises_in(assigned(name)))
    heads = assignment_titles(assigned, book.assignments)
    names = [f"{head} ({assignment.points:g})" for head, assignment in zip(heads, book.assignments, strict=True)]
    learners: list[Facts] = [
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
    rows = [
        [row["name"], row["id"], row["label"], *row["grades"], row["points"], row["possible"], row["left_at"]]
        for row in learners
    ]
    sheet = _sheet(("name", "id", "label", *names, "points", "possible", "left"), rows)
    return {"assignments": names, "learners": learners}, [sheet]


@commands.command()
@in_transaction
async def archive(
    db: AsyncSession,
    number: Number,
    back: Annotated[bool, typer.Option("--back", help="The class goes on again.")] = False,
) -> Printed:
    """End a class: no one can join it, and nothing is due in it. Nothing is deleted."""
    group = await _change_settings(db, number, archived=not back)
    return _facts(group), [f"{group.name} {'goes on' if back else 'is over'}."]


@commands.command()
@in_transaction
async def keep(
    db: AsyncSession,
    number: Number,
    until: Annotated[str, typer.Argument(help="A day such as 2027-03-31, or `ever`.")],
) -> Printed:
    """Keep a class until a day, a week away at least; then it is forgotten. Learners keep what they wrote."""
    day = None if until == "ever" else dates.parse_day(until)
    group = await _change_settings(db, number, keep_until=day)
    return _facts(group), [f"{group.name} is kept{f' until {day}, and forgotten then' if day else ''}."]


@commands.command()
@in_transaction
async def give(
    db: AsyncSession,
    number: Number,
    unit: Annotated[str, typer.Argument(help="The folder of a private unit; default: print what was given.")] = "",
    back: Annotated[bool, typer.Option("--back", help="Take it back; what is assigned stays.")] = False,
) -> Printed:
    """Let the instructors of a class see a private unit and assign its lessons. Learners see nothing by that."""
    private = [item.slug for item in _course().units if item.private]
    if unit and unit not in private:
        raise RefusedError(f"The course has no private unit {unit!r}. It has {', '.join(private) or 'none'}.")
    group = await find_class(db, number)
    if unit:
        await assignments.give_unit(db, group.id, unit, back=back)
    units = list(await assignments.units_given(db, group.id))
    lines = [f"Instructors of {group.name} see and assign {', '.join(units) or 'no private unit'}."]
    return {**_facts(group), "units": units}, lines


@commands.command()
@in_transaction
async def delete(
    db: AsyncSession,
    number: Number,
    name: Annotated[str, typer.Option(prompt="Name of the class", help="Its name, so that it is the right one.")],
) -> Printed:
    """Delete a class now, with its roster, assignments and grades. Learners keep what they wrote."""
    group = await find_class(db, number)
    facts = _facts(group)
    await classes.delete_class(db, group, name, None)
    return facts, [f"{facts['name']} is deleted. What its learners wrote is theirs and stays."]


@instructors.command()
@in_transaction
async def add(
    db: AsyncSession,
    name: Annotated[str, typer.Argument(help="Of somebody with an account here; default: print a word.")] = "",
) -> Printed:
    """Let an account make classes, by its name; or print an invitation code that works once."""
    if not name:
        word = shown_code(await invitations.teacher_word(db))
        return {"word": word}, [f"Whoever opens /join/{word} first may make classes."]
    has_account = exists().where(Credential.learner_id == Learner.id)
    accounts = (await db.scalars(select(Learner.id).where(Learner.name == one_line(name), has_account))).all()
    if len(accounts) != 1:
        how_many = f"{len(accounts)} accounts are" if accounts else "No account is"
        raise RefusedError(f"{how_many} called {name}. Leave the name out: a word is printed that works once.")
    await invitations.let_teach(db, accounts[0])
    return {"learner": accounts[0], "name": name}, [f"{name} may make classes."]


async def _change_settings(db: AsyncSession, number: int, **values: Any) -> Class:
    group = await find_class(db, number)
    terms = classes.ClassSettings(
        group.name,
        group.timezone,
        group.keep_until,
        archived=group.archived_at is not None,
        assistants_grade=group.assistants_grade,
    )
    await classes.change_class(db, group, dataclasses.replace(terms, **values), None)
    return group


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


def _course() -> Course:
    """The course; a lesson with errors is as it would be without them, or left out.

    Raises:
        RefusedError: There is none.
    """
    course, errors = read_course(environment.load_settings().lessons)
    if course is None:
        raise RefusedError("\n".join(map(str, errors)))
    return course
