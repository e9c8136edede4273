"""The people of a course, as its platform lists them (Names and Role Provisioning Services).

A listed person is a member of the class, before they come for the first time; one who is listed no more has left, and
keeps their work. A list that did not come whole changes nothing.

Source: LTI-NRPS 2.0, https://www.imsglobal.org/spec/lti-nrps/v2p0
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin

import structlog
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.claims import NRPS, name_in, parse_id, role_of
from app.lti.enrolment import UNNAMED, become_member, set_member
from app.lti.errors import PlatformError
from app.lti.tokens import PlatformServices, why_unanswered
from app.store.classes import RefusedError, Role, list_members, new_member, record_event
from app.store.database import Database, claim_row, now
from app.store.former_members import keep_grades
from app.store.joining import end_membership
from app.store.lti_scores import MAX_ANSWER_CHARS
from app.store.tables import Class, Credential, Learner, LtiContext, LtiMember, LtiPlatform, Membership
from app.teaching.text_input import one_line

log = structlog.get_logger()

LOOK_SECONDS = 15.0
READ_EVERY = timedelta(hours=24)
SCOPE = NRPS + "scope/contextmembership.readonly"
ACCEPTED = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MAX_PAGES = 50
MAX_MEMBERS = 20_000
AT_ONCE = 100
"""People for whom others who want to write wait."""


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Person who is *subject* at the platform, called *name* if it tells names, and also known by *ids*."""

    subject: str
    name: str
    role: Role
    ids: tuple[str, ...] = ()


class RosterReader:
    """Reads the people of courses; several servers share the work."""

    def __init__(self, database: Database, services: PlatformServices) -> None:
        self._database = database
        self._services = services

    async def read_due(self) -> int:
        """Read the courses that are due; how many."""
        count = 0
        while (due := await self._claim()) is not None:
            count += 1
            await self._read(*due)
        return count

    async def _claim(self) -> tuple[LtiContext, LtiPlatform] | None:
        due = (
            select(LtiContext, LtiPlatform)
            .join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
            .join(Class, Class.id == LtiContext.class_id)
            .where(LtiContext.memberships_url.is_not(None), Class.archived_at.is_(None))
            .where(or_(LtiContext.roster_read_at.is_(None), LtiContext.roster_read_at < now() - READ_EVERY))
        )
        async with claim_row(self._database, due, LtiContext) as row:
            if row is not None:
                row[0].roster_read_at = now()
        return None if row is None else (row[0], row[1])

    async def _read(self, context: LtiContext, platform: LtiPlatform) -> None:
        answer: str | None = None
        try:
            people = [person async for person in self._list_people(platform, context.memberships_url or "")]
            await self._lay_over(context, platform, people)
        except (PlatformError, RefusedError) as error:
            answer = why_unanswered(error)[:MAX_ANSWER_CHARS]
            log.warning("lti-roster-not-read", context=context.id, said=answer)
        async with self._database.write() as db:
            row = await db.get(LtiContext, context.id)
            if row is not None:
                row.roster_answer = answer

    async def _list_people(self, platform: LtiPlatform, url: str) -> AsyncIterator[ListedPerson]:
        count = 0
        for _ in range(MAX_PAGES):
            answer = await self._services.ask(platform, SCOPE, "GET", url, headers={"accept": ACCEPTED})
            if answer.status != 200:
                raise PlatformError(
                    f"Its list of people answers {answer.status}.", status=answer.status, answer=answer.excerpt
                )
            body = answer.json()
            members = body.get("members") if isinstance(body, dict) else None
            if not isinstance(members, list):
                raise PlatformError("Its list of people has no members.", answer=answer.excerpt)
            count += len(members)
            if count > MAX_MEMBERS:
                raise PlatformError(f"Its list has more than {MAX_MEMBERS:,} people.")
            for member in members:
                if (person := _person(member)) is not None:
                    yield person
            if answer.next_page is None:
                return
            url = urljoin(url, answer.next_page)
        raise PlatformError(f"Its list has more than {MAX_PAGES} pages.")

    async def _lay_over(self, context: LtiContext, platform: LtiPlatform, people: Sequence[ListedPerson]) -> None:
        for begin in range(0, len(people), AT_ONCE):
            async with self._database.write() as db:
                await _enrol_listed(db, context, platform, people[begin : begin + AT_ONCE])
        async with self._database.write() as db:
            await _mark_left(db, context, {person.subject for person in people})


def _person(member: Any) -> ListedPerson | None:
    """Parse an active member of a list; None for an entry without a role."""
    if not isinstance(member, dict) or member.get("status", "Active") != "Active":
        return None
    subject, role = parse_id(member.get("user_id")), role_of(member.get("roles"))
    if subject is None or role is None:
        return None
    ids = (member.get("lis_person_sourcedid"), member.get("email"))
    known_ids = tuple(one_line(text) for text in ids if isinstance(text, str) and text.strip())
    return ListedPerson(subject, name_in(member), role, known_ids)


async def _enrol_listed(
    db: AsyncSession, context: LtiContext, platform: LtiPlatform, people: Sequence[ListedPerson]
) -> None:
    group = await db.get(Class, context.class_id)
    if group is None:
        return
    of_platform = (Credential.kind == "lti", Credential.issuer == platform.issuer)
    rows = await db.scalars(
        select(Credential).where(*of_platform, Credential.subject.in_([person.subject for person in people]))
    )
    known = {row.subject: row.learner_id for row in rows}
    await _add_new(db, context, platform, [person for person in people if person.subject not in known])
    # Read at once, and held: whoever is as before is not asked for again.
    members = select(Membership).where(Membership.class_id == group.id, Membership.learner_id.in_(known.values()))
    listed = select(LtiMember).where(LtiMember.lti_context_id == context.id, LtiMember.learner_id.in_(known.values()))
    held = [*await db.scalars(members), *await db.scalars(listed)]
    for person in people:
        learner = known.get(person.subject)
        if learner is not None and await become_member(db, group, learner, person.role, person.name):
            await set_member(db, context, learner, person.subject, person.role, came=False)
    del held
    await _note_expected(db, context, people)


async def _note_expected(db: AsyncSession, context: LtiContext, people: Sequence[ListedPerson]) -> None:
    """Store the ids of listed people with which the class expects a person; no other id is stored."""
    seats = select(Membership.external_id).where(
        Membership.class_id == context.class_id, Membership.joined_at.is_(None), Membership.external_id.is_not(None)
    )
    expected = {number.casefold(): number for number in await db.scalars(seats) if number}
    ids = {
        person.subject: expected[number.casefold()]
        for person in people
        for number in person.ids
        if number.casefold() in expected
    }
    if ids:
        members = select(LtiMember).where(LtiMember.lti_context_id == context.id, LtiMember.subject.in_(ids))
        for member in await db.scalars(members):
            member.expected_id = ids[member.subject]


async def _add_new(
    db: AsyncSession, context: LtiContext, platform: LtiPlatform, people: Sequence[ListedPerson]
) -> None:
    """Create learners for people who are new here: they have nothing yet, so a few statements make all of them."""
    unique = {person.subject: person for person in people}
    learners = {subject: Learner(created_at=now(), name=person.name or None) for subject, person in unique.items()}
    db.add_all(learners.values())
    await db.flush()
    for subject, person in unique.items():
        number = learners[subject].id
        db.add(new_member(context.class_id, number, person.role, person.name or UNNAMED[person.role]))
        db.add(
            Credential(
                learner_id=number, kind="lti", issuer=platform.issuer, subject=subject, verified=True, created_at=now()
            )
        )
        member = {"subject": subject, "role": person.role, "launched_at": now()}
        db.add(LtiMember(lti_context_id=context.id, learner_id=number, **member))
    await db.flush()
    if unique:
        await record_event(db, context.class_id, None, "listed", context.id, count=len(unique))


async def _mark_left(db: AsyncSession, context: LtiContext, listed: set[str]) -> None:
    """End the memberships of those who came from this course and are on its list no more; one instructor stays."""
    group = await db.get(Class, context.class_id)
    rows = (await db.scalars(select(LtiMember).where(LtiMember.lti_context_id == context.id))).all()
    recently = now() - READ_EVERY
    # Whoever runs the platform looks after courses in whose lists they are not.
    staff = {row.learner_id for row in rows if row.role != "learner" and row.launched_at > recently}
    gone = {row.learner_id for row in rows if row.subject not in listed} - staff
    elsewhere = select(LtiMember.learner_id).join(LtiContext).where(LtiContext.class_id == context.class_id)
    gone -= set(await db.scalars(elsewhere.where(LtiContext.id != context.id)))
    if group is None or not gone:
        return
    members = await list_members(db, group.id)
    staying = [member for member in members if member.role == "instructor" and member.learner_id not in gone]
    for person in members:
        if person.learner_id in gone and (staying or person.role != "instructor"):
            await _leave(db, group, person)


async def _leave(db: AsyncSession, group: Class, person: Membership) -> None:
    await keep_grades(db, group, person, "left")
    end_membership(person)
    await record_event(db, group.id, None, "left", person.learner_id, by="platform")
