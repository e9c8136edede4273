"""What holds for all tests, and what they share: one warmed jail and one pool of graders for each worker."""

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import SupportsIndex

import pytest
import structlog
from execnet import XSpec
from hypothesis import settings
from hypothesis import strategies as st
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.ext.asyncio import create_async_engine
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from app.engine.grade import explanation_time
from app.engine.grader_version import JUDGES, sources_digest
from app.engine.pool import grader_client, grader_process, local_graders
from app.grading.reading import budget
from app.sandbox import process
from app.sandbox.runner import Jail
from app.store import database
from tests.examples import TIMES
from tests.forked_workers import fork_workers
from tests.graders import SharedGraders, shared_graders
from tests.passed_tests import tell_briefly
from tests.store import postgres
from tests.waiting import SECONDS

# The same examples in every run, so that a red build is red again; no deadline, since a busy machine is no fault.
settings.register_profile(
    "project", deadline=None, derandomize=TIMES == 1, database=None, max_examples=max(50, 17 * TIMES), print_blob=True
)
settings.load_profile("project")

# Before anything imports torch: threads that wait for each other over small tensors are most of what a test would cost.
os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).resolve().parents[1]

A_JAIL = "a jail that grades and trains"
SHARED = {
    "tests/browser/test_[a-e]*": "a browser",
    "tests/browser/test_[f-o]*": "another browser",
    "tests/browser/test_p[al]*": "another browser",
    "tests/browser/*": "a third browser",
    "tests/check/*": "graders that prove",
    "tests/practice/test_forms.py": "graders that prove",
    "tests/practice/test_named_programs.py": "graders that prove",
    "tests/engine/pool/test_canary*": A_JAIL,
    "tests/engine/pool/*": "graders that are asked and killed",
    "tests/engine/grade/test_[cfjn]*": A_JAIL,
    "tests/engine/grade/test_pre*": A_JAIL,
    "tests/engine/grade/test_re*": A_JAIL,
    "tests/engine/t*": A_JAIL,
    "tests/test_architecture.py": A_JAIL,
    "tests/sandbox/*": "jails",
    "tests/cli/*": "graders of commands",
    "tests/test_wheel.py": "an installed copy",
    "tests/content/export/*": "what every export prints",
    "tests/engine/grade/test_true_*": "what was said falsely once",
    "tests/web/test_http_fuzz.py": "requests of all kinds",
    "tests/web/routes/test_practice.py": "practice",
    "tests/web/routes/test_training.py": "training",
    "tests/web/routes/test_lti*": "a server that a learning platform opens pages of",
}
"""What is dear to start, and is shared by the tests of a room; in a room of long tests, by a part of them.

The first that is named takes longest and begins first: what is short fills the gaps at the end.
"""

SIDE_BY_SIDE = (
    "tests/check/test_course.py",
    "tests/engine/grade/test_programs.py",
    "tests/practice/test_proof.py",
)
"""Files whose parts are long, each alone: any worker takes up the next one, with the tests that share its parameter."""


TURNS = 6
"""Of a table that is marked `in_turn`, `make test` runs one row of so many: which, the sources of the judge decide."""


@cache
def shared_by(file: str) -> int:
    """The number of the row of *SHARED* that a file belongs to; behind all of them where there is none."""
    return next((row for row, files in enumerate(SHARED) if fnmatchcase(file, files)), len(SHARED))


class Places(list[str]):
    """Tests of which each is found at once: to look through thousands for thousands takes seconds."""

    def __init__(self, tests: Iterable[str]) -> None:
        super().__init__(tests)
        self._of = {test: place for place, test in enumerate(self)}

    def index(self, test: str, *_: SupportsIndex) -> int:
        return self._of[test]


class Rooms(LoadScopeScheduling):
    """A file is run by one worker, and so is all that shares what is dear."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self.registered_collections[node] = Places(collection)

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file in SIDE_BY_SIDE and "[" in test:
            return f"{file}[{test.partition('[')[2]}"
        return [*SHARED.values(), file][shared_by(file)]

    def remove_node(self, node: WorkerController) -> str | None:
        """A test that ended its worker would end the next one too; the others of its room are run by that one."""
        ended = super().remove_node(node)
        for unit in self.workqueue.values():
            if ended in unit:
                unit[ended] = True
        return ended


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Rooms:
    return Rooms(config, log)


def pytest_configure(config: pytest.Config) -> None:
    tell_briefly(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[XSpec]) -> None:
    st.text().validate()  # which letters there are it learns once, before it is forked
    fork_workers(config, specs)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is there afterwards stays: to look for garbage in it is a tenth of what the tests cost, and of this too.

    For the garbage of tests it is looked a hundred times as seldom as usual: another tenth.
    """
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(70_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers take up what is shared in the order of its table, and single files after that."""
    if config.option.markexpr == "not prove" and [*map(Path, config.args)] in ([Path("tests")], [ROOT / "tests"]):
        leave_for_later(config, items)
    items.sort(key=lambda item: shared_by(item.nodeid.partition("::")[0]))


def leave_for_later(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each table that is marked `in_turn` keep the rows whose turn it is, in a run of all tests.

    Who runs its file, as `make quick` does, runs all of a table, and so does `make prove`.
    """
    turn = int.from_bytes(sources_digest(JUDGES)) % TURNS
    rows: Counter[str] = Counter()
    later: set[pytest.Item] = set()
    for item in items:
        if item.get_closest_marker("in_turn"):
            table = item.nodeid.partition("[")[0]
            if rows[table] % TURNS != turn:
                later.add(item)
            rows[table] += 1
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if item not in later]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == "not prove":
        terminalreporter.write_line(
            "Tests marked `prove` were left out: they take long and seldom find more. `make prove` runs them."
        )


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL that the tests start."""
    folder = postgres.programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with postgres.server(folder) as url:
        yield url


@pytest.fixture(scope="session", autouse=True)
def _patience() -> None:
    """A busy machine is no fault of a grader, nor of who writes at the same time, and no slip is left unnamed by it."""
    process.WARM_SECONDS = grader_process.STARTUP_SECONDS = SECONDS
    grader_client.STARTUP_SECONDS = local_graders.STARTUP_SECONDS = local_graders.GRACE_SECONDS = SECONDS
    database.BUSY_SECONDS = SECONDS
    explanation_time.EXPLAINING_SECONDS = budget.SECONDS = budget.SECONDS_OF_ONE = SECONDS


@pytest.fixture(scope="session", autouse=True)
def _statements_compiled_once() -> Iterator[None]:
    """Engines that are alike share what they compile: to do so anew for each test is a quarter of what a page costs."""
    compiled: dict[object, object] = {}
    alike = pytest.MonkeyPatch()
    alike.setattr(DefaultDialect, "__eq__", lambda one, other: type(one) is type(other))
    alike.setattr(DefaultDialect, "__hash__", lambda one: hash(type(one)))
    alike.setattr(
        database, "create_async_engine", partial(create_async_engine, execution_options={"compiled_cache": compiled})
    )
    yield
    alike.undo()


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command that runs in this process sends its logs elsewhere; the next test finds them where they belong."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    jail = Jail()
    if jail.refusal:
        pytest.skip(f"code is refused here: {jail.refusal}")
    assert jail.is_warm(SECONDS), jail._failure
    yield jail
    jail.close()


@pytest.fixture(scope="session")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedGraders]:
    with shared_graders(tmp_path_factory.mktemp("graders"), 1) as found:
        yield found
