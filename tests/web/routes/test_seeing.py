"""An instructor sees pages as a learner does: what is assigned, read only, written down, and told to the learner."""

import io
import zipfile

import pytest
from sqlalchemy import delete, select

from app.store.tables import AuditEvent, Learner, LearnerView, Membership, Moment
from tests.web.asking import routes_of

CHECK = "/lessons/linear/code/linear-backward"
SENT, DRAFT = "dX = W @ dY  # sent", "dX = secret  # a draft"
BANNER = "You see this page <strong>as Bob</strong> does in Algebra"


@pytest.fixture
def bob(room, group, bob):
    """He answered in a lesson that is assigned and typed on, and answered in one that is not."""
    room.assign(group, "linear-layer")
    bob.post(f"{CHECK}/check", data={"code": SENT, "revision": 0})
    bob.post(f"{CHECK}/draft", data={"code": DRAFT, "revision": 1})
    return bob


@pytest.fixture
def seeing(room, group, ada, bob):
    """Ada's browser, as she sees pages as Bob."""
    assert bob
    ada.get(f"/classes/{group.id}/learners/{room.ids['Bob']}")
    answer = ada.post(f"/classes/{group.id}/learners/{room.ids['Bob']}/see")
    assert answer.status_code == 200
    return ada


def test_pages_are_as_the_learner_sees_them_with_a_banner(seeing, group, bob):
    page = seeing.get("/lessons/linear").text

    assert BANNER in page
    assert "This is the transpose of <code>dX</code>." in page
    assert "# sent" in page
    assert "You are here as Bob" in seeing.get(f"/classes/{group.id}").text
    assert BANNER not in bob.get("/lessons/linear").text


def test_drafts_and_what_is_not_assigned_stay_the_learners_own(seeing, course):
    others = [lesson for lesson in course.lessons if lesson.name != "linear-layer"]

    assert "secret" not in seeing.get("/lessons/linear").text
    assert {seeing.get(lesson.address).status_code for lesson in others} == {404}
    assert all(lesson.title not in seeing.get("/").text for lesson in others)
    own = (
        "/me",
        "/practice",
        "/finish",
        "/classes",
        f"{CHECK}/history",
        "/lessons/linear/download.py",
        "/me/export.zip",
    )
    assert {seeing.get(path).status_code for path in own} == {403}


def test_every_route_that_changes_something_is_refused(app, seeing):
    unsafe = {path for method, path in routes_of(app) if method not in ("GET", "HEAD", "OPTIONS")} - {"/seeing/end"}
    names = {"slug": "linear", "name": "linear-backward", "class_id": "1", "item": "1"}
    paths = {path.format_map(_Named(names)) for path in unsafe}

    status = {path: seeing.post(path, data={"code": "x", "revision": 0}).status_code for path in paths}

    assert len(status) > 40
    assert set(status.values()) == {403}


class _Named(dict):
    def __missing__(self, name):
        return "1"


def test_to_look_leaves_no_trace_in_what_the_learner_did(room, seeing):
    async def never_there(db):
        (await db.get_one(Learner, room.ids["Bob"])).opened_lesson = None
        await db.execute(delete(Moment).where(Moment.learner_id == room.ids["Bob"]))

    async def state(db):
        moments = await db.scalars(select(Moment.what).where(Moment.learner_id == room.ids["Bob"]))
        return (await db.get_one(Learner, room.ids["Bob"])).opened_lesson, list(moments)

    room.write(never_there)
    assert seeing.get("/lessons/linear").status_code == seeing.get("/").status_code == 200

    assert room.write(state) == (None, [])


def test_it_is_written_down_and_the_learner_can_read_it(room, group, seeing, bob):
    events = room.write(lambda db: db.scalars(select(AuditEvent.verb).where(AuditEvent.class_id == group.id)))
    assert "seen-as" in set(events)

    with zipfile.ZipFile(io.BytesIO(bob.get("/me/export.zip").content)) as archive:
        told = archive.read("learner_view.jsonl").decode()

    assert "Who looked at pages as you see them" in bob.get(f"/classes/{group.id}").text
    assert f'"seen_by": {room.ids["Ada"]}' in told
    assert "token" not in told
    assert seeing


def test_it_ends_with_the_button_and_nothing_of_it_stays(room, group, seeing):
    answer = seeing.post("/seeing/end")

    assert answer.url.path == f"/classes/{group.id}/learners/{room.ids['Bob']}"
    assert BANNER not in seeing.get("/lessons/linear").text
    assert seeing.get("/me").status_code == 200


@pytest.mark.parametrize("who", ["Ada", "Bob"])
def test_it_ends_when_either_leaves_the_class(room, group, seeing, who):
    async def leave(db):
        row = await db.get_one(Membership, (group.id, room.ids[who]))
        row.blocked = True

    room.write(leave)

    assert BANNER not in seeing.get("/lessons/linear").text


def test_it_lasts_an_hour(room, seeing):
    async def earlier(db):
        row = await db.scalar(select(LearnerView).where(LearnerView.learner_id == room.ids["Bob"]))
        row.began_at = row.began_at.replace(year=2020)

    room.write(earlier)

    assert BANNER not in seeing.get("/lessons/linear").text


def test_only_instructors_see_as_learners_and_only_as_those_of_the_class(room, group, ada, bob):
    tom, eve = room.browser("Tom"), room.browser("Eve")
    room.join(group, "Tom", "assistant")
    path = f"/classes/{group.id}/learners/{{}}/see"

    assert tom.post(path.format(room.ids["Bob"])).status_code == 404
    assert bob.post(path.format(room.ids["Bob"])).status_code == 404
    assert eve.post(path.format(room.ids["Bob"])).status_code == 404
    assert [ada.post(path.format(room.ids[name])).status_code for name in ("Tom", "Eve", "Ada")] == [404] * 3


def test_a_stolen_token_is_nothing_in_another_browser(room, seeing):
    stranger = room.browser("Eve", teaches=True)
    stranger.cookies.set("seeing", seeing.cookies["seeing"])

    assert BANNER not in stranger.get("/lessons/linear").text


def test_what_a_page_would_write_is_rolled_back(room, seeing, bob, monkeypatch):
    async def standing(site, _visitor):
        async with site.database.write() as db:
            (await db.get_one(Learner, room.ids["Bob"])).opened_lesson = "by a page"
        return {}, None, True

    def opened():
        return room.write(lambda db: db.scalar(select(Learner.opened_lesson).where(Learner.id == room.ids["Bob"])))

    monkeypatch.setattr("app.web.routes.contents._standing", standing)

    seeing.get("/")
    assert opened() != "by a page"

    bob.get("/")
    assert opened() == "by a page"
