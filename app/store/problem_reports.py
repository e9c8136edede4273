"""Problems with exercises that learners report, and what authors answer."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import at_exercise, lock_learner, now
from app.store.notices import add_notice
from app.store.tables import Attempt, Draft, ProblemReport

MOST_OPEN = 20
"""Reports of one learner that nobody has settled yet."""
MOST_SHOWN = 200
LONGEST_SAID = 500


class TooManyReportsError(RuntimeError):
    """As many reports of a learner are open as are kept."""


async def report_problem(
    db: AsyncSession,
    learner: int,
    lesson: str,
    exercise: str,
    *,
    edition: str,
    said: str,
    browser: str,
    answer_text: Callable[[str, str], str],
) -> None:
    """Keep what *learner* said of an exercise, with what they wrote there last.

    Args:
        answer_text: Puts an answer and its verdict, both JSON, into words.

    Raises:
        TooManyReportsError: `MOST_OPEN` of theirs are open.
    """
    await lock_learner(db, learner)
    own_open = ProblemReport.learner_id == learner, ProblemReport.settled_at.is_(None)
    if (await db.scalar(select(func.count()).where(*own_open)) or 0) >= MOST_OPEN:
        raise TooManyReportsError
    db.add(
        ProblemReport(
            learner_id=learner,
            created_at=now(),
            lesson=lesson,
            exercise=exercise,
            edition=edition,
            said=said[:LONGEST_SAID],
            text=await _text_of(db, learner, lesson, exercise, answer_text),
            browser=browser,
        )
    )


async def _text_of(
    db: AsyncSession, learner: int, lesson: str, exercise: str, answer_text: Callable[[str, str], str]
) -> str:
    """The text in the box, or the newest answer in words; empty where there is neither."""
    draft = select(Draft.text).where(*at_exercise(Draft, learner, lesson, exercise))
    if text := await db.scalar(draft):
        return text
    answered = select(Attempt.text, Attempt.verdict_json).where(*at_exercise(Attempt, learner, lesson, exercise))
    newest = answered.order_by(Attempt.id.desc()).limit(1)
    row = (await db.execute(newest)).one_or_none()
    return answer_text(row.text, row.verdict_json) if row else ""


async def reports_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Sequence[ProblemReport]:
    """Reports of *learner* on an exercise, the newest first."""
    query = select(ProblemReport).where(*at_exercise(ProblemReport, learner, lesson, exercise))
    return (await db.scalars(query.order_by(ProblemReport.id.desc()))).all()


async def list_reports(db: AsyncSession, lessons: Collection[str], *, settled: bool) -> Sequence[ProblemReport]:
    """Reports about *lessons* that are open, the oldest first, or that are *settled*, the newest first."""
    done = ProblemReport.settled_at
    query = select(ProblemReport).where(done.is_not(None) if settled else done.is_(None))
    query = query.where(ProblemReport.lesson.in_(lessons)).limit(MOST_SHOWN)
    return (await db.scalars(query.order_by(ProblemReport.id.desc() if settled else ProblemReport.id))).all()


async def settle_reports(
    db: AsyncSession, numbers: Collection[int], lessons: Collection[str], by: int, answer: str
) -> int:
    """Settle those open reports about *lessons* with one *answer*, which goes to all of them; how many there were."""
    query = select(ProblemReport).where(
        ProblemReport.id.in_(numbers), ProblemReport.lesson.in_(lessons), ProblemReport.settled_at.is_(None)
    )
    reports = (await db.scalars(query.with_for_update())).all()
    for report in reports:
        report.settled_at, report.settled_by, report.answer = now(), by, answer
        if answer:
            await add_notice(
                db, report.learner_id, "answer", lesson=report.lesson, exercise=report.exercise, answer=answer
            )
    return len(reports)


async def forget_reports(db: AsyncSession, before: datetime) -> None:
    """Delete reports that were settled before that moment."""
    await db.execute(delete(ProblemReport).where(ProblemReport.settled_at < before))
