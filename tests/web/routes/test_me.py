"""The page about oneself: ways, devices, two accounts, taking everything away, and deleting it."""

import asyncio
import io
import json
import re
import zipfile
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.accounts import recovery
from app.accounts.credentials import VerifiedIdentity, create
from app.settings import Settings
from app.store import classes, invitations, joining, notices
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.tables import AuditEvent, Base, Learner
from tests.turns import PAGES
from tests.web.conftest import BROWSER
from tests.web.routes.accounts import LESSON, begin, make_passwords_cheap, name_shown, sign_in, take_name, text_in_box

pytestmark = pytest.mark.alone

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    make_passwords_cheap(monkeypatch)


@pytest.fixture
def stored(settings: Settings) -> Callable[[Callable[[AsyncSession], Awaitable[T]]], T]:
    """What a question to the database of the server answers."""

    def ask(question: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async def answer() -> T:
            database = Database(settings.resolved_database_url)
            try:
                async with database.write() as db:
                    return await question(db)
            finally:
                await database.close()

        return asyncio.run(answer())

    return ask


def learner_of(name: str) -> Callable[[AsyncSession], Awaitable[int]]:
    async def ask(db: AsyncSession) -> int:
        found = await db.scalar(select(Learner.id).where(Learner.name == name))
        assert found is not None
        return found

    return ask


def ways(client: TestClient) -> list[str]:
    return re.findall(r'action="(/me/credentials/\d+/remove)"', client.get("/me").text)


def test_who_is_anonymous_sees_what_is_kept_and_what_to_do_with_it(client: TestClient) -> None:
    assert "Nothing is stored about you yet." in client.get("/me").text

    begin(client)
    shown = client.get("/me").text
    assert "kept for this browser alone" in shown
    assert "Take everything away" in shown
    assert "Devices" not in shown


def test_a_name_of_ones_own_is_shown_on_every_page_and_opens_nothing(client: TestClient, other: TestClient) -> None:
    begin(client)
    client.post("/me/name", data={"name": " <b>Ada</b>\u202e "})

    assert name_shown(client) == "&lt;b&gt;Ada&lt;/b&gt;"
    assert sign_in(other, "<b>Ada</b>").status_code == 422

    client.post("/me/name", data={"name": ""})
    assert name_shown(client) == "Sign in"
    assert client.post("/me/name", data={"name": "x" * 81}).status_code == 422


def test_a_name_that_is_refused_is_told_once_and_at_its_field(client: TestClient) -> None:
    take_name(client)

    text = client.post("/me/name", data={"name": "x" * 81}).text

    assert text.count('aria-invalid="true"') == text.count('aria-describedby="name-said"') == 1
    assert len(re.findall(r'<p class="problem" id="[^"]*"', text)) == 1


def test_each_field_of_a_way_that_was_refused_points_at_what_was_said(client: TestClient, other: TestClient) -> None:
    take_name(client)

    text = sign_in(other, "Nobody").text

    assert text.count('aria-invalid="true" aria-describedby="passwordproblem"') == 2
    assert text.count('id="passwordproblem"') == 1


def test_the_last_way_is_taken_away_only_from_who_says_so(client: TestClient, other: TestClient) -> None:
    begin(client, "dX = 7")
    take_name(client)
    sign_in(other)
    (way,) = ways(client)

    assert client.post(way).status_code == 409
    assert ways(client) == [way]

    client.post(way, data={"last": "yes"})
    assert text_in_box(client) == "dX = 7"  # this browser keeps it
    assert text_in_box(other) != "dX = 7"
    assert sign_in(other).status_code == 422


def test_a_way_of_somebody_else_is_not_taken_away(client: TestClient, other: TestClient) -> None:
    take_name(client)
    take_name(other, "Grace")
    (way,) = ways(client)

    other.post(way, data={"last": "yes"})

    assert ways(client) == [way]


def test_a_way_that_was_refused_is_still_one_to_add(client: TestClient, other: TestClient) -> None:
    """Else the next try, on the page that says why, would make another account."""
    take_name(other, "Grace")
    take_name(client)

    said = take_name(client, "Grace", add="yes")

    assert said.status_code == 422
    assert 'name="add" value="yes"' in said.text
    take_name(client, "Ada L", add="yes")
    assert len(ways(client)) == 2


def test_only_an_account_is_told_that_one_keeps_its_work(client: TestClient) -> None:
    begin(client)
    client.post("/me/name", data={"name": "Ada"})
    assert "kept for this browser" in client.get("/").text

    take_name(client)
    assert "kept with your account" in client.get("/").text


def test_devices_are_told_in_words_and_ended_at_once(client: TestClient, app: FastAPI) -> None:
    phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1"
    take_name(client)
    away = TestClient(app, headers={**BROWSER, "user-agent": phone})
    sign_in(away)
    begin(away, "dX = 5")

    shown = client.get("/me").text
    assert "Safari on an iPhone" in shown
    (end,) = re.findall(r'action="(/me/sessions/[0-9a-f]{16}/end)"', shown)
    client.post(end)

    assert name_shown(away) == "Sign in"
    assert "Safari on an iPhone" not in client.get("/me").text
    assert text_in_box(client) == "dX = 5"


def test_a_device_of_somebody_else_is_not_ended(client: TestClient, other: TestClient, app: FastAPI) -> None:
    take_name(client)
    sign_in(TestClient(app, headers=BROWSER))
    (end,) = re.findall(r'action="(/me/sessions/[0-9a-f]{16}/end)"', client.get("/me").text)
    take_name(other, "Grace")

    other.post(end)

    assert end in client.get("/me").text


def two_accounts(client: TestClient, other: TestClient) -> None:
    """The browser of Ada is signed in to Grace's account as well, which holds something too."""
    begin(client, "dX = 1")
    take_name(client)
    begin(other, "dX = 2")
    take_name(other, "Grace")
    assert sign_in(client, "Grace").url.path == "/me/merge"


def test_two_accounts_are_shown_with_what_they_hold(client: TestClient, other: TestClient) -> None:
    two_accounts(client, other)

    shown = client.get("/me/merge").text
    assert "Signed in now: Grace" in shown
    assert "Signed in before: Ada" in shown
    assert text_in_box(client) == "dX = 2"


@pytest.mark.parametrize(("stays", "name"), [("now", "Grace"), ("before", "Ada")])
def test_two_accounts_become_the_one_that_is_chosen(
    client: TestClient, other: TestClient, stays: str, name: str
) -> None:
    two_accounts(client, other)
    token = client.cookies["session"]

    client.post("/me/merge", data={"stays": stays})

    assert name_shown(client) == name
    assert client.cookies["session"] != token
    assert len(ways(client)) == 2  # either name opens it
    texts = client.get("/me/export.zip").content
    with zipfile.ZipFile(io.BytesIO(texts)) as archive:
        found = {archive.read(one).decode() for one in archive.namelist() if one.endswith(".py")}
    assert found == {"dX = 1", "dX = 2"}


def test_two_people_stay_two(client: TestClient, other: TestClient) -> None:
    two_accounts(client, other)

    client.post("/me/merge", data={"stays": "both"})

    assert text_in_box(client) == "dX = 2"
    assert client.post("/me/merge", data={"stays": "now"}).status_code == 409
    sign_in(client, "Ada")
    assert text_in_box(client) == "dX = 1"


def test_another_browser_merges_nothing_with_the_offer_of_this_one(client: TestClient, other: TestClient) -> None:
    two_accounts(client, other)
    offer = next(one.value for one in client.cookies.jar if one.name == "merge")
    take_name(other, "Eve")
    other.cookies.set("merge", str(offer), path="/me/merge")

    assert other.post("/me/merge", data={"stays": "before"}).status_code == 409
    assert name_shown(other) == "Eve"


def test_everything_is_in_the_archive_and_nothing_of_others(client: TestClient, other: TestClient) -> None:
    begin(other, "somebody else's")
    take_name(other, "Grace")
    begin(client, "dX = 1")
    client.post(f"{LESSON}/code/linear-backward/check", data={"code": "dX = W @ dY\n", "revision": "1"})
    client.post(f"{LESSON}/quiz/dw-shape", data={"answer": "(5,)"})
    take_name(client)

    answer = client.get("/me/export.zip")

    assert answer.headers["content-disposition"] == 'attachment; filename="backhand.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        content = {name: archive.read(name).decode() for name in archive.namelist()}
    whole = "\n".join(content.values())
    assert "dX = W @ dY\n" in content.values()
    assert '"name": "Ada"' in content["learner.jsonl"]
    assert {json.loads(line)["text"] for line in content["attempt.jsonl"].splitlines()} >= {"dX = W @ dY\n"}
    assert {f"{table.name}.jsonl" for table in Base.metadata.sorted_tables if "learner_id" in table.c} <= set(content)
    assert "argon2" not in whole
    assert "token_hash" not in whole
    assert "somebody else" not in whole
    assert "Grace" not in whole
    assert all(not name.startswith(("/", "..")) and "/../" not in name for name in content)


def test_deleting_leaves_no_row_but_that_it_was_done(client: TestClient, other: TestClient, stored: ...) -> None:
    begin(client, "dX = 7")
    take_name(client)
    learner = stored(learner_of("Ada"))

    assert client.post("/me/delete").status_code == 409
    assert text_in_box(client) == "dX = 7"
    client.post("/me/delete", data={"sure": "yes"})

    assert name_shown(client) == "Sign in"
    assert sign_in(other).status_code == 422

    async def left(db: AsyncSession) -> dict[str, int]:
        tables = [table for table in Base.metadata.sorted_tables if "learner_id" in table.c]
        return {one.name: await db.scalar(select(func.count()).where(one.c.learner_id == learner)) for one in tables}

    async def said(db: AsyncSession) -> list[str]:
        return list(await db.scalars(select(AuditEvent.data_json).where(AuditEvent.verb == "deleted")))

    assert set(stored(left).values()) == {0}
    assert [json.loads(one)["said"] for one in stored(said)] == [f"learner {learner} deleted themselves"]


def a_class(stored: ..., instructor: str, *learners: str) -> int:
    async def make(db: AsyncSession) -> int:
        by = await learner_of(instructor)(db)
        group = await classes.create_class(db, "Tensors", "UTC", by, instructor)
        await db.flush()
        for name in learners:
            db.add(classes.new_member(group.id, await learner_of(name)(db), "learner", name))
        return group.id

    return stored(make)


def test_who_alone_teaches_a_class_hands_it_over_before_they_go(client: TestClient, stored: ...) -> None:
    take_name(client)
    a_class(stored, "Ada")

    answer = client.post("/me/delete", data={"sure": "yes"})

    assert answer.status_code == 409
    assert "You are the only instructor of Tensors." in answer.text
    assert name_shown(client) == "Ada"


def test_an_instructor_lets_a_learner_set_a_new_password(
    client: TestClient, other: TestClient, app: FastAPI, stored: ...
) -> None:
    take_name(client)
    begin(other, "dX = 3")
    take_name(other, "Grace")
    a_class(stored, "Ada", "Grace")
    teacher, learner = stored(learner_of("Ada")), stored(learner_of("Grace"))
    token = stored(lambda db: recovery.reset_link(db, learner=learner, by=teacher))
    elsewhere = TestClient(app, headers=BROWSER)

    assert "You sign in as <strong>grace</strong>" in elsewhere.get(f"/sign-in/reset?token={token}").text
    assert elsewhere.get(f"/sign-in/reset?token={token}").status_code == 200  # looking uses nothing
    assert elsewhere.post("/sign-in/reset", data={"token": token, "password": "short"}).status_code == 422
    elsewhere.post("/sign-in/reset", data={"token": token, "password": "a new password"})

    assert text_in_box(elsewhere) == "dX = 3"
    assert name_shown(other) == "Sign in"  # a session that somebody else may have
    assert sign_in(other, "Grace").status_code == 422
    assert sign_in(other, "Grace", "a new password").status_code == 200
    assert elsewhere.post("/sign-in/reset", data={"token": token, "password": "once again"}).status_code == 404
    assert elsewhere.get(f"/sign-in/reset?token={token}").status_code == 404


@pytest.mark.parametrize(
    "who", ["a stranger", "a fellow learner", "an instructor of another class", "of an archived one"]
)
def test_nobody_else_resets_a_password(client: TestClient, other: TestClient, stored: ..., who: str) -> None:
    take_name(client)
    take_name(other, "Grace")
    if who == "a fellow learner":
        take_name(client, "Tom")
        group = a_class(stored, "Tom", "Grace", "Ada")
    elif who == "an instructor of another class":
        a_class(stored, "Ada")
    elif who == "of an archived one":
        group = a_class(stored, "Ada", "Grace")

        async def archive(db: AsyncSession) -> None:
            (await db.get_one(classes.Class, group)).archived_at = classes.now()

        stored(archive)
    teacher, learner = stored(learner_of("Ada")), stored(learner_of("Grace"))

    with pytest.raises(RefusedError, match="Only an instructor"):
        stored(lambda db: recovery.reset_link(db, learner=learner, by=teacher))


def test_who_may_make_classes_and_has_none_yet_is_out_of_reach_too(
    client: TestClient, other: TestClient, stored: ...
) -> None:
    take_name(client)
    take_name(other, "Grace")
    a_class(stored, "Ada", "Grace")
    teacher, learner = stored(learner_of("Ada")), stored(learner_of("Grace"))
    stored(lambda db: invitations.let_teach(db, learner))

    with pytest.raises(RefusedError, match="They teach"):
        stored(lambda db: recovery.reset_link(db, learner=learner, by=teacher))


def test_no_instructor_gets_into_the_account_of_another(client: TestClient, other: TestClient, stored: ...) -> None:
    """A class of one's own with somebody in it who teaches another one must not be a way in."""
    take_name(client)
    take_name(other, "Grace")
    a_class(stored, "Ada", "Grace")
    a_class(stored, "Grace")
    teacher, learner = stored(learner_of("Ada")), stored(learner_of("Grace"))

    with pytest.raises(RefusedError, match="They teach"):
        stored(lambda db: recovery.reset_link(db, learner=learner, by=teacher))


class Two(NamedTuple):
    """An instructor and a learner, by their ids."""

    ada: int
    grace: int


@pytest.fixture
def grace(client: TestClient, other: TestClient, stored: ...) -> Two:
    """Ada, who teaches, and Grace, who learns with her and has a password; the ids of both."""
    take_name(client)
    begin(other, "dX = 3")
    take_name(other, "Grace")
    a_class(stored, "Ada", "Grace")
    return Two(stored(learner_of("Ada")), stored(learner_of("Grace")))


async def leaves(db: AsyncSession, two: Two) -> None:
    for one in await classes.classes_of(db, two.grace):
        await joining.leave_class(db, one.group, two.grace)


async def teaches(db: AsyncSession, two: Two) -> None:
    await classes.create_class(db, "Own", "UTC", two.grace, "Grace")


async def may_teach(db: AsyncSession, two: Two) -> None:
    await invitations.let_teach(db, two.grace)


async def learns_elsewhere(db: AsyncSession, two: Two) -> None:
    other = await classes.create_class(db, "Other", "UTC", None)
    db.add(classes.new_member(other.id, two.grace, "learner", "Grace"))


async def has_a_passkey(db: AsyncSession, two: Two) -> None:
    await create(db, two.grace, VerifiedIdentity(kind="passkey", issuer="", subject="key", secret="k"))


async def signs_in_elsewhere(db: AsyncSession, two: Two) -> None:
    await create(db, two.grace, VerifiedIdentity(kind="oidc", issuer="https://campus", subject="7"))


async def is_no_instructor_any_more(db: AsyncSession, two: Two) -> None:
    for one in await classes.classes_of(db, two.ada):
        one.person.role = "assistant"


async def is_archived(db: AsyncSession, two: Two) -> None:
    for one in await classes.classes_of(db, two.ada):
        one.group.archived_at = classes.now()


async def another_was_used(db: AsyncSession, two: Two) -> None:
    token = await recovery.reset_link(db, learner=two.grace, by=two.ada)
    await recovery.set_new_password(db, token, "hash of another password")


VOID = (
    leaves, teaches, may_teach, learns_elsewhere, has_a_passkey, signs_in_elsewhere, is_no_instructor_any_more,
    is_archived, another_was_used,
)  # fmt: skip


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("change", VOID, ids=lambda change: change.__name__)
def test_a_link_for_a_password_is_void_once_its_right_is_gone(
    client: TestClient, grace: Two, stored: ..., change: ...
) -> None:
    ada, learner = grace
    token = stored(lambda db: recovery.reset_link(db, learner=learner, by=ada))
    stored(lambda db: change(db, grace))

    looked = client.get(f"/sign-in/reset?token={token}")
    used = client.post("/sign-in/reset", data={"token": token, "password": "a new password"})

    assert (looked.status_code, used.status_code) == (404, 404)
    assert "void by now" in used.text
    assert name_shown(client) == "Ada", "still herself"


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("change", VOID[1:6], ids=lambda change: change.__name__)
def test_no_link_is_made_into_more_than_the_own_class(grace: Two, stored: ..., change: ...) -> None:
    ada, learner = grace
    stored(lambda db: change(db, grace))

    with pytest.raises(RefusedError, match=r"They (teach|can sign in|also learn)"):
        stored(lambda db: recovery.reset_link(db, learner=learner, by=ada))


def test_a_learner_is_told_who_made_the_link_for_a_week_at_least(
    other: TestClient, grace: Two, stored: ..., monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, learner = grace
    token = stored(lambda db: recovery.reset_link(db, learner=learner, by=ada))
    other.post("/sign-in/reset", data={"token": token, "password": "a new password"})
    other.post("/sign-out")
    sign_in(other, "Grace", "a new password")

    assert "Something was done to your account" in other.get(LESSON).text
    other.post("/me/notices/read")
    assert "Something was done to your account" in other.get(LESSON).text, "not put away yet"
    mine = other.get("/me").text
    assert "A new password was set for you, with a link that Ada made" in mine
    assert "do not show it" not in mine

    later = notices.now() + notices.SHOWN_FOR
    monkeypatch.setattr(notices, "now", lambda: later)
    assert "do not show it" in other.get("/me").text
    other.post("/me/notices/read")
    assert "Something was done to your account" not in other.get(LESSON).text
    assert "A new password was set for you" in other.get("/me").text
