import json
import socket

import pytest
import structlog
from starlette.testclient import TestClient

from app.web.middleware.reports import configure_logs

LESSON = "/lessons/linear"


@pytest.mark.parametrize("plain", [True, False])
def test_logs_hold_no_submission_no_token_and_no_query(client: TestClient, capsys, monkeypatch, plain: bool) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    configure_logs(plain=plain)
    client.get(f"{LESSON}?ask=querysecret")
    token = client.cookies["session"]
    client.post(f"{LESSON}/code/linear-backward/check", data={"code": "codesecret", "revision": 0})
    monkeypatch.setattr("app.web.routes.answers.quiz_view", broken)
    client.post(f"{LESSON}/quiz/half", data={"answer": "answersecret"})
    configure_logs(plain=True)

    said = capsys.readouterr()
    assert "request-failed" in said.out
    assert "broken" in said.out, "where it failed is told"
    for secret in (token, "codesecret", "answersecret", "querysecret"):
        assert secret not in said.out + said.err


def test_each_request_is_one_line_of_json(client: TestClient, capsys) -> None:
    configure_logs(plain=False)
    client.get("/")
    client.get("/healthz")
    configure_logs(plain=True)

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["event"], line["method"], line["path"], line["status"]) for line in lines] == [
        ("request", "GET", "/", 200)
    ]
    assert structlog.is_configured()


@pytest.mark.parametrize(
    "path", ["/join/{}", "/JOIN/{}", "//join/{}", "/join//{}", "/Join {}", "/x/join/{}", "/join-{}"]
)
def test_no_code_of_a_class_is_in_the_log(client: TestClient, capsys: pytest.CaptureFixture[str], path: str) -> None:
    client.get("http://testserver" + path.format("K7Q-M2X-9DV"))

    logged = capsys.readouterr().out
    assert "/join/" in logged
    assert "K7Q" not in logged
    assert "9DV" not in logged


def test_a_request_has_an_id_in_its_answer_and_in_its_lines_of_the_log(client: TestClient, capsys) -> None:
    configure_logs(plain=False)
    ids = [client.get("/course").headers["x-request-id"] for _ in range(2)]
    configure_logs(plain=True)

    assert [json.loads(line)["request"] for line in capsys.readouterr().out.splitlines()] == ids
    assert ids[0] != ids[1]


def test_a_line_of_the_log_names_the_server_and_the_class_of_a_request(client: TestClient, capsys) -> None:
    configure_logs(plain=False)
    client.get("/classes/7/board")
    client.get("/course")
    configure_logs(plain=True)

    about, other = (json.loads(line) for line in capsys.readouterr().out.splitlines())

    assert (about["class"], about["server"]) == ("7", socket.gethostname())
    assert "class" not in other
    assert other["server"] == about["server"]
