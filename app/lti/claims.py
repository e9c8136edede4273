"""Messages of platforms (LTI 1.3), read: what is believed of one, and what it asks for.

`CHECKS` has a row for each rule; a message is believed when every one holds.

Source: IMS Security Framework 1.0 (5.1.3), https://www.imsglobal.org/spec/security/v1p0; LTI 1.3 (5.3), https://www.imsglobal.org/spec/lti/v1p3
"""

import hmac
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.lti.errors import LaunchError
from app.store.classes import Role
from app.store.tables import NAME_LENGTH
from app.teaching.text_input import one_line

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP_LINKING = "https://purl.imsglobal.org/spec/lti-dl/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/"
LINE_ITEM_SCOPES = (AGS + "scope/lineitem", AGS + "scope/lineitem.readonly")
"""What lets a tool list the columns of a gradebook; under the first one it makes them too."""
LEEWAY_SECONDS = 10
MAX_ID_CHARS = 1000
MESSAGES = ("LtiResourceLinkRequest", "LtiDeepLinkingRequest")
Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """Values that a message must agree with.

    *base_url* is what addresses of this server begin with; *now* is in seconds; *platform* is its number here.
    """

    issuer: str
    client_id: str
    nonce: str
    deployments: frozenset[str]
    base_url: str
    now: float
    platform: int


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, and what is told where it does not hold.

    `{seen}` there is the value of *claim*, `{word}` the same for a command, and `{platform}` the platform's number.

    *trouble* is what families of platforms know more about.
    """

    claim: str
    holds: Callable[[Any, Claims, Expected], bool]
    message: str
    trouble: str = ""


def _has_audience(value: Any, _claims: Claims, expected: Expected) -> bool:
    return value == expected.client_id or (isinstance(value, list) and expected.client_id in value)


def _is_for_us(value: Any, claims: Claims, expected: Expected) -> bool:
    many = isinstance(claims.get("aud"), list) and len(claims["aud"]) > 1
    return bool(value == expected.client_id or (value is None and not many))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_own_address(url: Any, base_url: str) -> bool:
    """True if *url* is a page of this server."""
    return (
        isinstance(url, str)
        and url.isprintable()
        and (url == base_url or url.startswith((f"{base_url}/", f"{base_url}?")))
    )


def _is_theirs(value: Any, _claims: Claims, expected: Expected) -> bool:
    return bool(value == expected.issuer)


def _has_not_expired(value: Any, _claims: Claims, expected: Expected) -> bool:
    return _is_number(value) and value > expected.now - LEEWAY_SECONDS


def _was_made_before_now(value: Any, _claims: Claims, expected: Expected) -> bool:
    return _is_number(value) and value < expected.now + LEEWAY_SECONDS


def _answers_us(value: Any, _claims: Claims, expected: Expected) -> bool:
    return isinstance(value, str) and hmac.compare_digest(value.encode("utf-8", "replace"), expected.nonce.encode())


def _names_somebody(value: Any, _claims: Claims, _expected: Expected) -> bool:
    return value is None or parse_id(value) is not None


def _is_installed(value: Any, _claims: Claims, expected: Expected) -> bool:
    return isinstance(value, str) and value in expected.deployments


def _leads_here(value: Any, claims: Claims, expected: Expected) -> bool:
    chooses = claims.get(CLAIM + "message_type") == MESSAGES[1]
    return is_own_address(value, expected.base_url) or (value is None and chooses)


CHECKS = (
    Check("iss", _is_theirs, "It is from {seen}, and not from the platform that this sign-in began at."),
    Check("aud", _has_audience, "It is for another tool ({seen}) than this one."),
    Check("azp", _is_for_us, "It was made for {seen}, and not for this tool."),
    Check(
        "exp",
        _has_not_expired,
        "It has expired. Open the link on the platform again; if it stays so, its clock is behind this server's.",
        "clock",
    ),
    Check(
        "iat",
        _was_made_before_now,
        "It comes from the future: the clock of the platform is ahead of this server's.",
        "clock",
    ),
    Check("nonce", _answers_us, "It answers another question than this one, or was used before."),
    Check("sub", _names_somebody, "It names nobody as a platform does."),
    Check(
        CLAIM + "version",
        lambda value, *_: bool(value == "1.3.0"),
        "It is of version {seen} of LTI; this server speaks 1.3.0.",
    ),
    Check(
        CLAIM + "message_type",
        lambda value, *_: value in MESSAGES,
        "It is a message of a kind ({seen}) that this server does not know.",
    ),
    Check(
        CLAIM + "deployment_id",
        _is_installed,
        "The platform calls the place where it is installed (deployment) {seen}, which is not registered here. "
        "The operator of this server adds it: backhand lti deployment {platform} {word}.",
        "deployment",
    ),
    Check(CLAIM + "target_link_uri", _leads_here, "It leads to {seen}, which is no page of this server."),
)


def check_claims(claims: Claims, expected: Expected) -> None:
    """
    Raises:
        LaunchError: A rule does not hold.
    """
    for check in CHECKS:
        value = claims.get(check.claim)
        if not check.holds(value, claims, expected):
            message = check.message.format(
                seen=repr(value)[:200], word=shlex.quote(str(value)[:200]), platform=expected.platform
            )
            raise LaunchError(message, trouble=check.trouble)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepLinking:
    """Request of a platform for links: *several* at once or one, and where the choice goes, with *data* of theirs."""

    return_url: str
    several: bool
    graded: bool
    data: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A believed message: the person, their role, the course, and the target.

    *subject* is None for a person whom the platform does not name; *role* is None for a visitor. *custom* are the
    parameters of the link, without those that the platform did not fill in. *target* is a path of this server. Its
    grades go to *lineitem_url*; the columns of the course are at *lineitems_url*, under *lineitems_scope*.
    """

    subject: str | None
    name: str
    role: Role | None
    deployment: str
    link: str | None
    context: str | None
    title: str
    custom: Mapping[str, str]
    target: str
    framed: bool
    lineitem_url: str | None
    lineitems_url: str | None
    lineitems_scope: str | None
    memberships_url: str | None
    deep_linking: DeepLinking | None


def read_launch(claims: Claims, base_url: str) -> Launch:
    """Parse checked *claims*.

    Raises:
        LaunchError: They are not what such claims are.
    """
    context, presentation = _object(claims, CLAIM + "context"), _object(claims, CLAIM + "launch_presentation")
    grades, people = _object(claims, AGS + "claim/endpoint"), _object(claims, NRPS + "claim/namesroleservice")
    scopes = grades.get("scope")
    scopes = scopes if isinstance(scopes, list) and AGS + "scope/score" in scopes else []
    lineitems_scope = next((scope for scope in LINE_ITEM_SCOPES if scope in scopes), None)
    target = claims.get(CLAIM + "target_link_uri") or base_url
    custom = _object(claims, CLAIM + "custom")
    return Launch(
        subject=claims.get("sub"),
        name=name_in(claims),
        role=role_of(claims.get(CLAIM + "roles")),
        deployment=claims[CLAIM + "deployment_id"],
        link=parse_id(_object(claims, CLAIM + "resource_link").get("id")),
        context=parse_id(context.get("id")),
        title=one_line(str(context.get("title") or context.get("label") or ""))[:NAME_LENGTH],
        custom={str(key): value for key, value in custom.items() if isinstance(value, str) and is_filled_in(value)},
        target=target.removeprefix(base_url) or "/",
        framed=presentation.get("document_target", "iframe") == "iframe",
        lineitem_url=parse_id(grades.get("lineitem")) if scopes else None,
        lineitems_url=parse_id(grades.get("lineitems")) if lineitems_scope else None,
        lineitems_scope=lineitems_scope,
        memberships_url=parse_id(people.get("context_memberships_url")),
        deep_linking=_deep_linking(claims) if claims[CLAIM + "message_type"] == MESSAGES[1] else None,
    )


def name_in(claims: Claims) -> str:
    """Name of the person in *claims*: whole, or in two parts; "" where a platform does not tell it."""
    parts = " ".join(str(claims.get(key) or "") for key in ("given_name", "family_name"))
    lines = (one_line(text)[:NAME_LENGTH] for text in (claims.get("name"), parts) if isinstance(text, str))
    return next(filter(None, lines), "")


def is_filled_in(value: str) -> bool:
    """True if a custom parameter has a value; a variable that a platform does not know stays as it was written."""
    return bool(value) and not value.startswith("$")


def _deep_linking(claims: Claims) -> DeepLinking:
    settings = _object(claims, DEEP_LINKING + "deep_linking_settings")
    url, data, types = (settings.get(name) for name in ("deep_link_return_url", "data", "accept_types"))
    url = parse_id(url)
    if url is None or not isinstance(types, list) or "ltiResourceLink" not in types:
        raise LaunchError("The platform takes no links to exercises here.")
    graded = settings.get("accept_lineitem") is not False
    return DeepLinking(
        return_url=url,
        several=settings.get("accept_multiple") is True,
        graded=graded,
        data=data if isinstance(data, str) else None,
    )


def _object(claims: Claims, name: str) -> Mapping[str, Any]:
    value = claims.get(name, {})
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LaunchError(f"What it says as {name} is no object.")
    return value


def parse_id(value: Any) -> str | None:
    """*value* if it is an id or an address as platforms have them."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARS and value.isprintable() else None


MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
SYSTEM = "http://purl.imsglobal.org/vocab/lis/v2/system/person#"
INSTITUTION = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#"
COURSE_ROLES: tuple[tuple[Role, tuple[str, ...]], ...] = (
    # Whoever helps is told to be an instructor of that kind as well.
    (
        "assistant",
        (f"{MEMBERSHIP}/Instructor#TeachingAssistant", f"{MEMBERSHIP}#TeachingAssistant", "TeachingAssistant"),
    ),
    ("instructor", (f"{MEMBERSHIP}#Instructor", "Instructor", f"{MEMBERSHIP}#Administrator", "Administrator")),
    ("learner", (f"{MEMBERSHIP}#Learner", "Learner", f"{MEMBERSHIP}#Student", "Student")),
)
"""Roles in a course, as URIs or by their short names; the first that is found counts."""
ADMINISTRATORS = (f"{SYSTEM}Administrator", f"{SYSTEM}SysAdmin", f"{INSTITUTION}Administrator")
"""They run the platform, and have no role in most courses that they look at."""


def role_of(roles: Any) -> Role | None:
    """The role in a class of a person with these *roles*; None for a visitor.

    A role at the school says nothing of this course: its teachers are learners in some.
    """
    named = {role for role in roles if isinstance(role, str)} if isinstance(roles, list) else set()
    course = next((role for role, names in COURSE_ROLES if named & set(names)), None)
    return course or ("instructor" if named & set(ADMINISTRATORS) else None)
