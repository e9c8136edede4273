"""Secrets that live for minutes: what is asked for now and shown again soon. Only their hashes are kept.

A token is redeemed once: of two requests with it one gets it.
"""

import json
import secrets
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.database import now
from app.store.learners import hash_of
from app.store.tables import OneTimeToken

Purpose = Literal[
    "email-code", "lti-choice", "lti-entry", "lti-login", "lti-ticket", "merge", "oidc", "passkey", "reset", "rotated"
]

LIVES = timedelta(minutes=10)


async def issue(
    db: AsyncSession, purpose: Purpose, data: dict[str, Any], *, lives: timedelta = LIVES, token: str = ""
) -> str:
    """Issue a one-time token, for a browser or a link; expired ones are deleted."""
    await db.execute(delete(OneTimeToken).where(OneTimeToken.expires_at < now()))
    token = token or secrets.token_urlsafe(32)
    row = {"token_hash": hash_of(token), "purpose": purpose, "data_json": json.dumps(data), "tries": 0}
    await db.merge(OneTimeToken(**row, expires_at=now() + lives))
    return token


async def peek(db: AsyncSession, purpose: Purpose, token: str) -> dict[str, Any] | None:
    """Return the data of a one-time token, which stays valid; None if it is unknown or expired."""
    data = await db.scalar(select(OneTimeToken.data_json).where(*_valid(purpose, token)))
    return None if data is None else dict(json.loads(data))


async def redeem(db: AsyncSession, purpose: Purpose, token: str) -> dict[str, Any] | None:
    """Redeem a one-time token: return its data and delete it; None if it is unknown or expired."""
    data = await db.scalar(delete(OneTimeToken).where(*_valid(purpose, token)).returning(OneTimeToken.data_json))
    return None if data is None else dict(json.loads(data))


async def redeem_with_tries(db: AsyncSession, purpose: Purpose, token: str, most: int) -> dict[str, Any] | None:
    """Redeem a token that has *most* tries; the try is counted before the caller learns whether it is right."""
    left = (*_valid(purpose, token), OneTimeToken.tries < most)
    data = await db.scalar(
        update(OneTimeToken).where(*left).values(tries=OneTimeToken.tries + 1).returning(OneTimeToken.data_json)
    )
    return None if data is None else dict(json.loads(data))


def _valid(purpose: Purpose, token: str) -> tuple[Any, ...]:
    return OneTimeToken.token_hash == hash_of(token), OneTimeToken.purpose == purpose, OneTimeToken.expires_at > now()
