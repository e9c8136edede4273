"""Ways to sign in: whose they are, and what becomes of a browser that shows one.

A learner with at least one is an account. Two credentials are the same when kind, issuer and subject are; an equal
e-mail address says nothing. What was added by a person who never proved to be its subject does not outlive the proof of
one who does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_tokens
from app.accounts.merge import lock_learners, merge_learners
from app.store import learners
from app.store.classes import RefusedError
from app.store.database import now
from app.store.learners import create_learner, hash_of, open_session
from app.store.tables import Attempt, Credential, Draft, Learner, Membership, ReplacedText, Session
from app.teaching.text_input import LONGEST_NAME, one_line

LONGEST_SUBJECT = 2000
"""Bytes that the index of every database takes."""
UNKEPT = "The name of this login cannot be kept here: it is too long, or holds what no text has. Nothing was changed."
MEANWHILE = "Somebody else has just taken this. Nothing was changed: take another one."
Kind = Literal["passkey", "oidc", "lti", "email", "password", "proxy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedIdentity:
    """Identity that a credential proves.

    *secret* and *sign_count* are stored for a new credential; *name* is a suggestion.

    *roster_id* is theirs at their school, where the provider that proved them says so.

    With a *secret* it is of something new, and proves nothing of what is there already.
    """

    kind: Kind
    issuer: str
    subject: str
    secret: str | None = None
    sign_count: int | None = None
    name: str | None = None
    roster_id: str | None = None


@dataclass(frozen=True, slots=True)
class SignInResult:
    """Result of a sign-in: the learner, and the token of the new session.

    *apart* is a ticket for `merge_accounts`, where it was signed in to another account before.
    """

    known: learners.SessionLearner
    token: str
    apart: str = ""


async def find_credential(db: AsyncSession, kind: Kind, issuer: str, subject: str) -> Credential | None:
    same = (Credential.kind == kind, Credential.issuer == issuer, Credential.subject == subject)
    return (await db.scalars(select(Credential).where(*same))).one_or_none()


async def list_credentials(db: AsyncSession, learner: int) -> list[Credential]:
    """Of *learner*, the oldest first."""
    query = select(Credential).where(Credential.learner_id == learner)
    return list(await db.scalars(query.order_by(Credential.id)))


async def claimed_ids(db: AsyncSession, learner: int, issuers: Iterable[str]) -> frozenset[str]:
    """The ids that providers of these *issuers* say are those of *learner* at their school."""
    query = select(Credential.roster_id).where(Credential.learner_id == learner, Credential.kind == "oidc")
    known = await db.scalars(query.where(Credential.issuer.in_(issuers), Credential.roster_id.is_not(None)))
    return frozenset(name for name in known if name)


async def sign_in(
    db: AsyncSession, token: str, proof: VerifiedIdentity, label: str, *, add: bool = False, embedded: bool = False
) -> SignInResult:
    """Sign in the browser that has *token* (or none, ""): it becomes whose the proof is; if *embedded*, in a frame.

    The anonymous learner there comes along. A proof that no account has yet makes an account of them; another account
    than they are signed in to only where they asked to *add* it.

    Raises:
        RefusedError: Another request has made the same new one meanwhile, or no database can keep it.
    """
    stored_subject = proof.subject.encode("utf-8", "replace").replace(b"\0", b"?")
    if stored_subject.decode() != proof.subject or len(stored_subject) > LONGEST_SUBJECT:
        raise RefusedError(UNKEPT)
    credential = await find_credential(db, proof.kind, proof.issuer, proof.subject)
    if credential is not None and proof.secret is not None:
        raise RefusedError(MEANWHILE)
    current = await learners.find_session_learner(db, token) if token else None
    await lock_learners(
        db, *(number for number in (current and current.learner, credential and credential.learner_id) if number)
    )
    current = (
        await learners.find_session_learner(db, token) if token else None
    )  # another tab may have signed in meanwhile
    apart = ""
    if current is not None and not current.account:
        # Nobody else who has a session of theirs comes along: it may have been planted here.
        await db.execute(
            delete(Session).where(Session.learner_id == current.learner, Session.token_hash != hash_of(token))
        )
    if credential is None:
        joins_current = current is not None and (add or not current.account)
        credential = await create(db, current.learner if current is not None and joins_current else None, proof)
    else:
        await db.refresh(credential)
        await _prove(db, credential, proof)
        if current is not None and current.learner != credential.learner_id:
            apart = await _bring(db, current, credential.learner_id)
    if name := one_line(proof.name or "")[:LONGEST_NAME]:
        unnamed = (Learner.id == credential.learner_id, Learner.name.is_(None))
        await db.execute(update(Learner).where(*unnamed).values(name=name))
    new = await rotate_session(db, token, credential.learner_id, label, via=credential.id, embedded=embedded)
    known = await learners.find_session_learner(db, new)
    assert known is not None
    return SignInResult(known, new, apart)


async def rotate_session(
    db: AsyncSession, token: str, learner: int, label: str | None, via: int | None, *, embedded: bool = False
) -> str:
    """A new session of *learner* in place of the one that *token* opened; its token.

    The old token opens nothing any more.
    """
    ended = await db.scalar(delete(Session).where(Session.token_hash == hash_of(token)).returning(Session.learner_id))
    if ended is not None:
        await one_time_tokens.issue(db, "rotated", {}, token=token)
    return await open_session(db, learner, label=label, via=via, embedded=embedded)


async def create(db: AsyncSession, learner: int | None, proof: VerifiedIdentity) -> Credential:
    """Create a credential for *learner*, or for a new learner."""
    learner = await create_learner(db) if learner is None else learner
    credential = Credential(
        learner_id=learner, kind=proof.kind, issuer=proof.issuer, subject=proof.subject, secret=proof.secret,
        sign_count=proof.sign_count, verified=True, created_at=now(), used_at=now(), roster_id=proof.roster_id,
    )  # fmt: skip
    db.add(credential)
    await db.flush()
    return credential


async def _prove(db: AsyncSession, credential: Credential, proof: VerifiedIdentity) -> None:
    """*credential* is its subject's. What others put beside it before that proof goes, and their sessions with it."""
    others = [Credential.learner_id == credential.learner_id, Credential.id != credential.id]
    if not credential.verified:
        # Whoever made it need not be who has proved it now: nothing that they left behind opens the account.
        await db.execute(delete(Session).where(Session.learner_id == credential.learner_id))
    else:
        others.append(Credential.verified.is_(False))
    await db.execute(delete(Credential).where(*others).execution_options(synchronize_session=False))
    credential.verified, credential.used_at, credential.roster_id = True, now(), proof.roster_id
    if proof.sign_count is not None:
        credential.sign_count = proof.sign_count
    await db.flush()


async def _bring(db: AsyncSession, current: learners.SessionLearner, into: int) -> str:
    if not current.account:
        await merge_learners(db, current.learner, into)
        return ""
    if not (await account_summary(db, current.learner)).work or not (await account_summary(db, into)).work:
        return ""
    return await one_time_tokens.issue(db, "merge", {"before": current.learner, "now": into})


@dataclass(frozen=True, slots=True)
class AccountSummary:
    """Numbers of what a learner's account holds."""

    name: str | None
    texts: int
    attempts: int
    classes: int
    ways: tuple[str, ...]

    @property
    def work(self) -> bool:
        return bool(self.texts or self.attempts or self.classes)


async def account_summary(db: AsyncSession, learner: int) -> AccountSummary:
    async def count(table: type[Attempt] | type[Draft] | type[ReplacedText] | type[Membership]) -> int:
        return await db.scalar(select(func.count()).select_from(table).where(table.learner_id == learner)) or 0

    name = await db.scalar(select(Learner.name).where(Learner.id == learner))
    kinds = tuple(credential.kind for credential in await list_credentials(db, learner))
    return AccountSummary(
        name, await count(Draft) + await count(ReplacedText), await count(Attempt), await count(Membership), kinds
    )


async def merge_accounts(db: AsyncSession, token: str, ticket: str, stays: Literal["before", "now"]) -> int:
    """Make one account of the two that this browser was signed in to, one after the other; the learner that stays.

    Raises:
        RefusedError: The ticket is of another browser, or too old.
    """
    data = await one_time_tokens.redeem(db, "merge", ticket)
    current = await learners.find_session_learner(db, token)
    if data is None or current is None or current.learner != data["now"]:
        raise RefusedError("That offer has expired. Sign in to the other account again, and it is made anew.")
    goes = data["now"] if stays == "before" else data["before"]
    if not await merge_learners(db, goes, data[stays]):
        raise RefusedError("One of the two accounts is gone, so nothing was changed.")
    return int(data[stays])


async def remove_credential(db: AsyncSession, learner: int, credential: int, token: str, *, last: bool = False) -> None:
    """Take a way to sign in away; the sessions that it opened end, but not this one.

    Raises:
        RefusedError: It is the last one, and that was not meant.
    """
    await lock_learners(db, learner)
    credentials = await list_credentials(db, learner)
    if credential not in [item.id for item in credentials]:
        return
    if len(credentials) == 1 and not last:
        raise RefusedError(
            "This is the only way to sign in to your account. Add another one first, or say that you mean it."
        )
    await db.execute(update(Session).where(Session.token_hash == hash_of(token)).values(credential_id=None))
    await db.execute(delete(Credential).where(Credential.id == credential, Credential.learner_id == learner))
