"""Forms of quiet sittings: what is drawn and when, as instructors type it, and what a new one is made from."""

from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import BaseModel
from starlette.responses import Response

from app.practice.item_lessons import LEVELS
from app.practice.pool import ItemSpec
from app.practice.practice_words import family_words
from app.practice.sittings import MAX_ITEMS, SLOTS, SittingSlot
from app.practice.taught import families_of
from app.store import assignments, sittings
from app.store.classes import RefusedError
from app.store.sittings import SittingSettings
from app.teaching.text_input import LONGEST_LINE, one_line
from app.web.class_access import PREFIX, Arranging, ClassPage
from app.web.routes.form_fields import parse_number, parse_whole_number, required_moment
from app.web.site import Site
from app.web.views.grade_sheet import assignment_titles, heading_for

router = APIRouter(prefix=PREFIX + "/sittings")
EMPTY_ROW = ("", "1", "")
"""In which an instructor says what is drawn: operations, level, how many."""


class SittingForm(BaseModel):
    """The settings of a sitting as they are typed; rows of items are in lists of their own."""

    title: str = ""
    opens: str = ""
    until: str = ""
    minutes: str = ""
    points: str = ""
    shows: str = "nothing"
    family: list[str] = []
    level: list[str] = []
    count: list[str] = []
    another: str = ""
    """Set by the button that asks for one row more."""

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The rows of items, as they are shown again."""
        return list(zip(self.family, self.level, self.count, strict=False))[:MAX_ITEMS] or [EMPTY_ROW]


@router.get("/new")
async def ask(page: Arranging) -> Response:
    return _form(page, SittingForm())


def _form(page: ClassPage, fields: SittingForm, problem: str = "") -> Response:
    families = sorted(families_of(_operations(page.site)), key=family_words)
    rows = [*fields.rows, EMPTY_ROW][:MAX_ITEMS] if fields.another else fields.rows
    return page.render(
        "sitting_new.html", fields=fields, rows=rows, problem=problem,
        families=[(family, family_words(family)) for family in families], levels=LEVELS, most=MAX_ITEMS,
    )  # fmt: skip


def _operations(site: Site) -> frozenset[str]:
    curriculum = site.practice.curriculum
    return curriculum.operations_of(curriculum.lessons)


@router.post("")
async def make(page: Arranging, fields: Annotated[SittingForm, Form()]) -> Response:
    """Make a sitting of what was typed; or give the form one row more, where *another* is asked for."""
    if fields.another:
        return _form(page, fields)
    try:
        slots = _slots(page.site, fields)
        items = sum(slot.count for slot in slots)
        async with page.write() as db:
            rows = await assignments.assignments_of(db, page.class_id)
            settings = read_settings(fields, page, items, assignment_titles(page.site.assigned, rows))
            text = SLOTS.dump_json(slots).decode()
            assignment = await sittings.create_sitting(db, page.class_id, settings, text, items, page.learner)
    except RefusedError as refused:
        return _form(page, fields, str(refused))
    return page.back("sittings", assignment.id)


def _slots(site: Site, fields: SittingForm) -> tuple[SittingSlot, ...]:
    """
    Raises:
        RefusedError: A row cannot be read, or nothing can be drawn for it.
    """
    within = tuple(_operations(site))
    slots = []
    for number, (family, level, count) in enumerate(fields.rows, start=1):
        if not count.strip():
            continue
        if not (count.strip().isascii() and count.strip().isdecimal() and 0 < int(count) <= MAX_ITEMS):
            raise RefusedError(f"Row {number}: {count.strip()[:20]!r} is no number of exercises from 1 to {MAX_ITEMS}.")
        if level not in map(str, LEVELS):
            raise RefusedError(f"Row {number}: choose a level.")
        kind = ItemSpec(int(level), within=within, family=family)
        what = f"with {family_words(family).lower()}" if family else "of this course"
        if not kind.lowest:
            raise RefusedError(f"Row {number}: the course teaches nothing from which exercises {what} can be drawn.")
        if kind.lowest > int(level):
            raise RefusedError(f"Row {number}: exercises {what} begin at level {kind.lowest}. Choose a higher level.")
        slots.append(SittingSlot(family, int(level), int(count)))
    if not slots:
        raise RefusedError("Say in one row at least how many exercises are drawn.")
    if sum(slot.count for slot in slots) > MAX_ITEMS:
        raise RefusedError(f"A sitting has {MAX_ITEMS} exercises at most.")
    return tuple(slots)


def read_settings(fields: SittingForm, page: ClassPage, items: int, taken: list[str]) -> SittingSettings:
    """Settings of a sitting of so many *items*, beside assignments whose titles are *taken*.

    Raises:
        RefusedError: A date or a number cannot be read, or another assignment has that title.
    """
    title, zone = one_line(fields.title)[:LONGEST_LINE], page.group.timezone
    return SittingSettings(
        title=heading_for(title, title, taken) if title else "",
        opens_at=required_moment("When it opens", fields.opens, zone, opens=True),
        until=required_moment("When it ends", fields.until, zone),
        minutes=parse_whole_number("Minutes", fields.minutes),
        points=parse_number("Points", fields.points) if fields.points.strip() else float(items),
        shows=fields.shows,
    )
