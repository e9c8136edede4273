"""One real server for all workers, and one real browser for each: the course of this repository, and real graders.

A page of the course takes seconds of processor time to open. What is shown on any page is shown on the small one.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect, sync_playwright

from tests.browser.answers import served
from tests.browser.steps import close_unheard
from tests.waiting import SECONDS, until

ROOT = Path(__file__).resolve().parents[2]
# First the one without windows, menus and profiles, which nobody sees here: a fifth of what these tests cost.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# Of the address field's lists, which nobody sees, every context would draw two: half of what a test costs.
# A list of ours takes the place of playwright's; the rest of this one is as theirs.
WITHOUT = (
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding",
    "PreconnectToSearch", "SpareRendererForSitePerProcess", "ThirdPartyStoragePartitioning", "Translate",
)  # fmt: skip
# One process draws every page of the server, where each page would begin one of its own: a fifth of all that is spent.
# Frames are put together in the first process: where one of its own does it, each page costs a tenth more.
# A browser without windows would set letters otherwise than one with them, and lines would break elsewhere.
SWITCHES = (
    "--font-render-hinting=slight", "--process-per-site", "--renderer-process-limit=1", "--in-process-gpu",
    "--no-sandbox", "--disable-quic", "--disable-background-networking", "--no-first-run",
    f"--disable-features={','.join(WITHOUT)}",
)  # fmt: skip
IMPRINT = "# Imprint\n\nInstitute of Algebra, Main Street 1, Göttingen. Answerable: Emmy Noether, <emmy@example.org>\n"
USUAL: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
MEDIA = ("color_scheme", "reduced_motion", "forced_colors")
OF_A_PAGE = {"viewport", *MEDIA}
"""Options that each page may have otherwise than its context: no context is made for them."""
MS = SECONDS * 1000
"""What a page must come to, it comes to, however busy the machine is."""


def chrome() -> str:
    """The path of an installed Chrome or Chromium; the tests fail, and say what to do, where there is none."""
    asked = os.environ.get("CHROME")
    found = next((path for name in ([asked] if asked else NAMES) if (path := shutil.which(name))), None)
    if found is None and MAC.exists() and not asked:
        found = str(MAC)
    if found is None:
        pytest.fail(
            f"CHROME is set to {asked!r}, which is no program."
            if asked
            else "The browser tests need Chrome or Chromium. Install one (Debian: apt-get install "
            "chromium-headless-shell; Fedora: dnf install chromium; macOS: Google Chrome) or set CHROME to its path.",
            pytrace=False,
        )
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser_options(**options): options of the browser context of this test")
    config.addinivalue_line("markers", "own_context: this test changes more of its context than can be taken back")


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps what it knows, and its log: beside what single workers keep."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "server"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def server(server_folder: Path) -> Iterator[str]:
    """The address of a server of all workers, whose database was empty; tests make their own people.

    Who asks first starts it, and ends it when all others have left.
    """
    given = os.environ.get("BACKHAND_TEST_SERVER")
    if given:
        yield given.rstrip("/")
        return
    address, turn = server_folder / "address", server_folder / "turn"
    with (server_folder / "users").open("w") as users:
        with _alone(turn):
            started = None if address.exists() else _start(server_folder, address)
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield address.read_text()
        finally:
            if started is not None:
                with _alone(turn):
                    fcntl.flock(users, fcntl.LOCK_EX)
                    address.unlink()
                    _end(started)


@contextmanager
def _alone(turn: Path) -> Iterator[None]:
    """No other worker is in such a block of the same file."""
    with turn.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _start(folder: Path, address: Path) -> subprocess.Popen[bytes]:
    """Start it, and write its *address* once it is ready."""
    assert (ROOT / "static/dist/manifest.json").exists(), "The scripts are not built. Run: npm ci && npm run build"
    pages, lessons = folder / "pages", folder / "lessons"
    pages.mkdir(exist_ok=True)
    (pages / "imprint.md").write_text(IMPRINT, "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "BACKHAND_DATA_DIR": str(folder),
        "BACKHAND_LESSONS": str(lessons if lessons.exists() else served(lessons)),
        "BACKHAND_GRADERS": "1",
        "BACKHAND_PAGES": str(pages),
    }
    log = folder / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--host", "127.0.0.1", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: _is_ready(f"http://127.0.0.1:{port}", process, log))
    except BaseException:
        _end(process)
        raise
    address.write_text(f"http://127.0.0.1:{port}")
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _is_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        pytest.fail(f"The server ended at once:\n{log.read_text()}", pytrace=False)
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=SECONDS):
            return True
    except (URLError, OSError):
        return False


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ends with this room: while it is there, its event loop runs in this thread, and no other one could."""
    expect.set_options(timeout=MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chrome(), args=list(SWITCHES))
        yield launched
        launched.close()


class Watched:
    """What a page complained about: errors, violations of the content policy, failed requests."""

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        page.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", lambda request: self._failed(request.url, request.failure))

    def _failed(self, url: str, failure: str | None) -> None:
        # A page that is left takes its last save with it; the browser calls the answer that nobody reads aborted.
        if failure != "net::ERR_ABORTED":
            self.complaints.append(f"{url}: {failure}")


class Contexts:
    """One context for each set of options, which forgets between two tests.

    A new one costs as much as a whole test: it draws a window, starts a process, and compiles every script anew.
    """

    def __init__(self, browser: Browser, server: str) -> None:
        self._browser, self._server = browser, server
        self._made: dict[str, tuple[BrowserContext, CDPSession]] = {}

    def new(self, options: dict[str, Any]) -> BrowserContext:
        made = self._browser.new_context(base_url=self._server, **options)
        made.set_default_timeout(MS)
        return made

    def shared(self, options: dict[str, Any]) -> BrowserContext:
        key = repr(sorted(options.items()))
        if key not in self._made:
            made = self.new(options)
            self._made[key] = made, made.new_cdp_session(made.new_page())
        return self._made[key][0]

    def forget(self, options: dict[str, Any]) -> None:
        """Leave the page that keeps the window, and nothing that a test did or that a server sent."""
        context, session = self._made[repr(sorted(options.items()))]
        for page in context.pages[1:]:
            close_unheard(page)  # or the next test finds the cookie of an answer that came late
        context.set_offline(False)
        context.clear_cookies()
        session.send("Storage.clearDataForOrigin", {"origin": self._server, "storageTypes": "local_storage,indexeddb"})


@pytest.fixture(scope="package")
def contexts(browser: Browser, server: str) -> Contexts:
    return Contexts(browser, server)


@pytest.fixture
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the marker `browser_options` asks for, and what is usual for the rest."""
    marker = request.node.get_closest_marker("browser_options")
    return {**USUAL, **(marker.kwargs if marker else {})}


@pytest.fixture
def context(contexts: Contexts, options: dict[str, Any], request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A browser without a past; one that is shared is given the options of a page by its pages."""
    if request.node.get_closest_marker("own_context"):
        made = contexts.new(options)
        yield made
        made.close()
    else:
        of_all = {**USUAL, **{name: value for name, value in options.items() if name not in OF_A_PAGE}}
        yield contexts.shared(of_all)
        contexts.forget(of_all)


def open_tab(context: BrowserContext, options: dict[str, Any]) -> Page:
    opened = context.new_page()
    if options["viewport"] != USUAL["viewport"]:
        opened.set_viewport_size(options["viewport"])
    media = {name: options[name] for name in MEDIA if options.get(name) != USUAL.get(name)}
    if media:
        opened.emulate_media(**media)
    return opened


@pytest.fixture
def page(context: BrowserContext, options: dict[str, Any]) -> Iterator[Page]:
    """A page that must end without a complaint."""
    opened = open_tab(context, options)
    watched = Watched(opened)
    yield opened
    assert watched.complaints == []


@pytest.fixture
def page_with_errors(context: BrowserContext, options: dict[str, Any]) -> Iterator[Page]:
    """A page that may answer 404, and must not violate the content policy."""
    opened = open_tab(context, options)
    watched = Watched(opened)
    yield opened
    assert [one for one in watched.complaints if "status of 404" not in one] == []
