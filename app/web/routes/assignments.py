"""Assignments of a class: dates and points, and the dates of single learners."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from pydantic import BaseModel
from starlette.responses import Response

from app.content.blocks import Lesson
from app.store import assignments, classes
from app.store.assignments import MOST_POINTS, AssignmentSettings
from app.store.classes import RefusedError
from app.store.progress import SITTINGS
from app.store.tables import Assignment, Extension, GradeOverride, Membership
from app.teaching import dates
from app.teaching.roster import distinct_names, matching_people, read_days
from app.teaching.text_input import LONGEST_LINE, one_line
from app.web.class_access import PREFIX, Arranging, ClassPage, Grading, Watching, parse_row_id
from app.web.routes.form_fields import Typed, parse_moment, parse_number, required_moment
from app.web.site import Site, or_404
from app.web.views.grade_sheet import assignment_titles, heading_for
from app.web.views.sections import section_of

router = APIRouter()
OF_LABEL = "label:"
"""Before a label, in place of a learner: everybody who has it."""
ALL = PREFIX + "/assignments"
ONE = ALL + "/{assignment_id}"
OF_A_SITTING = "The window and the time of a sitting are set on its own page."
NOT_SURE = "Nothing was taken back: more would be deleted with it. Tick that this is meant."
BEYOND = (
    "A grade is of {points:g} points here, and {given:g} are more. Moodle refuses grades above all points, unless it "
    "is told to take them."
)


class AssignmentForm(BaseModel):
    """The terms of an assignment as they are typed; *choose* where the exercises could be chosen, *confirm* where it
    was said that what looks like a slip is meant.
    """

    lesson: str = ""
    heading: str = ""
    opens: str = ""
    due: str = ""
    late: str = ""
    share: str = "0.5"
    points: str = ""
    solutions: str = ""
    choose: str = ""
    exercises: list[str] = []
    confirm: str = ""


@dataclass(frozen=True, slots=True)
class PlannedExtension:
    """Days that a line gives to a learner, *until* when; *before* is until when they have time now."""

    name: str
    days: int
    until: datetime
    before: datetime | None

    @property
    def changes(self) -> bool:
        return self.before is not None and self.until > self.before


def shown_fields(assignment: Assignment, timezone: str) -> AssignmentForm:
    return AssignmentForm(
        lesson=assignment.lesson,
        heading=assignment.heading or "",
        opens=dates.date_field(assignment.opens_at, timezone),
        due=dates.date_field(assignment.due_at, timezone),
        late=dates.date_field(assignment.late_until, timezone),
        share=f"{assignment.late_share:g}",
        points=f"{assignment.points:g}",
        solutions=dates.date_field(assignment.solutions_at, timezone),
        exercises=json.loads(assignment.exercises_json) if assignment.exercises_json else [],
    )


def terms_of(
    fields: AssignmentForm, lesson: Lesson | None, timezone: str, taken: Collection[str]
) -> AssignmentSettings:
    """The terms as they are meant; *taken* is what other assignments are called.

    Raises:
        RefusedError: A date or a number cannot be read, there is no such lesson, or another one has that heading.
    """
    if lesson is None:
        raise RefusedError("Choose a lesson of the course.")
    names = [exercise.name for exercise in lesson.exercises]
    chosen = [name for name in names if name in fields.exercises] if fields.choose else names
    return AssignmentSettings(
        exercises=None if chosen == names else chosen,
        opens_at=parse_moment(fields.opens, timezone, opens=True),
        due_at=parse_moment(fields.due, timezone),
        late_until=parse_moment(fields.late, timezone),
        late_share=parse_number("Share that late work counts", fields.share or "0"),
        points=parse_number("Points", fields.points) if fields.points.strip() else float(len(chosen)),
        solutions_at=parse_moment(fields.solutions, timezone),
        heading=heading_for(fields.heading, lesson.title, taken),
        known_exercises=names,
    )


@router.get(ALL)
async def listed(page: Watching) -> Response:
    return await _list_page(page, AssignmentForm())


async def _list_page(
    page: ClassPage,
    fields: AssignmentForm,
    problem: str = "",
    *,
    doubtful: bool = False,
) -> Response:
    async with page.read() as db:
        rows = await assignments.assignments_of(db, page.class_id)
    return page.render(
        "assignments.html",
        rows=list(
            zip(
                rows,
                assignment_titles(page.site.assigned, rows),
                [page.site.assigned(assignment.lesson) for assignment in rows],
                strict=True,
            )
        ),
        lessons=[lesson for lesson in page.site.assignable_lessons if lesson.exercises],
        fields=fields,
        problem=problem,
        doubtful=doubtful,
        arranges=page.may("arrange"),
        grades=page.may("grade"),
        said=_moment_format(page),
    )


def _moment_format(page: ClassPage) -> Callable[[datetime | None], str]:
    """Function with which a template formats a moment in the time zone of the class."""
    return lambda moment: dates.format_moment(moment, page.group.timezone) if moment else ""


@router.post(ALL)
async def assign(page: Arranging, fields: Annotated[AssignmentForm, Form()]) -> Response:
    async with page.read() as db:
        rows = await assignments.assignments_of(db, page.class_id)
    open_to_all = page.site.practice.curriculum.next_round(fields.lesson, [row.lesson for row in rows])
    lesson = open_to_all or (None if fields.lesson.startswith(SITTINGS) else page.site.assigned(fields.lesson))
    try:
        terms = terms_of(fields, lesson, page.group.timezone, assignment_titles(page.site.assigned, rows))
        name = lesson.name if lesson else ""
        async with page.write() as db:
            doubts = await assignments.assignment_doubts(db, page.group, name, terms) if not fields.confirm else []
            if not doubts:
                await assignments.assign_lesson(db, page.class_id, name, terms, page.learner)
    except RefusedError as refused:
        return await _list_page(page, fields, str(refused))
    if doubts:
        return await _list_page(page, fields, " ".join(doubts), doubtful=True)
    return page.back("assignments")


async def _other_titles(site: Site, group: int, but: int) -> list[str]:
    """Titles of the assignments of a class, *but* for one."""
    async with site.database.read() as db:
        rows = await assignments.assignments_of(db, group)
    heads = assignment_titles(site.assigned, rows)
    return [head for row, head in zip(rows, heads, strict=True) if row.id != but]


async def assignment_of(page: Watching, assignment_id: str) -> Assignment:
    """An assignment of this very class; 404 for every other."""
    async with page.read() as db:
        return or_404(await assignments.assignment_in(db, page.class_id, parse_row_id(assignment_id)))


TheAssignment = Annotated[Assignment, Depends(assignment_of)]


@router.get(ONE)
async def one(page: Grading, row: TheAssignment) -> Response:
    return await _one(page, row)


async def _one(page: ClassPage, row: Assignment, problem: str = "", **more: Any) -> Response:
    group = page.group
    async with page.read() as db:
        people = await classes.list_members(db, group.id)
        extensions = await assignments.list_arrangements(db, Extension, row)
        excuses = await assignments.list_arrangements(db, GradeOverride, row)
    learners = [membership for membership in people if membership.role == "learner"]
    given = {
        "fields": shown_fields(row, group.timezone),
        "text": "",
        "reason": "",
        "grade": "",
        "graded": "",
        "doubtful": False,
        "beyond": False,
        "planned": (),
        "faults": (),
        "learners": learners,
        "labels": section_of(learners, "").labels,
        "names": distinct_names(people),
        "extensions": extensions,
        "excuses": excuses,
        "said": _moment_format(page),
    }
    return page.render(
        "assignment.html",
        row=row,
        lesson=page.site.assigned(row.lesson),
        heading=row.heading,
        arranges=page.may("arrange"),
        problem=problem,
        **{**given, **more},
    )


@router.post(ONE)
async def change(page: Arranging, row: TheAssignment, fields: Annotated[AssignmentForm, Form()]) -> Response:
    if row.lesson.startswith(SITTINGS):
        return await _one(page, row, OF_A_SITTING)
    try:
        taken = await _other_titles(page.site, page.class_id, row.id)
        terms = terms_of(fields, page.site.assigned(row.lesson), page.group.timezone, taken)
        async with page.write() as db:
            fresh_row = await db.get_one(Assignment, row.id)
            doubts = [] if fields.confirm else assignments.date_doubts(page.group, terms, fresh_row.due_at)
            if not doubts:
                await assignments.change_terms(db, fresh_row, terms, page.learner)
    except RefusedError as refused:
        return await _one(page, row, str(refused), fields=fields)
    if doubts:
        return await _one(page, row, " ".join(doubts), fields=fields, doubtful=True)
    return page.back("assignments")


@router.post(ONE + "/delete")
async def delete(page: Arranging, row: TheAssignment, sure: Typed = "") -> Response:
    async with page.write() as db:
        fresh_row = await db.get_one(Assignment, row.id)
        extensions = await assignments.list_arrangements(db, Extension, row)
        excuses = await assignments.list_arrangements(db, GradeOverride, row)
        if sure == "yes" or not (extensions or excuses or row.lesson.startswith(SITTINGS)):
            await assignments.take_back(db, fresh_row, page.learner)
            return page.back("assignments")
    return await _one(page, row, NOT_SURE)


@router.post(ONE + "/extensions")
async def extend(
    page: Grading,
    row: TheAssignment,
    text: Typed = "",
    who: Typed = "",
    until: Typed = "",
    reason: Typed = "",
    apply: Typed = "",
) -> Response:
    """More time: for one until a date, or for many by lines that are shown before they are applied."""
    group, reason = page.group, one_line(reason)[:LONGEST_LINE]
    if row.lesson.startswith(SITTINGS):
        return await _one(page, row, OF_A_SITTING)
    async with page.read() as db:
        people = [membership for membership in await classes.list_members(db, group.id) if membership.role == "learner"]
    try:
        if who or until:
            moment = required_moment("Until", until, group.timezone)
            more = [(person.learner_id, moment) for person in await _chosen_learners(page, row, who, people, moment)]
            await _extend_due_date(page, row, more, reason)
            return page.back("assignments", row.id)
        extended, faults = read_days(text, people)
        if apply and extended:
            await _extend_due_date(page, row, [(membership.learner_id, days) for membership, days in extended], reason)
            return page.back("assignments", row.id)
    except (RefusedError, ValueError) as refused:
        return await _one(page, row, str(refused), text=text, reason=reason)
    due = row.due_at
    async with page.read() as db:
        time = await assignments.assignment_times(db, group)
    names = distinct_names(people)
    planned = [
        PlannedExtension(
            names[membership.learner_id],
            days,
            dates.days_later(due, days, group.timezone),
            time.deadline(row, membership.learner_id).due,
        )
        for membership, days in extended
        if due
    ]
    problem = "" if due and (extended or faults) else "Write a line for each." if due else assignments.NEVER_DUE
    return await _one(page, row, problem, text=text, reason=reason, planned=planned, faults=faults)


async def _extend_due_date(page: ClassPage, row: Assignment, more: Sequence[tuple[int, Any]], reason: str) -> None:
    async with page.write() as db:
        await assignments.extend_due_date(db, page.group, row, more, reason, page.learner)


async def _chosen_learners(
    page: ClassPage, row: Assignment, who: str, people: Sequence[Membership], until: datetime
) -> list[Membership]:
    """One learner, or those of a section who have no time as long as *until*; all of it where each has.

    Raises:
        RefusedError: No learner is meant.
    """
    if not who.startswith(OF_LABEL):
        return [_somebody(who, people)]
    section = [person for person in people if person.label and person.label == who.removeprefix(OF_LABEL)]
    if not section:
        raise RefusedError(f"Nobody in this class has the label {who.removeprefix(OF_LABEL)!r}.")
    async with page.read() as db:
        time = await assignments.assignment_times(db, page.group)
    dues = {person.learner_id: time.deadline(row, person.learner_id).due for person in section}
    return [person for person in section if (due := dues[person.learner_id]) is None or due < until] or section


async def _learners(page: ClassPage) -> list[Membership]:
    async with page.read() as db:
        return [
            membership for membership in await classes.list_members(db, page.class_id) if membership.role == "learner"
        ]


def _somebody(who: str, people: Sequence[Membership]) -> Membership:
    """
    Raises:
        RefusedError: No learner is meant, or several are.
    """
    memberships = [membership for membership in people if str(membership.learner_id) == who] or matching_people(
        who, people
    )
    if len(memberships) != 1:
        raise RefusedError("Choose one learner of this class.")
    return memberships[0]


@router.post(ONE + "/extensions/{learner_id}/delete")
async def shorten(page: Grading, row: TheAssignment, learner_id: str) -> Response:
    async with page.write() as db:
        await assignments.withdraw_arrangement(db, Extension, row, parse_row_id(learner_id), page.learner)
    return page.back("assignments", row.id)


@router.post(ONE + "/excuses")
async def excuse(
    page: Grading,
    row: TheAssignment,
    who: Typed = "",
    points: Typed = "",
    reason: Typed = "",
    confirm: Typed = "",
) -> Response:
    """Set a grade by hand; without points it does not count for that learner."""
    people = await _learners(page)
    try:
        learner = _somebody(who, people).learner_id
        given = parse_number("Points", points) if points.strip() else None
        if given is not None and row.points < given <= MOST_POINTS and not confirm:
            problem = BEYOND.format(given=given, points=row.points)
            return await _one(page, row, problem, grade=points, graded=who, beyond=True)
        async with page.write() as db:
            note = one_line(reason)[:LONGEST_LINE]
            await assignments.override_grade(db, row, learner, given, note, page.learner)
    except RefusedError as refused:
        return await _one(page, row, str(refused), grade=points)
    return page.back("assignments", row.id)


@router.post(ONE + "/excuses/{learner_id}/delete")
async def withdraw_override(page: Grading, row: TheAssignment, learner_id: str) -> Response:
    async with page.write() as db:
        await assignments.withdraw_arrangement(db, GradeOverride, row, parse_row_id(learner_id), page.learner)
    return page.back("assignments", row.id)
