"""Names with passwords, for places without a campus login: a name is one learner's on this server.

Passwords are kept as argon2id hashes. To make or to compare one takes a core and 64 MiB for a
moment, so few do at once.
"""

import asyncio
import unicodedata
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.credentials import VerifiedIdentity, find_credential
from app.store.classes import RefusedError
from app.store.tables import Credential
from app.teaching.text_input import name_fault, one_line

AT_ONCE, MOST_WAITING = 2, 20
SHORTEST, LONGEST = 8, 200

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
    """Normal form of a name, equal for all its spellings."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name_of(name)).casefold())


async def new_proof(db: AsyncSession, name: str, secret: str = "") -> VerifiedIdentity:
    """Identity for a new name, with the hash of its password, see `hash_password`.

    Raises:
        RefusedError: The name is taken.
    """
    if await find_credential(db, "password", "", subject_of(name)) is not None:
        raise RefusedError(TAKEN)
    return VerifiedIdentity(kind="password", issuer="", subject=subject_of(name), secret=secret, name=name_of(name))


def refuse_weak(name: str, password: str) -> None:
    """Refuse a password without hashing it.

    Raises:
        RefusedError: It is too short, too long, or the name itself; or the name cannot be used.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise RefusedError(f"A password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}.")
    if password.casefold() == subject_of(name):
        raise RefusedError("The password is the name. Take another one.")


async def hash_password(name: str, password: str) -> str:
    """Hash *password* for storage.

    Raises:
        RefusedError: See `refuse_weak`.
    """
    refuse_weak(name, password)
    return await asyncio.get_running_loop().run_in_executor(_FEW, _HASHER.hash, _bytes(password))


async def verify_password(credential: Credential | None, password: str) -> None:
    """Verify *password* in constant time: an unknown name costs one argon2 hash, too.

    Raises:
        RefusedError: *password* is not the one of *credential*, or there is none.
    """
    secret = credential.secret if credential is not None and credential.secret else _NOBODYS
    right = await asyncio.get_running_loop().run_in_executor(_FEW, _is_right, secret, password[: LONGEST + 1])
    if not right or credential is None:
        raise RefusedError(NOT_BOTH)


def _is_right(secret: str, password: str) -> bool:
    try:
        return _HASHER.verify(secret, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False


def _bytes(password: str) -> bytes:
    # As keyboards write it: the same letters in two ways are the same password.
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
