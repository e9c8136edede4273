"""A server whose broker is away: all works but what needs a grader, which says so and comes back by itself."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.engine.pool import broker_graders
from app.engine.pool.broker_graders import BrokerGraders
from app.web.application import create_app
from tests.engine.pool.broker_server import Broker, host, program
from tests.waiting import SECONDS, until
from tests.web.conftest import BROWSER
from tests.web.routes.test_code_boxes import LESSON, RIGHT, send

pytestmark = pytest.mark.skipif(program() is None, reason="nats-server is not installed (Debian: nats-server)")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_graders, "PING_SECONDS", 0.5)
    monkeypatch.setattr(broker_graders, "MEET_SECONDS", 0.2)
    monkeypatch.setattr(broker_graders, "STARTUP_SECONDS", SECONDS)


@pytest.mark.prove
def test_without_graders_pages_and_drafts_work_and_checks_recover(settings, course, tmp_path: Path) -> None:
    broker = Broker(tmp_path)
    graders = BrokerGraders(settings.model_copy(update={"nats_url": broker.web}))
    with (
        TestClient(create_app(settings, course, graders), headers=BROWSER) as client,
        client.portal.wrap_async_context_manager(graders),
    ):
        page = client.get(LESSON)
        quiz = client.post(f"{LESSON}/quiz/dw-shape", data={"answer": "(3, 2)"})
        kept = send(client, "draft", RIGHT)
        check = send(client, "check", RIGHT, 1)

        assert client.get("/readyz").json()["state"] == "away"
        assert client.get("/readyz").status_code == 200, "a proxy goes on to send requests here"
        assert (page.status_code, quiz.status_code, kept.status_code) == (200, 200, 200)
        assert "Your text is saved" in check.text
        assert RIGHT.splitlines()[0] in client.get(LESSON).text

        broker.start()
        process = host(broker, tmp_path)
        until(lambda: 'data-passed="true"' in send(client, "check", RIGHT, 1).text)
        process.terminate()
        process.wait()
    broker.kill()
