"""Coming from a learning platform: each rule of a launch, broken."""

import hmac
import html
import re
import time
from base64 import urlsafe_b64encode
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi import FastAPI
from joserfc import jwt
from sqlalchemy import select
from starlette.testclient import TestClient

from app.lti import keys as lti_keys
from app.lti.claims import CHECKS
from app.lti.launches import name_in_browser
from app.store import learners
from app.store.assignments import assignments_of, give_unit
from app.store.database import now
from app.store.lti_platforms import add_deployment, find_platform
from app.store.sittings import SittingSettings, create_sitting
from app.store.tables import Class, Credential, LtiContext, LtiLineItem, Membership, Session
from app.web.middleware.frames import COOKIE
from app.web.middleware.security import cookie_header
from app.web.routes import lti as lti_routes
from tests.lti.platform import CLAIM, FROM_ELSEWHERE, IN_A_TAB, KEYS, MEMBERSHIP, Link, Person, Platform
from tests.turns import PAGES
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.accounts import LESSON
from tests.web.routes.platforms import exam, frame, platform, shared, standing_platform

__all__ = ["exam", "platform", "shared", "standing_platform"]

TO_LESSON = Link("link-1", {"lesson": "linear"})


def arrive(platform: Platform, browser: TestClient, person: Person, link: Link = TO_LESSON, **claims: Any) -> Any:
    """Launch, and go where the tool leads."""
    reply = platform.launch(browser, person, link, **claims)
    assert reply.status_code == 303, reply.text
    return browser.get(reply.headers["location"], headers={**BROWSER, "sec-fetch-dest": "iframe"})


def class_of(room: Classroom, platform: Platform) -> Class | None:
    """The class of the platform's course."""
    query = select(Class).join(LtiContext, LtiContext.class_id == Class.id)
    return room.write(lambda db: db.scalar(query.where(LtiContext.context_id == platform.context)))


def role_in(room: Classroom, group: Class, person: Person) -> str | None:
    query = select(Membership.role).join(Credential, Credential.learner_id == Membership.learner_id)
    query = query.where(Membership.class_id == group.id, Credential.subject == person.subject)
    return room.write(lambda db: db.scalar(query))


def test_a_launch_shows_its_lesson_in_the_frame(platform: Platform, client: TestClient) -> None:
    page = arrive(platform, client, platform.person("u1", "Bob"))

    assert page.url.path == "/embedded/lessons/linear"
    assert page.status_code == 200
    assert 'class="masthead"' not in page.text
    assert "No account is needed" not in page.text
    assert set(re.findall(r'(?:href|action|hx-post)="(/[a-z]+)/', page.text)) == {"/embedded", "/static"}


def test_a_page_that_is_not_there_is_told_in_the_frame(client: TestClient) -> None:
    page = client.get("/embedded/lessons/gone")

    assert page.status_code == 404
    assert 'class="masthead"' not in page.text
    assert 'href="/embedded/"' in page.text


def test_a_launch_leads_to_its_exercise(platform: Platform, client: TestClient) -> None:
    link = Link("link-1", {"lesson": "linear", "exercise": "dw-shape"})
    reply = platform.launch(client, platform.person("u1", "Bob"), link)

    assert reply.headers["location"] == "/embedded/lessons/linear#dw-shape"


def test_a_link_opens_a_private_lesson_for_a_class_that_was_given_it(
    platform: Platform, client: TestClient, room: Classroom, exam: str
) -> None:
    ada, link = platform.person("exam", "Ada", "Instructor"), Link("l", {"lesson": exam}, platform.add_column("Exam"))
    page = arrive(platform, client, ada, link)
    group = class_of(room, platform)
    assert group
    assert page.status_code == 404
    assert not room.write(lambda db: assignments_of(db, group.id))

    room.write(lambda db: give_unit(db, group.id, "exam"))

    assert arrive(platform, client, ada, link).status_code == 200
    assert [row.lesson for row in room.write(lambda db: assignments_of(db, group.id))] == [exam]


def test_a_launch_leads_to_a_round_of_practice(platform: Platform, app: FastAPI, client: TestClient) -> None:
    practice = next(iter(app.state.site.practice.curriculum.sets.values()), None)
    if practice is None:
        pytest.skip("this course has nothing to practise")
    reply = platform.launch(client, platform.person("u1", "Bob"), Link("l", {"lesson": practice.lesson.name}))

    assert reply.headers["location"] == "/embedded" + practice.lesson.address


def test_a_sitting_is_linked_in_its_own_course_and_begins_in_a_tab(
    platform: Platform, client: TestClient, room: Classroom
) -> None:
    ada, bob = platform.person("exam-ada", "Ada", "Instructor"), platform.person("exam-bob", "Bob")
    arrive(platform, client, ada)
    group = class_of(room, platform)
    assert group
    window = SittingSettings("Exam", now(), now() + timedelta(hours=2), 30, 5.0, "nothing")
    made = room.write(lambda db: create_sitting(db, group.id, window, "[]", 1, None))
    other = made.lesson.replace(f"sitting-{group.id}-", f"sitting-{group.id + 1}-")
    links = [Link(name, {"lesson": name}, platform.add_column(name)) for name in (made.lesson, other)]
    before = [row.id for row in room.write(lambda db: assignments_of(db, group.id))]

    pages = [arrive(platform, client, bob, link) for link in links]

    assert "Open in a tab of its own" in pages[0].text
    assert "Begin" not in pages[0].text
    assert pages[1].status_code == 404
    assert [row.id for row in room.write(lambda db: assignments_of(db, group.id))] == before
    linked = room.write(lambda db: db.scalar(select(LtiLineItem).where(LtiLineItem.assignment_id == made.id)))
    assert linked is not None


def test_a_lesson_in_a_frame_leads_to_the_class_and_to_what_is_kept(platform: Platform, client: TestClient) -> None:
    visitor = arrive(platform, client, platform.person("foot-bob", "Bob")).text
    taught = arrive(platform, client, platform.person("foot-ada", "Ada", "Instructor")).text
    (way,) = re.findall('<a href="([^"]*)">Your classes', taught)
    (group,) = re.findall(r'href="(/embedded/classes/\d+)">', client.get(way, headers=BROWSER).text)
    board = client.get(group, headers=BROWSER).text

    assert "Your classes" not in visitor
    assert f'href="{group}/gradebook">Gradebook' in board
    assert f'href="{group}/roster">Roster' in board
    privacy = client.get("/embedded/privacy", headers=BROWSER)
    for page in (visitor, taught, board):
        assert '<a href="/embedded/privacy">Privacy' in page
    assert privacy.status_code == 200


def test_an_address_of_a_lesson_is_a_link_to_it(platform: Platform, client: TestClient) -> None:
    reply = platform.launch(client, platform.person("u1", "Bob"), Link("l", {}, target=LESSON))

    assert reply.headers["location"] == "/embedded/lessons/linear"


def test_what_is_answered_in_a_frame_is_kept(platform: Platform, client: TestClient, app: FastAPI) -> None:
    person = platform.person("u-kept", "Bob")
    arrive(platform, client, person)
    sent = client.post(
        f"/embedded{LESSON}/code/linear-backward/draft", data={"code": "dX = 1", "revision": "0"}, headers=BROWSER
    )
    assert sent.status_code == 200

    again = arrive(platform, frame(app), person)

    assert "dX = 1" in again.text


BROKEN: dict[str, tuple[str, Any]] = {
    "another issuer": ("iss", "https://elsewhere.example"),
    "another audience": ("aud", "another-tool"),
    "many audiences without us": ("aud", ["a", "b"]),
    "another party": ("azp", "another-tool"),
    "of yesterday": ("exp", time.time() - 86400),
    "without an end": ("exp", None),
    "of tomorrow": ("iat", time.time() + 86400),
    "another nonce": ("nonce", "another"),
    "no nonce": ("nonce", None),
    "an odd subject": ("sub", 7),
    "another version": (CLAIM + "version", "1.1"),
    "another message": (CLAIM + "message_type", "LtiSubmissionReviewRequest"),
    "another deployment": (CLAIM + "deployment_id", "dep-2"),
    "a list of deployments": (CLAIM + "deployment_id", ["dep-1"]),
    "a target elsewhere": (CLAIM + "target_link_uri", "https://elsewhere.example/lessons/linear"),
    "a target that begins alike": (CLAIM + "target_link_uri", "http://testserver.elsewhere.example/"),
    "no object": (CLAIM + "context", "course-1"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_message_that_breaks_a_rule_is_not_believed(platform: Platform, client: TestClient, broken: str) -> None:
    name, value = BROKEN[broken]
    before = client.cookies.get("embedded")
    reply = platform.launch(client, platform.person("u1", "Bob"), TO_LESSON, **{name: value})

    assert reply.status_code == 403
    assert 'role="alert"' in reply.text
    assert client.cookies.get("embedded") == before


def test_every_rule_is_broken_by_a_test() -> None:
    assert {check.claim for check in CHECKS} <= {name for name, _ in BROKEN.values()}


def test_of_several_audiences_the_message_says_that_it_is_for_us(platform: Platform, client: TestClient) -> None:
    many = {"aud": [platform.client_id, "another"]}
    person = platform.person("u1", "Bob")

    assert platform.launch(client, person, TO_LESSON, **many).status_code == 403
    assert platform.launch(client, person, TO_LESSON, **many, azp=platform.client_id).status_code == 303


def asked_and_claims(platform: Platform, browser: TestClient) -> tuple[dict[str, str], dict[str, Any]]:
    asked = platform.asked_by(platform.begin(browser))
    return asked, platform.claims(platform.person("u1", "Bob"), TO_LESSON, asked["nonce"])


def post(browser: TestClient, state: str, token: str, headers: dict[str, str] = FROM_ELSEWHERE, **more: str) -> Any:
    form = {"state": state, "id_token": token, **more}
    return browser.post("/lti/launch", data=form, headers=headers, follow_redirects=False)


def unsigned(platform: Platform, claims: dict[str, Any]) -> str:
    head, body, _ = platform.token(claims, {"alg": "RS256"}).split(".")
    return ".".join(("eyJhbGciOiJub25lIiwia2lkIjoicGxhdGZvcm0ta2V5In0", body, "")) if head else ""


def symmetric(platform: Platform, claims: dict[str, Any]) -> str:
    """Signed with what everybody knows, by an algorithm that takes any bytes for a secret."""
    head = urlsafe_b64encode(b'{"alg":"HS256","kid":"platform-key"}').rstrip(b"=")
    signed = head + b"." + platform.token(claims).split(".")[1].encode()
    mac = hmac.digest(platform.key.as_pem(private=False), signed, "sha256")
    return (signed + b"." + urlsafe_b64encode(mac).rstrip(b"=")).decode()


FORGED = {
    "alg none": unsigned,
    "HS256 with the public key": symmetric,
    "another key under its name": lambda platform, claims: platform.token(claims, key=KEYS[1]),
    "a key of another platform": lambda platform, claims: platform.token(claims, {"kid": "other"}, KEYS[1]),
    "no name of a key": lambda platform, claims: jwt.encode({"alg": "RS256"}, claims, platform.key),
    "a changed claim": lambda platform, claims: ".".join(
        (platform.token(claims).split(".")[0], platform.token({**claims, "sub": "u2"}).split(".")[1],
         platform.token(claims).split(".")[2])
    ),
    "no token": lambda *_: "a.b.c",
    "nothing": lambda *_: "",
}  # fmt: skip


@pytest.mark.parametrize("forged", FORGED)
def test_a_message_that_the_platform_did_not_sign_is_not_believed(
    platform: Platform, client: TestClient, forged: str
) -> None:
    asked, claims = asked_and_claims(platform, client)

    assert post(client, asked["state"], FORGED[forged](platform, claims)).status_code == 403


def test_what_a_platform_says_instead_of_a_message_is_told(platform: Platform, client: TestClient) -> None:
    asked, _ = asked_and_claims(platform, client)

    told = post(client, asked["state"], "", error="login_required", error_description="<b>Sign in</b> first")

    assert told.status_code == 403
    assert "Moodle did not let you through. It said: login_required &lt;b&gt;Sign in&lt;/b&gt; first" in told.text


def test_a_message_counts_once(platform: Platform, client: TestClient) -> None:
    asked, claims = asked_and_claims(platform, client)
    token = platform.token(claims)
    cookies = dict(client.cookies)

    assert post(client, asked["state"], token).status_code == 303
    client.cookies.update(cookies)
    assert post(client, asked["state"], token).status_code == 403


def test_the_secret_of_a_launch_is_emptied_once_it_was_used(platform: Platform, client: TestClient) -> None:
    asked, claims = asked_and_claims(platform, client)
    name = name_in_browser(asked["state"])

    def kept() -> list[str | None]:
        return [cookie.value for cookie in client.cookies.jar if cookie.name.endswith(name)]

    before = kept()
    post(client, asked["state"], platform.token(claims))

    assert len(before) == 1
    assert before[0]
    assert not any(kept())


def test_an_old_message_answers_no_new_question(platform: Platform, client: TestClient) -> None:
    _, old = asked_and_claims(platform, client)
    asked, _ = asked_and_claims(platform, client)

    assert post(client, asked["state"], platform.token(old)).status_code == 403


def test_the_state_of_another_browser_lets_nobody_in(platform: Platform, app: FastAPI, client: TestClient) -> None:
    asked, claims = asked_and_claims(platform, client)
    other = frame(app)

    reply = post(other, asked["state"], platform.token(claims))

    assert reply.status_code == 403
    assert "Open in a new tab" in reply.text
    assert "embedded" not in other.cookies


def test_two_launches_of_one_browser_may_be_interleaved(platform: Platform, client: TestClient) -> None:
    first, claims = asked_and_claims(platform, client)
    second, others = asked_and_claims(platform, client)

    assert post(client, second["state"], platform.token(others)).status_code == 303
    assert post(client, first["state"], platform.token(claims)).status_code == 303


def test_a_state_and_a_nonce_have_192_bits(platform: Platform, client: TestClient) -> None:
    asked, _ = asked_and_claims(platform, client)

    assert len(asked["state"]) == len(asked["nonce"]) == 32
    assert all(asked["state"][:8] not in cookie.name for cookie in client.cookies.jar)
    assert asked["response_mode"] == "form_post"
    assert asked["redirect_uri"] == "http://testserver/lti/launch"


def test_a_client_may_have_several_deployments(platform: Platform, client: TestClient, room: Classroom) -> None:
    there, person = {CLAIM + "deployment_id": "dep-2nd"}, platform.person("u1", "Bob")
    refused = platform.launch(client, person, TO_LESSON, **there)
    assert refused.status_code == 403
    assert re.search(r"The operator of this server adds it: backhand lti deployment [0-9]+ dep-2nd\.", refused.text)

    async def add(db: Any) -> None:
        known = await find_platform(db, platform.url, platform.client_id)
        assert known
        await add_deployment(db, known, "dep-2nd")

    room.write(add)

    assert platform.launch(client, person, TO_LESSON, **there).status_code == 303
    assert platform.launch(client, person, TO_LESSON).status_code == 303


@pytest.mark.parametrize("path", ["/lti/login", "/lti/launch"])
def test_who_opens_an_address_for_platforms_is_told_where_to_look(client: TestClient, path: str) -> None:
    page = client.get(path)

    assert page.status_code == 403
    assert "open the link inside of the course" in page.text
    assert 'href="http://testserver/lti/setup"' in page.text


def test_cookies_of_a_frame_are_partitioned_and_of_this_host_alone(
    platform: Platform, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lti_routes, "is_secure", lambda _: True)
    secret = platform.begin(client).headers["set-cookie"]

    for cookie in (secret, cookie_header(COOKIE, "token", 28800, secure=True, framed=True)):
        assert cookie.startswith("__Host-")
        assert re.search(r"; Path=/; Max-Age=(600|28800); HttpOnly; SameSite=None; Secure; Partitioned$", cookie)


UNKNOWN = {
    "iss": "https://elsewhere.example",
    "client_id": "another-tool",
    "target_link_uri": "https://elsewhere.example/",
    "login_hint": "",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_login_from_nowhere_or_to_elsewhere_is_refused(platform: Platform, client: TestClient, name: str) -> None:
    reply = platform.begin(client, **{name: UNKNOWN[name]})

    assert reply.status_code == 403
    assert 'role="alert"' in reply.text


def test_a_login_may_come_as_a_form_from_the_platform(platform: Platform, client: TestClient) -> None:
    form = {"iss": platform.url, "login_hint": "h", "target_link_uri": "http://testserver/lti/launch"}
    reply = client.post("/lti/login", data=form, headers=FROM_ELSEWHERE, follow_redirects=False)

    assert urlsplit(reply.headers["location"]).netloc == urlsplit(platform.url).netloc


def test_a_message_of_300_kilobytes_is_refused(platform: Platform, client: TestClient) -> None:
    asked, _ = asked_and_claims(platform, client)

    assert post(client, asked["state"], "a" * 300_000).status_code == 413


def test_a_new_key_of_a_platform_is_fetched_once_a_minute(
    platform: Platform, client: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = platform.person("u1", "Bob")
    assert platform.launch(client, person).status_code == 303
    platform.kid, platform.asked = "a newer key", []

    assert platform.launch(client, person).status_code == 403
    assert platform.asked == []
    monkeypatch.setattr(lti_keys, "UNKNOWN_KEY_SECONDS", 0.0)
    assert platform.launch(client, person).status_code == 303
    assert platform.launch(client, person).status_code == 303
    assert platform.asked == ["jwks"]
    app.state.site.lti.keys._kept.clear()


ROLES = {
    "Learner": ([MEMBERSHIP + "Learner"], "learner"),
    "a short name": (["Learner"], "learner"),
    "Instructor": ([MEMBERSHIP + "Instructor"], "instructor"),
    "assistant": (
        [MEMBERSHIP + "Instructor", "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"],
        "assistant",
    ),
    "administrator": (["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"], "instructor"),
    "a teacher of the school who learns here": (
        [MEMBERSHIP + "Learner", "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"],
        "learner",
    ),
    "a teacher of the school": (["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"], None),
    "a mentor": ([MEMBERSHIP + "Mentor"], None),
    "nothing": (None, None),
    "no list": ("Instructor", None),
}


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("named", ROLES)
def test_roles_of_a_platform_are_those_of_the_class(
    platform: Platform, client: TestClient, app: FastAPI, room: Classroom, named: str
) -> None:
    roles, expected = ROLES[named]
    arrive(platform, frame(app), platform.person("teacher", "Ada", "Instructor"))
    person = platform.person("u-role", "Bob")
    arrive(platform, client, person, **{CLAIM + "roles": roles})
    group = class_of(room, platform)
    assert group

    assert group.name == "Deep Learning"
    assert role_in(room, group, person) == expected


def test_a_learner_makes_no_class(platform: Platform, client: TestClient, room: Classroom) -> None:
    page = arrive(platform, client, platform.person("u1", "Bob"))

    assert page.status_code == 200
    assert class_of(room, platform) is None


def test_the_role_is_that_of_the_newest_launch(platform: Platform, client: TestClient, room: Classroom) -> None:
    person = platform.person("demoted", "Ada", "Instructor")
    arrive(platform, client, person)
    group = class_of(room, platform)
    assert group
    assert role_in(room, group, person) == "instructor"

    arrive(platform, client, person, **{CLAIM + "roles": [MEMBERSHIP + "Learner"]})

    assert role_in(room, group, person) == "learner"
    assert client.get(f"/embedded/classes/{group.id}/roster", headers=BROWSER).status_code == 404


def test_a_launch_enrols_although_nobody_may_join_and_not_who_is_blocked(
    platform: Platform, client: TestClient, app: FastAPI, room: Classroom
) -> None:
    arrive(platform, client, platform.person("t", "Ada", "Instructor"))
    group, person = class_of(room, platform), platform.person("u-blocked", "Bob")
    assert group
    assert group.joining == "closed"
    arrive(platform, frame(app), person)
    assert role_in(room, group, person) == "learner"

    async def block(db: Any) -> None:
        rows = await db.scalars(select(Membership).where(Membership.class_id == group.id, Membership.role == "learner"))
        for row in rows:
            row.blocked = True

    room.write(block)
    arrive(platform, frame(app), person)

    query = select(Membership.blocked).where(Membership.class_id == group.id, Membership.role == "learner")
    assert room.write(lambda db: db.scalar(query)) is True


def test_an_equal_address_of_mail_makes_nobody_the_same(platform: Platform, app: FastAPI, room: Classroom) -> None:
    for subject in ("first", "second"):
        arrive(platform, frame(app), platform.person(subject, "Bob"), email="bob@example.org")
    query = select(Credential.learner_id).where(Credential.subject.in_(("first", "second")))

    found = room.write(lambda db: db.scalars(query)).all()

    assert len(set(found)) == 2


def test_somebody_without_a_name_of_the_platform_is_a_visitor(platform: Platform, client: TestClient) -> None:
    page = arrive(platform, client, platform.person("u1", "Bob"), sub=None)

    assert page.status_code == 200
    sent = client.post(
        f"/embedded{LESSON}/code/linear-backward/draft", data={"code": "dX = 1", "revision": "0"}, headers=BROWSER
    )
    assert sent.status_code == 200


def test_in_a_tab_what_was_begun_there_comes_along(platform: Platform, client: TestClient) -> None:
    client.post(f"{LESSON}/code/linear-backward/draft", data={"code": "dX = 7", "revision": "0"})
    reply = platform.launch(client, platform.person("in-a-tab", "Bob"), TO_LESSON, headers=IN_A_TAB)
    assert reply.headers["location"] == "/lti/enter"

    page = client.get("/lti/enter", headers=IN_A_TAB)

    assert page.url.path == "/lessons/linear"
    assert "dX = 7" in page.text
    assert "embedded" not in client.cookies


def test_who_has_two_accounts_of_platforms_joins_them_and_nobody_else_does(
    platform: Platform, client: TestClient, room: Classroom
) -> None:
    query = select(Credential.learner_id).where(Credential.subject.in_(("one-of-two", "two-of-two")))
    for subject in ("one-of-two", "two-of-two", "one-of-two"):
        platform.launch(client, platform.person(subject, "Bob"), TO_LESSON, headers=IN_A_TAB)
        page = client.get("/lti/enter", headers=IN_A_TAB)
        client.post(f"{LESSON}/code/linear-backward/draft", data={"code": f"dX = {subject!r}", "revision": "0"})
    assert page.url.path == "/me/merge"
    assert len(set(room.write(lambda db: db.scalars(query)).all())) == 2

    client.post("/me/merge", data={"stays": "now"})

    assert len(set(room.write(lambda db: db.scalars(query)).all())) == 1


def test_a_session_of_a_frame_opens_no_tab_and_none_of_a_tab_a_frame(
    platform: Platform, client: TestClient, app: FastAPI
) -> None:
    arrive(platform, client, platform.person("two-sessions", "Bob"))
    stolen = TestClient(app, headers=BROWSER, cookies={"session": client.cookies["embedded"]})
    client.post(f"{LESSON}/code/linear-backward/draft", data={"code": "dX = 7", "revision": "0"})
    brought = TestClient(app, headers=BROWSER, cookies={"embedded": client.cookies["session"]})

    assert "Sign in" in stolen.get("/").text
    assert "dX = 7" not in brought.get(f"/embedded{LESSON}").text


def test_a_session_of_a_frame_lasts_for_eight_hours(platform: Platform, client: TestClient, room: Classroom) -> None:
    arrive(platform, client, platform.person("long-ago", "Bob"))
    token = client.cookies["embedded"]

    async def known_after(db: Any, hours: float) -> bool:
        row = await db.get_one(Session, learners.hash_of(token))
        row.created_at = now() - timedelta(hours=hours)
        await db.flush()
        return await learners.find_session_learner(db, token) is not None

    assert room.write(lambda db: known_after(db, 7.9))
    assert not room.write(lambda db: known_after(db, 8.1))


def test_a_lesson_can_be_read_after_the_session_of_a_frame_and_says_so(
    platform: Platform, client: TestClient, app: FastAPI
) -> None:
    over = "Your visit from the learning platform has ended"
    during = arrive(platform, client, platform.person("visits", "Bob"))
    after = TestClient(app, headers=BROWSER, cookies={"embedded": "ended"}).get(f"/embedded{LESSON}")

    assert (after.status_code, over in after.text, over in during.text) == (200, True, False)


def test_what_is_written_after_the_session_of_a_frame_is_not_kept(client: TestClient, app: FastAPI) -> None:
    assert client
    ended = TestClient(app, headers=BROWSER, cookies={"embedded": "ended"})
    sent = ended.post(f"/embedded{LESSON}/code/linear-backward/draft", data={"code": "dX = 1", "revision": "0"})

    assert sent.status_code == 403
    assert sent.headers["not-saved"] == "1"
    assert "open the link there again" in sent.text


def test_only_pages_for_frames_may_be_framed_and_by_platforms_alone(platform: Platform, client: TestClient) -> None:
    framed = client.get(f"/embedded{LESSON}").headers["content-security-policy"]
    refused = platform.begin(client, client_id="x").headers["content-security-policy"]

    assert f"frame-ancestors {platform.url}" in framed
    assert f"frame-ancestors {platform.url}" in refused
    for path in (LESSON, "/", "/me", "/sign-in", "/lti/jwks", "/embedding", "/lti/own-tab"):
        assert "frame-ancestors 'none'" in client.get(path).headers["content-security-policy"], path


@pytest.mark.parametrize("path", ["/me", "/me/delete", "/sign-in", "/join/K7Q-M2X-9DV", "/sign-out"])
def test_an_account_is_not_changed_in_a_frame(platform: Platform, client: TestClient, path: str) -> None:
    arrive(platform, client, platform.person("stays", "Bob"))
    sent = client.post(f"/embedded{path}", data={"sure": "yes"}, headers=BROWSER)
    shown = client.get(f"/embedded{path}", headers=BROWSER)

    assert sent.status_code == 405
    assert "Open in a new tab" in shown.text
    assert f'name="to" value="{path}"' in shown.text


def test_a_tab_of_ones_own_is_opened_once(platform: Platform, client: TestClient, app: FastAPI) -> None:
    arrive(platform, client, platform.person("own-tab", "Bob"))
    client.post(
        f"/embedded{LESSON}/code/linear-backward/draft", data={"code": "dX = 3", "revision": "0"}, headers=BROWSER
    )
    page = client.get("/embedded/lti/own-tab", params={"to": LESSON}, headers=BROWSER)
    action, entry = re.search(r'action="(.*?)"', page.text), re.search(r'name="entry" value="(.+?)"', page.text)
    assert action
    assert entry
    assert entry[1] not in str(page.url)

    tab = frame(app)
    opened = tab.post(action[1], data={"entry": entry[1], "to": LESSON})
    again = frame(app).post(action[1], data={"entry": entry[1], "to": LESSON})

    assert opened.url.path == LESSON
    assert "dX = 3" in opened.text
    assert again.status_code == 403


class TestWithoutCookies:
    """A browser that keeps no cookies in frames, and a platform that keeps things for us."""

    def begun(self, platform: Platform, browser: TestClient) -> tuple[dict[str, str], str, str]:
        page = platform.begin(browser, lti_storage_target="_parent")
        found = {
            name: re.search(rf'data-{name}="(.*?)"', page.text) for name in ("key", "value", "lti-store", "origin")
        }
        address = re.search(r'href="(http.*?)"', page.text)
        assert address
        assert all(found.values())
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address[1].replace("&amp;", "&")).query).items()}
        assert found["key"]
        assert found["value"]
        assert found["origin"]
        assert found["origin"][1] == platform.url
        return asked, found["key"][1], found["value"][1]

    def test_what_the_platform_keeps_proves_the_browser_and_opens_a_tab(
        self, platform: Platform, client: TestClient, app: FastAPI
    ) -> None:
        asked, key, value = self.begun(platform, client)
        token = platform.token(platform.claims(platform.person("stored", "Bob"), TO_LESSON, asked["nonce"]))
        asks = post(frame(app), asked["state"], token)
        assert f'data-key="{key}"' in asks.text
        assert value not in asks.text

        shown = post(frame(app), asked["state"], token, BROWSER, stored=value)

        assert shown.status_code == 200
        assert "Open in a new tab" in shown.text
        assert "set-cookie" not in shown.headers or "embedded=" not in shown.headers["set-cookie"]

    def test_what_it_does_not_keep_proves_nothing(self, platform: Platform, client: TestClient, app: FastAPI) -> None:
        asked, _, _ = self.begun(platform, client)
        token = platform.token(platform.claims(platform.person("stored", "Bob"), TO_LESSON, asked["nonce"]))

        assert post(frame(app), asked["state"], token, BROWSER, stored="none").status_code == 403
        assert post(frame(app), asked["state"], token, BROWSER, stored=asked["state"]).status_code == 403

    @pytest.mark.parametrize("headers", [FROM_ELSEWHERE, IN_A_TAB], ids=["in a frame", "in a tab"])
    def test_a_page_of_somebody_else_lets_nobody_in_with_its_own_secret(
        self, platform: Platform, client: TestClient, app: FastAPI, headers: dict[str, str]
    ) -> None:
        """Whoever has a launch of their own could otherwise sign another browser in as themselves."""
        asked, _, value = self.begun(platform, client)
        token = platform.token(platform.claims(platform.person("theirs", "Eve"), TO_LESSON, asked["nonce"]))
        other = frame(app)

        assert post(other, asked["state"], token, headers, stored=value).status_code == 403
        assert not other.cookies

    def test_without_storage_nothing_that_is_shown_instead_counts(
        self, platform: Platform, client: TestClient, app: FastAPI
    ) -> None:
        asked, claims = asked_and_claims(platform, client)

        assert post(frame(app), asked["state"], platform.token(claims), BROWSER, stored="none").status_code == 403

    def test_a_frame_that_was_granted_storage_shows_its_cookie_by_its_own_form(
        self, platform: Platform, client: TestClient, app: FastAPI
    ) -> None:
        bob, forgetful = platform.person("granted", "Bob"), frame(app)
        asked, claims = asked_and_claims(platform, client)
        refused = html.unescape(post(forgetful, asked["state"], platform.token(claims)).text)
        (stay,) = re.findall('href="(.*?&granted=1)"', refused)

        begun = platform.asked_by(client.get(stay, headers=BROWSER, follow_redirects=False))
        token = platform.token(platform.claims(bob, TO_LESSON, begun["nonce"]))
        shown = post(forgetful, begun["state"], token)
        assert 'action="http://testserver/lti/launch" data-lti-access' in shown.text
        again = post(forgetful, begun["state"], token, BROWSER)
        assert again.status_code == 403
        assert "Stay in this frame" not in again.text
        entered = post(client, begun["state"], token, {**BROWSER, "sec-fetch-dest": "iframe"})
        assert entered.headers["location"] == "/embedded/lessons/linear"
