"""One place for every code: of a class, of a seat in it, and the word that makes somebody an instructor."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from app.store import invitations, joining
from app.store.assignments import EARLIEST, exercises_of, lessons_seen, tasks_of
from app.store.classes import RefusedError, inside, people
from app.store.database import now
from app.store.tables import Class, Membership
from app.teaching.codes import read_code, shown_code
from app.teaching.words import name_fault, one_line
from app.web.middleware.visitor import Visitor, network_of
from app.web.render import back_to
from app.web.site import Site, TheSite, TheVisitor

router = APIRouter()

UNKNOWN = "No class has the code {typed}. Look at it again: it has nine characters, and may have been replaced since."
LONGEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a code opens: a class, the *seat* kept for somebody in it, or the making of classes.

    *here* is whoever asks, where they are in already.
    """

    code: str
    kind: Literal["class", "seat", "teacher"]
    group: Class | None = None
    instructors: tuple[str, ...] = ()
    seat: Membership | None = None
    here: Membership | None = None
    wants_id: bool = False


@router.get("/join")
async def ask(request: Request, site: TheSite, visitor: TheVisitor, code: str = "") -> Response:
    """The field for a code; with one, what it opens."""
    if not code:
        return site.pages.page(request, "join.html", door=None, typed="", problem="")
    return await look(request, site, visitor, code)


@router.get("/join/{code}")
async def look(request: Request, site: TheSite, visitor: TheVisitor, code: str) -> Response:
    """What a code opens, before anything is done."""
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
    name: Annotated[str, Form()] = "",
    external_id: Annotated[str, Form()] = "",
) -> Response:
    """Come in: a name is enough."""
    door = await _door(request, site, visitor, code)
    if door is None:
        return _unknown(request, site, code)
    name, external_id = one_line(name), one_line(external_id)
    if problem := name_fault(name):
        return _page(request, site, door, problem, name, external_id)
    learner = await visitor.begin()
    try:
        async with site.database.write() as db:
            here = await _enter(db, door, learner, name, external_id)
            await visitor.sessions.tell(db)
    except RefusedError as refused:
        if external_id:  # an id is tried out like a code
            site.guesses.spend(network_of(request.scope))
        return _page(request, site, door, str(refused), name, external_id)
    if here is None:
        return back_to("/classes/new")
    if here.role != "learner":
        return back_to(f"/classes/{here.class_id}")
    return back_to(*await _first_exercise(site, learner))


async def _enter(db: AsyncSession, door: Door, learner: int, name: str, external_id: str) -> Membership | None:
    if door.seat is not None:
        seat = await invitations.seat_of(db, read_code(door.code) or "")
        if seat is None:
            raise RefusedError(invitations.USED)
        return await joining.take_seat(db, seat.person, learner, name)
    if door.group is not None:
        return await joining.join(db, await db.get_one(Class, door.group.id), learner, name, external_id)
    await invitations.become_teacher(db, learner, read_code(door.code) or "", name)
    return None


async def _first_exercise(site: Site, learner: int) -> tuple[str, str]:
    """Of what is due first, else of the course; what is private is seen from now on."""
    async with site.database.read() as db:
        seen = site.seeing(await lessons_seen(db, learner))
        tasks = [one for one in await tasks_of(db, learner) if (one.assignment.opens_at or EARLIEST) <= now()]
    known = {one.name: one for one in seen.course.lessons if one.exercises}
    found = ((one, seen.assigned(one.assignment.lesson)) for one in tasks)
    task, given = next(((one, it) for one, it in found if it and (it.drawn or it.name in known)), (None, None))
    if given and given.drawn:
        return given.address, ""
    lesson = known[task.assignment.lesson] if task else next(iter(known.values()), None)
    if lesson is None:
        return "/", ""
    names = [one.name for one in lesson.exercises]
    chosen = exercises_of(task.assignment, lambda _: names) if task else names
    return f"/lessons/{lesson.slug}?joined=1", next(iter(chosen), "")


async def _door(request: Request, site: Site, visitor: Visitor, typed: str) -> Door | None:
    """
    Raises:
        NotNowError: Too many wrong codes came from there.
    """
    network = network_of(request.scope)
    code = read_code(typed)
    learner = await visitor.learner()
    async with site.one_code:
        # Before anything is looked up: who guesses is not told when a guess was right. What was right costs nothing.
        site.guesses.spend(network)
        async with site.database.read() as db:
            door = None if code is None else await _behind(db, code, learner)
        if door is not None:
            site.guesses.charge(network, -1)
    return door


async def _behind(db: AsyncSession, code: str, learner: int | None) -> Door | None:
    if group := await joining.class_of_code(db, code):
        here = await inside(db, group.id, learner) if learner is not None else None
        return Door(
            code=shown_code(code),
            kind="class",
            group=group,
            instructors=await _instructors(db, group),
            here=here.person if here else None,
            wants_id=await joining.wants_id(db, group.id),
        )
    if seat := await invitations.seat_of(db, code):
        instructors = await _instructors(db, seat.group)
        return Door(code=shown_code(code), kind="seat", group=seat.group, instructors=instructors, seat=seat.person)
    return Door(code=shown_code(code), kind="teacher") if await invitations.makes_teacher(db, code) else None


async def _instructors(db: AsyncSession, group: Class) -> tuple[str, ...]:
    listed = await people(db, group.id)
    return tuple(one.name for one in listed if one.role == "instructor" and one.joined_at is not None)


def _page(
    request: Request, site: Site, door: Door, problem: str = "", name: str = "", external_id: str = ""
) -> Response:
    return site.pages.page(
        request,
        "join.html",
        status=409 if problem else 200,
        door=door,
        problem=problem,
        typed=door.code,
        name=name or (door.seat.name if door.seat else ""),
        external_id=external_id,
    )


def _unknown(request: Request, site: Site, typed: str) -> Response:
    problem = UNKNOWN.format(typed=one_line(typed)[:LONGEST])
    return site.pages.page(request, "join.html", status=404, door=None, typed=typed[:LONGEST], problem=problem)
