"""The search for columns of a platform's gradebook that no launch has named: one server at a time looks for one.

A column is looked for by what its link leads to, and made only where there is none. To ask twice for a new column makes
two, and platforms differ in which of them people see: so a server looks again before it asks again.

Source: LTI-AGS 2.0 (3.2), https://www.imsglobal.org/spec/lti-ags/v2p0
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin, urlsplit

import structlog
from sqlalchemy import select

from app.lti.claims import LINE_ITEM_SCOPES, parse_id
from app.lti.errors import PlatformError
from app.lti.line_items import TAG, with_query
from app.lti.platform_client import Answer
from app.lti.tokens import PlatformServices, why_unanswered
from app.store import lti_scores
from app.store.classes import RefusedError
from app.store.database import Database, claim_row, now
from app.store.tables import Assignment, Class, LtiContext, LtiLineItem, LtiPlatform

log = structlog.get_logger()

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


@dataclass(frozen=True, slots=True)
class SoughtItem:
    """A column that this server looks for: what its *target* is, and where the course has its columns."""

    item: LtiLineItem
    assignment: Assignment
    context: LtiContext
    platform: LtiPlatform

    @property
    def resource_id(self) -> str:
        """Resource id that the platform has for the column."""
        return self.assignment.resource_id or self.assignment.lesson


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
        due = (
            select(LtiLineItem, Assignment, LtiContext, LtiPlatform)
            .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
            .join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
            .join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
            .join(Class, Class.id == LtiContext.class_id)
            .where(LtiContext.lineitems_url.is_not(None), Class.archived_at.is_(None), LtiLineItem.seek_at <= now())
        )
        async with claim_row(self._database, due, LtiLineItem) as row:
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
        except (PlatformError, RefusedError) as error:
            answer = why_unanswered(error)[: lti_scores.MAX_ANSWER_CHARS]
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
        resource, link = sought.resource_id, sought.item.resource_link_id
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
                raise PlatformError(f"Its list of columns answers {answer.status}.", answer=answer.excerpt)
            rows += [row for row in listed if isinstance(row, dict) and parse_id(row.get("id")) is not None]
            if answer.next_page is None:
                return rows
            url = urljoin(url, answer.next_page)
        raise PlatformError(f"Its list of columns has more than {MAX_PAGES} pages.")

    async def _create(self, sought: SoughtItem) -> str:
        assignment = sought.assignment
        column = {
            "label": assignment.heading or sought.resource_id,
            "scoreMaximum": assignment.points,
            "resourceId": sought.resource_id,
            "tag": TAG,
        }
        if sought.item.resource_link_id is not None:
            column["resourceLinkId"] = sought.item.resource_link_id
        url = sought.context.lineitems_url or ""
        answer = await self._ask(sought, "POST", url, {"content-type": MADE_TYPE}, json.dumps(column).encode())
        reply = answer.json() if answer.status in (200, 201) else None
        address = parse_id(reply.get("id")) if isinstance(reply, dict) else None
        if address is None:
            raise PlatformError(f"It makes no column ({answer.status}).", answer=answer.excerpt)
        return address

    async def _ask(
        self, sought: SoughtItem, method: str, url: str, headers: Mapping[str, str], content: bytes | None = None
    ) -> Answer:
        scope = sought.context.lineitems_scope or LINE_ITEM_SCOPES[0]
        return await self._services.ask(sought.platform, scope, method, url, headers=headers, content=content)


def _age(url: str) -> tuple[int, ...]:
    """Platforms count what they make: of two columns the older one has the smaller number in its address."""
    return tuple(int(number) for number in NUMBERS.findall(urlsplit(url).path))
