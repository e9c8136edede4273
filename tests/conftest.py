"""What holds for all tests, and what they share: one warmed jail and one pool of graders for each worker."""

import os

# Before anything imports numpy or torch: threads that wait for each other take a hundred times what they compute.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import gc
from collections.abc import Generator, Iterator, Sequence
from functools import partial

import pytest
import structlog
from execnet import XSpec
from hypothesis import settings
from hypothesis import strategies as st
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.ext.asyncio import create_async_engine
from xdist.remote import Producer

from app.engine.grade import explanation_time
from app.engine.pool import grader_client, grader_process, local_graders
from app.grading.reading import budget
from app.sandbox import process
from app.sandbox.runner import Jail
from app.store import database
from tests import proved_pages
from tests.examples import IS_REPEATED, TIMES
from tests.forked_workers import fork_workers
from tests.graders import SharedGraders, shared_graders, warm_jail
from tests.passed_tests import tell_briefly
from tests.rooms import Rooms, shared_by
from tests.store import postgres
from tests.turns import leave_for_later, runs_all_of
from tests.waiting import SECONDS
from tests.zygotes import fork_zygotes, zygote_server

# The same examples in every run, so that a red build is red again; no deadline, since a busy machine is no fault.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=IS_REPEATED,
    database=None,
    max_examples=max(25, int(17 * TIMES)),
    print_blob=True,
)
settings.load_profile("project")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Rooms:
    return Rooms(config, log)


def pytest_configure(config: pytest.Config) -> None:
    tell_briefly(config)
    proved_pages.begin(config)
    if not hasattr(config, "workerinput"):
        server = zygote_server()
        server.__enter__()
        config.add_cleanup(partial(server.__exit__, None, None, None))


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
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if runs_all_of(metafunc.config, "tests"):
        leave_for_later(metafunc)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers take up what is shared in the order of its table, and single files after that."""
    items.sort(key=lambda item: shared_by(item.nodeid.partition("::")[0]))
    if config.stash[proved_pages.LEFT_OUT]:
        items[:] = proved_pages.due(items)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    if exitstatus == pytest.ExitCode.OK and not hasattr(config, "workerinput") and proved_pages.looks_at_all(config):
        proved_pages.keep()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.markexpr == "not prove":
        terminalreporter.write_line(
            "Tests marked `prove` were left out: they take long and seldom find more. `make prove` runs them."
        )
    if config.stash[proved_pages.LEFT_OUT]:
        terminalreporter.write_line("All tests in a browser passed with these pages: a twelfth of them ran again.")


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
def _zygotes() -> None:
    fork_zygotes()


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
def _logs_and_files_as_they_were() -> Iterator[None]:
    """A command that runs in this process sends its logs elsewhere and closes its files; the next begins anew."""
    before, mask = structlog.get_config(), os.umask(0o022)
    os.umask(mask)
    yield
    structlog.configure(**before)
    os.umask(mask)


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    with warm_jail() as jail:
        yield jail


@pytest.fixture(scope="session")
def graders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedGraders]:
    with shared_graders(tmp_path_factory.mktemp("graders"), 1) as found:
        yield found
