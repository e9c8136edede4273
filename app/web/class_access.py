"""Access to a class by role, and the head of its pages.

All others get 404: whether a class exists is its own affair.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import Depends
from fastapi.routing import iter_route_contexts
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.settings import Settings
from app.store.classes import ClassMember, Role, find_class_member, today_of
from app.store.tables import Class, Learner, Membership
from app.web.render import back_to
from app.web.site import Site, TheSite, TheVisitor, or_404

PREFIX = "/classes/{class_id}"
"""Where the pages of a class are."""

DIGITS = 9
"""Of the largest number that every database takes."""

SOON = timedelta(days=30)

Act = Literal["belong", "watch", "grade", "arrange"]
MAY: dict[Act, Role] = {
    "belong": "learner",  # what is due for oneself; leaving
    "watch": "assistant",  # the others: who they are, what they do and reach
    "grade": "instructor",  # more time and grades by hand; an assistant too where the class says so
    "arrange": "instructor",  # dates, points, who is in the class and as what, the code
}


def parse_row_id(typed: str) -> int:
    """The number of a row in an address; 404 for what can be none."""
    if not (typed.isascii() and typed.isdecimal() and len(typed) <= DIGITS):
        raise HTTPException(404)
    return int(typed)


async def require_teacher(site: Site, learner: int | None) -> Learner:
    """Learner who may create classes; 404 for everyone else."""
    async with site.database.read() as db:
        me = await db.get(Learner, learner) if learner is not None else None
    if me is None or not me.teaches:
        raise HTTPException(404)
    return me


@dataclass(frozen=True, slots=True)
class ClassPage:
    """Request for a page of a class by one of its members."""

    request: Request
    site: Site
    member: ClassMember

    @property
    def group(self) -> Class:
        return self.member.group

    @property
    def class_id(self) -> int:
        return self.member.group.id

    @property
    def person(self) -> Membership:
        return self.member.person

    @property
    def learner(self) -> int:
        return self.member.person.learner_id

    def may(self, act: Act) -> bool:
        """True if this member may *act*."""
        return may_act(self.member, act)

    def read(self) -> AbstractAsyncContextManager[AsyncSession]:
        return self.site.database.read()

    def write(self) -> AbstractAsyncContextManager[AsyncSession]:
        return self.site.database.write()

    def render(self, template: str, *, problem: str = "", **values: Any) -> Response:
        """The page; *template* extends `class.html` and says what the *problem* was with what was sent."""
        shared = {
            "within": self.member,
            "group": self.group,
            "tabs": tabs(self.request, self.member),
            "server": server_of(self.request),
            "end": end_of(self.group),
        }
        status = 409 if problem else 200
        return self.site.pages.page(self.request, template, status=status, problem=problem, **shared, **values)

    def back(self, *place: str | int) -> Response:
        """On to a page of the class, such as `"assignments", 4`; without a place, to its home."""
        return back_to("/".join(map(str, ("/classes", self.class_id, *place))))


def require_role(act: Act) -> Callable[..., Awaitable[ClassPage]]:
    """Dependency that returns a page of the class, if the role of its member may *act*; 404 for everyone else."""

    async def allowed(request: Request, site: TheSite, visitor: TheVisitor, class_id: str) -> ClassPage:
        learner = or_404(await visitor.learner())
        async with site.database.read() as db:
            class_member = await find_class_member(db, parse_row_id(class_id), learner)
        if class_member is None or not may_act(class_member, act):
            raise HTTPException(404)
        return ClassPage(request, site, class_member)

    return allowed


def may_act(within: ClassMember, act: Act) -> bool:
    """True if this member of the class may *act*."""
    least: Role = "assistant" if act == "grade" and within.group.assistants_grade else MAY[act]
    return within.is_at_least(least)


Belonging = Annotated[ClassPage, Depends(require_role("belong"))]
Watching = Annotated[ClassPage, Depends(require_role("watch"))]
Grading = Annotated[ClassPage, Depends(require_role("grade"))]
Arranging = Annotated[ClassPage, Depends(require_role("arrange"))]


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of a class in its navigation; *here* is the one that is looked at."""

    title: str
    address: str
    here: bool


TABS: tuple[tuple[str, str, Act], ...] = (
    ("Home", "", "belong"),
    ("Roster", "/roster", "watch"),
    ("Assignments", "/assignments", "watch"),
    ("Board", "/board", "watch"),
    ("Lessons", "/lessons", "watch"),
    ("Gradebook", "/gradebook", "watch"),
)


def tabs(request: Request, within: ClassMember) -> tuple[Tab, ...]:
    """The pages of the class that there are for this person."""
    served = {context.path for context in iter_route_contexts(request.app.routes)}
    home = f"/classes/{within.group.id}"
    # A sitting is an assignment, and made beside the others.
    path = request.url.path.removeprefix(home).replace("/sittings", "/assignments", 1)
    return tuple(
        Tab(title, home + end, here=path == end or (end != "" and path.startswith(end + "/")))
        for title, end, act in TABS
        if PREFIX + end in served and within.is_at_least(MAY[act])
    )


@dataclass(frozen=True, slots=True)
class End:
    """The day after which a class is forgotten; *soon* when every page of it says so."""

    day: str
    soon: bool


def end_of(group: Class) -> End | None:
    if group.keep_until is None:
        return None
    day = group.keep_until
    return End(f"{day.day} {day:%B %Y}", soon=day - today_of(group.timezone) <= SOON)


def server_of(request: Request) -> str:
    """Public address of this server, such as `https://learn.example.org`, with the prefix of its paths."""
    settings: Settings = request.app.state.settings
    return settings.base_url if settings.address else str(request.base_url).rstrip("/") + settings.prefix
