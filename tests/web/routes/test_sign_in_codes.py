"""Codes by mail, with a real mail server."""

import asyncio
import re
import smtplib
import socket
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from fastapi import FastAPI
from sqlalchemy import select
from starlette.requests import Request
from starlette.testclient import TestClient

from app.accounts import mail, one_time_tokens
from app.content.blocks import Course
from app.settings import Settings
from app.store import learners
from app.store.database import now
from app.store.tables import Credential, OneTimeToken
from app.web.application import create_app
from tests.store import postgres
from tests.turns import PAGES
from tests.waiting import SECONDS
from tests.web.conftest import BROWSER, FakeGrader
from tests.web.routes.accounts import begin, name_shown, take_name, text_in_box

pytestmark = pytest.mark.alone

ADDRESS = "http://testserver"
ADA = "ada@example.org"


class Box:
    """Takes letters; *refuses* tells how not."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.refuses = ""

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:
        if self.refuses:
            return self.refuses
        self.letters.append(message_from_bytes(envelope.content))
        return "250 OK"

    def text(self) -> str:
        return str(self.letters[-1].get_payload(decode=True).decode())

    def code(self) -> str:
        found = re.search(r"Your code is (\S+)", self.text())
        assert found
        return found[1]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Box, int]]:
    box = Box()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port, ready_timeout=SECONDS)
    controller.start()
    yield box, port
    controller.stop()


@pytest.fixture
def box(server: tuple[Box, int]) -> Box:
    box = server[0]
    box.letters.clear()
    box.refuses = ""
    return box


@pytest.fixture
def mailing(settings: Settings, server: tuple[Box, int]) -> Settings:
    own = {"smtp": f"smtp://127.0.0.1:{server[1]}", "mail_from": "backhand@example.org", "address": ADDRESS}
    return settings.model_copy(update=own)


@pytest.fixture
def app(mailing: Settings, course: Course, grader: FakeGrader) -> FastAPI:
    return create_app(mailing, course, grader)


def ask(client: TestClient, email: str = ADA, **form: str) -> Any:
    return client.post("/sign-in/email", data={"email": email, **form})


def answer(client: TestClient, code: str) -> Any:
    return client.post("/sign-in/code", data={"code": code})


def test_a_code_makes_an_account_and_opens_it_elsewhere(client: TestClient, other: TestClient, box: Box) -> None:
    begin(client, "dX = 7")
    ask(client, f"  {ADA.upper()} ", back="/lessons/linear")
    assert answer(client, box.code().lower().replace("-", " ")).url.path == "/lessons/linear"

    ask(other)
    answer(other, box.code())

    assert text_in_box(other) == "dX = 7"
    assert box.letters[-1]["To"] == ADA
    assert box.letters[-1]["From"] == "backhand@example.org"


def test_to_open_the_link_changes_nothing_and_shows_a_button(client: TestClient, box: Box) -> None:
    ask(client)
    link = re.search(rf"{ADDRESS}(/sign-in/code\?code=\S+)", box.text())
    assert link

    for _ in range(7):  # as programs that look for harm in letters do
        shown = client.get(link[1])
    assert f'value="{box.code()}"' in shown.text
    assert name_shown(client) == "Sign in"

    assert answer(client, box.code()).status_code == 200
    assert name_shown(client) == "Account"


def test_a_letter_leads_below_the_prefix(mailing: Settings, course: Course, box: Box) -> None:
    below = create_app(mailing.model_copy(update={"prefix": "/learn"}), course, FakeGrader())
    with TestClient(below, headers=BROWSER) as client:
        ask(client)

    assert f"{ADDRESS}/learn/sign-in/code?code=" in box.text()


def test_a_code_works_in_the_browser_that_asked_alone(client: TestClient, other: TestClient, box: Box) -> None:
    ask(client)

    assert answer(other, box.code()).status_code == 422
    shown = other.get(f"/sign-in/code?code={box.code()}").text
    assert "It can be typed in the browser that asked for it." in shown
    ask(other, "eve@example.org")
    assert answer(other, box.letters[0]["Subject"].split()[0]).status_code == 422
    assert name_shown(other) == "Sign in"


def test_the_sixth_try_is_none_even_with_the_right_code(client: TestClient, box: Box) -> None:
    ask(client)

    assert [answer(client, "000-000-000").status_code for _ in range(5)] == [422] * 5
    assert answer(client, box.code()).status_code == 422
    assert name_shown(client) == "Sign in"


def test_a_code_is_good_once(client: TestClient, box: Box) -> None:
    ask(client)
    jar = client.cookies.copy() if hasattr(client.cookies, "copy") else dict(client.cookies)
    answer(client, box.code())
    client.post("/sign-out")

    client.cookies.update(jar)
    assert answer(client, box.code()).status_code == 422


def test_a_code_is_too_old_after_ten_minutes(client: TestClient, box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(client)
    later = one_time_tokens.now() + timedelta(minutes=10, seconds=1)
    monkeypatch.setattr(one_time_tokens, "now", lambda: later)

    assert answer(client, box.code()).status_code == 422


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    "email",
    ["", "ada", "@", "a@b", "a@b@example.org", "ada@example.org\r\nBcc: eve@example.org", "a b@example.org", "é@e.org",
     "x" * 65 + "@e.org", "a@" + "x" * 260 + ".org", "a@.", "<a@e.org>", "=?utf-8?b?YQ=?=@e.org",
     "=?utf-8?q?eve=40e.org?=@e.org", "a@=?utf-8?q?b?=.org", "a..b@e.org", "a@e..org"],
)  # fmt: skip
def test_what_is_no_address_gets_no_letter_and_a_sentence(client: TestClient, box: Box, email: str) -> None:
    said = ask(client, email)

    assert said.status_code == 422
    assert "That is no e-mail address." in said.text
    assert box.letters == []


def test_nobody_is_told_who_has_an_account(client: TestClient, other: TestClient, box: Box) -> None:
    ask(client)
    answer(client, box.code())

    known, unknown = ask(other), ask(other, "nobody@example.org")

    without_nonce = [re.sub(r'nonce="[^"]*"', "", one.text) for one in (known, unknown)]
    assert without_nonce[0] == without_nonce[1]


def test_nobodys_letterbox_is_filled(client: TestClient, app: FastAPI, box: Box) -> None:
    app.state.site.tries._clock = lambda: 1.0
    statuses = [ask(TestClient(app, headers=BROWSER)).status_code for _ in range(5)]

    assert statuses[-1] == 429
    assert len(box.letters) < 5
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("refuses", ["451 later", "550 no"])
def test_a_mail_server_that_does_not_take_it_is_said_and_nothing_is_lost(
    client: TestClient, box: Box, refuses: str
) -> None:
    begin(client, "dX = 7")
    box.refuses = refuses

    said = ask(client)

    assert said.status_code == 502
    assert "did not take the letter" in said.text
    assert text_in_box(client) == "dX = 7"


def test_no_password_of_the_mail_server_goes_over_an_open_connection() -> None:
    shown: list[object] = []

    def noted(*arguments: object) -> AuthResult:
        shown.append(arguments[-1])
        return AuthResult(success=True)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(
        Box(), hostname="127.0.0.1", port=port, authenticator=noted, auth_require_tls=False, ready_timeout=SECONDS
    )
    controller.start()
    letter = EmailMessage()
    letter["From"], letter["To"] = "backhand@example.org", ADA
    try:
        with pytest.raises(smtplib.SMTPNotSupportedError, match="no TLS"):
            mail._deliver(urlsplit(f"smtp://user:secret@127.0.0.1:{port}"), letter)
    finally:
        controller.stop()

    assert shown == []


def test_ten_letters_an_hour_go_to_an_address(
    client: TestClient, app: FastAPI, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks, from wherever: nobody's post is filled."""
    clock = 0.0
    site = app.state.site
    for allowance in (site.tries, site.letters):
        monkeypatch.setattr(allowance, "_clock", lambda: clock)

    statuses = []
    for at in range(12):
        clock += 60.0
        network = TestClient(app, headers=BROWSER, client=(f"192.0.2.{at}", 1))
        statuses.append(ask(network).status_code)
    clock += 360.0
    later = ask(client)

    assert statuses[:11] == [200] * 11  # one more had come meanwhile
    assert statuses[11] == 429
    assert later.status_code == 200
    assert ask(client, "grace@example.org").status_code == 200
    assert len(box.letters) == 13


def test_little_is_kept_of_a_question_for_a_code(client: TestClient, app: FastAPI, box: Box) -> None:
    assert box.letters == []
    ask(client, back="/" + "a" * 200_000)

    async def read() -> list[str]:
        async with app.state.site.database.read() as db:
            return list(await db.scalars(select(OneTimeToken.data_json)))

    (data,) = asyncio.run(read())
    assert len(data) < 1000


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def logging_app(
    request: pytest.FixtureRequest, settings: Settings, course: Course, grader: FakeGrader, server: tuple[Box, int]
) -> FastAPI:
    """The application on each kind of database."""
    own = {"smtp": f"smtp://127.0.0.1:{server[1]}", "mail_from": "backhand@example.org", "address": ADDRESS}
    if request.param == "PostgreSQL":
        own["database_url"] = request.getfixturevalue("postgres_url")
        asyncio.run(postgres.without_rows(own["database_url"]))
    return create_app(settings.model_copy(update=own), course, grader)


def without_request_ids(log: str) -> str:
    """*log* without what is drawn at random, in whose digits any word of a to f may be."""
    return re.sub(r"\brequest=[0-9a-f]+", "", re.sub(r"\x1b\[\d+m", "", log))


def test_ids_of_requests_are_taken_out_of_a_coloured_log_too() -> None:
    line = "\x1b[36mrequest\x1b[0m=\x1b[35m2cdfccada7550763\x1b[0m \x1b[36mstatus\x1b[0m=\x1b[35m303\x1b[0m\n"

    assert without_request_ids(line) == " status=303\n"


def test_no_address_is_in_the_log(logging_app: FastAPI, box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    with TestClient(logging_app, headers=BROWSER) as client:
        ask(client)
        answer(client, box.code())
        box.refuses = f"550 {ADA} is unknown"
        ask(client)

    assert "ada" not in without_request_ids(capsys.readouterr().out).lower()


def test_no_address_is_in_the_log_of_two_who_come_at_once(
    logging_app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    """PostgreSQL tells with an error which values were there twice."""

    @logging_app.post("/twice")
    async def twice(request: Request) -> None:
        async with request.app.state.site.database.write() as db:
            for _ in range(2):
                learner, _token = await learners.begin_session(db)
                own = {"kind": "email", "issuer": "", "subject": ADA, "verified": True, "created_at": now()}
                db.add(Credential(learner_id=learner, **own))
                await db.flush()

    with TestClient(logging_app, headers=BROWSER) as client:
        assert client.post("/twice").status_code == 409

    logged = capsys.readouterr().out
    assert "request-too-late" in logged
    assert "credential" in logged
    assert "ada" not in without_request_ids(logged).lower()


def test_an_equal_address_elsewhere_is_somebody_else(client: TestClient, other: TestClient, box: Box) -> None:
    begin(client, "dX = 7")
    take_name(client, ADA, "a long password")  # whoever takes it for a name has proved nothing

    ask(other)
    answer(other, box.code())

    assert text_in_box(other) != "dX = 7"


def test_a_server_without_mail_has_no_such_way(settings: Settings, course: Course, grader: FakeGrader) -> None:
    with TestClient(create_app(settings, course, grader), headers=BROWSER) as client:
        assert "e-mail" not in client.get("/sign-in").text
        assert ask(client).status_code == 404
