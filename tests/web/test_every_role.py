"""Every route of the application, asked by every role: it answers those whom the table names, and is no page to others.

Whoever adds a route adds a row.
"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Course
from app.settings import Settings
from app.store.classes import ROLES, Role, new_member
from app.store.comparisons import NewComparison, begin_comparison
from app.store.database import now
from app.store.sittings import SittingSettings, create_sitting
from app.store.tables import Assignment, Class, Membership
from app.web.application import create_app
from tests.turns import PAGES
from tests.web.asking import Ask, Asker, asking, headers_of, path_of, routes_of
from tests.web.classroom import Classroom
from tests.web.conftest import FakeGrader

OPEN = ("/", "/accessibility", "/authors/items", "/authors/sentences",
        "/finish", "/healthz", "/imprint", "/join", "/lessons/", "/lti/",
        "/me", "/metrics", "/names", "/pictures/", "/practice", "/privacy", "/readyz", "/reports", "/sign-in",
        "/seeing/end", "/sign-out", "/static", "/theme", "/torch", "/units/", "/classes")  # fmt: skip
"""Whose own business it is, or everybody's; no class is told of."""
CLASS = "/classes/{class_id}"
TEACHERS = {("GET", "/classes/new"), ("POST", "/classes/new"), ("GET", "/reports"), ("POST", "/reports"),
            ("GET", "/authors/items"), ("GET", "/authors/items/{slug}"), ("GET", "/authors/sentences"),
            ("GET", "/authors/sentences/export.json"), ("POST", "/authors/sentences/import")}  # fmt: skip
MAY: dict[tuple[str, str], Role] = {
    ("GET", ""): "learner",
    ("GET", "/leave"): "learner",
    ("POST", "/leave"): "learner",
    ("POST", "/delete"): "instructor",
    ("GET", "/roster"): "assistant",
    ("GET", "/roster.csv"): "assistant",
    ("POST", "/roster"): "instructor",
    ("POST", "/roster/selected"): "instructor",
    ("POST", "/roster/undo"): "instructor",
    ("POST", "/roster/{learner_id}/seat"): "instructor",
    ("GET", "/roster/{learner_id}"): "instructor",
    ("POST", "/roster/{learner_id}"): "instructor",
    ("POST", "/roster/{learner_id}/remove"): "instructor",
    ("POST", "/roster/{learner_id}/reset"): "instructor",
    ("POST", "/roster/{learner_id}/unblock"): "instructor",
    ("POST", "/former/{former_id}/forget"): "instructor",
    ("POST", "/invitations"): "instructor",
    ("POST", "/joining"): "instructor",
    ("GET", "/board"): "assistant",
    ("GET", "/board/events"): "assistant",
    ("POST", "/board/explained"): "assistant",
    ("GET", "/slips"): "assistant",
    ("GET", "/lessons"): "assistant",
    ("GET", "/lessons/{slug}"): "assistant",
    ("GET", "/learners/{learner_id}"): "assistant",
    ("POST", "/learners/{learner_id}/see"): "instructor",
    ("GET", "/comparisons"): "assistant",
    ("GET", "/comparisons/new"): "instructor",
    ("POST", "/comparisons"): "instructor",
    ("POST", "/comparisons/{comparison_id}/end"): "instructor",
    ("GET", "/gradebook"): "assistant",
    ("POST", "/gradebook/again"): "instructor",
    ("GET", "/gradebook.csv"): "assistant",
    ("GET", "/gradebook.json"): "assistant",
    ("GET", "/attempts"): "instructor",
    ("POST", "/attempts"): "instructor",
    ("GET", "/attempts.jsonl"): "instructor",
    ("GET", "/take-over"): "instructor",
    ("POST", "/take-over"): "instructor",
    ("GET", "/settings"): "instructor",
    ("GET", "/next"): "instructor",
    ("POST", "/next"): "instructor",
    ("POST", "/settings"): "instructor",
    ("GET", "/sittings/new"): "instructor",
    ("POST", "/sittings"): "instructor",
    ("GET", "/sittings/{sitting_id}"): "learner",
    ("POST", "/sittings/{sitting_id}"): "instructor",
    ("GET", "/sittings/{sitting_id}/specimen"): "assistant",
    ("GET", "/sittings/{sitting_id}/results/{learner_id}"): "assistant",
    ("POST", "/sittings/{sitting_id}/time"): "instructor",
    ("POST", "/sittings/{sitting_id}/switches/{learner_id}"): "instructor",
    ("POST", "/sittings/{sitting_id}/begin"): "learner",
    ("POST", "/sittings/{sitting_id}/switch"): "learner",
    ("POST", "/sittings/{sitting_id}/hand-in"): "learner",
    ("POST", "/sittings/{sitting_id}/code/{name}/draft"): "learner",
    ("POST", "/sittings/{sitting_id}/code/{name}/check"): "learner",
    ("GET", "/assignments"): "assistant",
    ("POST", "/assignments"): "instructor",
    ("GET", "/assignments/{assignment_id}"): "instructor",
    ("POST", "/assignments/{assignment_id}"): "instructor",
    ("POST", "/assignments/{assignment_id}/delete"): "instructor",
    ("POST", "/assignments/{assignment_id}/extensions"): "instructor",
    ("POST", "/assignments/{assignment_id}/extensions/{learner_id}/delete"): "instructor",
    ("POST", "/assignments/{assignment_id}/excuses"): "instructor",
    ("POST", "/assignments/{assignment_id}/excuses/{learner_id}/delete"): "instructor",
}
"""From which role on the pages of a class answer."""
INSIDE: dict[str, Role] = {"Bob": "learner", "Tom": "assistant", "Ada": "instructor"}
OUTSIDE = ("stranger", "Eve", "Max")
"""Somebody without a cookie, a learner of another class, and its instructor."""


class World:
    def __init__(self, app: FastAPI, asker: Asker) -> None:
        self._ask = asker
        self.room = Classroom(app, asker.run)
        self.cookies = {name: self._cookie(name) for name in (*INSIDE, "Eve", "Max")} | {"stranger": ""}
        self.group = self.room.found("Algebra", "Ada")
        other = self.room.found("Geometry", "Max")
        self.room.join(other, "Eve")
        self.assignment = self.room.assign(self.group, "linear-layer").id
        new = NewComparison(lesson="linear-layer", exercise="pick", about="hint-1", first="One.", second="Two.")
        begun = self.room.write(lambda db: begin_comparison(db, self.group.id, new, self.room.ids["Ada"]))
        self.comparison = begun.id
        self.sitting = self.room.write(self._sitting).id
        self.restore()

    async def _sitting(self, db: AsyncSession) -> Assignment:
        settings = SittingSettings("Sitting", now(), now() + timedelta(days=1), 30, 1.0, "nothing")
        return await create_sitting(db, self.group.id, settings, '[{"family": "", "level": 1, "count": 1}]', 1, None)

    def _cookie(self, name: str) -> str:
        teaches = name in ("Ada", "Max")
        return f"session={self.room.browser(name, teaches=teaches).cookies['session']}"

    def restore(self) -> None:
        """Everybody in the class is there again, and so is the assignment."""

        async def again(db: AsyncSession) -> None:
            await db.execute(delete(Membership).where(Membership.class_id == self.group.id))
            for name, role in INSIDE.items():
                db.add(new_member(self.group.id, self.room.ids[name], role, name))
            (await db.get_one(Class, self.group.id)).archived_at = None

        self.room.write(again)

    def status(self, method: str, template: str, who: str) -> int:
        values = {
            "class_id": self.group.id,
            "learner_id": self.room.ids["Bob"],
            "assignment_id": self.assignment,
            "former_id": 1,
            "comparison_id": self.comparison,
            "sitting_id": self.sitting,
            **({"name": "item-1"} if "sittings" in template else {}),
        }
        path = path_of(template, **{name: str(value) for name, value in values.items()}) + "?place=linear/dw-shape"
        pairs = [("cookie", self.cookies[who]), ("sec-fetch-site", "same-origin")]
        pairs.append(("content-type", "application/x-www-form-urlencoded"))
        # A stream that is only asked for its head has an end.
        asked = "HEAD" if method == "GET" else method
        body = b"joining=open&code=x&answer=1&place=linear/dw-shape"
        return self._ask(Ask(asked, path, headers_of(pairs), body)).status


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, course: Course) -> FastAPI:
    settings = Settings(data_dir=tmp_path_factory.mktemp("roles"), database_url="", changes_per_minute=0)
    return create_app(settings, course, FakeGrader())


@pytest.fixture(scope="module")
def world(app: FastAPI) -> Iterator[World]:
    with asking(app) as asker:
        yield World(app, asker)


def _routes() -> list[tuple[str, str]]:
    empty = Course(units=())
    return routes_of(create_app(Settings(database_url="sqlite+aiosqlite://"), empty, FakeGrader()))


ROUTES = _routes()
OF_A_CLASS = [(method, path) for method, path in ROUTES if path.startswith(CLASS)]


def test_every_route_has_a_row() -> None:
    without = {(method, path.removeprefix(CLASS)) for method, path in OF_A_CLASS} - MAY.keys()
    top = [
        path for _, path in ROUTES if path not in OPEN and not path.startswith(tuple(one for one in OPEN if one[1:]))
    ]

    assert without == set()
    assert top == []


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(("method", "path"), OF_A_CLASS, ids=" ".join)
def test_a_page_of_a_class_answers_by_role_and_is_404_to_others(world: World, method: str, path: str) -> None:
    least = MAY[method, path.removeprefix(CLASS)]

    seen = {}
    for who in (*OUTSIDE, *INSIDE):
        seen[who] = world.status(method, path, who) != 404
        if method == "POST" and seen[who]:
            world.restore()
            if path.endswith("{assignment_id}/delete"):
                world.assignment = world.room.assign(world.group, "linear-layer").id

    allowed = {who: ROLES.index(role) >= ROLES.index(least) for who, role in INSIDE.items()}
    assert seen == dict.fromkeys(OUTSIDE, False) | allowed


@pytest.mark.parametrize(("method", "path"), sorted(TEACHERS))
def test_only_who_teaches_is_shown_how_a_class_is_made(world: World, method: str, path: str) -> None:
    seen = {who for who in (*OUTSIDE, *INSIDE) if world.status(method, path, who) != 404}

    assert seen == {"Ada", "Max"}
