"""Links that an instructor chose, as a platform puts them into its course (Deep Linking 2.0).

What a link leads to is in its custom parameters: these travel along when a course is copied, while every id changes. Of
the same thing that is chosen twice the resource id is the same, by which a platform can tell.

Source: https://www.imsglobal.org/spec/lti-dl/v2p0
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.lti.claims import CLAIM, DEEP_LINKING, DeepLinking, Launch
from app.lti.enrolment import Target
from app.lti.errors import LaunchError
from app.lti.line_items import TAG
from app.lti.platform_client import origin_of, origins_of
from app.store.tables import LtiPlatform

RESPONSE_SECONDS = 300
CONTEXT_HISTORY = "$Context.id.history"
"""Platforms put the ids of the courses here from which one was copied."""
RETURN_ELSEWHERE = "The choice would go to {url}, which is none of the registered addresses of {name}."


@dataclass(frozen=True, slots=True)
class ChosenLink:
    """A link to *target*, called *title*; without *points* it is not graded."""

    target: Target
    title: str
    points: float


def check_return_url(platform: LtiPlatform, request: DeepLinking) -> None:
    """
    Raises:
        LaunchError: The choice would go to another site.
    """
    if origin_of(request.return_url) not in origins_of(platform):
        raise LaunchError(RETURN_ELSEWHERE.format(url=request.return_url[:200], name=platform.name))


def pending_choice(platform: LtiPlatform, launch: Launch, request: DeepLinking, group: int | None) -> dict[str, Any]:
    """The part of a request that is stored until the choice is made; *group* is the class of the course."""
    return {
        "platform": platform.id,
        "deployment": launch.deployment,
        "return_url": request.return_url,
        "several": request.several,
        "graded": request.graded,
        "data": request.data,
        "class": group,
    }


def response_claims(
    platform: LtiPlatform, choice: dict[str, Any], links: Sequence[ChosenLink], base_url: str
) -> dict[str, Any]:
    """The message that brings *links* to *platform*, for the *choice* that was pending."""
    now = int(time.time())
    claims = {
        "iss": platform.client_id,
        "aud": platform.issuer,
        "iat": now,
        "exp": now + RESPONSE_SECONDS,
        "nonce": secrets.token_urlsafe(24),
        CLAIM + "message_type": "LtiDeepLinkingResponse",
        CLAIM + "version": "1.3.0",
        CLAIM + "deployment_id": choice["deployment"],
        DEEP_LINKING + "content_items": [_item(link, choice, base_url) for link in links],
    }
    if choice["data"] is not None:
        claims[DEEP_LINKING + "data"] = choice["data"]
    return claims


def _item(link: ChosenLink, choice: dict[str, Any], base_url: str) -> dict[str, Any]:
    target = link.target
    custom = {"lesson": target.lesson, "context_history": CONTEXT_HISTORY}
    if target.exercise:
        custom["exercise"] = target.exercise
    if choice["class"] is not None:
        custom["class"] = str(choice["class"])
    item: dict[str, Any] = {"type": "ltiResourceLink", "title": link.title, "url": f"{base_url}/lti/launch"}
    if choice["graded"] and link.points > 0:
        column = {"label": link.title, "scoreMaximum": link.points, "resourceId": target.resource_id, "tag": TAG}
        item["lineItem"] = column
        custom["points"] = f"{link.points:g}"
    return {**item, "custom": custom}
