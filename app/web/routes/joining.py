"""One page for every code: of a class, of a seat in it, and the invitation code of an instructor."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.accounts import recovery
from app.accounts.credentials import claimed_ids
from app.store import invitations, joining
from app.store.assignments import EARLIEST, LATEST, exercises_of, lessons_seen, tasks_of
from app.store.classes import RefusedError, find_class_member, list_members
from app.store.database import now
from app.store.progress import SITTINGS
from app.store.tables import Class, Membership
from app.teaching.codes import read_code, shown_code
from app.teaching.text_input import name_fault, one_line
from app.web.middleware.visitor import Visitor, client_network
from app.web.render import back_to
from app.web.routes.form_fields import Typed
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter()

UNKNOWN = "No class has the code {typed}. Look at it again: it has nine characters, and may have been replaced since."
MAX_TYPED_CODE_CHARS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTarget:
    """Target of a code: a class, the *seat* in it that is reserved or was theirs, or the creation of classes.

    *here* is the visitor as a member, if they are one already. On a server where ids are *claimed* and not typed, those
    that providers say are theirs.
    """

    code: str
    kind: Literal["class", "seat", "seat-again", "teacher"]
    group: Class | None = None
    instructors: tuple[str, ...] = ()
    seat: Membership | None = None
    here: Membership | None = None
    wants_id: bool = False
    claimed: frozenset[str] | None = None


@router.get("/join")
async def ask(request: Request, site: TheSite, visitor: TheVisitor, code: str = "") -> Response:
    """The field for a code; with one, what it opens."""
    if not code:
        return site.pages.page(request, "join.html", door=None, typed="", problem="")
    return await look(request, site, visitor, code)


@router.get("/join/{code}")
async def look(request: Request, site: TheSite, visitor: TheVisitor, code: str) -> Response:
    """Show what a code opens, before anything is done."""
    door = await _door(request, site, visitor, code)
    if door is None:
        return _unknown(request, site, code)
    return _page(request, site, door)


@router.post("/join/{code}")
async def enter(
    request: Request,
    site: TheSite,
    visitor: TheVisitor,
    code: str,
    name: Typed = "",
    external_id: Typed = "",
) -> Response:
    """Come in: a name is enough."""
    door = await _door(request, site, visitor, code)
    if door is None:
        return _unknown(request, site, code)
    name, external_id = one_line(name), one_line(external_id)
    if door.kind == "seat-again" and door.seat is not None:
        name = door.seat.name
    if problem := name_fault(name):
        return _page(request, site, door, problem, name, external_id)
    learner = await visitor.begin()
    try:
        membership = await _join_within_rate_limit(site, visitor, door, learner, name, external_id)
    except RefusedError as refused:
        return _page(request, site, door, str(refused), name, external_id)
    if membership is None:
        return back_to("/classes/new")
    if membership.role != "learner":
        return back_to(f"/classes/{membership.class_id}")
    return back_to(*await _first_exercise(site, learner, membership.class_id))


async def _join_within_rate_limit(
    site: Site, visitor: Visitor, door: JoinTarget, learner: int, name: str, external_id: str
) -> Membership | None:
    """Come in; an id is tried out like a code.

    Raises:
        RefusedError: The name or the id does not fit.
        RetryLaterError: Too many wrong ids came to the class.
    """
    async with site.one_code if external_id else nullcontext():
        if external_id:
            site.guesses.spend_id(door.code, visitor.token)
        async with site.database.write() as db:
            membership = await _enter(db, door, learner, name, external_id)
            await visitor.sessions.tell(db)
        if external_id:
            site.guesses.settle_id(door.code, visitor.token)
    return membership


async def _enter(db: AsyncSession, door: JoinTarget, learner: int, name: str, external_id: str) -> Membership | None:
    if door.kind == "seat-again":
        return await recovery.move_seat(db, read_code(door.code) or "", learner)
    if door.seat is not None:
        seat = await invitations.seat_of(db, read_code(door.code) or "")
        if seat is None:
            raise RefusedError(invitations.USED)
        return await joining.take_seat(db, seat.person, learner, name)
    if door.group is not None:
        group = await db.get_one(Class, door.group.id)
        return await joining.join_class(db, group, learner, name, external_id, door.claimed)
    await invitations.become_teacher(db, learner, read_code(door.code) or "", name)
    return None


async def _first_exercise(site: Site, learner: int, group: int) -> tuple[str, str]:
    """Of what is due first in *group*, else elsewhere, else of the course; what is private is seen from now on.

    To a sitting that is over nothing leads any more.
    """
    async with site.database.read() as db:
        seen = site.with_private_lessons(await lessons_seen(db, learner, site.lessons_of))
        tasks = [
            due_work
            for due_work in await tasks_of(db, learner)
            if (due_work.assignment.opens_at or EARLIEST) <= now()
            and not (due_work.assignment.lesson.startswith(SITTINGS) and (due_work.deadline.due or LATEST) < now())
        ]
    tasks.sort(key=lambda due_work: due_work.group.id != group)
    known = {item.name: item for item in seen.course.lessons if item.exercises}
    due_lessons = ((due_work, seen.assigned(due_work.assignment.lesson)) for due_work in tasks)
    task, given = next(
        ((due_work, it) for due_work, it in due_lessons if it and (it.drawn or it.name in known)), (None, None)
    )
    if given and given.drawn:
        return given.address, ""
    lesson = known[task.assignment.lesson] if task else next(iter(known.values()), None)
    if lesson is None:
        return "/", ""
    names = [exercise.name for exercise in lesson.exercises]
    chosen = exercises_of(task.assignment, lambda _: names) if task else names
    return f"/lessons/{lesson.slug}?joined=1", next(iter(chosen), "")


async def _door(request: Request, site: Site, visitor: Visitor, typed: str) -> JoinTarget | None:
    """
    Raises:
        RetryLaterError: Too many wrong codes came from there.
    """
    code = read_code(typed)
    learner = await visitor.learner()
    guess = client_network(request.scope), visitor.token, code or one_line(typed)[:MAX_TYPED_CODE_CHARS]
    async with site.one_code:
        # Before anything is looked up: who guesses is not told when a guess was right. What was right costs nothing.
        site.guesses.spend(*guess)
        async with site.database.read() as db:
            door = None if code is None else await _behind(db, site, code, learner)
        site.guesses.settle(*guess, right=door is not None)
    return door


async def _behind(db: AsyncSession, site: Site, code: str, learner: int | None) -> JoinTarget | None:
    if group := await joining.class_of_code(db, code):
        member = await find_class_member(db, group.id, learner) if learner is not None else None
        issuers = [identity_provider.issuer for identity_provider in site.doors.rosters]
        claimed = await claimed_ids(db, learner, issuers) if issuers and learner is not None else frozenset[str]()
        return JoinTarget(
            code=shown_code(code),
            kind="class",
            group=group,
            instructors=await _instructors(db, group),
            here=member.person if member else None,
            wants_id=await joining.wants_id(db, group.id),
            claimed=claimed if issuers else None,
        )
    if seat := await invitations.seat_of(db, code):
        instructors = await _instructors(db, seat.group)
        return JoinTarget(
            code=shown_code(code), kind="seat", group=seat.group, instructors=instructors, seat=seat.person
        )
    if seat := await recovery.seat_behind(db, code):
        instructors = await _instructors(db, seat.group)
        return JoinTarget(
            code=shown_code(code), kind="seat-again", group=seat.group, instructors=instructors, seat=seat.person
        )
    return JoinTarget(code=shown_code(code), kind="teacher") if await invitations.makes_teacher(db, code) else None


async def _instructors(db: AsyncSession, group: Class) -> tuple[str, ...]:
    listed = await list_members(db, group.id)
    return tuple(
        membership.name for membership in listed if membership.role == "instructor" and membership.joined_at is not None
    )


def _page(
    request: Request, site: Site, door: JoinTarget, problem: str = "", name: str = "", external_id: str = ""
) -> Response:
    return site.pages.page(
        request,
        "join.html",
        status=409 if problem else 200,
        door=door,
        rosters=site.doors.rosters,
        problem=problem,
        typed=door.code,
        name=name or (door.seat.name if door.seat else ""),
        external_id=external_id,
    )


def _unknown(request: Request, site: Site, typed: str) -> Response:
    problem = UNKNOWN.format(typed=one_line(typed)[:MAX_TYPED_CODE_CHARS])
    return site.pages.page(
        request, "join.html", status=404, door=None, typed=typed[:MAX_TYPED_CODE_CHARS], problem=problem
    )
