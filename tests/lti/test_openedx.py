"""Launch, grade, roster and deep linking with the platform code of Open edX as the counterpart.

It has an environment of its own: `make openedx` makes it, and BACKHAND_OPENEDX names another interpreter.
"""

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from app.accounts.certificates import tls_context
from app.content.blocks import Course
from app.settings import Settings
from app.store import lti_scores
from app.web import application
from app.web.application import create_app
from tests.courses import course_in
from tests.lti.platform import Platform
from tests.waiting import until
from tests.web.conftest import FakeGrader
from tests.web.routes.platforms import register

pytestmark = pytest.mark.prove

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("BACKHAND_OPENEDX", ROOT / "var" / "openedx" / "bin" / "python"))
COURSE = ROOT / "tests" / "web" / "course"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class OpenEdx:
    """The platform, and the tool at the address *tool*."""

    def __init__(self, tool: str, port: int) -> None:
        self.tool, self.url = tool, f"http://127.0.0.1:{port}"
        self.client = httpx2.Client(verify=tls_context(), timeout=60)
        self.browsers = [self.client]

    def get(self, path: str, **query: str) -> Any:
        return self.client.get(self.url + path, params=query).json()

    def launch(self, user: str, role: str, custom: dict[str, str], **more: str) -> Any:
        """What a browser has after it followed a link."""
        browser = httpx2.Client(verify=tls_context(), timeout=60, headers={"sec-fetch-dest": "iframe"})
        self.browsers.append(browser)
        asked = {"iss": self.url, "client_id": "backhand-1", "login_hint": user, "lti_message_hint": "hint"}
        asked["target_link_uri"] = f"{self.tool}/lti/launch"
        reply = browser.get(f"{self.tool}/lti/login", params=asked)
        assert reply.status_code == 303, reply.text
        query = dict(reply.next_request.url.params) if reply.next_request else {}
        form = self.get("/launch", user=user, role=role, custom=json.dumps(custom), **more, **query)
        page = browser.post(f"{self.tool}/lti/launch", data=form, follow_redirects=True)
        return browser, page


@pytest.fixture(scope="module")
def edx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenEdx]:
    if not PYTHON.exists():
        pytest.skip("the platform code of Open edX is not here: make openedx")
    port, own = free_port(), free_port()
    platform = OpenEdx(f"http://127.0.0.1:{own}", port)
    words = [PYTHON, "-P", ROOT / "tests" / "lti" / "openedx_platform.py", str(port), platform.tool]
    patch = pytest.MonkeyPatch()
    patch.setattr(application, "LOOK_SECONDS", 0.2)
    patch.setattr(lti_scores, "QUIET", lti_scores.QUIET * 0)
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("edx"), database_url="", address=platform.tool, operator_token=""
    )
    known = Platform.__new__(Platform)
    known.url, known.client_id, known.deployment = platform.url, "backhand-1", "1"
    course: Course = course_in(COURSE)
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        app = create_app(settings, course, FakeGrader())
        server = uvicorn.Server(uvicorn.Config(app, port=own, log_level="error", ws="none", loop="asyncio"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        until(lambda: server.started)
        register(settings, known)

        def answers() -> bool:
            assert process.poll() is None
            try:
                return bool(platform.get("/jwks")["keys"])
            except httpx2.TransportError:
                return False

        until(answers)
        yield platform
        for browser in platform.browsers:
            browser.close()
        server.should_exit = True
        thread.join()
        process.kill()
    patch.undo()


def test_a_launch_a_grade_a_roster_and_links(edx: OpenEdx) -> None:
    teacher, home = edx.launch("ada", "instructor", {})
    assert "Deep Learning" in home.text
    bob, lesson = edx.launch("bob", "student", {"lesson": "linear"})
    assert lesson.url.path == "/embedded/lessons/linear"

    sent = bob.post(
        f"{edx.tool}/embedded/lessons/linear/quiz/dw-shape",
        data={"answer": "D, H"},
        headers={"sec-fetch-site": "same-origin"},
        follow_redirects=True,
    )
    assert sent.status_code == 200, sent.text
    until(lambda: edx.get("/scores"))
    (score,) = edx.get("/scores")
    assert (score["userId"], score["scoreGiven"], score["gradingProgress"]) == ("bob", 1.0, "FullyGraded")
    assert score["type"] == "application/vnd.ims.lis.v1.score+json"

    until(lambda: "Listed 2" in teacher.get(f"{home.url}/roster").text)

    _, chooser = edx.launch("ada", "instructor", {}, chooses="yes")
    token = re.search(r'name="token" value="(.+?)"', chooser.text)
    assert token, chooser.text
    chosen = teacher.post(
        f"{edx.tool}/embedded/lti/choose",
        data={"token": token[1], "item": "linear-layer", "points:linear-layer": "8"},
        headers={"sec-fetch-site": "same-origin"},
    )
    signed = re.search(r'name="JWT" value="(.+?)"', chosen.text)
    assert signed, chosen.text
    (item,) = edx.client.post(f"{edx.url}/deep-link", data={"JWT": signed[1]}).json()
    assert (item["type"], item["lineItem"]["scoreMaximum"]) == ("ltiResourceLink", 8.0)
