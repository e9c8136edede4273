"""The whole site below a path: every address that any answer tells begins with it and leads somewhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from fastapi import FastAPI
from httpx2 import Response
from starlette.routing import Match
from starlette.testclient import TestClient

from app.content.blocks import Course
from app.settings import OWN_PATHS, Settings
from app.web.application import create_app
from app.web.middleware.path_prefix import PathPrefix
from tests.courses import LESSONS, course_in
from tests.styleguide.page import styleguide_app
from tests.turns import PAGES
from tests.web.asking import Answer, Ask, asking, headers_of, path_of
from tests.web.conftest import BROWSER, RIGHT, WRONG, FakeGrader
from tests.web.test_every_role import INSIDE, ROUTES, World

PREFIX = "/courses/learn"
PROXIES = {"kept": PREFIX, "taken away": ""}
"""What a request has in front of its path, by what a proxy does with the prefix."""
INTERNAL = frozenset({"value", "data-back"})
"""Attributes that hand a path back to the site, which knows nothing of a prefix."""
SENT_TO = frozenset({"action", "formaction", "hx-post", "data-draft", "data-shapes"})
LESSON = "/lessons/linear"
LEFT = ("/board/events", "/delete", "/theme", "/sign-out", "/leave", "/roster/selected", "/remove", "/unblock")
"""Ends of what is not posted to here: streams, and what takes the class or its people away."""


class Addresses(HTMLParser):
    """Every attribute of a page that holds a path, with its name."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        paths = ((name, value) for name, value in attrs if value and re.match(r"/[a-z]*(/|[?#]|$)", value))
        self.found += [(name, value) for name, value in paths if name not in INTERNAL]


class Walker:
    """Asks as somebody from behind a proxy, and notes every address that is told."""

    def __init__(self, world: World, who: str, before: str) -> None:
        self._world, self._who, self._before = world, who, before
        self.strange: set[str] = set()
        self.pages: set[str] = set()
        self.forms: set[str] = set()

    def ask(self, method: str, path: str, *, script: bool = False, **form: str) -> Answer:
        pairs = [("cookie", self._world.cookies[self._who]), ("sec-fetch-site", "same-origin")]
        pairs += [("content-type", "application/x-www-form-urlencoded"), *([("hx-request", "true")] if script else [])]
        asked = Ask(method, self._before + path, headers_of(pairs), urlencode(form).encode())
        answer: Answer = self._world._ask(asked)
        self._note(f"{method} {path}", answer)
        return answer

    def _note(self, asked: str, answer: Answer) -> None:
        location = answer.header("location")
        told = [("href", location)] if location.startswith("/") else []
        if answer.header("content-type").startswith("text/html"):
            told += Addresses(answer.text).found
        for name, address in told:
            if address.startswith(f"{PREFIX}/"):
                (self.forms if name in SENT_TO else self.pages).add(address.removeprefix(PREFIX).partition("#")[0])
            else:
                self.strange.add(f"{asked}: {name}={address!r}")
        for path in re.findall(r"path=([^;,]*)", answer.header("set-cookie"), re.IGNORECASE):
            if not f"{path}/".startswith(f"{PREFIX}/"):
                self.strange.add(f"{asked}: a cookie for {path}")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, course: Course) -> FastAPI:
    limits = {"changes_per_minute": 0, "checks_per_minute": 0}
    settings = Settings(data_dir=tmp_path_factory.mktemp("prefix"), database_url="", prefix=PREFIX, **limits)
    return create_app(settings, course, FakeGrader())


@pytest.fixture(scope="module")
def world(app: FastAPI) -> Iterator[World]:
    with asking(app) as asker:
        yield World(app, asker)


def is_answered(app: FastAPI, method: str, path: str) -> bool:
    scope = {"type": "http", "method": method, "path": path}
    return any(route.matches(scope)[0] == Match.FULL for route in app.routes)


def alike(address: str) -> str:
    """*address* without the values of its query and without numbers: a page for each is enough."""
    path, _, query = address.partition("?")
    return re.sub(r"\d+", "1", path) + "?" + re.sub(r"=[^&]*", "", query)


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("before", PROXIES.values(), ids=PROXIES)
@pytest.mark.parametrize("who", ["stranger", *INSIDE])
def test_every_link_is_below_the_prefix_and_leads_to_a_page(app: FastAPI, world: World, who: str, before: str) -> None:
    walker, seen, dead = Walker(world, who, before), {"/sign-in/passkey?"}, set()
    walker.pages.add("/")
    while ahead := {alike(address): address for address in walker.pages if alike(address) not in seen}:
        seen |= ahead.keys()
        for address in ahead.values():
            method = "HEAD" if address.partition("?")[0].endswith("/events") else "GET"
            if (status := walker.ask(method, address).status) >= 400:
                dead.add(f"{status} {address}")

    assert walker.strange == set()
    assert dead == set()
    assert [address for address in walker.forms if not is_answered(app, "POST", urlsplit(address).path)
            and not is_answered(app, "GET", urlsplit(address).path)] == []  # fmt: skip
    assert {"/", LESSON, "/units/layers", "/me"} <= walker.pages


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("who", ["stranger", *INSIDE])
def test_whatever_a_route_answers_stays_below_the_prefix(world: World, who: str) -> None:
    walker = Walker(world, who, PREFIX)
    values = {"class_id": str(world.group.id), "learner_id": str(world.room.ids["Bob"]), "item": "1"}
    values["assignment_id"] = str(world.assignment)
    for method, template in ROUTES:
        if template.endswith("/events") or (method == "POST" and template.endswith(LEFT)):
            continue
        for script in (False, True):
            form = {"joining": "open", "answer": "1", "place": "linear/dw-shape", "code": "x", "revision": "0"}
            walker.ask(method, path_of(template, **values), script=script, **form)
    world.restore()

    assert walker.strange == set()


EXERCISE = {
    "quiz/dw-shape": ({"answer": "(5,)"}, {"answer": "(4, 5)"}),
    "code/linear-backward/check": ({"code": WRONG, "revision": "0"}, {"code": RIGHT, "revision": "1"}),
    "code/linear-backward/run": ({"code": RIGHT, "revision": "2"},),
    "code/linear-backward/history": ({"code": RIGHT, "revision": "2"},),
    "code/linear-backward/reset": ({"code": RIGHT, "revision": "2"},),
    "code/linear-backward/hint": ({},),
}


@pytest.mark.parametrize("script", [False, True], ids=["a form", "a script"])
def test_what_an_exercise_answers_stays_below_the_prefix(world: World, script: bool) -> None:
    walker = Walker(world, "Bob", PREFIX)

    for path, forms in EXERCISE.items():
        for form in forms:
            assert walker.ask("POST", f"{LESSON}/{path}", script=script, **form).status < 400, path
    assert walker.strange == set()
    assert walker.pages | walker.forms


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The course of this project, with its drafts and the page of every component."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("drafted"), database_url="", prefix=PREFIX)
    with TestClient(styleguide_app(settings, course_in(LESSONS)), headers=BROWSER) as client:
        yield client


def strange(answer: Response) -> list[tuple[str, str]]:
    assert answer.status_code == 200
    return [found for found in Addresses(answer.text).found if not found[1].startswith(f"{PREFIX}/")]


def test_every_component_stays_below_the_prefix(drafted: TestClient) -> None:
    assert strange(drafted.get(f"{PREFIX}/styleguide")) == []


@pytest.mark.prove
@pytest.mark.parametrize("slug", [lesson.slug for lesson in course_in(LESSONS).lessons])
def test_every_lesson_of_the_course_stays_below_the_prefix(drafted: TestClient, slug: str) -> None:
    assert strange(drafted.get(f"{PREFIX}/lessons/{slug}")) == []


def test_what_was_typed_stays_as_it_was(world: World) -> None:
    """A learner may write of addresses, too; a pass over the text of pages must not meet what they wrote."""
    typed = '# <a href="/lessons/linear" hx-get="/x"> data-url="/me"\n'
    walker = Walker(world, "Tom", PREFIX)
    walker.ask("POST", f"{LESSON}/code/linear-backward/draft", code=typed, revision="0")

    box = re.search(r"<textarea[^>]*>(.*?)</textarea>", walker.ask("GET", LESSON).text, re.DOTALL)

    assert box
    assert "/lessons/linear" in box[1]
    assert PREFIX not in box[1]


def test_a_word_that_only_begins_like_the_prefix_is_not_it(world: World) -> None:
    walker = Walker(world, "stranger", "")

    assert walker.ask("GET", f"{PREFIX}").status == 200
    assert walker.ask("GET", f"{PREFIX}/").status == 200
    assert walker.ask("GET", f"{PREFIX}er/lessons/linear").status == 404
    assert walker.ask("GET", f"{PREFIX}{PREFIX}/").status == 404


@pytest.mark.parametrize("path", ["/healthz", f"{PREFIX}/healthz"])
def test_who_looks_after_the_container_need_not_know_the_prefix(world: World, path: str) -> None:
    assert Walker(world, "stranger", "").ask("GET", path).status == 200


def test_a_slash_too_many_is_taken_away_below_the_prefix(world: World) -> None:
    answer = Walker(world, "stranger", PREFIX).ask("GET", f"{LESSON}/")

    assert answer.header("location") == PREFIX + LESSON


def test_links_that_are_handed_on_have_the_prefix(world: World) -> None:
    roster = f"/classes/{world.group.id}"
    walker = Walker(world, "Ada", PREFIX)

    shown = walker.ask("GET", f"{roster}/roster").text
    reset = walker.ask("POST", f"{roster}/roster/{world.room.ids['Bob']}/reset").text

    assert f"http://testserver{PREFIX}/join/" in shown
    assert f"http://testserver{PREFIX}/" in reset


@pytest.mark.parametrize("script", [True, False])
def test_a_piece_of_a_page_that_a_stream_sends_has_the_prefix(app: FastAPI, script: bool) -> None:
    pages = app.state.site.pages
    shown = pages.text("_joined.html", path="/lessons/linear") if script else pages.fragment(
        "_joined.html", path="/lessons/linear").body.decode()  # fmt: skip

    assert f'href="{PREFIX}/sign-in?next=/lessons/linear"' in shown


def test_no_prefix_takes_the_place_of_a_page() -> None:
    assert {path.split("/")[1] for _, path in ROUTES if path != "/"} | {"static", "embedded"} == OWN_PATHS


def test_without_a_prefix_nothing_is_in_the_way(course: Course, tmp_path) -> None:
    plain = create_app(Settings(data_dir=tmp_path, database_url=""), course, FakeGrader())

    assert PathPrefix not in [one.cls for one in plain.user_middleware]


class TestCookiesBehindTls:
    @pytest.fixture
    def tls(self, tmp_path, course: Course) -> Iterator[TestClient]:
        settings = Settings(data_dir=tmp_path, database_url="", prefix=PREFIX, secure_cookies=True)
        app = create_app(settings, course, FakeGrader())
        with TestClient(app, base_url="https://host.example", headers=BROWSER) as client:
            yield client

    def named(self, client: TestClient) -> Any:
        form = {"name": "Ada", "password": "seven times eight"}
        return client.post(f"{PREFIX}/sign-in/name", data=form, follow_redirects=False)

    def test_each_is_bound_to_the_host_and_has_the_prefix_in_its_name(self, tls: TestClient) -> None:
        cookies = self.named(tls).headers.get_list("set-cookie")

        assert {one.partition("=")[0] for one in cookies} == {
            "__Host-courses.learn.session", "__Host-courses.learn.way"
        }  # fmt: skip
        assert all("; Path=/;" in f"{one};" and "; Secure" in one for one in cookies)

    def test_they_come_back_as_they_went(self, tls: TestClient) -> None:
        self.named(tls)

        assert "Sign out" in tls.get(f"{PREFIX}/me").text

    def test_those_of_another_site_on_the_host_are_none_of_ours(self, tls: TestClient) -> None:
        self.named(tls)
        token = tls.cookies["__Host-courses.learn.session"]
        tls.cookies.clear()

        tls.cookies.set("__Host-session", token, domain="host.example")
        assert "Sign out" not in tls.get(f"{PREFIX}/me").text
        tls.cookies.set("__Host-courses.other.session", token, domain="host.example")
        assert "Sign out" not in tls.get(f"{PREFIX}/me").text
