"""Targets of the links of learning platforms, and the site as a class sees it."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import Launch
from app.lti.enrolment import Target, target_of
from app.store.assignments import units_given
from app.store.progress import SITTINGS
from app.store.tables import Assignment, LtiContext
from app.web.site import Site


async def site_of_class(db: AsyncSession, site: Site, group: int | None, rows: Sequence[Assignment]) -> Site:
    """*site* with what the class *group* was given of private units, or was assigned of them in *rows*.

    A link may name any lesson. The operator decides which class has private ones.
    """
    units = await units_given(db, group) if group is not None else ()
    given = (lesson for unit in units for lesson in site.lessons_of(unit))
    return site.with_private_lessons([*given, *(row.lesson for row in rows)])


def link_target(site: Site, message: Launch, rows: Sequence[Assignment]) -> Target:
    """Target of a link in the class that has the assignments *rows*.

    A sitting is drawn anew for each class: a link that was copied has the name that it had in the earlier one.
    """
    target = target_of(message, lambda word: _lesson_id(site, word))
    if not target.lesson.startswith(SITTINGS):
        return target
    copy = next((row for row in rows if row.resource_id == target.resource_id), None)
    return replace(target, lesson=copy.lesson) if copy else target


def _lesson_id(site: Site, word: str) -> str:
    """Id of the lesson that a link calls *word*: that itself, or the last word of its address; "" for none."""
    lesson = site.assigned(word) or site.course.at.get(word)
    return lesson.name if lesson else ""


def target_address(site: Site, target: Target, context: LtiContext | None) -> str:
    """Address of a link's target: its exercise, its lesson, or the class."""
    lesson = site.assigned(target.lesson)
    if lesson is not None:
        return lesson.address + (f"#{target.exercise}" if lesson.exercise(target.exercise) else "")
    if target.lesson:  # a page that says so is better than another one that was not meant
        return f"/lessons/{quote(target.lesson, safe='')}"
    return f"/classes/{context.class_id}" if context is not None else "/"
