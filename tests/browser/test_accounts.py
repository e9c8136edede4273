"""Signing in with a real browser: a passkey of its own authenticator, and pages that everybody can use."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.content.blocks import Grad
from tests.browser.answers import SMALL_ADDRESS, SMALL_SLUG, read_lesson
from tests.browser.steps import SCHEMES, open_page, paint_in, scrolls_sideways, violations

PASSWORD = "seven times eight"
NAMES = ("Ada Lovelace of a rather long name", "Grace")
OURS = {"sec-fetch-site": "same-origin"}
BOX_NAME = next(one.name for one in read_lesson(SMALL_SLUG).exercises if isinstance(one, Grad))
BOX = f"{SMALL_ADDRESS}/code/{BOX_NAME}/draft"


@pytest.fixture
def here(server: str) -> str:
    """The server by a name: browsers make no passkeys for numbers."""
    return server.replace("127.0.0.1", "localhost")


@pytest.fixture
def authenticator(context: BrowserContext) -> Iterator[Page]:
    """A page on a device with a lock."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    complaints: list[str] = []
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    yield page
    assert [one for one in complaints if "404" not in one] == []


@pytest.mark.own_context
def test_a_passkey_signs_in_again_on_the_device_that_made_it(authenticator: Page, here: str) -> None:
    page = authenticator
    page.goto(f"{here}/sign-in?next=/me")
    page.get_by_role("button", name="Make a new one").click()
    expect(page.get_by_role("heading", name="Ways to sign in")).to_be_visible()

    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()
    page.goto(f"{here}/sign-in?next=/me")
    page.get_by_role("button", name="Sign in with a passkey").click()

    expect(page.get_by_role("heading", name="Ways to sign in")).to_be_visible()
    expect(page.locator(".listed")).to_have_count(2)


@pytest.mark.own_context
@pytest.mark.browser_options(viewport={"width": 320, "height": 640})
def test_every_page_of_an_account_fits_a_phone_and_axe_finds_nothing_in_it(page_with_errors: Page, here: str) -> None:
    page = page_with_errors
    for address in ("/sign-in", "/me", "/sign-in/code", "/sign-in/reset?token=none"):
        _look_at(page, f"{here}{address}")
    for name in NAMES:
        page.goto(f"{here}/sign-in?next=/lessons")
        page.get_by_text("I have no name here yet").click()
        form = page.locator("form[action='/sign-in/name']")
        form.get_by_role("textbox").first.fill(name)
        form.get_by_role("textbox").last.fill(PASSWORD)
        form.get_by_role("button").click()
        page.wait_for_url(f"{here}/lessons")
        written = page.request.post(f"{here}{BOX}", form={"code": name, "revision": "0"}, headers=OURS)
        assert written.ok
    _look_at(page, f"{here}/me")
    _look_at(page, f"{here}/sign-in")
    form = page.locator("form[action='/sign-in/password']")
    form.get_by_role("textbox").first.fill(NAMES[0])
    form.get_by_role("textbox").last.fill(PASSWORD)
    form.get_by_role("button").click()
    page.wait_for_url(f"{here}/me/merge")
    _look_at(page, f"{here}/me/merge")


def _look_at(page: Page, address: str) -> None:
    open_page(page, address)
    assert not scrolls_sideways(page), address
    for scheme in SCHEMES:
        paint_in(page, scheme)
        assert violations(page) == [], (address, scheme)
