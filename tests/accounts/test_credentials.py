"""Whose a browser is after it has proved something: what comes along, what ends, what nobody can prepare."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from app.accounts import credentials, one_time_tokens, passwords
from app.accounts.credentials import SignInResult, VerifiedIdentity
from app.store import drafts, learners
from app.store.classes import RefusedError
from app.store.database import Database, now
from app.store.tables import Credential, Draft, Learner, Session

pytestmark = pytest.mark.anyio

ADA = VerifiedIdentity(kind="email", issuer="", subject="ada@example.org")


def proof(subject: str, **values: Any) -> VerifiedIdentity:
    return VerifiedIdentity(**{"kind": "oidc", "issuer": "https://campus.example", "subject": subject, **values})


async def enter(database: Database, token: str, shown: VerifiedIdentity, **values: Any) -> SignInResult:
    async with database.write() as db:
        return await credentials.sign_in(db, token, shown, "A browser", **values)


async def begun(database: Database, text: str) -> tuple[int, str]:
    async with database.write() as db:
        learner, token = await learners.begin_session(db)
        await drafts.save_draft(db, learner, "lesson", text, text)
    return learner, token


async def texts(database: Database, learner: int) -> set[str]:
    async with database.read() as db:
        return set(await db.scalars(select(Draft.text).where(Draft.learner_id == learner)))


async def count(database: Database, table: Any) -> int:
    async with database.read() as db:
        return await db.scalar(select(func.count()).select_from(table)) or 0


async def test_additions_to_an_unverified_way_do_not_survive_its_owner(database: Database, me: int) -> None:
    """An account prepared under somebody else's address, with a key of one's own, must not become theirs and mine."""
    async with database.write() as db:
        db.add(
            Credential(learner_id=me, kind="email", issuer="", subject=ADA.subject, verified=False, created_at=now())
        )
        db.add(Credential(learner_id=me, kind="passkey", issuer="h", subject="k", verified=True, created_at=now()))
        planted = await learners.open_session(db, me)

    found = await enter(database, "", ADA)

    assert found.known.learner == me
    async with database.read() as db:
        assert [one.kind for one in await credentials.list_credentials(db, me)] == ["email"]
        assert await learners.find_session_learner(db, planted) is None


@pytest.mark.parametrize("known", [True, False])
async def test_a_second_anonymous_session_is_no_way_into_the_account(database: Database, known: bool) -> None:
    """Whoever plants one session of theirs in another's browser, and keeps one, must not be there after the sign-in."""
    if known:
        await enter(database, "", proof("ada"))
    learner, planted = await begun(database, "written before")
    async with database.write() as db:
        kept = await learners.open_session(db, learner)

    found = await enter(database, planted, proof("ada"))

    async with database.read() as db:
        assert await learners.find_session_learner(db, kept) is None
        assert await learners.find_session_learner(db, planted) is None
    assert await texts(database, found.known.learner) == {"written before"}


async def test_an_unverified_way_does_not_survive_a_verified_sign_in(database: Database) -> None:
    mine = (await enter(database, "", proof("ada"))).known.learner
    async with database.write() as db:
        row = {"kind": "email", "issuer": "", "subject": "x@e.org", "verified": False}
        db.add(Credential(learner_id=mine, created_at=now(), **row))

    await enter(database, "", proof("ada"))

    async with database.read() as db:
        assert [one.kind for one in await credentials.list_credentials(db, mine)] == ["oidc"]


@pytest.mark.parametrize(
    "other", [{"issuer": "https://else.example"}, {"kind": "email"}, {"subject": "ada@EXAMPLE.org"}]
)
async def test_only_the_same_way_of_the_same_issuer_is_the_same_person(database: Database, other: Any) -> None:
    shown = {"kind": "oidc", "issuer": "https://campus.example", "subject": "ada@example.org"}
    one = await enter(database, "", VerifiedIdentity(**shown))

    another = await enter(database, "", VerifiedIdentity(**{**shown, **other}))

    assert one.known.learner != another.known.learner


async def test_two_tabs_that_sign_in_at_once_are_one_person_with_every_text(database: Database) -> None:
    account = (await enter(database, "", proof("ada"))).known.learner
    _, token = await begun(database, "written before")

    found = await asyncio.gather(*(enter(database, token, proof("ada")) for _ in range(3)))

    assert {one.known.learner for one in found} == {account}
    assert await texts(database, account) == {"written before"}
    assert await count(database, Learner) == 1


async def test_tabs_that_sign_in_to_two_accounts_at_once_lose_nothing(database: Database) -> None:
    ada = (await enter(database, "", proof("ada"))).known.learner
    grace = (await enter(database, "", proof("grace"))).known.learner
    _, token = await begun(database, "written before")

    await asyncio.gather(enter(database, token, proof("ada")), enter(database, token, proof("grace")))

    assert sorted([await texts(database, ada), await texts(database, grace)], key=len) == [set(), {"written before"}]


async def test_a_name_that_two_take_at_once_is_one_persons(database: Database) -> None:
    async def take() -> SignInResult:
        async with database.write() as db:
            shown = await passwords.new_proof(db, "Ada", "hash")
            return await credentials.sign_in(db, "", shown, "A browser")

    found = await asyncio.gather(take(), take(), return_exceptions=True)

    assert sum(isinstance(one, SignInResult) for one in found) == 1
    assert await count(database, Credential) == 1


@pytest.mark.parametrize("kind", ["password", "passkey"])
async def test_a_sign_in_way_another_made_meanwhile_opens_no_account(database: Database, kind: Any) -> None:
    """Between the look at whether a name is free and the taking of it, somebody else may take it."""
    mine = VerifiedIdentity(kind=kind, issuer="", subject="ada", secret="of the first")
    theirs = VerifiedIdentity(kind=kind, issuer="", subject="ada", secret="of the second")
    await enter(database, "", mine)

    with pytest.raises(RefusedError, match="Nothing was changed"):
        await enter(database, "", theirs)

    assert await count(database, Session) == 1


@pytest.mark.parametrize("subject", ["x" * 2001, "é" * 1001, "a\0b", "a\ud800"])
async def test_an_id_that_no_database_keeps_is_refused(database: Database, subject: str) -> None:
    with pytest.raises(RefusedError, match="cannot be kept"):
        await enter(database, "", proof(subject))

    assert await count(database, Learner) == 0


async def test_an_id_may_hold_what_is_not_seen(database: Database) -> None:
    assert (await enter(database, "", proof("می\u200cخواهم"))).known.account


@pytest.mark.parametrize(
    ("said", "kept"), [("Ada\0\nL", "Ada L"), ("\ud800Ada\u202e", "Ada"), ("A" * 500, "A" * 80), ("\0", None)]
)
async def test_what_a_provider_calls_somebody_is_one_line_of_text(
    database: Database, said: str, kept: str | None
) -> None:
    assert (await enter(database, "", proof("ada", name=said))).known.name == kept


async def test_sessions_end_with_the_way_that_opened_them_but_not_the_one_here(database: Database) -> None:
    here = await enter(database, "", proof("ada"))
    there = await enter(database, "", proof("ada"))
    other = await enter(database, here.token, ADA, add=True)
    async with database.read() as db:
        campus = (await credentials.list_credentials(db, here.known.learner))[0].id

    async with database.write() as db:
        await credentials.remove_credential(db, here.known.learner, campus, other.token)

    async with database.read() as db:
        assert await learners.find_session_learner(db, there.token) is None
        assert await learners.find_session_learner(db, other.token) is not None


async def test_an_account_is_never_forgotten_however_long_it_is_away(database: Database, me: int) -> None:
    await enter(database, "", proof("ada"))
    later = now() + timedelta(days=4000)

    async with database.write() as db:
        await learners.forget_sessions(db, later)
        await learners.forget_lost(db, later)
        await learners.forget_empty(db, later)

    assert await count(database, Learner) == 1
    assert await count(database, Session) == 0
    assert (await enter(database, "", proof("ada"))).known.learner != me


async def test_a_ticket_is_taken_once_and_tried_as_often_as_it_may(database: Database) -> None:
    async with database.write() as db:
        token = await one_time_tokens.issue(db, "email-code", {"x": 1})
        spent = await one_time_tokens.issue(db, "email-code", {"x": 2})

    async def take() -> object:
        async with database.write() as db:
            return await one_time_tokens.redeem(db, "email-code", token)

    async def guess() -> object:
        async with database.write() as db:
            return await one_time_tokens.redeem_with_tries(db, "email-code", spent, 5)

    taken = await asyncio.gather(*(take() for _ in range(4)))
    tried = await asyncio.gather(*(guess() for _ in range(8)))

    assert [one for one in taken if one] == [{"x": 1}]
    assert len([one for one in tried if one]) == 5


async def test_a_ticket_is_for_one_thing_and_for_a_while(database: Database) -> None:
    async with database.write() as db:
        token = await one_time_tokens.issue(db, "merge", {})
        old = await one_time_tokens.issue(db, "merge", {}, lives=timedelta(seconds=-1))

    async with database.write() as db:
        assert await one_time_tokens.redeem(db, "reset", token) is None
        assert await one_time_tokens.peek(db, "merge", old) is None
        assert await one_time_tokens.peek(db, "merge", token) == {}


def test_a_name_that_nobody_has_takes_as_long_as_any_other() -> None:
    """Tests of pages make both cheap."""
    assert not passwords._HASHER.check_needs_rehash(passwords._NOBODYS)
