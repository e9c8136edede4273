"""From a link on a platform to a believed message: login initiation, and the launch that answers it.

A browser proves that it is the one that began, by a cookie of the frame that it is in or, where browsers keep none
there, by what the platform's own page stored for it (client-side postMessages of LTI). A state counts once. A frame
that was granted storage access begins again, and says so: its cookie comes with a form of its own page alone.

Source: IMS Security Framework 1.0 (5.1.1), https://www.imsglobal.org/spec/security/v1p0; LTI Client Side postMessages,
https://www.imsglobal.org/spec/lti-cs-pm/v0p1
"""

import hmac
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from joserfc import jws
from joserfc.errors import JoseError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_tokens
from app.lti.claims import Claims, Expected, Launch, check_claims, is_own_address, read_launch
from app.lti.errors import LaunchError
from app.lti.families import family_in, with_help
from app.lti.keys import ALGORITHM, PlatformKeys
from app.lti.platform_client import origin_of
from app.store.database import Database
from app.store.learners import hash_of
from app.store.lti_platforms import deployments_of, find_platform
from app.store.tables import LtiPlatform

MAX_LOGIN_CHARS = 2000
"""Of each thing that a platform says when a login begins: all of it goes into an address."""
REPEATED = ("iss", "client_id", "login_hint", "lti_message_hint", "lti_deployment_id", "target_link_uri")
UNKNOWN = (
    "{issuer} with the client id {client_id} is no platform that this server knows. The operator of this server finds "
    "what is registered with backhand lti list, where every letter counts, and adds another with backhand lti add."
)
NOT_HERE = "The link leads to {target}, which is no page of this server: its address is {base_url}."
OVER = "This sign-in was used before, or is older than ten minutes. Open the link on the platform again."
NOT_THROUGH = "{name} did not let you through. It said: {said}"
UNSIGNED = "What {name} sent is not signed by it as it should be."


@dataclass(frozen=True, slots=True)
class Login:
    """A login that began: the browser goes to *url*, and keeps *secret* under what *state* is called there.

    *storage* names the frame of the platform that keeps it as well, and *origin* is that of its page.
    """

    url: str
    state: str
    secret: str
    storage: str
    origin: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A login whose answer is awaited."""

    platform: LtiPlatform
    data: Mapping[str, Any]

    def is_of(self, secret: str) -> bool:
        """True if the browser that shows *secret* began it."""
        return hmac.compare_digest(hash_of(secret), self.data["secret_hash"])


def name_in_browser(state: str) -> str:
    """Name of the cookie or stored value with the secret of a state: several logins go on at once."""
    return f"lti-{hash_of(state)[:16]}"


async def begin_login(db: AsyncSession, parameters: Mapping[str, str], base_url: str) -> Login:
    """Begin the login that a platform asks for by *parameters*.

    Raises:
        LaunchError: It is not known, or leads elsewhere.
    """
    repeated = {name: parameters.get(name, "")[:MAX_LOGIN_CHARS] for name in REPEATED}
    platform = await find_platform(db, repeated["iss"], repeated["client_id"])
    if platform is None:
        raise LaunchError(
            UNKNOWN.format(issuer=repeated["iss"][:200] or "Nobody", client_id=repeated["client_id"][:200] or "(none)")
        )
    if not is_own_address(repeated["target_link_uri"], base_url):
        raise LaunchError(NOT_HERE.format(target=repeated["target_link_uri"][:200] or "nowhere", base_url=base_url))
    if not repeated["login_hint"]:
        raise LaunchError(f"{platform.name} does not say who is about to come (login_hint).")
    state, nonce, secret = (secrets.token_urlsafe(24) for _ in range(3))
    storage = parameters.get("lti_storage_target", "")[:200]
    data = {
        "platform": platform.id, "nonce": nonce, "secret_hash": hash_of(secret), "storage": storage, "again": repeated,
        "granted": bool(parameters.get("granted")),
    }  # fmt: skip
    await one_time_tokens.issue(db, "lti-login", data, token=state)
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": f"{base_url}/lti/launch",
        "login_hint": repeated["login_hint"],
        "state": state,
        "nonce": nonce,
    }
    if repeated["lti_message_hint"]:
        query["lti_message_hint"] = repeated["lti_message_hint"]
    joint = "&" if urlsplit(platform.auth_url).query else "?"
    return Login(f"{platform.auth_url}{joint}{urlencode(query)}", state, secret, storage, origin_of(platform.auth_url))


async def find_pending(db: AsyncSession, state: str) -> Pending:
    """
    Raises:
        LaunchError: Nothing is awaited under that *state*.
    """
    data = await one_time_tokens.peek(db, "lti-login", state)
    platform = await db.get(LtiPlatform, data["platform"]) if data else None
    if data is None or platform is None:
        raise LaunchError(OVER)
    return Pending(platform, data)


def check_no_error(pending: Pending, message: str) -> None:
    """
    Raises:
        LaunchError: The platform sent the *message* in the place of a launch.
    """
    if message:
        raise LaunchError(NOT_THROUGH.format(name=pending.platform.name, said=message[:300]))


async def read_message(
    database: Database, keys: PlatformKeys, pending: Pending, state: str, token: str, base_url: str
) -> Launch:
    """The message that *token* is, if it is believed; the *state* is spent with it.

    Raises:
        LaunchError: It is not.
        PlatformError: The platform does not show its keys.
    """
    claims = await verify_token(keys, pending.platform, token)
    async with database.read() as db:
        deployments = await deployments_of(db, pending.platform.id)
    platform, family = pending.platform, family_in(claims)
    expected = Expected(
        platform.issuer, platform.client_id, pending.data["nonce"], deployments, base_url, time.time(), platform.id
    )
    try:
        check_claims(claims, expected)
    except LaunchError as error:
        raise LaunchError(with_help(str(error), family or platform.family, error.trouble)) from error
    launch = read_launch(claims, base_url)
    async with database.write(short=True) as db:
        if await one_time_tokens.redeem(db, "lti-login", state) is None:
            raise LaunchError(OVER)
        if family and family != platform.family:
            (await db.get_one(LtiPlatform, platform.id)).family = family
    return launch


async def verify_token(keys: PlatformKeys, platform: LtiPlatform, token: str) -> Claims:
    """Claims of *token*, if *platform* has signed it; `check_claims` decides whether they hold.

    Raises:
        LaunchError: It is no token of it.
        PlatformError: The platform does not show its keys.
    """
    refused = LaunchError(UNSIGNED.format(name=platform.name))
    try:
        header = jws.extract_compact(token.encode("ascii", "replace")).headers()
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError):
        raise refused from None
    kid = header.get("kid")
    if header.get("alg") != ALGORITHM or not isinstance(kid, str) or not kid:
        raise refused
    key = await keys.find(platform, kid)
    try:
        claims = json.loads(jws.deserialize_compact(token, key, algorithms=[ALGORITHM]).payload)
    except (JoseError, ValueError, TypeError, RecursionError):
        raise refused from None
    if not isinstance(claims, dict):
        raise refused
    return claims
