"""Invitation codes, each good for one use: one makes an instructor, another gives a learner their reserved seat."""

import json
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import ClassMember, RefusedError, record_event
from app.store.database import now
from app.store.learners import hash_of
from app.store.tables import Class, Learner, Membership, OneTimeToken
from app.teaching.codes import fresh_code

PURPOSE = "invite"
FIRST = {"first": 1}
LASTS = timedelta(days=60)
USED = "This word was used already, or is too old. Ask for another one."


async def teacher_word(db: AsyncSession) -> str:
    """Issue an invitation code; the learner who redeems it may create classes."""
    return await issue(db, {})


async def first_word(db: AsyncSession) -> str | None:
    """Issue an invitation code that is valid until this server has an instructor; None if it has one."""
    return None if await somebody_teaches(db) else await issue(db, FIRST)


async def seat_words(db: AsyncSession, seats: Sequence[Membership]) -> dict[int, str]:
    """A new word for each of *seats*, by learner; the ones before it stay good until one is used."""
    return {
        membership.learner_id: await issue(db, {"class": membership.class_id, "learner": membership.learner_id})
        for membership in seats
    }


async def issue(db: AsyncSession, data: dict[str, int], lasts: timedelta = LASTS) -> str:
    """A new word for what *data* says."""
    word = fresh_code()
    db.add(
        OneTimeToken(
            token_hash=hash_of(word), purpose=PURPOSE, data_json=json.dumps(data), tries=0, expires_at=now() + lasts
        )
    )
    return word


async def redeem(db: AsyncSession, word: str) -> None:
    """
    Raises:
        RefusedError: The word was used already.
    """
    gone = delete(OneTimeToken).where(OneTimeToken.token_hash == hash_of(word)).returning(OneTimeToken.token_hash)
    if await db.scalar(gone) is None:
        raise RefusedError(USED)


async def data_of(db: AsyncSession, word: str) -> dict[str, int] | None:
    """Data of an invitation code; None if it was used or has expired."""
    data_json = await db.scalar(
        select(OneTimeToken.data_json).where(
            OneTimeToken.token_hash == hash_of(word), OneTimeToken.purpose == PURPOSE, OneTimeToken.expires_at > now()
        )
    )
    return None if data_json is None else json.loads(data_json)


async def makes_teacher(db: AsyncSession, word: str) -> bool:
    data = await data_of(db, word)
    return data == {} or (data == FIRST and not await somebody_teaches(db))


async def seat_of(db: AsyncSession, word: str) -> ClassMember | None:
    """Find the reserved seat of an invitation code; None once it is taken."""
    data = await data_of(db, word) or {}
    query = (
        select(Class, Membership)
        .join(Membership, Membership.class_id == Class.id)
        .where(
            Class.id == data.get("class"),
            Membership.learner_id == data.get("learner"),
            Membership.joined_at.is_(None),
            Membership.blocked.is_(False),
        )
    )
    row = (await db.execute(query)).one_or_none()
    return None if row is None else ClassMember(row[0], row[1])


async def somebody_teaches(db: AsyncSession) -> bool:
    return bool(await db.scalar(select(exists().where(Learner.teaches.is_(True)))))


async def let_teach(db: AsyncSession, learner: int, actor: int | None = None) -> None:
    row = await db.get_one(Learner, learner)
    if not row.teaches:
        row.teaches = True
        await record_event(db, None, actor, "teacher-added", learner)


async def become_teacher(db: AsyncSession, learner: int, word: str, name: str) -> None:
    """
    Raises:
        RefusedError: The word was used already.
    """
    if not await makes_teacher(db, word):
        raise RefusedError(USED)
    await redeem(db, word)
    row = await db.get_one(Learner, learner)
    row.name = row.name or name
    await let_teach(db, learner, learner)
