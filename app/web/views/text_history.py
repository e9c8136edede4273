"""Stepping through the texts of a code box: every check, and every text that was replaced without one."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import CodeBox, Lesson
from app.store.drafts import Mark, draft_of, marks_of, past
from app.store.tables import Draft
from app.web.json_columns import decoded_verdict
from app.web.verdict_words import VerdictView

REASONS = {
    "reset": "Before a reset",
    "restore": "Before an earlier text was restored",
    "other-tab": "Written in another tab",
    "sign-in": "Written before signing in",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryView:
    """One stored text of *count*; *at* counts from 1, 0 where there is none yet. *draft* stands in the box now."""

    exercise: CodeBox
    url: str
    back: str
    at: int
    count: int
    mark: Mark | None
    text: str
    draft: Draft | None
    checked: VerdictView | None
    reason: str

    @property
    def name(self) -> str:
        return self.exercise.name


async def history_view(
    db: AsyncSession, learner: int | None, lesson: Lesson, exercise: CodeBox, at: int | None = None
) -> HistoryView:
    """The text number *at*, the newest where that is None or out of range."""
    marks = [] if learner is None else await marks_of(db, learner, lesson.name, exercise.name)
    position = at if at is not None and 1 <= at <= len(marks) else len(marks)
    mark = marks[position - 1] if marks else None
    found = await past(db, mark) if mark else None
    verdict = decoded_verdict(found.verdict) if found else None
    back = lesson.address
    return HistoryView(
        exercise=exercise,
        url=f"{back}/code/{exercise.name}",
        back=f"{back}#{exercise.name}",
        at=position,
        count=len(marks),
        mark=mark,
        text=found.text if found else "",
        draft=await draft_of(db, learner, lesson.name, exercise.name) if learner is not None else None,
        checked=VerdictView(verdict) if verdict else None,
        reason=REASONS.get(found.reason or "", "") if found else "",
    )
