"""People of a server as its operator finds them: by a name, an id of a school, an address or a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.credentials import AccountSummary, account_summary, list_credentials
from app.store.classes import RefusedError
from app.store.tables import Class, Credential, Learner, Membership, Session

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class PersonRecord:
    """A learner with what tells them from others. *classes* have the name that each calls them, and their id there."""

    learner: int
    name: str | None
    classes: tuple[str, ...]
    subjects: tuple[str, ...]
    seen_at: datetime | None
    holds: AccountSummary

    def __str__(self) -> str:
        last_visit = f"last here {self.seen_at:%Y-%m-%d}" if self.seen_at else "no browser"
        holds = f"{self.holds.attempts} answers and checks, {self.holds.texts} texts"
        ways_in = ", ".join(self.subjects) or "no account"
        within = "; ".join(self.classes) or "no class"
        return f"#{self.learner}  {self.name or '-'}  ({ways_in})  {within}  {holds}, {last_visit}"


async def find_people(db: AsyncSession, typed: str, group: int | None = None) -> list[PersonRecord]:
    """Find people by name, id, address or number (`#12`); only in the class *group*, if it is given."""
    member, credential = Membership.learner_id, Credential.learner_id
    if typed.startswith("#") and typed[1:].isascii() and typed[1:].isdecimal() and len(typed) < 11:
        matching = Learner.id == int(typed[1:])
    else:
        folded = typed.strip().casefold()
        matching = or_(
            Learner.name == typed.strip(),  # SQLite lowers no letters with marks
            func.lower(Learner.name) == folded,
            Learner.id.in_(select(member).where(func.lower(Membership.name) == folded)),
            Learner.id.in_(select(member).where(Membership.name == typed.strip())),
            Learner.id.in_(select(member).where(Membership.external_id == typed.strip())),
            Learner.id.in_(select(credential).where(func.lower(Credential.subject) == folded)),
        )
    query = select(Learner).where(matching).order_by(Learner.id)
    if group is not None:
        query = query.where(Learner.id.in_(select(member).where(Membership.class_id == group)))
    return [await _person(db, learner) for learner in (await db.scalars(query.limit(MOST_SHOWN))).all()]


async def find_person(db: AsyncSession, typed: str, group: int | None = None) -> PersonRecord:
    """The only one.

    Raises:
        RefusedError: No person fits, or more than one.
    """
    people = await find_people(db, typed, group)
    if not people:
        raise RefusedError(f"Nobody here is called {typed!r}, or has it as an id or an address.")
    if len(people) > 1:
        listed = "\n".join(map(str, people))
        raise RefusedError(
            f"{len(people)} people fit {typed!r}. Give the number of one, such as '#{people[0].learner}':\n{listed}"
        )
    return people[0]


async def _person(db: AsyncSession, learner: Learner) -> PersonRecord:
    query = select(Class.name, Membership).join(Membership, Membership.class_id == Class.id)
    rows = (await db.execute(query.where(Membership.learner_id == learner.id).order_by(Class.id))).all()
    return PersonRecord(
        learner.id,
        learner.name,
        tuple(_place(group, person) for group, person in rows),
        _subjects(await list_credentials(db, learner.id)),
        await db.scalar(select(func.max(Session.seen_at)).where(Session.learner_id == learner.id)),
        await account_summary(db, learner.id),
    )


def _place(group: str, person: Membership) -> str:
    number = f", id {person.external_id}" if person.external_id else ""
    left = ", left" if person.left_at else ", expected" if person.joined_at is None else ""
    return f"{group}: {person.role} {person.name}{number}{left}"


def _subjects(credentials: Sequence[Credential]) -> tuple[str, ...]:
    return tuple("passkey" if item.kind == "passkey" else f"{item.kind} {item.subject}" for item in credentials)
