"""In the frame of a platform, in a real browser: two hosts with certificates, and cookies as browsers keep them."""

import datetime
import json
import os
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, ViewportSize, expect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.lti import platform_client
from app.settings import Settings
from app.store.migrate import migrate
from app.web.application import create_app
from tests.browser.conftest import NAMES, SWITCHES, chrome
from tests.browser.firefox import PATH, Firefox
from tests.browser.seeding import beside
from tests.courses import course_in
from tests.lti.platform import PLATFORM_HOST, Link, Platform
from tests.waiting import until
from tests.web.conftest import FakeGrader
from tests.web.routes.platforms import register

pytestmark = [pytest.mark.prove, pytest.mark.filterwarnings("ignore:unclosed")]

TOOL_HOST = "tool.example"
HOSTS = {PLATFORM_HOST, TOOL_HOST}
RESOLVED = HOSTS | {host.encode() for host in HOSTS}
COURSE = Path(__file__).parents[1] / "web" / "course"
APART, BLOCKED = 5, 1
"""What Firefox calls its ways to keep cookies of third parties."""
ONE_PROCESS = ("--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process")
"""A frame that changes its process between two sites is sometimes lost to what drives the browser."""
SIZE: ViewportSize = {"width": 1000, "height": 900}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for both hosts, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    alternative = x509.SubjectAlternativeName([x509.DNSName(host) for host in sorted(HOSTS)])
    signed = builder.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


class PlainCookies:
    """A server whose cookies are those of a browser that knows of no partitions, while *plain* is set."""

    plain = False

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_plain(message: Message) -> None:
            if self.plain and message["type"] == "http.response.start":
                headers = [(name, value.replace(b"; Partitioned", b"")) for name, value in message["headers"]]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_plain)


@pytest.fixture(scope="module")
def platform(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Both servers; the platform knows a link to a lesson."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    patch, resolve = pytest.MonkeyPatch(), socket.getaddrinfo
    patch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *more, **names: resolve("127.0.0.1" if host in RESOLVED else host, *more, **names),
    )
    context = ssl.create_default_context(cafile=str(certificate))
    patch.setattr(platform_client, "tls_context", lambda: context)
    tool = f"https://{TOOL_HOST}:{port}"
    platform = Platform(tool, tls=certificate)
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("lti"), database_url="", address=tool, secure_cookies=True, operator_token=""
    )
    beside(migrate(settings.resolved_database_url))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(register, settings, platform).result()
    app = PlainCookies(create_app(settings, course_in(COURSE), FakeGrader()))
    config = uvicorn.Config(
        app, port=port, log_level="error", ws="none", loop="asyncio", ssl_certfile=certificate, ssl_keyfile=certificate
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    platform.links["lesson"] = Link("link-1", {"lesson": "linear"})
    platform.links["class"] = Link("link-2", {})
    platform.person("bob", "Bob")
    platform.person("ada", "Ada", "Instructor")
    yield platform
    server.should_exit = True
    thread.join()
    platform.close()
    patch.undo()


def switches() -> list[str]:
    """Without the one that turns the partitioning of storage off for speed, which is what is looked at here.

    That the certificate is no one's is overlooked by the connection: where the page is told to, each request is made
    again once its connection failed, and one of several at a time may meet the failure of another until it is given up.
    """
    names = ", ".join(f"MAP {host} 127.0.0.1" for host in sorted(HOSTS))
    plain = [switch for switch in SWITCHES if not switch.startswith("--disable-features")]
    return [*plain, f"--host-resolver-rules={names}", "--ignore-certificate-errors"]


@pytest.fixture(scope="module")
def chromium(browser: Browser) -> Iterator[Browser]:
    launched = browser.browser_type.launch(executable_path=chrome(), args=switches())
    yield launched
    launched.close()


@contextmanager
def blocking(browser: Browser, folder: Path) -> Iterator[BrowserContext]:
    """A browser that blocks cookies of third parties, as people choose in its settings: the shell of tests has none."""
    names = (os.environ.get("CHROME", ""), *NAMES)
    whole = next((path for name in names if "shell" not in name and (path := shutil.which(name))), None)
    if whole is None:
        pytest.skip("there is no whole Chromium here (Debian: apt-get install chromium), and CHROME names none")
    settings = folder / "profile" / "Default" / "Preferences"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"profile": {"cookie_controls_mode": 1, "block_third_party_cookies": True}}))
    context = browser.browser_type.launch_persistent_context(
        folder / "profile",
        executable_path=whole,
        args=[*switches(), *ONE_PROCESS],
        viewport=SIZE,
    )
    try:
        yield context
    finally:
        context.close()


@pytest.fixture(params=["allowed", "blocked"])
def page(request: pytest.FixtureRequest, chromium: Browser, tmp_path: Path) -> Iterator[Page]:
    if request.param == "blocked":
        with blocking(chromium, tmp_path) as blocked:
            yield blocked.new_page()
        return
    context = chromium.new_context(viewport=SIZE)
    yield context.new_page()
    context.close()


@pytest.fixture(params=["", "&store=1"], ids=["without storage", "with storage"])
def unkept(
    request: pytest.FixtureRequest,
    platform: Platform,
    chromium: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Page]:
    """A course in a browser that keeps no cookies of a frame unless it is asked to, and knows of no partitions."""
    monkeypatch.setattr(PlainCookies, "plain", True)
    with blocking(chromium, tmp_path) as context:
        page = context.new_page()
        course(platform, page, more=request.param)
        yield page


def course(platform: Platform, page: Page, user: str = "bob", link: str = "lesson", more: str = "") -> FrameLocator:
    page.goto(f"{platform.url}/course?user={user}&link={link}{more}")
    return page.frame_locator("iframe")


@pytest.mark.parametrize("store", ["", "&store=1"], ids=["without storage", "with storage"])
def test_a_learner_works_in_the_frame(platform: Platform, page: Page, store: str) -> None:
    framed = course(platform, page, more=store)
    expect(framed.get_by_role("heading", level=1)).to_have_text("The linear layer")
    expect(framed.locator(".masthead")).to_have_count(0)

    box = framed.locator("#dw-shape")
    box.get_by_role("textbox").first.fill("1")
    box.get_by_role("button", name="Check").click()
    expect(box.locator("[data-correct]")).to_be_visible()
    page.reload()
    expect(framed.locator("#dw-shape [data-correct]")).to_be_visible()


def test_the_frame_grows_with_its_page(platform: Platform, page: Page) -> None:
    framed = course(platform, page)
    expect(framed.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_function("() => (window.heard ?? []).includes('lti.frameResize')")

    assert int(page.locator("iframe").get_attribute("height") or 0) > 1000


def test_a_tab_of_ones_own_has_the_same_person(platform: Platform, page: Page) -> None:
    framed = course(platform, page)
    framed.get_by_role("link", name="Open in a tab of its own").click()
    with page.context.expect_page() as opened:
        framed.get_by_role("button", name="Open in a new tab").click()

    expect(opened.value.locator(".whoami")).to_have_text("Bob")
    assert opened.value.url == f"{platform.tool}/lessons/linear"


def test_in_a_tab_the_launch_keeps_who_came(platform: Platform, page: Page) -> None:
    page.goto(f"{platform.url}/course?user=bob&link=lesson&tab=1")
    page.locator("#open").click()

    expect(page.locator(".whoami")).to_have_text("Bob")
    assert page.url == f"{platform.tool}/lessons/linear"


def test_without_cookies_what_the_platform_keeps_opens_a_tab(platform: Platform, page: Page) -> None:
    def forget(route: Any) -> None:
        page.context.clear_cookies()
        route.continue_()

    page.context.route(f"{platform.url}/auth*", forget)
    framed = course(platform, page, more="&store=1")
    with page.context.expect_page() as opened:
        framed.get_by_role("button", name="Open in a new tab").click()

    expect(opened.value.locator(".whoami")).to_have_text("Bob")


def test_a_frame_that_is_granted_storage_access_goes_on_in_it(unkept: Page) -> None:
    framed = unkept.frame_locator("iframe")
    button = framed.get_by_role("link", name="Stay in this frame")
    expect(button).to_be_visible()
    unkept.context.grant_permissions(["storage-access"])
    button.click()
    expect(framed.get_by_role("heading", level=1)).to_have_text("The linear layer")
    box = framed.locator("#dw-shape")
    box.get_by_role("textbox").first.fill("1")
    box.get_by_role("button", name="Check").click()
    expect(box.locator("[data-correct]")).to_be_visible()

    unkept.reload()
    expect(framed.locator("#dw-shape [data-correct]")).to_be_visible()


def test_a_frame_that_is_refused_storage_access_offers_the_tab(unkept: Page) -> None:
    framed = unkept.frame_locator("iframe")
    framed.get_by_role("link", name="Stay in this frame").click()
    expect(framed.get_by_role("status")).to_have_text("Your browser did not allow it. Open it in a new tab.")
    with unkept.context.expect_page() as opened:
        framed.get_by_text("Open in a new tab", exact=True).click()

    expect(opened.value.locator(".whoami")).to_have_text("Bob")


def test_an_instructor_chooses_and_the_platform_gets_it(platform: Platform, page: Page) -> None:
    framed = course(platform, page, "ada", "choose")
    framed.get_by_role("searchbox").fill("linear")
    framed.get_by_role("checkbox", name="The linear layer", exact=True).check()
    with page.expect_request(f"{platform.url}/mod/lti/contentitem_return.php*") as sent:
        framed.get_by_role("button", name="Put into the course").click()

    assert "JWT=" in (sent.value.post_data or "")


def test_pages_that_are_not_for_frames_stay_out_of_them(platform: Platform, page: Page) -> None:
    page.goto(f"{platform.url}/course?user=bob&link=lesson")
    page.evaluate("address => { document.querySelector('iframe').src = address }", f"{platform.tool}/me")
    page.wait_for_function("() => document.querySelector('iframe').contentDocument === null")
    expect(page.frame_locator("iframe").locator(".masthead")).to_have_count(0)


def test_after_a_visit_the_lesson_says_that_answers_are_not_saved(platform: Platform, page: Page) -> None:
    framed = course(platform, page)
    page.evaluate("() => { document.querySelector('iframe').width = 320 }")
    box = framed.locator("#dw-shape")
    expect(box).to_be_visible()
    page.context.clear_cookies()
    page.frames[1].goto(f"{platform.tool}/embedded/lessons/linear")
    expect(framed.get_by_role("complementary", name="Notice")).to_contain_text("Your visit from the learning platform")

    box.get_by_role("textbox").first.fill("1")
    box.get_by_role("button", name="Check").click()
    told = box.get_by_role("alert")
    expect(told).to_contain_text("open the link there again")
    assert (told.bounding_box() or {})["width"] > 200


def is_laid_out_within(framed: FrameLocator, width: int) -> bool:
    measured = "html => [document.readyState, html.clientWidth, html.scrollWidth]"
    return bool(framed.locator("html").evaluate(measured) == ["complete", width, width])


def test_a_frame_of_320_pixels_scrolls_nowhere_sideways(platform: Platform, page: Page) -> None:
    for user, link in (("bob", "lesson"), ("ada", "class"), ("ada", "choose")):
        framed = course(platform, page, user, link)
        page.evaluate("() => { document.querySelector('iframe').width = 320 }")
        expect(framed.get_by_role("heading", level=1)).to_be_visible()
        until(partial(is_laid_out_within, framed, 320))  # which a frame does in its own time


@contextmanager
def firefox_with(folder: Path, cookies: int) -> Iterator[Firefox]:
    """Firefox with one of its ways to keep cookies of third parties."""
    if PATH is None:
        pytest.skip("there is no Firefox here")
    firefox = Firefox(folder, HOSTS, {"network.cookie.cookieBehavior": cookies})
    try:
        yield firefox
    finally:
        firefox.close()


def test_in_firefox_a_learner_works_in_the_frame(platform: Platform, tmp_path: Path) -> None:
    """By default it keeps what a frame stores apart for the page around it."""
    with firefox_with(tmp_path, APART) as firefox:
        firefox.go(f"{platform.url}/course?user=bob&link=lesson")
        firefox.frame("iframe")
        until(lambda: firefox.text("h1") == "The linear layer")
        firefox.type("#dw-shape input[name=answer]", "1")
        firefox.click("#dw-shape button[type=submit]")
        until(lambda: firefox.text("#dw-shape [data-correct]"))
        firefox.go(f"{platform.url}/course?user=bob&link=lesson&again=1")
        firefox.frame("iframe")

        until(lambda: firefox.text("#dw-shape [data-correct]"))


@pytest.mark.parametrize("store", ["", "&store=1"], ids=["without storage", "with storage"])
def test_in_firefox_without_cookies_in_frames_a_tab_is_offered(platform: Platform, tmp_path: Path, store: str) -> None:
    with firefox_with(tmp_path, BLOCKED) as firefox:
        firefox.go(f"{platform.url}/course?user=bob&link=lesson{store}")
        firefox.frame("iframe")
        until(lambda: firefox.text("main [data-primary]") == "Open in a new tab")
        firefox.click("main [data-primary]")
        until(firefox.is_in_new_tab)

        until(lambda: firefox.text(".whoami") == "Bob")
        assert firefox.text("h1") == "The linear layer"
