"""Texts of a code box: the draft, saved as it is typed, and every text that it replaced.

Whatever is about to be replaced without having been checked is kept first, see `kept_texts`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import at_exercise, lock_learner, now
from app.store.tables import Attempt, Draft, ReplacedText

KEPT_TEXTS = 20

Reason = Literal["reset", "restore", "other-tab", "sign-in"]


@dataclass(frozen=True, slots=True)
class SaveResult:
    """Result of saving a draft.

    Args:
        other: Another tab or device had saved something else since, and its text is now this one of the stored texts,
            counted from 1; 0 where nothing was in the way.
    """

    draft: Draft
    other: int = 0

    @property
    def conflict(self) -> bool:
        return self.other > 0


async def draft_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Draft | None:
    return await db.get(Draft, (learner, lesson, exercise))


async def save_draft(
    db: AsyncSession, learner: int, lesson: str, exercise: str, text: str, *, base: int | None = None
) -> SaveResult:
    """Save *text* as the draft of the box.

    Args:
        base: The revision that the writer had seen. When the stored draft is a newer, different one, both are kept:
            *text* becomes the draft, the other goes to the kept texts. None means that the writer saw the newest.
    """
    await lock_learner(db, learner)
    parameters = {"of_learner": learner, "of_lesson": lesson, "of_exercise": exercise}
    seen_version = (
        None if base is None else await db.scalar(_WRITE_OVER, {**parameters, "base": base, "new": text, "at": now()})
    )
    if seen_version is not None:
        return SaveResult(seen_version)
    draft = await draft_of(db, learner, lesson, exercise)
    if draft is None:
        draft = Draft(learner_id=learner, lesson=lesson, exercise=exercise, text=text, revision=1, saved_at=now())
        db.add(draft)
        return SaveResult(draft)
    if draft.text == text:
        return SaveResult(draft)
    other = 0
    if base is not None and base != draft.revision and draft.text.strip():
        await store_replaced_text(db, draft, "other-tab")
        other = len(await marks_of(db, learner, lesson, exercise))
    _write(draft, text)
    return SaveResult(draft, other)


_WRITE_OVER = (
    update(Draft)
    .where(
        *at_exercise(Draft, bindparam("of_learner"), bindparam("of_lesson"), bindparam("of_exercise")),
        Draft.revision == bindparam("base"),
        Draft.text != bindparam("new"),
    )
    .values(text=bindparam("new"), revision=Draft.revision + 1, saved_at=bindparam("at"))
    .returning(Draft)
    .execution_options(synchronize_session=False, populate_existing=True)
)
"""Every save that comes after the one before it, in a single visit to the database."""


async def replace_draft(db: AsyncSession, draft: Draft, text: str, reason: Reason) -> None:
    """Replace the draft by *text*, and store the replaced text."""
    draft.run_json = None
    if draft.text != text:
        await store_replaced_text(db, draft, reason)
        _write(draft, text)


async def kept_texts(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[ReplacedText]:
    """Texts that were replaced without a check, oldest first."""
    query = select(ReplacedText).where(*at_exercise(ReplacedText, learner, lesson, exercise))
    return list(await db.scalars(query.order_by(ReplacedText.id)))


async def store_replaced_text(db: AsyncSession, draft: Draft, reason: Reason) -> None:
    if not draft.text.strip():
        return
    older = await kept_texts(db, draft.learner_id, draft.lesson, draft.exercise)
    # The same text twice would push out one that exists nowhere else.
    surplus = [row.id for row in older if row.text == draft.text]
    surplus += [row.id for row in older if row.id not in surplus][: -(KEPT_TEXTS - 1)]
    if surplus:
        await db.execute(delete(ReplacedText).where(ReplacedText.id.in_(surplus)))
    db.add(
        ReplacedText(
            learner_id=draft.learner_id,
            lesson=draft.lesson,
            exercise=draft.exercise,
            text=draft.text,
            reason=reason,
            replaced_at=now(),
        )
    )


def _write(draft: Draft, text: str) -> None:
    draft.text = text
    draft.revision += 1
    draft.saved_at = now()


@dataclass(frozen=True, slots=True)
class TextVersionRef:
    """One stored text, by its table and id."""

    kind: Literal["check", "kept"]
    id: int
    at: datetime


@dataclass(frozen=True, slots=True)
class TextVersion:
    """The text behind a mark: of a check with its verdict (JSON), or kept for a *reason*."""

    text: str
    verdict: str | None = None
    reason: str | None = None


async def marks_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[TextVersionRef]:
    checks = select(Attempt.id, Attempt.created_at).where(
        *at_exercise(Attempt, learner, lesson, exercise), Attempt.kind == "code"
    )
    query = select(ReplacedText.id, ReplacedText.replaced_at).where(
        *at_exercise(ReplacedText, learner, lesson, exercise)
    )
    marks = [TextVersionRef("check", row.id, row.created_at) for row in await db.execute(checks)]
    marks += [TextVersionRef("kept", row.id, row.replaced_at) for row in await db.execute(query)]
    return sorted(marks, key=lambda mark: (mark.at, mark.kind, mark.id))


async def past_text(db: AsyncSession, mark: TextVersionRef) -> TextVersion:
    """The text of a mark from `marks_of`."""
    if mark.kind == "check":
        attempt = await db.get_one(Attempt, mark.id)
        return TextVersion(attempt.text, verdict=attempt.verdict_json)
    replaced = await db.get_one(ReplacedText, mark.id)
    return TextVersion(replaced.text, reason=replaced.reason)
