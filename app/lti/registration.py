"""A platform registers this tool by itself, with a ticket of the operator (LTI Dynamic Registration 1.0).

The ticket says that the operator wants it; the platform's own page at its own host says who it is.

Source: https://www.imsglobal.org/spec/lti-dr/v1p0
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from app.lti.claims import AGS, MAX_ID_CHARS, NRPS, parse_id
from app.lti.deep_linking import CONTEXT_HISTORY
from app.lti.errors import LaunchError, PlatformError
from app.lti.families import BY_CODE, family_code
from app.lti.platform_client import PlatformClient, address_fault, origin_of
from app.store.database import now
from app.store.tables import LtiPlatform

TICKET_LIVES = timedelta(hours=1)
MAX_TOKEN_CHARS = 4000
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
SCOPES = (
    AGS + "scope/lineitem",
    AGS + "scope/result.readonly",
    AGS + "scope/score",
    NRPS + "scope/contextmembership.readonly",
)
ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "registration_endpoint")


async def register_at(
    client: PlatformClient, configuration_url: str, token: str, base_url: str, *, private: bool
) -> tuple[LtiPlatform, tuple[str, ...]]:
    """Have the platform whose configuration is at that address take this tool: it, and its deployments.

    Args:
        token: What the platform gave along, to be shown when the tool registers.
        private: The platform may be in a network that is not public.

    Raises:
        LaunchError: It is none, or not the one that it says it is.
        PlatformError: It does not answer.
    """
    if fault := address_fault(configuration_url, private=private):
        raise LaunchError(fault)
    if len(token) > MAX_TOKEN_CHARS or not token.isascii() or not token.isprintable():
        raise LaunchError("The token that came along is none.")
    unknown = LtiPlatform(
        issuer=origin_of(configuration_url), client_id="", name="", auth_url="", token_url="", jwks_url="",
        origins="", private=private, added_at=now(),
    )  # fmt: skip
    answer = await client.ask(unknown, "GET", configuration_url, headers={"accept": "application/json"})
    if answer.status != 200:
        raise PlatformError(f"Its configuration answers {answer.status}.", status=answer.status, answer=answer.excerpt)
    endpoints = _endpoints(answer.json(), configuration_url, private=private)
    headers = {"content-type": "application/json", "accept": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    body = json.dumps(tool_configuration(base_url)).encode()
    answer = await client.ask(unknown, "POST", endpoints["registration_endpoint"], headers=headers, content=body)
    if answer.status not in (200, 201):
        raise PlatformError(f"It does not register this tool ({answer.status}).", answer=answer.excerpt)
    return _parse_registration(answer.json(), endpoints, configuration_url, private=private)


def _endpoints(configuration: Any, url: str, *, private: bool) -> dict[str, str]:
    if not isinstance(configuration, dict):
        raise PlatformError("Its configuration is no object.")
    endpoints = {name: str(configuration.get(name, ""))[:MAX_ID_CHARS] for name in ENDPOINTS}
    for name, address in endpoints.items():
        if fault := address_fault(address, private=private):
            raise LaunchError(f"Its {name} is not to be used. {fault}")
    for name in ("issuer", "registration_endpoint"):
        if urlsplit(endpoints[name]).hostname != urlsplit(url).hostname:
            raise LaunchError(f"Its {name} is {endpoints[name]}, on another host than its configuration.")
    family = configuration.get(PLATFORM, {})
    code = family_code(family.get("product_family_code")) if isinstance(family, dict) else ""
    name = BY_CODE[code].name if code in BY_CODE else urlsplit(endpoints["issuer"]).hostname or ""
    return {**endpoints, "name": name, "family": code}


def _parse_registration(
    answer: Any, endpoints: Mapping[str, str], url: str, *, private: bool
) -> tuple[LtiPlatform, tuple[str, ...]]:
    client_id = parse_id(answer.get("client_id")) if isinstance(answer, dict) else None
    if client_id is None:
        raise PlatformError("It gave this tool no client id.")
    tool = answer.get(TOOL, {})
    deployment = tool.get("deployment_id") if isinstance(tool, dict) else None
    platform = LtiPlatform(
        issuer=endpoints["issuer"], client_id=client_id, name=endpoints["name"][:200],
        auth_url=endpoints["authorization_endpoint"], token_url=endpoints["token_endpoint"],
        jwks_url=endpoints["jwks_uri"], audience=None, origins=origin_of(url), private=private,
        family=endpoints["family"], added_at=now(),
    )  # fmt: skip
    return platform, (str(deployment)[:MAX_ID_CHARS],) if deployment else ()


def tool_configuration(base_url: str) -> dict[str, Any]:
    """Configuration of this tool, as a platform takes it."""
    launch = f"{base_url}/lti/launch"
    messages = [{"type": "LtiResourceLinkRequest"}, {"type": "LtiDeepLinkingRequest", "target_link_uri": launch}]
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": f"{base_url}/lti/login",
        "redirect_uris": [launch],
        "client_name": "Backhand",
        "jwks_uri": f"{base_url}/lti/jwks",
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(SCOPES),
        TOOL: {
            "domain": urlsplit(base_url).netloc,
            "description": "Exercises on the backward pass, checked line by line.",
            "target_link_uri": launch,
            "custom_parameters": {"context_history": CONTEXT_HISTORY},
            "claims": ["iss", "sub", "name", "given_name", "family_name"],
            "messages": messages,
        },
    }
