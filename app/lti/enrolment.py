"""Enrolment: a person of a platform becomes a learner, and their course a class.

A platform says of its own people who they are and what they may do in a course, and of no others: no person is found
by an e-mail address, and the class of another is never opened by a parameter of a link.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.credentials import VerifiedIdentity
from app.lti.claims import Launch
from app.store.classes import Role, create_class, new_member, record_event
from app.store.database import now
from app.store.former_members import drop_grades
from app.store.lti_scores import queue_learner
from app.store.tables import Class, LtiContext, LtiMember, LtiPlatform, Membership

READ_AGAIN_AFTER = timedelta(minutes=10)
"""The people of a course are read when an instructor comes, if they were not within that time."""
UNNAMED = {"learner": "A learner", "assistant": "An assistant", "instructor": "An instructor"}
"""What people are called whose names a platform does not tell."""


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a link: a lesson or a round of practice by its id, and an exercise of it; "" for all of them."""

    lesson: str = ""
    exercise: str = ""

    @property
    def resource_id(self) -> str:
        """Its name at platforms: the same for the same thing, in every course and each time that it is linked."""
        return f"{self.lesson}/{self.exercise}" if self.exercise else self.lesson


def target_of(launch: Launch, id_of: Callable[[str], str]) -> Target:
    """Target of *launch*: by the parameters of the link or, of an older one, by its address.

    Parameters come along when a course is copied, and addresses of platforms change seldom. *id_of* a lesson is found
    by its id or the last word of its address; "" where there is none.
    """
    if lesson := launch.custom.get("lesson", ""):
        return Target(id_of(lesson) or lesson, launch.custom.get("exercise", ""))
    path, _, exercise = launch.target.partition("#")
    prefix = "/lessons/"
    lesson = id_of(path.removeprefix(prefix).partition("?")[0]) if path.startswith(prefix) else ""
    return Target(lesson, exercise if lesson else "")


def identity_of(platform: LtiPlatform, launch: Launch) -> VerifiedIdentity:
    """Identity of a named person, proved by *platform*."""
    assert launch.subject is not None
    return VerifiedIdentity(kind="lti", issuer=platform.issuer, subject=launch.subject, name=launch.name)


async def is_known(db: AsyncSession, platform: LtiPlatform, launch: Launch) -> bool:
    """True if the course had a launch before."""
    same = (LtiContext.platform_id == platform.id, LtiContext.context_id == launch.context)
    return await db.scalar(select(LtiContext.id).where(*same)) is not None


async def enrol(db: AsyncSession, platform: LtiPlatform, launch: Launch, learner: int) -> LtiContext | None:
    """Put *learner* into the class of the course that they came from, as what they are there; None for a visitor.

    The first instructor makes the class. The role is that of the newest launch, whatever it was before.
    """
    if launch.context is None or launch.role is None or launch.subject is None:
        return None
    context = await _context(db, platform, launch, learner)
    group = await db.get(Class, context.class_id) if context else None
    if context is None or group is None or group.archived_at is not None:
        return None
    if not await become_member(db, group, learner, launch.role, launch.name):
        return None
    await set_member(db, context, learner, launch.subject, launch.role)
    return context


async def set_member(
    db: AsyncSession, context: LtiContext, learner: int, subject: str, role: Role, *, came: bool = True
) -> None:
    """Store the name and role of *learner* in a course; all grades of a new member are queued for the platform.

    Args:
        came: They did so now; otherwise they are only listed.
    """
    before = await db.get(LtiMember, (context.id, learner))
    as_before = before is not None and (before.subject, before.role) == (subject, role)
    if as_before and not came:
        return
    launched_at = now() if came or before is None else before.launched_at
    member = {"lti_context_id": context.id, "learner_id": learner, "subject": subject, "role": role}
    await db.merge(LtiMember(**member, launched_at=launched_at))
    await db.flush()
    if not as_before:
        await queue_learner(db, context.class_id, learner)


async def _context(db: AsyncSession, platform: LtiPlatform, launch: Launch, learner: int) -> LtiContext | None:
    """The known course, as it is called now; a new one only for an instructor."""
    same = (LtiContext.platform_id == platform.id, LtiContext.context_id == launch.context)
    context: LtiContext | None = await db.scalar(select(LtiContext).where(*same).with_for_update())
    if context is None:
        if launch.role != "instructor":
            return None
        group = await create_class(db, launch.title or f"A course on {platform.name}"[:200], "UTC", None)
        group.joining, group.created_by = "closed", learner
        context = LtiContext(platform_id=platform.id, context_id=launch.context, class_id=group.id, title="")
        db.add(context)
    context.title = launch.title or context.title
    if launch.lineitems_url:
        context.lineitems_url, context.lineitems_scope = launch.lineitems_url, launch.lineitems_scope
    context.memberships_url = launch.memberships_url or context.memberships_url
    context.launched_at = now()
    read_at = context.roster_read_at
    if launch.role == "instructor" and read_at is not None and now() - read_at > READ_AGAIN_AFTER:
        context.roster_read_at = None
    await db.flush()
    return context


async def become_member(db: AsyncSession, group: Class, learner: int, role: Role, name: str) -> bool:
    """Make *learner* a member of *group* as *role*; False for one whom an instructor keeps out."""
    person = await db.get(Membership, (group.id, learner))
    if person is not None and person.blocked:
        return False
    if person is None:
        person = new_member(group.id, learner, role, name or UNNAMED[role])
        db.add(person)
    elif person.left_at is None and person.joined_at is not None and person.role == role:
        return True
    person.role, person.left_at, person.joined_at = role, None, person.joined_at or now()
    await db.flush()
    await drop_grades(db, group.id, learner)
    await record_event(db, group.id, learner, "joined", learner, role=role, by="platform")
    return True
