"""`backhand lti …`: learning platforms of this server."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import urlsplit

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_tokens
from app.cli import environment
from app.cli.refuse import ask_whether_meant
from app.cli.transactions import AsJson, Facts, Printed, in_transaction, print_facts, run_transaction
from app.lti.claims import parse_id
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


Number = Annotated[int, typer.Argument(help="The number of the platform; `backhand lti list` tells it.", min=1)]
Private = Annotated[bool, typer.Option("--private", help="Its addresses may be in a private network.")]
commands = typer.Typer()


@commands.command()
@in_transaction
async def add(
    db: AsyncSession,
    issuer: Annotated[str, typer.Option(help="Who the platform says it is, such as https://moodle.example.org.")],
    client_id: Annotated[str, typer.Option("--client-id", help="What it calls this tool.")],
    auth: Annotated[str, typer.Option(help="Its address for authentication requests.")],
    token: Annotated[str, typer.Option(help="Its address for access tokens.")],
    jwks: Annotated[str, typer.Option(help="The address of its public keys.")],
    deployment: Annotated[list[str] | None, typer.Option(help="A deployment id; may be given several times.")] = None,
    name: Annotated[str, typer.Option(help="What people call it; default: its host.")] = "",
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Another origin of its pages and services, such as https://school.instructure.com."),
    ] = None,
    audience: Annotated[str, typer.Option(help="What requests for tokens name; default: the address for them.")] = "",
    private: Private = False,
) -> Printed:
    """Register a platform, by what its administrator reads there."""
    settings, origins = _ready_settings(), origin or []
    _check_addresses({"issuer": issuer, "auth": auth, "token": token, "jwks": jwks}, origins, private=private)
    if parse_id(client_id) is None:
        raise RefusedError(f"--client-id: {client_id[:80]!r} is no client id.")
    platform = LtiPlatform(
        issuer=issuer, client_id=client_id, name=(one_line(name) or urlsplit(issuer).hostname or issuer)[:200],
        auth_url=auth, token_url=token, jwks_url=jwks, audience=audience or None,
        origins=" ".join(map(origin_of, origins)), private=private, added_at=now(),
    )  # fmt: skip
    await make_keys(db, encryption_in(settings.lti_secret_path, make=True))
    await lti_platforms.add_platform(db, platform, deployment or [])
    facts = await _facts(db, platform)
    return {**facts, "tool": _own_addresses(settings)}, [*_lines(facts), *_own_address_lines(settings)]


@commands.command()
@in_transaction
async def change(
    db: AsyncSession,
    number: Number,
    auth: Annotated[str, typer.Option(help="Its address for authentication requests.")] = "",
    token: Annotated[str, typer.Option(help="Its address for access tokens.")] = "",
    jwks: Annotated[str, typer.Option(help="The address of its public keys.")] = "",
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
    origin: Annotated[
        list[str] | None, typer.Option(help="One more origin of its pages and services; may be given several times.")
    ] = None,
    drop_origin: Annotated[
        list[str] | None, typer.Option("--drop-origin", help="An origin that is its own no more; several are possible.")
    ] = None,
    audience: Annotated[str, typer.Option(help="What requests for tokens name.")] = "",
    private: Annotated[
        bool | None, typer.Option("--private/--public", help="Whether its addresses may be in a private network.")
    ] = None,
) -> Printed:
    """Change what is known of a platform; its courses, people and grades stay as they are."""
    platform = await lti_platforms.get_platform(db, number)
    platform.private = platform.private if private is None else private
    addresses = {option: url for option, url in (("auth", auth), ("token", token), ("jwks", jwks)) if url}
    _check_addresses(addresses, origin or [], private=platform.private)
    for option, url in addresses.items():
        setattr(platform, f"{option}_url", url)
    platform.name = one_line(name)[:200] or platform.name
    platform.audience = audience or platform.audience
    known = dict.fromkeys((*platform.origins.split(), *map(origin_of, origin or [])))
    dropped = [*map(origin_of, drop_origin or [])]
    if unknown := [text for text in dropped if text not in known]:
        raise RefusedError(f"{unknown[0] or 'That'} is no origin of platform {number}. `backhand lti list` has them.")
    platform.origins = " ".join(text for text in known if text not in dropped)
    await record_event(db, None, None, "platform-changed", number)
    facts = await _facts(db, platform)
    return facts, [*_lines(facts), "Servers that run know it within half a minute."]


def _check_addresses(addresses: Mapping[str, str], origins: Sequence[str], *, private: bool) -> None:
    """
    Raises:
        RefusedError: One of them is none that a platform may have.
    """
    for option, url in (*addresses.items(), *(("origin", origin) for origin in origins)):
        if fault := address_fault(url, private=private):
            raise RefusedError(f"--{option}: {fault}")


@commands.command()
@in_transaction
async def ticket(db: AsyncSession, private: Private = False) -> Printed:
    """Print an address with which a platform registers itself: once, within an hour."""
    settings = _ready_settings()
    token = await one_time_tokens.issue(db, "lti-ticket", {"private": private}, lives=TICKET_LIVES)
    link = f"{settings.base_url}/lti/register?ticket={token}"
    return {"link": link}, [f"A platform registers itself at {link}: once, within an hour."]


@commands.command("list")
@in_transaction
async def list_(db: AsyncSession) -> Printed:
    """Print every platform, with its deployments and addresses, and what its administrator enters there."""
    settings = environment.load_settings()
    platforms = [await _facts(db, platform) for platform in await lti_platforms.list_platforms(db)]
    lines = [line for facts in platforms for line in _lines(facts)] or ["There is no platform yet: backhand lti add"]
    lines += _own_address_lines(settings) if settings.address else []
    return {"platforms": platforms, "tool": _own_addresses(settings)}, lines


@commands.command()
@in_transaction
async def deployment(
    db: AsyncSession,
    number: Number,
    id_: Annotated[str, typer.Argument(metavar="ID", help="What the platform calls the place of installation.")],
    drop: Annotated[bool, typer.Option("--drop", help="Accept it no more.")] = False,
) -> Printed:
    """Accept one more deployment of a platform, or one less."""
    if parse_id(id_) is None:
        raise RefusedError(f"{id_[:80]!r} is no deployment id.")
    platform = await lti_platforms.get_platform(db, number)
    await (lti_platforms.drop_deployment if drop else lti_platforms.add_deployment)(db, platform, id_)
    await db.flush()
    facts = await _facts(db, platform)
    return facts, [_line(facts)]


@commands.command()
def remove(
    number: Number,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a platform, and which class is whose course; `course` ties them again."""

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


@commands.command("try")
def try_(number: Number, as_json: AsJson = False) -> None:
    """Try what launches and grades need of a platform: its keys, its clock, a token."""
    settings = environment.load_settings()
    platform = run_transaction(lambda db: lti_platforms.get_platform(db, number))
    trials = asyncio.run(try_platforms(settings, [platform]))[number]
    lines = [f"{'good' if trial.good else 'bad':<5} {trial.said}" for trial in trials]
    print_facts({"trials": [{"good": trial.good, "said": trial.said} for trial in trials]}, lines, as_json=as_json)
    if not all(trial.good for trial in trials):
        sys.exit(1)


@commands.command()
@in_transaction
async def rotate(
    db: AsyncSession,
    revoke: Annotated[
        bool,
        typer.Option("--anew", help="Forget the old keys at once: where their secret is lost, or known to others."),
    ] = False,
) -> Printed:
    """Sign with the next key from now on, and show platforms a newer one."""
    if not await lti_platforms.list_platforms(db):
        raise RefusedError("There is no platform yet, and so no key: backhand lti add")
    await rotate_keys(db, encryption_in(environment.load_settings().lti_secret_path, make=revoke), revoke=revoke)
    what = "Platforms are shown new keys" if revoke else "Messages are signed with the next key"
    keys = [key["kid"] for key in (await published_keys(db))["keys"]]
    return {"keys": keys}, [f"{what}. Platforms fetch keys by themselves, within the hour at most."]


async def try_platforms(settings: Settings, platforms: Sequence[LtiPlatform]) -> dict[int, tuple[Trial, ...]]:
    """Results of a self-test of each of *platforms*, by its number: several may have the same name."""
    async with Database(settings.resolved_database_url) as database:
        lti = LtiService(settings, database)
        try:
            return {platform.id: await try_platform(lti, platform) for platform in platforms}
        finally:
            await lti.close()


def _ready_settings() -> Settings:
    """Settings of a server that platforms can reach, and whose pages keep a session in a frame.

    Raises:
        RefusedError: It is none.
    """
    settings = environment.load_settings()
    if not settings.address:
        raise RefusedError("Platforms send browsers here: set BACKHAND_ADDRESS to the address of this server.")
    if urlsplit(settings.address).hostname in LOOPBACK:
        return settings
    if not settings.address.startswith("https://") or not settings.secure_cookies:
        raise RefusedError(
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
