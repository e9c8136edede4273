"""Signing in with a real browser, and a passkey of its own authenticator."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect


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
    assert [one for one in complaints if "status of 404" not in one] == []


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


@pytest.mark.browser_options(java_script_enabled=False)
def test_a_passkey_is_offered_only_where_a_script_can_ask_for_it(page: Page) -> None:
    page.goto("/sign-in")

    expect(page.locator("#password")).to_be_visible()
    expect(page.locator("#passkey")).to_be_hidden()
