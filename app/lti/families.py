"""Families of learning platforms: what people call them, and help in their own words.

A platform tells its family with each launch, and when it registers itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.lti.claims import CLAIM, Claims

MAX_CODE_CHARS = 40


@dataclass(frozen=True, slots=True)
class Family:
    """A family that calls itself *code*, in small letters, and is called *name*.

    *help* is what to do there, by what is wrong: `keys`, `clock`, `token`, `deployment`, or the status of an answer to
    a grade.
    """

    code: str
    name: str
    help: Mapping[str, str]


FAMILIES = (
    Family(
        "moodle",
        "Moodle",
        {
            "keys": "Moodle has them at /mod/lti/certs.php of its site.",
            "clock": "Moodle shows the time of the machine that it runs on.",
            "token": "In Moodle, the settings of the tool need its Public keyset, and under Services grade sync. Where "
            "this server has a private address, curlsecurityblockedhosts has to allow it.",
            "deployment": "In Moodle it is at Manage tools, under View configuration details of the tool.",
            "400": "Moodle does not have this person as a learner of the course.",
            "404": "The column was deleted in Moodle.",
        },
    ),
    Family(
        "canvas",
        "Canvas",
        {
            "token": "In Canvas, the developer key has to be on, with the four LTI Advantage Services of /lti/setup.",
            "deployment": "In Canvas it is at Settings, Apps, behind the gear of the app.",
            "404": "The assignment was deleted in Canvas.",
        },
    ),
    Family(
        "desire2learn",
        "Brightspace",
        {
            "token": "In Brightspace, the deployment needs Assignment and Grade Services, and the audience that is "
            "registered here has to be its OAuth2 audience.",
            "deployment": "In Brightspace it is at External Learning Tools, LTI Advantage, in the row of the tool.",
            "404": "The grade item was deleted in Brightspace.",
        },
    ),
    Family(
        "blackboardlearn",
        "Blackboard",
        {
            "token": "In Blackboard, the tool provider has to allow grade service access.",
            "deployment": "In Blackboard it is at Administrator, LTI Tool Providers, in the row of the tool.",
            "404": "The column was deleted in Blackboard.",
        },
    ),
)
BY_CODE = {family.code: family for family in FAMILIES}


def family_code(code: Any) -> str:
    """Normalise what a platform calls its family; "" if it is nothing to keep."""
    return code.lower() if isinstance(code, str) and code.isprintable() and len(code) <= MAX_CODE_CHARS else ""


def family_in(claims: Claims) -> str:
    """The family that a launch tells: as its product or, of older ones, as `moodle-2` in what goes beyond LTI."""
    platform, beyond = claims.get(CLAIM + "tool_platform"), claims.get(CLAIM + "ext")
    product = platform.get("product_family_code") if isinstance(platform, dict) else None
    lms = beyond.get("lms") if isinstance(beyond, dict) else None
    return family_code(product) or family_code(lms).partition("-")[0]


def with_help(message: str, code: str, trouble: str, known: str = "") -> str:
    """*message* as a sentence, and behind it what to do about a *trouble* at a platform of that family.

    Help that names a path is left out where *known*, the address that is used, has it already.
    """
    sentence = message if message.endswith((".", "?", "!")) else f"{message}."
    advice = help_with(code, trouble)
    if any(word in known for word in advice.split() if word.startswith("/")):
        return sentence
    return f"{sentence} {advice}".strip()


def help_with(code: str, trouble: str) -> str:
    """Advice about a *trouble* at a platform of that family; "" where nothing is known."""
    family = BY_CODE.get(code)
    return family.help.get(trouble, "") if family else ""
