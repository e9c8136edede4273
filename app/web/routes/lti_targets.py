"""What the links of learning platforms lead to, and what a class sees of it."""

from collections.abc import Sequence
from urllib.parse import quote

from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import Launch
from app.lti.enrolment import Target, target_of
from app.store.assignments import units_given
from app.store.tables import Assignment, LtiContext
from app.web.site import Site


async def site_of_class(db: AsyncSession, site: Site, context: LtiContext | None, rows: Sequence[Assignment]) -> Site:
    """*site* with what the class of a course was given of private units, or was assigned of them.

    Whoever makes links in a course may name any lesson there. Whose the private ones are, the operator decides.
    """
    units = await units_given(db, context.class_id) if context else ()
    given = (lesson for unit in units for lesson in site.lessons_of(unit))
    return site.with_private_lessons([*given, *(row.lesson for row in rows)])


def link_target(site: Site, message: Launch) -> Target:
    return target_of(message, lambda word: _lesson_id(site, word))


def _lesson_id(site: Site, word: str) -> str:
    """Id of the lesson that a link calls *word*: that itself, or the last word of its address; "" for none."""
    lesson = site.assigned(word) or site.course.at.get(word)
    return lesson.name if lesson else ""


def target_address(site: Site, target: Target, context: LtiContext | None) -> str:
    """Where a link leads to: its exercise, its lesson, or the class."""
    lesson = site.assigned(target.lesson)
    if lesson is not None:
        return lesson.address + (f"#{target.exercise}" if lesson.exercise(target.exercise) else "")
    if target.lesson:  # a page that says so is better than another one that was not meant
        return f"/lessons/{quote(target.lesson, safe='')}"
    return f"/classes/{context.class_id}" if context is not None else "/"
