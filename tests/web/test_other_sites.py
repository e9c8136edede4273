"""What pages of other sites reach with the session of a frame, whose cookie no `SameSite` keeps from them.

Every route of the application, with every method that it answers, below `/embedded` and without. Whoever adds a route
is in these tables at once.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.credentials import VerifiedIdentity, sign_in
from app.content.blocks import Course
from app.settings import Settings
from app.store.classes import new_member
from app.store.database import now
from app.store.lti_platforms import add_platform
from app.store.tables import Base, Draft, Learner, LtiPlatform
from app.web.application import create_app
from app.web.middleware.frames import FRAME
from app.web.middleware.security import FROM_PLATFORMS, SAFE_METHODS
from tests.web.asking import Answer, Ask, Asker, asking, headers_of, path_of, routes_of, without_clock
from tests.web.classroom import Classroom
from tests.web.conftest import FakeGrader

PLATFORM = "https://moodle.example.org"
MARK = "quetzal"
"""A word that is in the names of the class, and in what its people wrote."""


TABLES = sorted(Base.metadata.tables)
STREAMS = ("/events", "/sentences")
SEEN = {"learner", "moment"}
"""Where it is kept which lesson somebody looked at last."""
COUNTED = {"item_report"}
"""A page of numbers asks that they are counted anew."""


def fetched(site: str, mode: str, dest: str) -> dict[str, str]:
    return {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}


FORMS = {
    "a form of another site": fetched("cross-site", "navigate", "iframe"),
    "a form of a neighbour": fetched("same-site", "navigate", "document"),
    "a script of another site": fetched("cross-site", "cors", "empty"),
    "another origin alone": {"origin": "https://elsewhere.example"},
    "a frame without an origin": {"origin": "null"},
}
SCRIPTS = {
    "a script": fetched("cross-site", "no-cors", "script"),
    "a neighbour": fetched("same-site", "cors", "empty"),
}
PAGES = {
    "a frame": fetched("cross-site", "navigate", "iframe"),
    "a tab": fetched("cross-site", "navigate", "document"),
}


class World:
    """An instructor in the frame of a platform, with a class, a text of their own, and a learner on the roster."""

    def __init__(self, asker: Asker, room: Classroom, database: sqlite3.Connection) -> None:
        self._ask, self._database = asker, database
        room.browser(f"Ada {MARK}", teaches=True)
        room.browser(f"Bob {MARK}")
        self.group = room.found(f"Algebra {MARK}", f"Ada {MARK}")
        self.bob = room.ids[f"Bob {MARK}"]
        self.assignment = room.assign(self.group, "linear-layer").id
        self.token = room.write(self._begin)
        self._version, self._rows = None, dict[str, list[object]]()
        self.changed()

    async def _begin(self, db: AsyncSession) -> str:
        who = VerifiedIdentity(kind="lti", issuer=PLATFORM, subject="ada", name=f"Ada {MARK}")
        result = await sign_in(db, "", who, "A browser, in Moodle", embedded=True)
        ada, token = result.known.learner, result.token
        (await db.get_one(Learner, ada)).teaches = True
        db.add(new_member(self.group.id, ada, "instructor", f"Ada {MARK}"))
        db.add(new_member(self.group.id, self.bob, "learner", f"Bob {MARK}"))
        where = {"lesson": "linear-layer", "exercise": "linear-backward"}
        db.add(Draft(learner_id=ada, **where, text=f"{MARK} = 1", revision=1, saved_at=now()))
        addresses = dict.fromkeys(("issuer", "auth_url", "token_url", "jwks_url"), PLATFORM)
        await add_platform(db, LtiPlatform(client_id="b", name="Moodle", added_at=now(), **addresses), ["1"])
        return token

    def path(self, template: str) -> str:
        values = {"class_id": self.group.id, "learner_id": self.bob, "assignment_id": self.assignment}
        query = f"?place=linear/dw-shape&to=/lessons/linear&earlier={self.group.id}"
        return path_of(template, **{name: str(value) for name, value in values.items()}) + query

    def ask(self, method: str, path: str, headers: dict[str, str], *, known: bool = True) -> Answer:
        # What is a stream has no end to read.
        method = "HEAD" if method == "GET" and any(end in path for end in STREAMS) else method
        pairs = [*headers.items(), *([("cookie", f"embedded={self.token}")] if known else [])]
        pairs.append(("content-type", "application/x-www-form-urlencoded"))
        return self._ask(Ask(method, path, headers_of(pairs), b"code=x&answer=1&name=x&act=remove&sure=yes"))

    def changed(self) -> set[str]:
        """The tables that have changed since this was asked last."""
        version = self._database.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return set()
        before, self._rows = (
            self._rows,
            {name: self._database.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES},
        )
        self._version = version
        return {name for name in TABLES if before.get(name) != self._rows[name]}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, course: Course) -> Iterator[World]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("sites"), database_url="", changes_per_minute=0)
    app = create_app(settings, course, FakeGrader())
    file = settings.resolved_database_url.partition("///")[2]
    with without_clock(), asking(app) as asker, closing(sqlite3.connect(file)) as database:
        yield World(asker, Classroom(app, asker.run), database)


def routes(world: World, *, safe: bool) -> list[tuple[str, str, str]]:
    """Method, template and address of each route, in the frame and out of it."""
    found = [
        (method, template, prefix + world.path(template))
        for method, template in ROUTES
        for prefix in (FRAME, "")
        if (method in SAFE_METHODS) == safe
    ]
    assert len(found) > 100
    return found


ROUTES = routes_of(create_app(Settings(database_url="sqlite+aiosqlite://"), Course(units=()), FakeGrader()))


@pytest.mark.parametrize("sent", FORMS)
def test_nothing_that_changes_something_is_taken_from_elsewhere(world: World, sent: str) -> None:
    taken: list[str] = []
    world.changed()
    for method, template, path in routes(world, safe=False):
        answer = world.ask(method, path, FORMS[sent])
        refused = answer.status == 403 and "was sent from another site" in answer.text
        if not refused and template not in FROM_PLATFORMS:
            taken.append(f"{method} {path}: {answer.status}")

    assert taken == []
    assert world.changed() == set()


def test_a_frame_reads_what_is_its_own(world: World) -> None:
    """Otherwise the next tests hold for no reason."""
    own = fetched("same-origin", "navigate", "iframe")
    pages = ("/lessons/linear", f"/classes/{world.group.id}/roster", f"/classes/{world.group.id}/gradebook.json")

    assert all(MARK in world.ask("GET", FRAME + page, own).text for page in pages)


@pytest.mark.parametrize("sent", SCRIPTS)
def test_a_script_from_elsewhere_reads_what_a_stranger_does(world: World, sent: str) -> None:
    read: list[str] = []
    world.changed()
    for method, _, path in routes(world, safe=True):
        answer, stranger = (world.ask(method, path, SCRIPTS[sent], known=known) for known in (True, False))
        if answer.status != stranger.status or MARK in answer.text or answer.header("set-cookie"):
            read.append(f"{method} {path}: {answer.status}")
        if answer.header("access-control-allow-origin") or not is_for_own_pages(answer):
            read.append(f"{method} {path}: shared")

    assert read == []
    assert world.changed() == set()


@pytest.mark.parametrize("sent", PAGES)
def test_a_page_that_is_gone_to_from_elsewhere_changes_nothing(world: World, sent: str) -> None:
    """A browser goes to it with the cookie, as after a launch; the site that sent it sees nothing of it."""
    wrong: list[str] = []
    world.changed()
    for method, _, path in routes(world, safe=True):
        answer = world.ask("HEAD" if method == "GET" else method, path, PAGES[sent])
        policy = answer.header("content-security-policy")
        allowed = (PLATFORM, "'none'") if path.startswith((FRAME, *FROM_PLATFORMS)) else ("'none'",)
        if not policy.endswith(tuple(f"frame-ancestors {who}" for who in allowed)) or not is_for_own_pages(answer):
            wrong.append(f"{path}: {policy[-60:]}")
        new = {"session"} if sent == "a tab" else set()  # of somebody whom the browser did not know
        if more := world.changed() - (SEEN | COUNTED | new if path.startswith(FRAME) or new else set()):
            wrong.append(f"{path}: {more}")

    assert wrong == []


def is_for_own_pages(answer: Answer) -> bool:
    """True if browsers give an answer to no script, picture or window of another origin."""
    names = ("cross-origin-resource-policy", "cross-origin-opener-policy")
    return [answer.header(name) for name in names] == ["same-origin", "same-origin"]
