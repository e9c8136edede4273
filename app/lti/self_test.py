"""Self-test of a platform: its keys, its clock, a token for grades."""

from dataclasses import dataclass, replace
from datetime import timedelta

from app.lti.errors import PlatformError
from app.lti.families import with_help
from app.lti.platform_client import Answer
from app.lti.scores import SCORE
from app.lti.service import LtiService
from app.store.classes import RefusedError
from app.store.database import now
from app.store.lti_platforms import deployments_of
from app.store.tables import LtiPlatform

TOLERATED = timedelta(seconds=3)
"""What a platform tells of its clock has whole seconds, and is on its way for a while."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that was tried: whether it is *good*, and what was seen.

    *about* is what families of platforms help with, where it is not good.
    """

    good: bool
    said: str
    about: str = ""


async def try_platform(lti: LtiService, platform: LtiPlatform) -> tuple[Trial, ...]:
    """Try everything that a launch and a grade need of *platform*."""
    trials = (*await _keys(lti, platform), await _token(lti, platform), await _deployments(lti, platform))
    return tuple(trial if trial.good else _add_help(trial, platform) for trial in trials)


def _add_help(trial: Trial, platform: LtiPlatform) -> Trial:
    """*trial* with what to do at a platform of its family."""
    return replace(trial, said=with_help(trial.said, platform.family, trial.about, platform.jwks_url))


async def _keys(lti: LtiService, platform: LtiPlatform) -> tuple[Trial, ...]:
    try:
        keys = await lti.keys.fetch(platform)
        answer = await lti.client.ask(platform, "GET", platform.jwks_url)
    except PlatformError as error:
        return (Trial(good=False, said=f"Your platform's keys do not answer. {error}", about="keys"),)
    count = len(keys.keys)
    message = f"Your platform's keys answer: {count} {'key' if count == 1 else 'keys'}."
    return Trial(good=True, said=message), _clock(answer)


def _clock(answer: Answer) -> Trial:
    if answer.date is None:
        return Trial(good=True, said="Your platform does not tell the time.")
    ahead = answer.date - now()
    seconds = round(abs(ahead).total_seconds())
    if abs(ahead) <= TOLERATED:
        return Trial(good=True, said="Its clock is that of this server.")
    where = "ahead" if ahead > timedelta() else "behind"
    return Trial(
        good=False, said=f"Its clock is {seconds} s {where}, or that of this server is not right.", about="clock"
    )


async def _token(lti: LtiService, platform: LtiPlatform) -> Trial:
    try:
        await lti.services.fetch_token(platform, SCORE)
    except PlatformError as error:
        return Trial(good=False, said=f"Grades cannot be sent. {error} {error.answer}".strip(), about="token")
    except RefusedError as error:
        return Trial(good=False, said=str(error))
    return Trial(good=True, said="Your platform takes this server's signature, and lets it send grades.")


async def _deployments(lti: LtiService, platform: LtiPlatform) -> Trial:
    async with lti.database.read() as db:
        known = sorted(await deployments_of(db, platform.id))
    if not known:
        message = f"No deployment is registered: backhand lti deployment {platform.id} ID."
        return Trial(good=False, said=message, about="deployment")
    return Trial(good=True, said=f"Launches are taken from the deployments {', '.join(known)}.")
