"""Columns of a platform's gradebook (line items): the one that the grades of an assignment go to.

Most launches name it. Where one does not, since a course was copied or one link has two columns, it is looked for by
what the link leads to, and made only where there is none and the link says what it is worth. To ask twice for a new
column makes two, and platforms differ in which of them people see: so one server at a time looks for a column, and
looks again before it asks again.

Source: LTI-AGS 2.0 (3.2), https://www.imsglobal.org/spec/lti-ags/v2p0
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import LINE_ITEM_SCOPES, Launch, parse_id
from app.lti.enrolment import Target
from app.lti.errors import PlatformError
from app.lti.platform_client import Answer
from app.lti.tokens import PlatformServices
from app.store import lti_scores
from app.store.assignments import MOST_POINTS, AssignmentSettings, assign_lesson, assignments_of, exercises_chosen
from app.store.classes import RefusedError
from app.store.database import Database, now
from app.store.tables import Assignment, Class, LtiContext, LtiLineItem, LtiPlatform

log = structlog.get_logger()

TAG = "backhand"
MEANT_FOR_GRADE = 0.5
"""Share of its points that late work counts, as in a form for a new assignment."""
LEASE = timedelta(minutes=15)
"""Longer than a list of so many pages can take, each as late as it may come."""
MAX_SEEK_TRIES = 36
"""They take a week."""
MAX_PAGES = 20
LISTED_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
MADE_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
NO_COLUMN = "There is no column for it in the gradebook there."
SEVERAL_COLUMNS = "There are {count} columns for it in the gradebook there; grades go to the oldest."
NUMBERS = re.compile("[0-9]+")


def below(url: str, word: str) -> str:
    """Address of *word* of a line item: into the path, since the line items of Moodle have a query."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{word}").geturl()


def with_query(url: str, **values: str) -> str:
    """*url* with *values* behind what it asks for already."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(values)}"


def stated_points(launch: Launch) -> float | None:
    """What the link says that it is worth; None where it says nothing, as a link that is not graded."""
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
    """What the class was given of *target*: by such a link, be it fewer exercises now, or by hand and the same."""
    chosen = json.dumps([target.exercise]) if target.exercise else None
    rows = await assignments_of(db, context.class_id)
    linked = next((row for row in rows if row.resource_id == target.resource_id and _holds(row, target)), None)
    by_hand = (row for row in rows if row.resource_id is None)
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
    """Where the grades of an *assignment* go, in a course; each course that shares a class has columns of its own."""
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

    What was copied came with its columns, and one that somebody deleted is not wanted: for these none is made.
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


@dataclass(frozen=True, slots=True)
class SoughtItem:
    """A column that this server looks for: what its *target* is, and where the course has its columns."""

    item: LtiLineItem
    assignment: Assignment
    context: LtiContext
    platform: LtiPlatform

    @property
    def target(self) -> Target:
        chosen = exercises_chosen(self.assignment)
        return Target(self.assignment.lesson, next(iter(chosen)) if chosen and len(chosen) == 1 else "")


class LineItemFinder:
    """Looks for columns that are due to be looked for. Several servers may do so: each has its own for a lease."""

    def __init__(self, database: Database, services: PlatformServices) -> None:
        self._database = database
        self._services = services

    async def find_due(self) -> int:
        """Look for all that are due now; how many were looked for."""
        count = 0
        while (sought := await self._claim()) is not None:
            count += 1
            await self._find(sought)
        return count

    async def _claim(self) -> SoughtItem | None:
        query = (
            select(LtiLineItem, Assignment, LtiContext, LtiPlatform)
            .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
            .join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
            .join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
            .join(Class, Class.id == LtiContext.class_id)
            .where(LtiContext.lineitems_url.is_not(None), Class.archived_at.is_(None), LtiLineItem.seek_at <= now())
            .limit(1)
        )
        async with self._database.read() as db:
            if (await db.execute(query)).one_or_none() is None:
                return None
        async with self._database.write() as db:
            row = (await db.execute(query.with_for_update(of=LtiLineItem, skip_locked=True))).one_or_none()
            if row is not None:
                row[0].seek_at = now() + LEASE
        return None if row is None else SoughtItem(*row)

    async def _find(self, sought: SoughtItem) -> None:
        url, answer, failed = "", None, True
        try:
            urls = await self._matching(sought)
            failed = False
            url = urls[0] if urls else ""
            answer = NO_COLUMN if not urls else SEVERAL_COLUMNS.format(count=len(urls)) if len(urls) > 1 else None
        except PlatformError as error:
            answer = f"{error} {error.answer}".strip()[: lti_scores.MAX_ANSWER_CHARS]
        except RefusedError as error:  # our own key cannot be used
            answer = "This server could not sign the message."
            log.warning("lti-no-key", fix=str(error))
        if answer:
            log.warning("lti-line-item", item=sought.item.id, url=url, said=answer)
        async with self._database.write() as db:
            item = await db.get(LtiLineItem, sought.item.id)
            if item is None or item.seek_at != sought.item.seek_at:  # a launch has named it meanwhile
                return
            item.answer = answer
            item.seek_tries += failed
            again = failed and item.seek_tries < MAX_SEEK_TRIES
            item.seek_at = now() + lti_scores.retry_wait(item.seek_tries - 1) if again else None
            if url and url != item.url:
                item.url = url
                await db.flush()
                await lti_scores.queue_assignment(db, item.assignment_id)

    async def _matching(self, sought: SoughtItem) -> Sequence[str]:
        """Addresses of the columns of what is sought, the oldest first; of one that is made where there is none."""
        resource, link = sought.target.resource_id, sought.item.resource_link_id
        rows = await self._list(sought, resource_id=resource, tag=TAG)
        urls = [row["id"] for row in rows if row.get("resourceId") == resource and row.get("tag") in (TAG, None, "")]
        if not urls and link is not None:
            rows = await self._list(sought, resource_link_id=link)
            urls = [row["id"] for row in rows if row.get("resourceLinkId") == link]
        if not urls and sought.item.creates and sought.assignment.points > 0:
            urls = [await self._create(sought)]
        return sorted(set(urls), key=_age)

    async def _list(self, sought: SoughtItem, **wanted: str) -> Sequence[Mapping[str, Any]]:
        """Columns of the course, those that are *wanted* and, of platforms that know no better, others too."""
        rows: list[Mapping[str, Any]] = []
        url = with_query(sought.context.lineitems_url or "", **wanted)
        for _ in range(MAX_PAGES):
            answer = await self._ask(sought, "GET", url, {"accept": LISTED_TYPE})
            listed = answer.json() if answer.status == 200 else None
            if not isinstance(listed, list):
                raise PlatformError(f"Its list of columns answers {answer.status}.", answer=answer.quoted)
            rows += [row for row in listed if isinstance(row, dict) and parse_id(row.get("id")) is not None]
            if answer.next_page is None:
                return rows
            url = urljoin(url, answer.next_page)
        raise PlatformError(f"Its list of columns has more than {MAX_PAGES} pages.")

    async def _create(self, sought: SoughtItem) -> str:
        assignment = sought.assignment
        column = {
            "label": assignment.heading or sought.target.resource_id,
            "scoreMaximum": assignment.points,
            "resourceId": sought.target.resource_id,
            "tag": TAG,
        }
        if sought.item.resource_link_id is not None:
            column["resourceLinkId"] = sought.item.resource_link_id
        url = sought.context.lineitems_url or ""
        answer = await self._ask(sought, "POST", url, {"content-type": MADE_TYPE}, json.dumps(column).encode())
        made = answer.json() if answer.status in (200, 201) else None
        address = parse_id(made.get("id")) if isinstance(made, dict) else None
        if address is None:
            raise PlatformError(f"It makes no column ({answer.status}).", answer=answer.quoted)
        return address

    async def _ask(
        self, sought: SoughtItem, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> Answer:
        scope = sought.context.lineitems_scope or LINE_ITEM_SCOPES[0]
        return await self._services.ask(sought.platform, scope, method, url, headers=headers, content=content)


def _age(url: str) -> tuple[int, ...]:
    """Platforms count what they make: of two columns the older one has the smaller number in its address."""
    return tuple(int(number) for number in NUMBERS.findall(urlsplit(url).path))
