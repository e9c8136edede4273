"""The text in a code box: saved as it is typed, never lost.

Whatever is about to be replaced without having been checked is kept first, see `kept_texts`.
"""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.learners import hold, now
from app.store.tables import Draft, Kept

KEPT_TEXTS = 20

Reason = Literal["reset", "restore", "other-tab"]


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save did. *conflict*: another tab had saved something else since; its text was kept aside."""

    draft: Draft
    conflict: bool = False


async def draft_of(db: AsyncSession, learner: int, lesson: str, exercise: str) -> Draft | None:
    return await db.get(Draft, (learner, lesson, exercise))


async def save_draft(
    db: AsyncSession, learner: int, lesson: str, exercise: str, text: str, *, base: int | None = None
) -> Saved:
    """Store *text* as what stands in the box.

    Args:
        base: The revision that the writer had seen. When the stored draft is a newer, different one, both are kept:
            *text* becomes the draft, the other goes to the kept texts. None means that the writer saw the newest.
    """
    await hold(db, learner)
    draft = await draft_of(db, learner, lesson, exercise)
    if draft is None:
        draft = Draft(learner_id=learner, lesson=lesson, exercise=exercise, text=text, revision=1, saved_at=now())
        db.add(draft)
        return Saved(draft)
    if draft.text == text:
        return Saved(draft)
    conflict = base is not None and base != draft.revision
    if conflict:
        await keep(db, draft, "other-tab")
    _write(draft, text)
    return Saved(draft, conflict)


async def replace_draft(db: AsyncSession, draft: Draft, text: str, reason: Reason) -> None:
    """Put *text* into the box, and keep what stood there."""
    draft.run = None
    if draft.text != text:
        await keep(db, draft, reason)
        _write(draft, text)


async def kept_texts(db: AsyncSession, learner: int, lesson: str, exercise: str) -> list[Kept]:
    """Texts that were replaced without a check, oldest first."""
    mine = select(Kept).where(Kept.learner_id == learner, Kept.lesson == lesson, Kept.exercise == exercise)
    return list(await db.scalars(mine.order_by(Kept.id)))


async def keep(db: AsyncSession, draft: Draft, reason: Reason) -> None:
    if not draft.text.strip():
        return
    older = await kept_texts(db, draft.learner_id, draft.lesson, draft.exercise)
    # The same text twice would push out one that exists nowhere else.
    surplus = [row.id for row in older if row.text == draft.text]
    surplus += [row.id for row in older if row.id not in surplus][: -(KEPT_TEXTS - 1)]
    if surplus:
        await db.execute(delete(Kept).where(Kept.id.in_(surplus)))
    db.add(
        Kept(
            learner_id=draft.learner_id,
            lesson=draft.lesson,
            exercise=draft.exercise,
            text=draft.text,
            reason=reason,
            kept_at=now(),
        )
    )


def _write(draft: Draft, text: str) -> None:
    draft.text = text
    draft.revision += 1
    draft.saved_at = now()
