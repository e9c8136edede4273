"""A small course served from a real database, with a grader that answers by rule instead of running code."""

import asyncio
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.content.blocks import Checker, Course, Exercise, Forward, FunctionBox
from app.content.export.unfit import block_problem
from app.engine.grader import Load, Nudge, Readiness, RunResult
from app.engine.task import AnyTask, HuntTask
from app.grading.forward.facts import Facts, Outcome
from app.grading.judge.function_verdict import names_of as names_of_cases
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.line_shapes import InlayShapes, LineShape, NameShape
from app.grading.judge.run_reports import ShownValue
from app.grading.judge.verdict import Differences, NameVerdict, Verdict, Worst
from app.settings import Settings
from app.store.migrate import migrate
from app.web.application import create_app
from app.web.middleware import security
from app.web.middleware.reports import configure_logs
from app.web.routes import health
from tests.courses import course_in
from tests.waiting import SECONDS
from tests.web.asking import RUNNING, without_jobs

OPERATOR = "the token of the operator"
OUTCOMES: tuple[Outcome, ...] = ("refused", "error", "timeout", "memory", "denied", "crashed", "fault", "busy")
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"
WRONG = "dX = W @ dY\n"


def names_of(task: AnyTask) -> tuple[str, ...]:
    """What a verdict has a row for."""
    match task:
        case Checker():
            return (task.function,)
        case HuntTask(mending=mending):
            return mending.grad.require
        case FunctionBox():
            return names_of_cases(task)
        case _:
            return task.grad.require


def solution_of(task: AnyTask) -> str:
    """The text that passes."""
    match task:
        case Checker() | FunctionBox():
            return task.solution.source
        case HuntTask(bug=bug):
            return with_line(bug.solution.source, bug.line)
        case _:
            return task.grad.solution.source


class FakeGrader:
    """Passes the author's solution; a text that is the name of an outcome ends that way; all else is wrong."""

    def __init__(self) -> None:
        self.readiness = Readiness(state="ready", layers=(("seccomp", "on"),))
        self.load = Load(up=1, idle=1)
        self.checked: list[str] = []
        self.nudged: list[tuple[str, str, str]] = []
        self.told_of: list[tuple[str, str]] = []
        self.outcome: Verdict | None = None

    async def check(self, task: AnyTask, code: str) -> Verdict:
        self.checked.append(code)
        if self.outcome is not None:
            return self.outcome
        ending = next((one for one in OUTCOMES if one == code.strip()), "error" if code.endswith("= ") else None)
        if ending is not None:
            return Verdict(outcome=ending, message=f"This ended as `{ending}`.", line=1)
        if code.strip() == solution_of(task).strip():
            names = tuple(
                NameVerdict(name=name, verdict="right", exact=True, approx=True, maxdiff=0.0) for name in names_of(task)
            )
            return Verdict(outcome="graded", passed=True, names=names, hidden_sizes=2)
        first, *others = names_of(task)
        wrong = NameVerdict(
            name=first,
            verdict="wrong",
            code=f"{first}:transposed",
            message=f"This is the transpose of `{first}`.",
            exact=False,
            approx=False,
            maxdiff=0.731234,
            line=1,
            worst=(Worst(index=(1, 2), yours=0.5, off=1.0, ratio=-1.0),),
            differences=Differences(rows=(".aL", "lA?"), largest=0.731, shape=(2, 3), pattern="Each `row` is off."),
        )
        later = (NameVerdict(name=name, verdict="not-yet", message="A blank is left.") for name in others)
        return Verdict(outcome="graded", names=(wrong, *later), hidden_sizes=2, printed=f"<b>{code}</b>")

    async def run(self, task: AnyTask, code: str) -> RunResult:
        if code.strip() == "error":
            return RunResult(outcome="error", message="`q` is not defined.", line=1)
        shown = ShownValue(name=names_of(task)[0], shape=(3, 2), dtype="float32", text="tensor([[<1.>]])")
        return RunResult(outcome="graded", shown=(shown,), printed="<i>hello</i>")

    async def nudge(self, task: AnyTask, code: str, name: str, entry: str) -> Nudge:
        self.nudged.append((code, name, entry))
        if name not in names_of(task) or entry == "9, 9":
            return Nudge(outcome="refused", name=name, message=f"`{name}` has no entry {entry}.")
        return Nudge(
            outcome="graded",
            name=name,
            entry=(1, 2),
            loss="(dY * Y).sum()",
            step=1e-4,
            above=2.5,
            below=2.25,
            quotient=1250.0,
            own=2500.0,
            message="Your number is 2 times the quotient.",
            note="L has a kink here.",
        )

    async def line_shapes(self, task: AnyTask, code: str) -> InlayShapes:
        self.told_of.append((task.name, code))
        return InlayShapes(
            lines=(LineShape(line=1, text="(N, D), W is (D, H)", fits=False),),
            names=(
                NameShape(name="X", shape="(N, D)", numbers="(6, 4)"),
                NameShape(name="dW", shape="(D, H)", numbers="(4, 5)", line=1),
            ),
        )

    async def export_problems(self, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(block_problem(text) for text in texts)

    async def facts(self, forward: Forward) -> Facts:
        return Facts(shapes={forward.output: (1,)}, gradable=())


@pytest.fixture(scope="session", autouse=True)
def _logs() -> None:
    configure_logs(plain=True)


@pytest.fixture(scope="module")
def course(request: pytest.FixtureRequest) -> Course:
    """The folder beside this file that a module of tests names as its FOLDER, or the usual one."""
    return course_in(Path(__file__).parent / getattr(request.module, "FOLDER", "course"))


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once and copied for each file of tests."""
    folder = tmp_path_factory.mktemp("empty")
    settings = Settings(data_dir=folder, database_url="")
    asyncio.run(migrate(settings.resolved_database_url))
    return folder / "backhand.db"


@pytest.fixture(scope="module", autouse=True)
def _jobs_left_to_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that is about a job calls it, or has its file marked `jobs`."""
    with nullcontext() if request.node.get_closest_marker("jobs") else without_jobs():
        yield


BROWSER = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}


@dataclass(frozen=True)
class Shared:
    """A server that has started: a test is somebody new there. One that looks at more is marked `alone`."""

    settings: Settings
    grader: FakeGrader
    app: FastAPI
    client: TestClient


def settings_in(folder: Path, database: Path) -> Settings:
    shutil.copy(database, folder)
    return Settings(data_dir=folder, database_url="", secure_cookies=False, operator_token=OPERATOR)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, empty_database: Path, course: Course) -> Iterator[Shared]:
    settings, grader = settings_in(tmp_path_factory.mktemp("data"), empty_database), FakeGrader()
    app = create_app(settings, course, grader)
    with started(app) as client:
        yield Shared(settings, grader, app, client)


@pytest.fixture(scope="module")
def unstarted(tmp_path_factory: pytest.TempPathFactory, empty_database: Path, course: Course) -> FastAPI:
    """An application for a file of tests that starts it in its own way."""
    return create_app(settings_in(tmp_path_factory.mktemp("data"), empty_database), course, FakeGrader())


@contextmanager
def started(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, headers=BROWSER) as client:
        RUNNING.add(app)
        app.state.portal = client.portal
        yield client
        del app.state.portal
        RUNNING.discard(app)


@pytest.fixture(scope="session", autouse=True)
def _looked_at_each_time() -> None:
    """A test that breaks the database asks at once whether that is seen."""
    health.HEALTH_CACHE_SECONDS, health.DATABASE_SECONDS = 0.0, SECONDS


@pytest.fixture(scope="session", autouse=True)
def _nonces_without_letters_and_digits() -> Iterator[None]:
    """A page without "Bob" has none in its nonce either; drawn at random, one of fourteen thousand has."""
    drawn, marks = count(), str.maketrans("01", "-_")
    patched = pytest.MonkeyPatch()
    ours = {"token_urlsafe": lambda _: f"{next(drawn):022b}".translate(marks)}
    patched.setattr(security, "secrets", SimpleNamespace(**{**vars(secrets), **ours}))
    yield
    patched.undo()


@pytest.fixture(scope="session", autouse=True)
def _one_loop_of_a_server() -> Iterator[None]:
    """Every client of a server that has started asks in the loop of its start, as in life: writers wait there."""
    alone_in_a_loop = TestClient._portal_factory

    @contextmanager
    def in_its_loop(client: TestClient) -> Iterator[BlockingPortal]:
        running = getattr(getattr(client.app, "state", None), "portal", None)
        with nullcontext(running) if client.portal is None and running else alone_in_a_loop(client) as portal:
            yield portal

    patch = pytest.MonkeyPatch()
    patch.setattr(TestClient, "_portal_factory", in_its_loop)
    yield
    patch.undo()


def alone(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("alone") is not None


@pytest.fixture
def grader(request: pytest.FixtureRequest) -> FakeGrader:
    fresh = FakeGrader()
    if alone(request):
        return fresh
    found: FakeGrader = request.getfixturevalue("shared").grader
    vars(found).update(vars(fresh))
    return found


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path, empty_database: Path) -> Settings:
    if alone(request):
        (tmp_path / "data").mkdir()
        return settings_in(tmp_path / "data", empty_database)
    found: Settings = request.getfixturevalue("shared").settings
    return found


@pytest.fixture
def app(request: pytest.FixtureRequest, settings: Settings, course: Course, grader: FakeGrader) -> FastAPI:
    if not alone(request):
        shared: Shared = request.getfixturevalue("shared")
        if settings is shared.settings and grader is shared.grader:
            return shared.app
    return create_app(settings, course, grader)


@pytest.fixture
def client(request: pytest.FixtureRequest, app: FastAPI) -> Iterator[TestClient]:
    """A browser without scripts: plain forms, redirects followed."""
    if not alone(request) and app is (shared := request.getfixturevalue("shared")).app:
        client = TestClient(app, headers=BROWSER)
        client.portal = shared.client.portal
        yield client
    else:
        with started(app) as client:
            yield client


@pytest.fixture
def other(app: FastAPI, client: TestClient) -> TestClient:
    """Somebody else's browser."""
    assert client
    return TestClient(app, headers=BROWSER)


@pytest.fixture
def renamed(course: Course) -> Callable[[str, str], Course]:
    """The course with an exercise called otherwise, and its name before among the old ones."""

    def rename(old: str, new: str) -> Course:
        lesson = course.lessons[0]
        blocks = tuple(
            replace(block, name=new, was=(*block.was, old))
            if isinstance(block, Exercise) and block.name == old
            else block
            for block in lesson.blocks
        )
        unit = course.units[0]
        return Course(units=(replace(unit, lessons=(replace(lesson, blocks=blocks), *unit.lessons[1:])),))

    return rename


class Page(HTMLParser):
    """The elements of a page by id, with their attributes and the text inside them."""

    VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.attributes: dict[str, dict[str, str]] = {}
        self.ids: list[str] = []
        self._texts: dict[str, list[str]] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        name = own.get("id", "")
        if name:
            self.ids.append(name)
            self.attributes[name] = own
            self._texts[name] = []
        if tag not in self.VOID:
            self._open.append((tag, name))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name:
                self._texts[name].append(data)

    def text(self, name: str) -> str:
        return re.sub(r"\s+", " ", "".join(self._texts[name])).strip()

    def raw(self, name: str) -> str:
        return "".join(self._texts[name])


@pytest.fixture
def page() -> type[Page]:
    return Page
