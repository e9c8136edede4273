"""Access to the services of platforms: tokens for this tool, asked for with a signed assertion and kept for their time.

Source: IMS Security Framework 1.0 (4.1), https://www.imsglobal.org/spec/security/v1p0
"""

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import structlog

from app.lti.errors import PlatformError
from app.lti.keys import sign_claims
from app.lti.platform_client import Answer, PlatformClient
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.tables import LtiPlatform

log = structlog.get_logger()

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_SECONDS = 60
RESERVE_SECONDS = 60.0
LONGEST_KEPT_SECONDS = 3600.0


def why_unanswered(error: PlatformError | RefusedError) -> str:
    """Reason, for an instructor, why a platform was not asked or did not answer; what is ours is for the operator."""
    if isinstance(error, PlatformError):
        return f"{error} {error.answer}".strip()
    log.warning("lti-no-key", fix=str(error))
    return "This server could not sign the message."


class PlatformServices:
    """Services of platforms, as this tool may ask them; *secret_path* is where the secret of its keys is."""

    def __init__(self, client: PlatformClient, database: Database, secret_path: Path) -> None:
        self._client, self._database, self._secret_path = client, database, secret_path
        self._tokens: dict[tuple[int, str], tuple[float, str]] = {}
        self._asking: defaultdict[tuple[int, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask(
        self,
        platform: LtiPlatform,
        scope: str,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        """Send a request that *scope* allows to *platform*; one with an expired token is repeated with a new one.

        Raises:
            PlatformError: It does not answer, or gives no token.
        """
        refused = ""
        while True:
            token = await self._token(platform, scope, refused)
            shown = {"authorization": f"Bearer {token}", **(headers or {})}
            answer = await self._client.ask(platform, method, url, headers=shown, content=content)
            if answer.status != 401 or refused:
                return answer
            refused = token

    async def _token(self, platform: LtiPlatform, scope: str, refused: str) -> str:
        """A token that is another one than what was *refused*: of many who need it at once, one fetches it for all."""
        async with self._asking[platform.id, scope]:
            ends_at, token = self._tokens.get((platform.id, scope), (0.0, ""))
            if ends_at > time.monotonic() and token != refused:
                return token
            return await self.fetch_token(platform, scope)

    async def fetch_token(self, platform: LtiPlatform, scope: str) -> str:
        """A new token, which is kept for its time.

        Raises:
            PlatformError: *platform* gives none.
            RefusedError: This server has no key that it could sign with.
        """
        now = int(time.time())
        claims = {
            "iss": platform.client_id,
            "sub": platform.client_id,
            "aud": platform.audience or platform.token_url,
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
            "jti": secrets.token_urlsafe(24),
        }
        async with self._database.read() as db:
            assertion = await sign_claims(db, self._secret_path, claims)
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION,
            "client_assertion": assertion,
            "scope": scope,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        answer = await self._client.ask(
            platform, "POST", platform.token_url, headers=headers, content=urlencode(form).encode()
        )
        if answer.status != 200:
            raise PlatformError(
                f"It gives this server no token ({answer.status}).", status=answer.status, answer=answer.excerpt
            )
        given = answer.json()
        fresh = given.get("access_token") if isinstance(given, dict) else None
        if not isinstance(fresh, str) or not fresh.isascii() or not fresh.isprintable():
            raise PlatformError("Its answer to a request for a token has none.", status=200, answer=answer.excerpt)
        lives = given.get("expires_in")
        seconds = min(float(lives), LONGEST_KEPT_SECONDS) if isinstance(lives, (int, float)) else RESERVE_SECONDS
        self._tokens[platform.id, scope] = (time.monotonic() + seconds - RESERVE_SECONDS, fresh)
        return fresh
