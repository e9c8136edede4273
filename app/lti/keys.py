"""Keys of this server, which messages to platforms are signed with, and keys of platforms.

Published are up to three: the newest, which signs from the next rotation on and which platforms have seen by then; the
one that signs; and the one that signed before, for what is on its way. In the database, which backups copy, the private
halves are encrypted under a secret that is in a file of the operator's.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.errors import LaunchError, PlatformError
from app.lti.platform_client import PlatformClient
from app.store.classes import RefusedError
from app.store.database import now
from app.store.tables import LtiKey, LtiPlatform

ALGORITHM = "RS256"
KEY_BITS = 2048
MAX_PUBLISHED_KEYS = 3
MAX_PLATFORM_KEYS = 100
CACHE_SECONDS = 3600.0
UNKNOWN_KEY_SECONDS = 60.0
"""Between two questions for a key that a platform did not show before."""
NO_KEYS = "This server has no keys for learning platforms yet: `backhand lti add` makes them."
OTHER_SECRET = (
    "{path} holds another secret than the one that the keys were encrypted under. Bring back the file, or make "
    "new keys with `backhand lti rotate --anew`; platforms fetch them by themselves."
)


def encryption_in(path: Path, *, make: bool = False) -> Fernet:
    """Encryption under the secret in the file at *path*, which is made where there is none if that is asked for.

    Raises:
        RefusedError: It cannot be read, or holds no secret.
    """
    try:
        if make and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(Fernet.generate_key())
        return Fernet(path.read_bytes().strip())
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}. Without it no message can be signed.") from error
    except ValueError as error:
        raise RefusedError(f"{path} holds no secret: it wants 32 bytes in the letters of base64.") from error


async def make_keys(db: AsyncSession, encryption: Fernet) -> None:
    """Make the first two keys, where there are none."""
    if await db.scalar(select(LtiKey.kid).limit(1)) is None:
        await _add_key(db, encryption)
        await _add_key(db, encryption)


async def rotate_keys(db: AsyncSession, encryption: Fernet, *, revoke: bool = False) -> None:
    """Sign with the newest key from now on, and publish a newer one; *revoke* forgets all that there are."""
    if revoke:
        await db.execute(delete(LtiKey))
    await make_keys(db, encryption)
    if not revoke:
        await _add_key(db, encryption)
    for old in (await _newest_first(db))[MAX_PUBLISHED_KEYS:]:
        await db.delete(old)


def generate_key() -> RSAKey:
    return RSAKey.generate_key(KEY_BITS)


async def _add_key(db: AsyncSession, encryption: Fernet) -> None:
    key = await asyncio.to_thread(generate_key)
    public = {**key.as_dict(private=False), "kid": key.thumbprint(), "alg": ALGORITHM, "use": "sig"}
    private = encryption.encrypt(key.as_pem(private=True)).decode()
    db.add(LtiKey(kid=public["kid"], private=private, public_json=json.dumps(public), made_at=now()))
    await db.flush()


async def _newest_first(db: AsyncSession) -> list[LtiKey]:
    return list(await db.scalars(select(LtiKey).order_by(LtiKey.made_at.desc(), LtiKey.kid)))


async def published_keys(db: AsyncSession) -> dict[str, Any]:
    """The key set (JWKS) that platforms fetch."""
    return {"keys": [json.loads(key.public_json) for key in await _newest_first(db)]}


async def sign_claims(db: AsyncSession, path: Path, claims: dict[str, Any]) -> str:
    """*claims* as a signed token; *path* is that of the file with the secret.

    Raises:
        RefusedError: There is no key, or it cannot be decrypted.
    """
    keys = await _newest_first(db)
    if not keys:
        raise RefusedError(NO_KEYS)
    signing = keys[min(1, len(keys) - 1)]
    try:
        pem = encryption_in(path).decrypt(signing.private.encode())
    except InvalidToken as error:
        raise RefusedError(OTHER_SECRET.format(path=path)) from error
    header = {"alg": ALGORITHM, "kid": signing.kid, "typ": "JWT"}
    return jwt.encode(header, claims, RSAKey.import_key(pem), algorithms=[ALGORITHM])


class PlatformKeys:
    """Cache of the keys of platforms, by the address that they are fetched from."""

    def __init__(self, client: PlatformClient) -> None:
        self._client = client
        self._kept: dict[str, tuple[float, KeySet]] = {}

    async def find(self, platform: LtiPlatform, kid: str) -> RSAKey:
        """The key of *platform* that is called *kid*.

        Raises:
            LaunchError: It has no such key.
            PlatformError: It does not show its keys.
        """
        fetched_at, keys = self._kept.get(platform.jwks_url, (-CACHE_SECONDS, KeySet([])))
        age, key = time.monotonic() - fetched_at, _find_key(keys, kid)
        if age > CACHE_SECONDS or (key is None and age > UNKNOWN_KEY_SECONDS):
            keys = await self.fetch(platform)
            self._kept[platform.jwks_url] = (time.monotonic(), keys)
            key = _find_key(keys, kid)
        if key is None:
            raise LaunchError(f"It is signed with a key ({kid[:80]!r}) that {platform.name} does not show.")
        return key

    async def fetch(self, platform: LtiPlatform) -> KeySet:
        """The keys that *platform* shows now.

        Raises:
            PlatformError: It shows none.
        """
        answer = await self._client.ask(platform, "GET", platform.jwks_url, headers={"accept": "application/json"})
        if answer.status != 200:
            raise PlatformError(
                f"Its keys at {platform.jwks_url} answer {answer.status}.", status=answer.status, answer=answer.excerpt
            )
        shown = answer.json()
        rows = shown.get("keys") if isinstance(shown, dict) else None
        if not isinstance(rows, list):
            raise PlatformError(f"What is at {platform.jwks_url} is no set of keys.", answer=answer.excerpt)
        keys: list[Any] = [key for row in rows[:MAX_PLATFORM_KEYS] if (key := _rsa_key(row)) is not None]
        if not keys:
            raise PlatformError(f"The set of keys at {platform.jwks_url} has no RSA key of 2048 bits or more.")
        return KeySet(keys)


def _find_key(keys: KeySet, kid: str) -> RSAKey | None:
    return next((key for key in keys.keys if key.kid == kid and isinstance(key, RSAKey)), None)


def _rsa_key(row: Any) -> RSAKey | None:
    """One key of a set; None for one of another kind, a shorter one, or one that is for something else."""
    if not isinstance(row, dict) or row.get("kty") != "RSA" or row.get("use", "sig") != "sig" or "d" in row:
        return None
    try:
        key = RSAKey.import_key({name: row[name] for name in ("kty", "n", "e", "kid")})
    except (JoseError, KeyError, ValueError, TypeError):
        return None
    return key if key.public_key.key_size >= KEY_BITS else None
