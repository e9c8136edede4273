"""Quiet sittings for instructors: changed, looked at, and the time of single learners."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.practice.sitting_names import sitting_named
from app.practice.sittings import (
    PROGRAM,
    SLOTS,
    VARIANTS,
    draw_items,
    resized,
    sitting_item,
    slot_of_item,
)
from app.store import assignments, classes, sitting_results, sittings
from app.store.classes import RefusedError
from app.store.sittings import ExtraTime, OwnSitting
from app.store.tables import Membership
from app.teaching import dates
from app.teaching.roster import distinct_names
from app.web.class_access import (
    PREFIX,
    Arranging,
    ClassPage,
    Grading,
    Watching,
    parse_row_id,
)
from app.web.routes.form_fields import parse_whole_number, required_moment
from app.web.routes.sitting_forms import SittingForm, read_settings
from app.web.site import or_404
from app.web.views.grade_sheet import assignment_titles
from app.web.views.sitting_board import board_of
from app.web.views.sitting_view import graded_items, sitting_view, slot_words, written_items

router = APIRouter(prefix=PREFIX + "/sittings")
ONE = "/{sitting_id}"
SPECIMEN = 0
"""Whose items a specimen is: nobody's."""


class TimeForm(BaseModel):
    """The time of one learner as it is typed."""

    who: str = ""
    percent: str = ""
    minutes: str = ""
    opens: str = ""
    until: str = ""


async def setup_of(page: Watching, sitting_id: str) -> OwnSitting:
    """A sitting of this very class; 404 for every other."""
    async with page.read() as db:
        return or_404(await sittings.find_sitting(db, page.class_id, parse_row_id(sitting_id)))


TheSetup = Annotated[OwnSitting, Depends(setup_of)]


async def board_page(
    page: ClassPage,
    own: OwnSitting,
    problem: str = "",
    *,
    fields: SittingForm | None = None,
    typed: TimeForm | None = None,
) -> Response:
    """Page of a sitting: who has begun and handed in, and the results; drafts are never shown."""
    group, row, sitting = page.group, own.assignment, own.sitting
    async with page.read() as db:
        people = await classes.list_members(db, group.id)
        records = await sittings.list_records(db, row.id)
        answers = await sitting_results.answers_of(db, row.id)
        programs = await sitting_results.programs_of(db, row.id)
    slots = SLOTS.validate_json(sitting.slots_json)
    there = sum(map(len, programs.values())), VARIANTS * len(slot_of_item(slots))
    moment = page.site.practice.clock()
    shown = fields or SittingForm(
        title=row.heading or "", opens=dates.date_field(row.opens_at, group.timezone),
        until=dates.date_field(row.due_at, group.timezone), minutes=str(sitting.minutes), points=f"{row.points:g}",
        shows=sitting.shows,
    )  # fmt: skip
    plain = OwnSitting(row, sitting, None)
    return page.render(
        "sitting_board.html", problem=problem, row=row, sitting=sitting, fields=shown,
        view=sitting_view(plain, records, group.timezone, moment), slots=tuple(map(slot_words, slots)),
        board=board_of(plain, people, records, answers, group.timezone, moment, there),
        learners=[person for person in people if person.role == "learner"], names=distinct_names(people),
        arranges=page.may("arrange"), grades=page.may("grade"), typed=typed or TimeForm(),
        address=f"/classes/{group.id}/sittings/{row.id}",
    )  # fmt: skip


@router.post(ONE)
async def change(page: Arranging, own: TheSetup, fields: Annotated[SittingForm, Form()]) -> Response:
    """Another title, window, time or worth; what is drawn stays."""
    name = sitting_named(own.assignment.lesson)
    try:
        async with page.write() as db:
            rows = [row for row in await assignments.assignments_of(db, page.class_id) if row.id != own.assignment.id]
            titles = assignment_titles(page.site.assigned, rows)
            settings = read_settings(fields, page, name.items if name else 0, titles)
            fresh = await sittings.find_sitting(db, page.class_id, own.assignment.id)
            assert fresh is not None, "it was there a moment ago"
            moment = page.site.practice.clock()
            await sittings.change_sitting(db, fresh, settings, page.learner, moment)
    except RefusedError as refused:
        return await board_page(page, own, str(refused), fields=fields)
    return page.back("sittings", own.assignment.id)


@router.get(ONE + "/specimen")
async def specimen(page: Watching, own: TheSetup) -> Response:
    """Show a specimen: items of the same draw that no learner has."""
    async with page.read() as db:
        rows = await sitting_results.programs_of(db, own.assignment.id)
        records = await sittings.list_records(db, own.assignment.id)
    name = sitting_named(own.assignment.lesson)
    assert name is not None, "a sitting has such a name"
    programs = [[(row.id, PROGRAM.validate_json(row.program_json)) for row in rows[item]] for item in sorted(rows)]
    known = {row: program for each in programs for row, program in each}
    drawn = draw_items(programs, SPECIMEN, own.sitting.secret)
    lessons = [
        sitting_item(resized(known[item.program], item.sizes), name, number, SPECIMEN)
        for number, item in zip(sorted(rows), drawn, strict=True)
    ]
    items = written_items(page.site, lessons, {})
    view = sitting_view(own, records, page.group.timezone, page.site.practice.clock(), items=items)
    return page.render(
        "sitting_specimen.html", view=view,
        address=f"/classes/{page.class_id}/sittings/{own.assignment.id}",
    )  # fmt: skip


@router.get(ONE + "/results/{learner_id}")
async def result(page: Watching, own: TheSetup, learner_id: str) -> Response:
    """The full diagnosis of one learner, once it is over for all."""
    learner = parse_row_id(learner_id)
    person = await _learner(page, learner)
    async with page.read() as db:
        specimen_setup = await sittings.find_sitting(db, page.class_id, own.assignment.id, learner)
        if specimen_setup is None or person is None:
            raise HTTPException(404)
        graded = specimen_setup.record is not None and specimen_setup.record.graded_at is not None
        items = []
        if graded:
            answers = await sitting_results.answers_of(db, own.assignment.id, learner)
            items = graded_items(page.site, await page.site.sittings.of(db, specimen_setup), answers)
        records = await sittings.list_records(db, own.assignment.id)
    view = sitting_view(specimen_setup, records, page.group.timezone, page.site.practice.clock(), items=items)
    return page.render(
        "sitting_result.html", view=view, graded=graded, person=person,
        address=f"/classes/{page.class_id}/sittings/{own.assignment.id}",
    )  # fmt: skip


async def _learner(page: ClassPage, learner: int) -> Membership | None:
    async with page.read() as db:
        people = await classes.list_members(db, page.class_id)
    return next((person for person in people if person.learner_id == learner), None)


async def _find_learner(page: ClassPage, who: str) -> Membership:
    """
    Raises:
        RefusedError: It is no learner of the class.
    """
    person = await _learner(page, parse_row_id(who)) if who.isdecimal() else None
    if person is None or person.role != "learner":
        raise RefusedError("Choose one learner of this class.")
    return person


@router.post(ONE + "/time")
async def give_time(page: Grading, own: TheSetup, typed: Annotated[TimeForm, Form()]) -> Response:
    """The time of one learner: more of it, or a window of their own; nothing takes it back."""
    zone, has_window = page.group.timezone, typed.opens or typed.until
    try:
        person = await _find_learner(page, typed.who)
        extra = ExtraTime(
            percent=parse_whole_number("Per cent", typed.percent.replace("%", "")),
            minutes=parse_whole_number("Minutes more", typed.minutes),
            opens_at=required_moment("When their window opens", typed.opens, zone, opens=True) if has_window else None,
            until=required_moment("When their window ends", typed.until, zone) if has_window else None,
        )
        async with page.write() as db:
            actor, moment = page.learner, page.site.practice.clock()
            await sittings.give_time(db, own, person.learner_id, extra, actor, moment)
    except RefusedError as refused:
        return await board_page(page, own, str(refused), typed=typed)
    return page.back("sittings", own.assignment.id)


@router.post(ONE + "/switches/{learner_id}")
async def allow_switch(page: Grading, own: TheSetup, learner_id: str) -> Response:
    """Let a learner go on on one more device."""
    person = await _learner(page, parse_row_id(learner_id))
    if person is None or person.role != "learner":
        raise HTTPException(404)
    async with page.write() as db:
        await sittings.allow_switch(db, own.assignment, person.learner_id, page.learner)
    return page.back("sittings", own.assignment.id)
