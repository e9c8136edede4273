"""`backhand lti …`: learning platforms of this server."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_tokens
from app.cli import environment
from app.cli.classes import Facts, print_facts, run_transaction
from app.cli.refuse import ask_whether_meant, refuse
from app.lti.claims import MAX_ID_CHARS
from app.lti.keys import encryption_in, make_keys, published_keys, rotate_keys
from app.lti.platform_client import LOOPBACK, address_fault, origin_of
from app.lti.registration import TICKET_LIVES
from app.lti.self_test import Trial, try_platform
from app.lti.service import LtiService
from app.settings import Settings
from app.store import lti_platforms
from app.store.classes import RefusedError, record_event
from app.store.database import Database, now
from app.store.tables import LtiPlatform
from app.teaching.text_input import one_line

OWN_ADDRESSES = (
    ("Tool URL", "/lti/launch"),
    ("Initiate login URL", "/lti/login"),
    ("Redirection URI", "/lti/launch"),
    ("Public keyset URL", "/lti/jwks"),
    ("Deep linking URL", "/lti/launch"),
)
"""What an administrator enters at a platform, in the words of most of them."""


def add(
    issuer: str,
    client_id: str,
    addresses: Mapping[str, str],
    deployments: Sequence[str],
    *,
    name: str,
    origins: Sequence[str],
    audience: str,
    private: bool,
    as_json: bool,
) -> None:
    settings = _ready_settings()
    _check_addresses({"issuer": issuer, **addresses}, origins, private=private)
    if not 0 < len(client_id) <= MAX_ID_CHARS or not client_id.isprintable():
        refuse(f"--client-id: {client_id[:80]!r} is no client id.")
    platform = LtiPlatform(
        issuer=issuer, client_id=client_id, name=(one_line(name) or urlsplit(issuer).hostname or issuer)[:200],
        auth_url=addresses["auth"], token_url=addresses["token"], jwks_url=addresses["jwks"], audience=audience or None,
        origins=" ".join(origin_of(origin) for origin in origins), private=private, added_at=now(),
    )  # fmt: skip

    async def work(db: AsyncSession) -> Facts:
        await make_keys(db, encryption_in(settings.lti_secret_path, make=True))
        await lti_platforms.add_platform(db, platform, deployments)
        return await _facts(db, platform)

    facts = run_transaction(work)
    print_facts(
        {**facts, "tool": _own_addresses(settings)}, [*_lines(facts), *_own_address_lines(settings)], as_json=as_json
    )


def change(
    number: int,
    addresses: Mapping[str, str],
    *,
    name: str,
    origins: Sequence[str],
    audience: str,
    dropped: Sequence[str],
    private: bool | None,
    as_json: bool,
) -> None:
    """Change what is not empty; of *origins* each is one more, and of *dropped* one less."""

    async def work(db: AsyncSession) -> Facts:
        platform = await lti_platforms.get_platform(db, number)
        platform.private = platform.private if private is None else private
        _check_addresses(addresses, origins, private=platform.private)
        platform.auth_url = addresses.get("auth") or platform.auth_url
        platform.token_url = addresses.get("token") or platform.token_url
        platform.jwks_url = addresses.get("jwks") or platform.jwks_url
        platform.name = one_line(name)[:200] or platform.name
        platform.audience = audience or platform.audience
        known = dict.fromkeys((*platform.origins.split(), *map(origin_of, origins)))
        if unknown := [origin for origin in map(origin_of, dropped) if origin not in known]:
            raise RefusedError(
                f"{unknown[0] or 'That'} is no origin of platform {number}. `backhand lti list` has them."
            )
        platform.origins = " ".join(origin for origin in known if origin not in map(origin_of, dropped))
        await record_event(db, None, None, "platform-changed", number)
        return await _facts(db, platform)

    facts = run_transaction(work)
    print_facts(facts, [*_lines(facts), "Servers that run know it within half a minute."], as_json=as_json)


def _check_addresses(addresses: Mapping[str, str], origins: Sequence[str], *, private: bool) -> None:
    for option, url in (*addresses.items(), *(("origin", origin) for origin in origins)):
        if fault := address_fault(url, private=private):
            refuse(f"--{option}: {fault}")


def ticket(*, private: bool, as_json: bool) -> None:
    settings = _ready_settings()

    async def work(db: AsyncSession) -> Facts:
        token = await one_time_tokens.issue(db, "lti-ticket", {"private": private}, lives=TICKET_LIVES)
        return {"link": f"{settings.base_url}/lti/register?ticket={token}"}

    facts = run_transaction(work)
    line = f"A platform registers itself at {facts['link']}: once, within an hour."
    print_facts(facts, [line], as_json=as_json)


def list_(*, as_json: bool) -> None:
    settings = environment.load_settings()

    async def work(db: AsyncSession) -> list[Facts]:
        return [await _facts(db, platform) for platform in await lti_platforms.list_platforms(db)]

    platforms = run_transaction(work)
    lines = [line for facts in platforms for line in _lines(facts)] or ["There is no platform yet: backhand lti add"]
    lines += _own_address_lines(settings) if settings.address else []
    print_facts({"platforms": platforms, "tool": _own_addresses(settings)}, lines, as_json=as_json)


def deployment(number: int, named: str, *, drop: bool, as_json: bool) -> None:
    if not 0 < len(named) <= MAX_ID_CHARS or not named.isprintable():
        refuse(f"{named[:80]!r} is no deployment id.")

    async def work(db: AsyncSession) -> Facts:
        platform = await lti_platforms.get_platform(db, number)
        await (lti_platforms.drop_deployment if drop else lti_platforms.add_deployment)(db, platform, named)
        await db.flush()
        return await _facts(db, platform)

    facts = run_transaction(work)
    print_facts(facts, [_line(facts)], as_json=as_json)


def remove(number: int, *, sure: bool, as_json: bool) -> None:
    async def count(db: AsyncSession) -> int:
        return await lti_platforms.count_courses(db, (await lti_platforms.get_platform(db, number)).id)

    if (courses := run_transaction(count)) and not sure:
        lost = "1 course loses its class" if courses == 1 else f"{courses} courses lose their classes"
        ask_whether_meant(
            f"{lost}: what is there stays, and no launch leads to it again before backhand lti course says so. To "
            f"change the platform instead: backhand lti change {number}.",
            "Forget it?",
            "--yes",
        )

    async def work(db: AsyncSession) -> Facts:
        platform = await lti_platforms.get_platform(db, number)
        facts = await _facts(db, platform)
        await lti_platforms.remove_platform(db, platform)
        return facts

    facts = run_transaction(work)
    print_facts(
        facts, [f"{facts['name']} is forgotten. Its classes, and what its people wrote, stay."], as_json=as_json
    )


def try_(number: int, *, as_json: bool) -> None:
    settings = environment.load_settings()

    async def work(db: AsyncSession) -> LtiPlatform:
        return await lti_platforms.get_platform(db, number)

    platform = run_transaction(work)
    trials = asyncio.run(try_platforms(settings, [platform]))[number]
    lines = [f"{'good' if trial.good else 'bad':<5} {trial.said}" for trial in trials]
    print_facts({"trials": [{"good": trial.good, "said": trial.said} for trial in trials]}, lines, as_json=as_json)
    if not all(trial.good for trial in trials):
        sys.exit(1)


async def try_platforms(settings: Settings, platforms: Sequence[LtiPlatform]) -> dict[int, tuple[Trial, ...]]:
    """Results of a self-test of each of *platforms*, by its number: several may have the same name."""
    database = Database(settings.resolved_database_url)
    lti = LtiService(settings, database)
    try:
        return {platform.id: await try_platform(lti, platform) for platform in platforms}
    finally:
        await lti.close()
        await database.close()


def rotate(*, revoke: bool, as_json: bool) -> None:
    settings = environment.load_settings()

    async def work(db: AsyncSession) -> Facts:
        if not await lti_platforms.list_platforms(db):
            raise RefusedError("There is no platform yet, and so no key: backhand lti add")
        await rotate_keys(db, encryption_in(settings.lti_secret_path, make=revoke), anew=revoke)
        return {"keys": [key["kid"] for key in (await published_keys(db))["keys"]]}

    facts = run_transaction(work)
    what = "Platforms are shown new keys" if revoke else "Messages are signed with the next key"
    print_facts(facts, [f"{what}. Platforms fetch keys by themselves, within the hour at most."], as_json=as_json)


def _ready_settings() -> Settings:
    """Settings of a server that platforms can reach, and whose pages keep a session in a frame."""
    settings = environment.load_settings()
    if not settings.address:
        refuse("Platforms send browsers here: set BACKHAND_ADDRESS to the address of this server.")
    if urlsplit(settings.address).hostname in LOOPBACK:
        return settings
    if not settings.address.startswith("https://") or not settings.secure_cookies:
        refuse(
            "In a frame browsers keep cookies over TLS alone: set BACKHAND_ADDRESS to one with https, "
            "and BACKHAND_SECURE_COOKIES=1."
        )
    return settings


async def _facts(db: AsyncSession, platform: LtiPlatform) -> Facts:
    return {
        "id": platform.id,
        "name": platform.name,
        "issuer": platform.issuer,
        "client_id": platform.client_id,
        "deployments": sorted(await lti_platforms.deployments_of(db, platform.id)),
        "auth": platform.auth_url,
        "token": platform.token_url,
        "jwks": platform.jwks_url,
        "audience": platform.audience,
        "origins": platform.origins.split(),
        "private": platform.private,
    }


def _lines(facts: Facts) -> list[str]:
    """A platform as people read it: what it was registered with is called as the options are."""
    options = {option: facts[option] for option in ("auth", "token", "jwks", "audience")}
    options["origin"] = ", ".join(facts["origins"])
    lines = [f"   {option:<9} {value}" for option, value in options.items() if value]
    return [
        _line(facts),
        *lines,
        *(["   private   its addresses may be in a private network"] if facts["private"] else []),
    ]


def _line(facts: Facts) -> str:
    places = ", ".join(facts["deployments"]) or f"none yet: backhand lti deployment {facts['id']} ID"
    return f"{facts['id']}  {facts['name']}  {facts['issuer']}  client {facts['client_id']}  deployments {places}"


def _own_address_lines(settings: Settings) -> list[str]:
    lines = (f"  {title:<21} {url}" for title, url in _own_addresses(settings).items())
    return ["The administrator of a platform enters there:", *lines]


def _own_addresses(settings: Settings) -> dict[str, str]:
    return {title: settings.base_url + path for title, path in OWN_ADDRESSES}
