"""From a learning platform: a launch takes at most three times a page view, and a grade is back within a minute.

The platform is the one of the tests, on this machine; what it takes to sign a message is left out.
"""

import asyncio
import http.client
import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from app.settings import Settings
from app.store.migrate import migrate
from benchmarks.serving import ROOT, free_port, server
from tests.lti.platform import FROM_ELSEWHERE, Link, Person, Platform
from tests.web.routes.platforms import register

ROUNDS, MOST_TIMES, MOST_SECONDS = 50, 3.0, 60.0
LESSON, QUIZ = "linear-layer", "dw-shape"


class Browser:
    """A frame of a browser: one kept connection, and the cookies that it was given."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, str]:
        """Status, address to go to, and text of an answer."""
        shown = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()), **headers}
        if form is not None:
            shown["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, urlencode(form) if form is not None else None, shown)
        answer = self._connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer.status, answer.headers.get("location", ""), answer.read().decode()


def launch(platform: Platform, browser: Browser, person: Person, link: Link) -> tuple[float, str]:
    """Seconds of login and launch together, and where they lead."""
    query = {
        "iss": platform.url, "login_hint": "hint", "target_link_uri": f"{platform.tool}/lti/launch",
        "client_id": platform.client_id,
    }  # fmt: skip
    began = time.perf_counter()
    _, to, _ = browser.ask("GET", f"/lti/login?{urlencode(query)}", **FROM_ELSEWHERE)
    took = time.perf_counter() - began
    asked = dict(pair.split("=", 1) for pair in urlsplit(to).query.split("&"))
    form = {"state": asked["state"], "id_token": platform.token(platform.claims(person, link, asked["nonce"]))}
    began = time.perf_counter()
    status, to, text = browser.ask("POST", "/lti/launch", form, **FROM_ELSEWHERE)
    assert status == 303, text
    return took + time.perf_counter() - began, to


def main() -> None:
    """Print the ratio of a launch to a page view, and the seconds until a grade is there."""
    port = free_port()
    tool = f"http://127.0.0.1:{port}"
    platform = Platform(tool)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), database_url="", address=tool)
        asyncio.run(migrate(settings.resolved_database_url))
        register(settings, platform)
        given = {"BACKHAND_ADDRESS": tool, "BACKHAND_LESSONS": str(ROOT / "tests" / "web" / "course")}
        try:
            with server(data=Path(folder), port=port, **given):
                platform.tool_keys = lambda: json.loads(Browser(port).ask("GET", "/lti/jwks")[2])
                _measure(platform, port)
        finally:
            platform.close()


def _measure(platform: Platform, port: int) -> None:
    column = platform.add_column("Linear", 10.0)
    link = Link("link-1", {"lesson": LESSON}, column)
    launch(platform, Browser(port), platform.person("ada", "Ada", "Instructor"), link)
    launches, views = [], []
    for number in range(ROUNDS):
        browser = Browser(port)
        took, to = launch(platform, browser, platform.person(f"learner-{number}", f"Learner {number}"), link)
        launches.append(took)
        path = urlsplit(to).path
        began = time.perf_counter()
        status, _, page = browser.ask("GET", path, **{"sec-fetch-dest": "iframe"})
        views.append(time.perf_counter() - began)
        assert status == 200, page
    launched, viewed = statistics.median(launches) * 1e3, statistics.median(views) * 1e3
    print(f"login and launch {launched:.1f} ms, page view {viewed:.1f} ms: {launched / viewed:.2f} times, "
          f"{MOST_TIMES:.0f} at most")  # fmt: skip
    quiz = re.search(rf'action="(/embedded/[^"]*/quiz/{QUIZ})"', page)
    assert quiz, "the page has the question"
    browser.ask("POST", quiz[1], {"answer": "D, H"}, **{"sec-fetch-site": "same-origin"})
    began = time.monotonic()
    while not column.scores:
        assert time.monotonic() < began + 2 * MOST_SECONDS, "no grade came"
        time.sleep(0.1)
    print(f"a grade is there after {time.monotonic() - began:.1f} s, {MOST_SECONDS:.0f} at most")


if __name__ == "__main__":
    main()
