"""Stepping through the texts of a code box: every check, and every text that was replaced without one.

Each is shown as it is, or as what changed: since the one before it, or from it to what stands in the box now.
"""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import CodeBox, Lesson
from app.engine.json_columns import decoded_verdict
from app.store.drafts import TextVersionRef, draft_of, marks_of, past_text
from app.store.tables import Draft
from app.web.verdict_words import VerdictView
from app.web.views.exercise_view import starter_of
from app.web.views.text_changes import DiffLine, diff_lines

REASONS = {
    "reset": "Before a reset",
    "restore": "Before an earlier text was restored",
    "other-tab": "Written in another tab or on another device",
    "sign-in": "Written before signing in",
}
Against = Literal["", "before", "box"]
WAYS: tuple[tuple[Against, str], ...] = (
    ("", "The text"),
    ("before", "Changes since the one before"),
    ("box", "Changes from it to the box"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryView:
    """One stored text of *count*; *at* counts from 1, 0 if there is none yet. *draft* is the text of the box.

    Args:
        against: What it is compared with; *lines* are then what changed, none where they are the same.
    """

    exercise: CodeBox
    url: str
    back: str
    at: int
    count: int
    mark: TextVersionRef | None
    text: str
    draft: Draft | None
    checked: VerdictView | None
    reason: str
    against: Against = ""
    lines: tuple[DiffLine, ...] = ()

    ways = WAYS

    @property
    def name(self) -> str:
        return self.exercise.name


async def history_view(
    db: AsyncSession,
    learner: int | None,
    lesson: Lesson,
    exercise: CodeBox,
    at: int | None = None,
    against: Against = "",
) -> HistoryView:
    """The text number *at*, the newest where that is None or out of range."""
    marks = [] if learner is None else await marks_of(db, learner, lesson.name, exercise.name)
    position = at if at is not None and 1 <= at <= len(marks) else len(marks)
    mark = marks[position - 1] if marks else None
    text_version = await past_text(db, mark) if mark else None
    verdict = decoded_verdict(text_version.verdict) if text_version else None
    back = lesson.address
    draft = await draft_of(db, learner, lesson.name, exercise.name) if learner is not None else None
    text, in_box = text_version.text if text_version else "", draft.text if draft else starter_of(exercise, "")
    lines: tuple[DiffLine, ...] = ()
    if against == "box":
        lines = diff_lines(text, in_box)
    elif against == "before":
        earlier = (await past_text(db, marks[position - 2])).text if position > 1 else starter_of(exercise, "")
        lines = diff_lines(earlier, text)
    return HistoryView(
        exercise=exercise,
        url=f"{back}/code/{exercise.name}",
        back=f"{back}#{exercise.name}",
        at=position,
        count=len(marks),
        mark=mark,
        text=text,
        draft=draft,
        checked=VerdictView(verdict) if verdict else None,
        reason=REASONS.get(text_version.reason or "", "") if text_version else "",
        against=against,
        lines=lines,
    )
