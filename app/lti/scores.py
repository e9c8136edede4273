"""Grades on their way to platforms (Assignment and Grade Services).

What is sent is what the gradebook says at that moment, stamped then: Moodle refuses with 409 what is stamped before its
own last write of a grade, as a clock that is a little behind would do. Then it is asked for that moment, and told again
with a later one. A platform that is down is asked again, for a week; what it refuses for good is told to the instructor
in its own words.

Source: LTI-AGS 2.0 (3.4), https://www.imsglobal.org/spec/lti-ags/v2p0
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import AGS
from app.lti.errors import PlatformError
from app.lti.line_items import below, with_query
from app.lti.platform_client import Answer
from app.lti.tokens import PlatformServices, why_unanswered
from app.store import lti_scores
from app.store.assignments import counted_exercises
from app.store.classes import RefusedError
from app.store.database import Database, now
from app.store.grades import Grade, build_gradebook
from app.store.tables import (
    Assignment,
    Attempt,
    Class,
    LtiContext,
    LtiLineItem,
    LtiMember,
    LtiPlatform,
    LtiScore,
    Membership,
)

log = structlog.get_logger()

LOOK_SECONDS = 5.0
AT_ONCE = 8
"""Grades that are on their way at a time. Each is claimed when it is sent, so that no lease ends while it waits."""
SCORE = AGS + "scope/score"
RESULT = AGS + "scope/result.readonly"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
STALE = 409
AGAIN = frozenset({401, 408, 425, 429})
"""Refusals that are not meant for good; so is every answer from 500 on."""
Exercises = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """A grade as a platform is told it: *given* of *maximum* points to *subject*, *done* or with more to come.

    *given* is None for work that was begun and has no points yet.
    """

    platform: LtiPlatform
    url: str
    subject: str
    given: float | None
    maximum: float
    done: bool

    def body(self, stamped: datetime) -> bytes:
        points = {} if self.given is None else {"scoreGiven": round(self.given, 4), "scoreMaximum": self.maximum}
        fields = {
            "userId": self.subject,
            **points,
            "activityProgress": "Completed" if self.done else "InProgress",
            "gradingProgress": "Pending" if self.given is None else "FullyGraded",
            "timestamp": stamped.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return json.dumps(fields).encode()


class ScoreSender:
    """Sends what is due in the outbox. Several servers may do so at once: each has its rows for the time of a lease."""

    def __init__(self, database: Database, services: PlatformServices, exercises: Callable[[], Exercises]) -> None:
        self._database = database
        self._services = services
        self._exercises = exercises

    async def send_due(self) -> int:
        """Send all that is due now; number of grades that were tried."""
        async with self._database.read() as db:
            if not await lti_scores.is_any_due(db):
                return 0
        return sum(await asyncio.gather(*(self._send_one_by_one() for _ in range(AT_ONCE))))

    async def _send_one_by_one(self) -> int:
        tried = 0
        while True:
            async with self._database.write() as db:
                row = await lti_scores.claim_due(db)
            if row is None:
                return tried
            tried += 1
            await self._send(row)

    async def _send(self, row: LtiScore) -> None:
        try:
            await self._send_or_put_off(row)
        except (SQLAlchemyError, OSError):
            raise
        except Exception:  # the others must go on, and this one is tried again when its lease is over
            log.exception("lti-score-failed", item=row.line_item_id, learner=row.learner_id)

    async def _send_or_put_off(self, row: LtiScore) -> None:
        async with self._database.read() as db:
            score = await find_score(db, row, self._exercises())
        answer, final, is_away = "", False, False
        if score is not None:
            try:
                answer, final = await self._tell(score)
            except (PlatformError, RefusedError) as error:
                answer = why_unanswered(error)
                is_away = isinstance(error, PlatformError) and error.status is None
        if answer:
            log.warning("lti-score-not-taken", item=row.line_item_id, learner=row.learner_id, final=final, said=answer)
        async with self._database.write() as db:
            if answer:
                await lti_scores.put_off(db, row, answer, final=final)
            else:
                await lti_scores.settle(db, row)
            if score is not None and is_away:
                await lti_scores.spare_platform(db, score.platform.id)

    async def _tell(self, score: Score) -> tuple[str, bool]:
        """Tell a platform a grade: what it says against that, if anything, and whether it is meant for good.

        That work was begun is told only where no score stands: Moodle takes it back for a message without one.
        """
        if score.given is None and not await self._is_unscored(score):
            return "", False
        answer = await self._post(score, now())
        if answer.status == STALE:
            answer = await self._post(score, await self._later(score, answer))
        if 200 <= answer.status < 300:
            return "", False
        message = f"{answer.status} {answer.excerpt}".strip()
        return message, answer.status < 500 and answer.status != STALE and answer.status not in AGAIN

    async def _post(self, score: Score, stamped: datetime) -> Answer:
        headers = {"content-type": SCORE_TYPE}
        url = below(score.url, "scores")
        return await self._services.ask(
            score.platform, SCORE, "POST", url, headers=headers, content=score.body(stamped)
        )

    async def _later(self, score: Score, refused: Answer) -> datetime:
        """A moment after the platform's own last write: as it tells it, or after what its clock shows."""
        moments = [now(), *([refused.date] if refused.date else [])]
        try:
            results = await self._results(score)
        except PlatformError:
            results = None
        for result in results or []:
            moments += _moment_of(result)
        return max(moments) + timedelta(seconds=1)

    async def _results(self, score: Score) -> list[Any] | None:
        """Result that the platform's gradebook has in the place of *score*; None where it does not say."""
        url = with_query(below(score.url, "results"), user_id=score.subject)
        answer = await self._services.ask(score.platform, RESULT, "GET", url)
        results = answer.json() if answer.status == 200 else None
        return results if isinstance(results, list) else None

    async def _is_unscored(self, score: Score) -> bool:
        try:
            results = await self._results(score)
        except PlatformError as error:
            if error.status is None:
                raise
            return False  # it does not let us look
        return results is not None and all(
            isinstance(result, dict) and result.get("resultScore") is None for result in results
        )


def _moment_of(result: Any) -> list[datetime]:
    try:
        moment = datetime.fromisoformat(str(result["timestamp"]))
    except (KeyError, TypeError, ValueError):
        return []
    return [moment if moment.tzinfo else moment.replace(tzinfo=UTC)]


async def find_score(db: AsyncSession, row: LtiScore, exercises: Exercises) -> Score | None:
    """The grade of *row* as it is now; None where a platform need not be told: they left, or it does not count."""
    query = (
        select(LtiLineItem, Assignment, LtiMember, LtiPlatform, Class)
        .join(Assignment, Assignment.id == LtiLineItem.assignment_id)
        .join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
        .join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
        .join(Class, Class.id == LtiContext.class_id)
        .join(LtiMember, LtiMember.lti_context_id == LtiContext.id)
        .join(Membership, (Membership.class_id == Class.id) & (Membership.learner_id == LtiMember.learner_id))
        .where(LtiLineItem.id == row.line_item_id, LtiMember.learner_id == row.learner_id)
        .where(LtiMember.role == "learner", Membership.role == "learner", Membership.left_at.is_(None))
    )
    graded_row = (await db.execute(query)).one_or_none()
    if graded_row is None:
        return None
    item, assignment, member, platform, group = graded_row
    book = await build_gradebook(db, group, exercises, row.learner_id)
    numbers = [row.id for row in book.assignments]
    if not book.rows or assignment.id not in numbers:
        return None
    grade = book.rows[0].grades[numbers.index(assignment.id)]
    if assignment.points <= 0 or (grade.points is None and not await _is_begun(db, assignment, exercises, row, grade)):
        return None
    given = None if grade.points is None else min(max(grade.points, 0.0), assignment.points)
    done = grade.override is not None or grade.in_time + grade.late >= grade.total
    return Score(platform, item.url, member.subject, given, assignment.points, done)


async def _is_begun(
    db: AsyncSession, assignment: Assignment, exercises: Exercises, row: LtiScore, grade: Grade
) -> bool:
    """True if something of an *assignment* that is not due yet was tried, and nothing of it solved."""
    if grade.state != "open":
        return False
    counted, _ = counted_exercises(assignment, exercises)
    tried = (Attempt.learner_id == row.learner_id, Attempt.lesson == assignment.lesson, Attempt.exercise.in_(counted))
    return await db.scalar(select(Attempt.id).where(*tried).limit(1)) is not None
