"""`backhand lti`: what an operator and the administrator of a platform tell each other."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.cli.environment import load_settings
from tests.lti.platform import with_keys_made_before

ADDRESSES = (
    "--auth",
    "https://m.example/auth",
    "--token",
    "https://m.example/token",
    "--jwks",
    "https://m.example/jwks",
)
MOODLE = ("add", "--issuer", "https://m.example", "--client-id", "abc", *ADDRESSES)


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BACKHAND_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("BACKHAND_ADDRESS", "https://learn.example.org")
    monkeypatch.setenv("BACKHAND_SECURE_COOKIES", "1")
    with_keys_made_before(monkeypatch)


def told(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["lti", *words])
    assert done.exit_code == status, done.output
    return done.output


def facts(*words: str) -> Any:
    return json.loads(told(*words, "--json"))


def test_a_platform_is_registered_and_its_administrator_told_what_to_enter() -> None:
    said = told(*MOODLE, "--deployment", "1", "--deployment", "2")

    assert "m.example  https://m.example  client abc  deployments 1, 2" in said
    assert "Initiate login URL    https://learn.example.org/lti/login" in said
    assert "Public keyset URL     https://learn.example.org/lti/jwks" in said


def test_platforms_are_listed_given_deployments_and_forgotten() -> None:
    assert "no platform yet" in told("list")
    number = str(facts(*MOODLE, "--name", "Campus")["id"])

    assert facts("deployment", number, "7")["deployments"] == ["7"]
    facts("deployment", number, "8")
    assert facts("deployment", number, "7", "--drop")["deployments"] == ["8"]
    assert "'7' is no deployment of platform" in told("deployment", number, "7", "--drop", status=2)
    assert [one["name"] for one in facts("list")["platforms"]] == ["Campus"]
    assert "Campus is forgotten" in told("remove", number)
    assert facts("list")["platforms"] == []
    assert "There is no platform" in told("remove", number, status=2)


def test_what_is_known_of_a_platform_is_changed() -> None:
    number = str(facts(*MOODLE, "--origin", "https://a.example")["id"])

    said = told(
        "change",
        number,
        "--name",
        "Campus",
        "--origin",
        "https://b.example/x",
        "--private",
        "--jwks",
        "https://k.example/keys",
    )

    assert "Campus  https://m.example" in said
    row = rows("lti_platform")[0]
    assert row["origins"] == "https://a.example https://b.example"
    assert (row["auth_url"], row["jwks_url"]) == ("https://m.example/auth", "https://k.example/keys")
    listed = told("list")
    assert "   origin    https://a.example, https://b.example" in listed
    assert "   jwks      https://k.example/keys" in listed
    told("change", number, "--drop-origin", "https://a.example/")
    (one,) = facts("list")["platforms"]
    assert one["private"]
    assert one["origins"] == ["https://b.example"]
    assert "is no origin of platform" in told("change", number, "--drop-origin", "https://a.example", status=2)
    assert "--origin:" in told("change", number, "--origin", "b.example", status=2)
    assert "There is no platform" in told("change", "9", status=2)


def rows(table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(load_settings().resolved_database_url.partition("///")[2])) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(f"SELECT * FROM {table}")]


def test_a_platform_is_registered_once() -> None:
    number = facts(*MOODLE)["id"]

    assert f"keep its courses and grades: backhand lti change {number}." in told(*MOODLE, status=2)


def test_a_platform_with_classes_is_removed_only_when_meant() -> None:
    number = str(facts(*MOODLE)["id"])
    with closing(sqlite3.connect(load_settings().resolved_database_url.partition("///")[2])) as database:
        group = "INSERT INTO class (name, timezone, joining, created_at) VALUES ('A', 'UTC', 'closed', '2026-01-01')"
        made = database.execute(group).lastrowid
        into = "lti_context (platform_id, context_id, class_id, title, launched_at)"
        course = f"INSERT INTO {into} VALUES (?, 'c', ?, 'A', '2026-01-01')"
        database.execute(course, (number, made))
        database.commit()

    assert "1 course loses its class" in told("remove", number, status=2)
    assert len(facts("list")["platforms"]) == 1
    assert "is forgotten" in told("remove", number, "--yes")


def test_a_course_of_a_forgotten_platform_leads_to_its_class_again() -> None:
    told("remove", str(facts(*MOODLE)["id"]))
    number = str(facts(*MOODLE)["id"])
    made = CliRunner().invoke(app, ["class", "create", "Algebra", "--json"])
    group = str(json.loads(made.output)["id"])
    assert "No course has a class yet" in told("courses")

    assert f"leads to class {group}, Algebra" in told("course", number, "42", "--class", group)
    (row,) = facts("courses")["courses"]
    assert (row["platform"], row["id"], row["class"]) == (int(number), "42", int(group))
    assert f"course 42  -  class {group}  Algebra" in told("courses")
    assert f"belongs to class {group} already" in told("course", number, "42", "--class", group, status=2)
    assert "There is no class 99" in told("course", number, "42", "--class", "99", status=2)
    assert "There is no platform 9" in told("course", "9", "42", "--class", group, status=2)
    assert "is no id of a course" in told("course", number, "", "--class", group, status=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--jwks", "http://m.example/jwks"), "--jwks: 'http://m.example/jwks' is no address with https"),
        (("--token", "token"), "--token: 'token' is no address"),
        (("--origin", "m.example"), "--origin:"),
        (("--client-id", ""), "no client id"),
    ],
)
def test_what_cannot_be_meant_is_named(words: tuple[str, str], said: str) -> None:
    assert said in told(*MOODLE, *words, status=2)


def test_a_server_that_frames_cannot_keep_a_session_of_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKHAND_SECURE_COOKIES", "0")
    assert "BACKHAND_SECURE_COOKIES=1" in told(*MOODLE, status=2)
    monkeypatch.delenv("BACKHAND_ADDRESS")
    assert "BACKHAND_ADDRESS" in told(*MOODLE, status=2)


def test_keys_are_rotated() -> None:
    assert "no key" in told("rotate", status=2)
    told(*MOODLE)
    first = facts("rotate")["keys"]

    assert facts("rotate")["keys"][1:] == first[:2]
    assert not set(facts("rotate", "--anew")["keys"]) & set(first)


def test_try_and_doctor_report_a_platform_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = "http://127.0.0.1:1"
    addresses = ("--auth", nobody, "--token", nobody, "--jwks", nobody)
    number = str(
        facts("add", "--private", "--issuer", nobody, "--client-id", "abc", "--name", "Nobody", *addresses)["id"]
    )
    other = facts("add", "--private", "--issuer", nobody, "--client-id", "de", "--name", "Nobody", *addresses)["id"]
    monkeypatch.setattr("app.sandbox.kernel.LINUX", False)

    said = told("try", number, status=1)
    doctor = CliRunner().invoke(app, ["doctor"]).output

    assert "bad   Your platform's keys do not answer. It cannot be reached" in said
    assert f"bad   No deployment is registered: backhand lti deployment {number} ID.\n" in said
    for one in (number, other):  # of the same name
        assert f"missing   platform {one}, Nobody: Your platform's keys do not answer" in doctor


def test_a_ticket_is_an_address_that_works_for_an_hour() -> None:
    link = facts("ticket")["link"]

    assert link.startswith("https://learn.example.org/lti/register?ticket=")
    ends_at = datetime.fromisoformat(rows("one_time_token")[0]["expires_at"]).replace(tzinfo=UTC)
    assert timedelta(minutes=50) < ends_at - datetime.now(UTC) <= timedelta(hours=1)
    assert "once, within an hour" in told("ticket")
