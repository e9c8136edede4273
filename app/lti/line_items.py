"""Columns of a platform's gradebook (line items): the one that the grades of an assignment go to.

Most launches name it. Where one does not, since a course was copied or one link has two columns, a search for it is
written down, which may make a column only where the link says what it is worth.

Source: LTI-AGS 2.0 (3.2), https://www.imsglobal.org/spec/lti-ags/v2p0
"""

import json
from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import LINE_ITEM_SCOPES, Launch
from app.lti.enrolment import Target
from app.store import lti_scores
from app.store.assignments import MOST_POINTS, AssignmentSettings, assign_lesson, assignments_of, exercises_chosen
from app.store.database import now
from app.store.progress import SITTINGS
from app.store.tables import Assignment, LtiContext, LtiLineItem

TAG = "backhand"
MEANT_FOR_GRADE = 0.5
"""Share of its points that late work counts, as in a form for a new assignment."""


def below(url: str, word: str) -> str:
    """Address of *word* of a line item: into the path, since the line items of Moodle have a query."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{word}").geturl()


def with_query(url: str, **values: str) -> str:
    """*url* with *values* behind what it asks for already."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(values)}"


def stated_points(launch: Launch) -> float | None:
    """Points of the link; None for a link that names none, and so is not graded."""
    try:
        points = float(launch.custom.get("points", ""))
    except ValueError:
        return None
    return points if 0 < points <= MOST_POINTS else None


async def link_line_item(
    db: AsyncSession, context: LtiContext, launch: Launch, target: Target, title: str, known: Sequence[str]
) -> None:
    """Let the grades of *target* go to the column that *launch* names, or have it looked for where it names none.

    Of the same thing that is linked twice in a course the newer column is told; an assignment is made where the class
    has none of it yet, which is called *title*. *known* are the exercises of the lesson.
    """
    if not launch.lineitem_url and not launch.lineitems_url:
        return
    assignment = await _find_assignment(db, context, target)
    if assignment is None:
        # Without points it is a link that nobody meant to be graded, unless the class was given the same thing.
        if not launch.lineitem_url and stated_points(launch) is None:
            return
        assignment = await _assign(db, context, launch, target, title, known)
    assignment.resource_id = assignment.resource_id or target.resource_id
    if launch.lineitem_url:
        await _set_column(db, context, assignment, launch.lineitem_url, launch.link)
    else:
        await _schedule_search(db, context, assignment, launch)


def _is_copied(context: LtiContext, launch: Launch) -> bool:
    """True if the link was chosen for a course of another class."""
    return launch.custom.get("class", str(context.class_id)) != str(context.class_id)


async def _find_assignment(db: AsyncSession, context: LtiContext, target: Target) -> Assignment | None:
    """Find the assignment of *target*: made by such a link, with all or fewer exercises, or by hand with the same.

    A sitting is itself, whatever it was called in the class that it was copied from.
    """
    chosen = json.dumps([target.exercise]) if target.exercise else None
    rows = await assignments_of(db, context.class_id)
    linked = next((row for row in rows if row.resource_id == target.resource_id and _holds(row, target)), None)
    by_hand = (row for row in rows if row.resource_id is None or row.lesson.startswith(SITTINGS))
    return linked or next((row for row in by_hand if (row.lesson, row.exercises_json) == (target.lesson, chosen)), None)


def _holds(assignment: Assignment, target: Target) -> bool:
    chosen = exercises_chosen(assignment)
    return chosen is None or target.exercise in ("", *chosen)


async def _assign(
    db: AsyncSession, context: LtiContext, launch: Launch, target: Target, title: str, known: Sequence[str]
) -> Assignment:
    points = stated_points(launch) or float(1 if target.exercise else len(known))
    settings = AssignmentSettings(
        exercises=[target.exercise] if target.exercise else None,
        opens_at=None, due_at=None, late_until=None, late_share=MEANT_FOR_GRADE, points=points, solutions_at=None,
        heading=title, known_exercises=list(known),
    )  # fmt: skip
    return await assign_lesson(db, context.class_id, target.lesson, settings, None)


async def _item_of(db: AsyncSession, context: LtiContext, assignment: Assignment) -> LtiLineItem:
    """Line item of an *assignment* in a course, new if there is none; courses that share a class have their own."""
    same = (LtiLineItem.lti_context_id == context.id, LtiLineItem.assignment_id == assignment.id)
    item = await db.scalar(select(LtiLineItem).where(*same))
    if item is None:
        item = LtiLineItem(lti_context_id=context.id, assignment_id=assignment.id, url="")
        db.add(item)
        await db.flush()
    return item


async def _set_column(
    db: AsyncSession, context: LtiContext, assignment: Assignment, url: str, link: str | None
) -> None:
    item = await _item_of(db, context, assignment)
    if item.url == url:
        return
    # A link that was changed leads elsewhere: its column is told one thing.
    same = (LtiLineItem.lti_context_id == context.id, LtiLineItem.url == url)
    for other in await db.scalars(select(LtiLineItem).where(*same)):
        await db.delete(other)
    item.url, item.resource_link_id = url, link
    item.seek_at, item.seek_tries, item.answer = None, 0, None
    await db.flush()
    await lti_scores.queue_assignment(db, assignment.id)


async def _schedule_search(db: AsyncSession, context: LtiContext, assignment: Assignment, launch: Launch) -> None:
    """Look for a column that is not known, or is gone; again where it was looked for in vain and an instructor comes.

    What was copied came with its columns, and one that was deleted is not wanted: for these none is made.
    """
    item = await _item_of(db, context, assignment)
    is_new = not item.url and item.answer is None and item.seek_at is None
    if item.url and not await lti_scores.is_gone(db, item.id):
        return
    if not is_new and (item.seek_at is not None or launch.role != "instructor"):
        return
    may_create = launch.lineitems_scope == LINE_ITEM_SCOPES[0] and stated_points(launch) is not None
    item.creates = may_create and not _is_copied(context, launch) and not item.url
    item.resource_link_id = launch.link
    item.seek_at, item.seek_tries = now(), 0
