"""The site below a path, in a real browser: all that a page asks for is below it, by links, forms and scripts alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from starlette.types import ASGIApp, Receive, Scope, Send

from app.content.blocks import Grad
from app.settings import Settings
from app.web.application import create_app
from tests.browser.authoring import serving
from tests.browser.conftest import Watched
from tests.browser.steps import expect_verdict, open_page, write
from tests.courses import course_in
from tests.web.conftest import RIGHT, FakeGrader

PREFIX = "/courses/learn"
COURSE = course_in(Path(__file__).parents[1] / "web" / "course")
BOX = next(one for one in COURSE.lessons[0].exercises if isinstance(one, Grad))


class TakesAway:
    """A proxy that takes the prefix away, and has nothing of ours elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", PREFIX)
        assert path.startswith(PREFIX), path
        await self._app({**scope, "path": path.removeprefix(PREFIX)}, receive, send)


@pytest.fixture(params=["taken away", pytest.param("kept", marks=pytest.mark.prove)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    app = create_app(Settings(data_dir=tmp_path, database_url="", prefix=PREFIX), COURSE, FakeGrader())
    if request.param == "taken away":
        app.add_middleware(TakesAway)
    with serving(lambda: app) as address:
        yield address.replace("127.0.0.1", "localhost") + PREFIX


@pytest.mark.own_context
def test_a_browser_asks_for_nothing_that_is_not_below_the_prefix(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    session, asked, watched = context.new_cdp_session(page), set(), Watched(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.on("request", lambda request: asked.add(request.url))

    page.goto(site)
    page.get_by_role("link", name=COURSE.lessons[0].title).first.click()
    open_page(page, page.url)
    write(page, BOX, RIGHT)
    page.locator(f"#{BOX.name}-check").click()
    expect_verdict(page, BOX, passed="true")
    page.get_by_role("button", name="Dark").click()
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Make a new one").click()
    expect(page.locator(f"#{BOX.name}-solved")).to_have_text("· solved")

    assert [url for url in asked if not url.startswith((f"{site}/", "data:", "blob:")) and url != site] == []
    assert any("/shapes" in url for url in asked)
    assert any("editor-" in url for url in asked)
    assert [one["path"] for one in context.cookies(site + "/") if one["name"] == "session"] == [PREFIX]
    assert watched.complaints == []
