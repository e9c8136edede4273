"""Names with passwords, for places without a campus login: a name is one learner's on this server.

Passwords are kept as argon2id hashes. To make or to compare one takes a core and 64 MiB for a
moment, so few do at once.
"""

import asyncio
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import tickets
from app.accounts.credentials import Proof, create, found, ways
from app.store.classes import RefusedError, record
from app.store.tables import Class, Credential, Learner, Membership, Session
from app.teaching.words import name_fault, one_line

AT_ONCE = 2
SHORTEST, LONGEST = 8, 200
RESET_LIVES = timedelta(hours=24)

USED = "This link was used already, or is older than a day. Ask your instructor for a new one."
NOT_BOTH = "No account here has this name with this password."
TAKEN = "Somebody here has this name already. Take another one, or sign in if it is you."
_HASHER = PasswordHasher()
_NOBODYS = (  # a password that nobody knows
    "$argon2id$v=19$m=65536,t=3,p=4$QCYIv3gaa0bwKetvhr4Eiw$BVmVbBWpDzUlMKAmdXoT0E57UdZIIDf0Q967/wqCmmw"
)
_FEW = ThreadPoolExecutor(AT_ONCE, "argon2")


def name_of(text: str) -> str:
    """The name as it is shown.

    Raises:
        RefusedError: It is none.
    """
    name = one_line(text)
    if fault := name_fault(name):
        raise RefusedError(fault)
    return name


def subject_of(name: str) -> str:
    """What two spellings of one name have in common."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name_of(name)).casefold())


async def new_proof(db: AsyncSession, name: str, secret: str) -> Proof:
    """Of a name that nobody has, with what is kept of its password, see `hashed`.

    Raises:
        RefusedError: The name is taken.
    """
    if await found(db, "password", "", subject_of(name)) is not None:
        raise RefusedError(TAKEN)
    return Proof(kind="password", issuer="", subject=subject_of(name), secret=secret, name=name_of(name))


async def hashed(name: str, password: str) -> str:
    """What is kept of *password*.

    Raises:
        RefusedError: It is too short, too long, or the name itself.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise RefusedError(f"A password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}.")
    if password.casefold() == subject_of(name):
        raise RefusedError("The password is the name. Take another one.")
    return await asyncio.get_running_loop().run_in_executor(_FEW, _HASHER.hash, _bytes(password))


async def compare(credential: Credential | None, password: str) -> None:
    """A name that nobody has takes as long as one that somebody has.

    Raises:
        RefusedError: *password* is not the one of *credential*, or there is none.
    """
    secret = credential.secret if credential is not None and credential.secret else _NOBODYS
    right = await asyncio.get_running_loop().run_in_executor(_FEW, _verified, secret, password[: LONGEST + 1])
    if not right or credential is None:
        raise RefusedError(NOT_BOTH)


def _verified(secret: str, password: str) -> bool:
    try:
        return _HASHER.verify(secret, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False


def _bytes(password: str) -> bytes:
    # As keyboards write it: the same letters in two ways are the same password.
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


async def reset(db: AsyncSession, *, learner: int, by: int) -> str:
    """A token with which *learner* sets a new password, made by an instructor of a class of theirs.

    It goes to `/sign-in/reset?token=`, works once, and for a day.

    Raises:
        RefusedError: *by* may not, or there is nothing to reset.
    """
    if not await _teaches(db, by, learner):
        raise RefusedError("Only an instructor of a class that they learn in can let somebody set a new password.")
    kinds = {one.kind for one in await ways(db, learner)}
    if kinds & {"oidc", "email", "proxy"}:
        raise RefusedError("They sign in without a password, so there is none to reset.")
    await record(db, None, by, "reset", f"learner {learner}")
    return await tickets.issue(db, "reset", {"learner": learner, "by": by}, lives=RESET_LIVES)


async def _teaches(db: AsyncSession, instructor: int, learner: int) -> bool:
    """Whether *learner*, who teaches nobody, learns in a class of *instructor*."""
    theirs, own = aliased(Membership), aliased(Membership)
    shared = (
        select(theirs.class_id)
        .join(own, own.class_id == theirs.class_id)
        .join(Class, Class.id == own.class_id)
        .where(theirs.learner_id == learner, theirs.role == "learner", theirs.left_at.is_(None))
        .where(own.learner_id == instructor, own.role == "instructor", own.left_at.is_(None))
        .where(Class.archived_at.is_(None))
    )
    teaching = exists().where(Membership.learner_id == learner, Membership.role != "learner")
    own_only = (Learner.id == learner, Learner.teaches.is_(False), shared.exists(), ~teaching)
    return await db.scalar(select(Learner.id).where(*own_only)) is not None


async def name_to_reset(db: AsyncSession, token: str) -> str:
    """The name that the learner of a reset signs in with; "" for one that has none yet.

    Raises:
        RefusedError: The ticket is used or too old.
    """
    data = await tickets.look(db, "reset", token)
    if data is None:
        raise RefusedError(USED)
    return next((one.subject for one in await ways(db, data["learner"]) if one.kind == "password"), "")


async def set_anew(db: AsyncSession, token: str, name: str, secret: str) -> Proof:
    """Take the ticket of a reset: *secret* is what is kept of the password of its learner, whose sessions end.

    Raises:
        RefusedError: The ticket is used or too old, or the name is taken.
    """
    data = await tickets.take(db, "reset", token)
    if data is None:
        raise RefusedError(USED)
    mine = next((one for one in await ways(db, data["learner"]) if one.kind == "password"), None)
    if mine is None:
        mine = await create(db, data["learner"], await new_proof(db, name, secret))
    mine.secret = secret
    await db.execute(delete(Session).where(Session.learner_id == data["learner"]))
    return Proof(kind="password", issuer="", subject=mine.subject, name=name_of(name))
