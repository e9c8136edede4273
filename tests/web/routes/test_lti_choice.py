"""Choosing links for a platform, and what a copied course takes over."""

import html
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import select
from starlette.testclient import TestClient

from app.store.assignments import AssignmentSettings, assign_lesson, assignments_of, give_unit
from app.store.database import now
from app.store.progress import SITTINGS
from app.store.sittings import SittingSettings, create_sitting
from app.store.tables import Assignment, LtiContext, LtiLineItem
from tests.lti.platform import CLAIM, DEEP, Link, Person, Platform
from tests.turns import PAGES
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.platforms import exam, frame, platform, shared, standing_platform

__all__ = ["exam", "platform", "shared", "standing_platform"]

LESSON = "linear-layer"
UNDATED = AssignmentSettings(
    exercises=None, opens_at=None, due_at=None, late_until=None, late_share=0.5, points=1.0, solutions_at=None
)


@pytest.fixture
def ada(platform: Platform) -> Person:
    return platform.person(f"ada-{platform.context}", "Ada", "Instructor")


def ask(platform: Platform, browser: TestClient, person: Person, **settings: Any) -> Any:
    """The page on which links are chosen."""
    claims = platform.deep_linking()
    claims[DEEP + "deep_linking_settings"] |= settings
    return platform.launch(browser, person, **claims)


def send(browser: TestClient, page: Any, *items: str, **points: str) -> Any:
    token = re.search(r'name="token" value="(.+?)"', page.text)
    assert token, page.text
    form = {"token": token[1], "item": list(items), **{f"points:{item}": "3" for item in items}, **points}
    return browser.post("/embedded/lti/choose", data=form, headers=BROWSER)


def brought(platform: Platform, page: Any) -> dict[str, Any]:
    """What a page brings to the platform, which verifies it."""
    action, signed = re.search(r'action="(.+?)"', page.text), re.search(r'name="JWT" value="(.+?)"', page.text)
    assert action, page.text
    assert signed
    assert html.unescape(action[1]).startswith(platform.url)
    keys = KeySet.import_key_set(platform.tool_keys())
    claims = jwt.decode(signed[1], keys, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["aud"]) == (platform.client_id, platform.url)
    return dict(claims)


def test_13_several_links_are_chosen_at_once_with_points_each(
    platform: Platform, client: TestClient, ada: Person
) -> None:
    page = ask(platform, client, ada)
    assert f'type="checkbox" name="item" value="{LESSON}"' in page.text

    claims = brought(platform, send(client, page, LESSON, f"{LESSON}#dw-shape", **{f"points:{LESSON}#dw-shape": "0"}))

    lesson, exercise = claims[DEEP + "content_items"]
    assert claims[CLAIM + "message_type"] == "LtiDeepLinkingResponse"
    assert claims[CLAIM + "deployment_id"] == platform.deployment
    assert claims[DEEP + "data"] == "their own"
    assert lesson["lineItem"] == {
        "label": lesson["title"],
        "scoreMaximum": 3.0,
        "resourceId": LESSON,
        "tag": "backhand",
    }
    assert lesson["url"] == exercise["url"] == "http://testserver/lti/launch"
    assert (exercise["custom"]["lesson"], exercise["custom"]["exercise"]) == (LESSON, "dw-shape")
    assert "lineItem" not in exercise


def test_the_same_chosen_twice_has_the_same_resource(platform: Platform, client: TestClient, ada: Person) -> None:
    claims = [brought(platform, send(client, ask(platform, client, ada), LESSON)) for _ in range(2)]

    assert len({one[DEEP + "content_items"][0]["lineItem"]["resourceId"] for one in claims}) == 1
    assert len({one["nonce"] for one in claims}) == 2


def test_what_a_platform_takes_one_of_is_chosen_alone(platform: Platform, client: TestClient, ada: Person) -> None:
    page = ask(platform, client, ada, accept_multiple=False)
    assert 'type="radio"' in page.text
    assert "choose one" in send(client, page, LESSON, f"{LESSON}#dw-shape").text

    assert len(brought(platform, send(client, page, LESSON))[DEEP + "content_items"]) == 1


def test_where_nothing_is_graded_no_points_are_asked_for(platform: Platform, client: TestClient, ada: Person) -> None:
    page = ask(platform, client, ada, accept_lineitem=False)
    assert "points:" not in page.text

    (item,) = brought(platform, send(client, page, LESSON))[DEEP + "content_items"]
    assert "lineItem" not in item


BAD = {
    "Nothing is chosen yet": ((), {}),
    "There is no &#39;gone&#39;": (("gone",), {}),
    "There is no &#39;linear-layer#gone&#39;": ((f"{LESSON}#gone",), {}),
    "&#39;many&#39; is no number": ((LESSON,), {f"points:{LESSON}": "many"}),
    "&#39;1,000&#39; can be read in two ways": ((LESSON,), {f"points:{LESSON}": "1,000"}),
    "&#39;nan&#39; is no number": ((LESSON,), {f"points:{LESSON}": "nan"}),
    "&#39;-1&#39; is no number": ((LESSON,), {f"points:{LESSON}": "-1"}),
}


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize("said", BAD)
def test_what_cannot_be_meant_is_told_and_the_choice_stays(
    platform: Platform, client: TestClient, ada: Person, said: str
) -> None:
    items, points = BAD[said]
    page = ask(platform, client, ada)
    told = send(client, page, *items, **points)
    assert told.status_code == 422
    assert said in told.text

    assert send(client, told, LESSON).status_code == 200


def test_a_choice_is_made_once(platform: Platform, client: TestClient, ada: Person) -> None:
    page = ask(platform, client, ada)

    assert send(client, page, LESSON).status_code == 200
    assert send(client, page, LESSON).status_code == 403


def test_a_choice_goes_to_the_platform_alone(platform: Platform, client: TestClient, ada: Person) -> None:
    assert ask(platform, client, ada, deep_link_return_url="https://elsewhere.example/").status_code == 403
    for types in (["file"], None, 7):
        assert ask(platform, client, ada, accept_types=types).status_code == 403
    sent = send(client, ask(platform, client, ada), LESSON)

    assert f"form-action {platform.url} 'self'" in sent.headers["content-security-policy"]
    assert "form-action 'self'" in client.get("/").headers["content-security-policy"]


def sitting_in(room: Classroom, group: int) -> Assignment:
    window = SittingSettings("Midterm", now() + timedelta(days=1), now() + timedelta(days=2), 30, 4.5, "nothing")
    made: Assignment = room.write(lambda db: create_sitting(db, group, window, "[]", 2, None))
    return made


def test_a_class_links_its_own_sittings_and_private_units(
    platform: Platform, client: TestClient, ada: Person, room: Classroom, exam: str
) -> None:
    assert "Sittings" not in (page := ask(platform, client, ada).text)
    assert exam not in page
    query = select(LtiContext.class_id).where(LtiContext.context_id == platform.context)
    group = int(room.write(lambda db: db.scalar(query)))
    sitting = sitting_in(room, group)
    room.write(lambda db: give_unit(db, group, "exam"))

    page = ask(platform, client, ada)
    assert f'name="points:{sitting.lesson}" value="4.5"' in page.text
    other = sitting.lesson.replace(f"sitting-{group}-", f"sitting-{group + 1}-")
    assert "There is no" in send(client, page, other).text
    items = brought(platform, send(client, page, sitting.lesson, exam))[DEEP + "content_items"]
    assert [(item["title"], item["custom"]["lesson"]) for item in items] == [
        ("Midterm", sitting.lesson),
        ("The exam", exam),
    ]


def test_learners_choose_no_links(platform: Platform, client: TestClient) -> None:
    assert ask(platform, client, platform.person("u1", "Bob")).status_code == 403


class TestCopiedCourse:
    """11: parameters travel, while links, courses and columns have new ids."""

    @pytest.fixture
    def custom(self, platform: Platform, app: FastAPI, ada: Person, room: Classroom) -> dict[str, str]:
        """A course with an assignment that has a date; the parameters of its link."""
        browser = frame(app)
        (item,) = brought(platform, send(browser, ask(platform, browser, ada), LESSON))[DEEP + "content_items"]
        link = Link("old", item["custom"], platform.add_column("old"))
        assert platform.launch(browser, ada, link).status_code == 303
        group = self.group(platform, room)

        async def date(db: Any) -> None:
            row = await db.scalar(select(Assignment).where(Assignment.class_id == group))
            row.due_at, row.points = datetime(2030, 3, 1, 12, tzinfo=UTC), 7.0

        room.write(date)
        custom = dict(item["custom"])
        platform.history, platform.context = platform.context, f"{platform.context}-copy"
        return custom

    def group(self, platform: Platform, room: Classroom) -> int:
        query = select(LtiContext.class_id).where(LtiContext.context_id == platform.context)
        return int(room.write(lambda db: db.scalar(query)))

    def launched(self, platform: Platform, browser: TestClient, person: Person, custom: dict[str, str]) -> Any:
        link = Link("new", custom, platform.add_column("new"))
        reply = platform.launch(browser, person, link)
        assert reply.status_code == 303
        return browser.get(reply.headers["location"], headers={**BROWSER, "sec-fetch-dest": "iframe"})

    def test_its_instructor_takes_over_assignments_and_dates(
        self, platform: Platform, client: TestClient, ada: Person, room: Classroom, custom: dict[str, str]
    ) -> None:
        page = self.launched(platform, client, ada, custom)
        assert "Take over assignments and dates" in page.text
        fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
        action = page.url.path
        assert 'href="/embedded/lessons/linear">Begin without them' in page.text
        away = client.get(action, params={**fields, "to": "//elsewhere.example/"}, headers=BROWSER)
        assert "elsewhere" not in away.text

        assert "no number of weeks" in client.post(action, data={**fields, "weeks": "soon"}, headers=BROWSER).text
        client.post(action, data={**fields, "weeks": "2"}, headers=BROWSER)

        group = self.group(platform, room)
        rows = room.write(lambda db: db.scalars(select(Assignment).where(Assignment.class_id == group))).all()
        assert [(row.lesson, row.points, row.due_at) for row in rows] == [
            (LESSON, 7.0, datetime(2030, 3, 15, 12, tzinfo=UTC))
        ]

    @pytest.mark.parametrize("launched_first", [True, False], ids=["the first link", "a later link"])
    def test_what_had_fewer_exercises_is_one_assignment_with_its_column(
        self,
        platform: Platform,
        app: FastAPI,
        ada: Person,
        room: Classroom,
        custom: dict[str, str],
        launched_first: bool,
    ) -> None:
        earlier = int(custom["class"])
        chosen = json.dumps(["dw-shape"])

        async def narrow(db: Any) -> None:
            row = await db.scalar(select(Assignment).where(Assignment.class_id == earlier))
            row.exercises_json = chosen

        room.write(narrow)
        browser = frame(app)
        link = Link("new", custom, platform.add_column("new"))
        first = link if launched_first else Link("class", {"class": custom["class"]})
        reply = platform.launch(browser, ada, first)
        page = browser.get(reply.headers["location"], headers={**BROWSER, "sec-fetch-dest": "iframe"})
        fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
        browser.post(page.url.path, data={**fields, "weeks": "2"}, headers=BROWSER)
        assert platform.launch(browser, ada, link).status_code == 303

        group = self.group(platform, room)
        (row,) = room.write(lambda db: assignments_of(db, group))
        query = select(LtiLineItem).where(LtiLineItem.assignment_id == row.id)
        (item,) = room.write(lambda db: db.scalars(query)).all()
        assert (row.exercises_json, item.resource_link_id) == (chosen, "new")
        assert item.url

    def test_a_link_to_a_lesson_leaves_the_assignment_of_an_exercise_alone(
        self, platform: Platform, app: FastAPI, ada: Person, room: Classroom, custom: dict[str, str]
    ) -> None:
        earlier, chosen = int(custom["class"]), json.dumps(["dw-shape"])

        async def of_the_exercise(db: Any) -> None:  # whose link alone was followed
            row = await db.scalar(select(Assignment).where(Assignment.class_id == earlier))
            row.exercises_json, row.resource_id = chosen, f"{LESSON}/dw-shape"

        room.write(of_the_exercise)
        browser = frame(app)
        page = self.launched(platform, browser, ada, custom)
        fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
        browser.post(page.url.path, data={**fields, "weeks": "2"}, headers=BROWSER)
        link = Link("exercise", {**custom, "exercise": "dw-shape"}, platform.add_column("exercise"))
        platform.launch(browser, ada, link)

        group = self.group(platform, room)
        query = select(Assignment.exercises_json, LtiLineItem.resource_link_id).join(
            LtiLineItem, LtiLineItem.assignment_id == Assignment.id
        )
        columns = room.write(lambda db: db.execute(query.where(Assignment.class_id == group))).all()
        assert sorted(columns, key=str) == [(chosen, "exercise"), (None, "new")]

    def test_a_link_to_a_sitting_leads_to_the_sitting_of_the_new_class(
        self, platform: Platform, client: TestClient, ada: Person, room: Classroom, custom: dict[str, str]
    ) -> None:
        link = {"lesson": sitting_in(room, int(custom["class"])).lesson, "class": custom["class"]}
        page = self.launched(platform, client, ada, link)
        fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
        group = self.group(platform, room)
        assert fields["to"] == f"/classes/{group}"
        client.post(page.url.path, data={**fields, "weeks": "2"}, headers=BROWSER)

        page = self.launched(platform, client, ada, link)
        rows = room.write(lambda db: assignments_of(db, group))
        (sitting,) = (row for row in rows if row.lesson.startswith(SITTINGS))
        assert page.url.path == f"/embedded/classes/{group}/sittings/{sitting.id}"
        query = select(LtiLineItem.resource_link_id).where(LtiLineItem.assignment_id == sitting.id)
        assert room.write(lambda db: db.scalar(query)) == "new"

    def test_what_is_of_a_private_unit_stays_behind(
        self, platform: Platform, client: TestClient, ada: Person, room: Classroom, custom: dict[str, str], exam: str
    ) -> None:
        earlier = int(custom["class"])
        room.write(lambda db: assign_lesson(db, earlier, exam, UNDATED, None))
        page = self.launched(platform, client, ada, custom)
        assert "1 of a private unit stays there, too" in page.text

        fields = dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)"', page.text))
        client.post(page.url.path, data={**fields, "weeks": "2"}, headers=BROWSER)

        group = self.group(platform, room)
        assert [row.lesson for row in room.write(lambda db: assignments_of(db, group))] == [LESSON]

    def test_without_a_history_the_link_tells_the_earlier_class(
        self, platform: Platform, client: TestClient, ada: Person, custom: dict[str, str]
    ) -> None:
        platform.history = "$Context.id.history"

        assert "Take over assignments and dates" in self.launched(platform, client, ada, custom).text

    def test_who_did_not_teach_the_earlier_course_takes_nothing_over(
        self, platform: Platform, client: TestClient, room: Classroom, custom: dict[str, str]
    ) -> None:
        max_ = platform.person(f"max-{platform.context}", "Max", "Instructor")
        page = self.launched(platform, client, max_, custom)
        group = self.group(platform, room)

        assert page.url.path == "/embedded/lessons/linear"
        earlier = {"earlier": custom["class"]}
        assert client.get(f"/embedded/classes/{group}/take-over", params=earlier).status_code == 404
        assert client.get(f"/embedded/classes/{custom['class']}").status_code == 404

    def test_it_is_offered_once(
        self, platform: Platform, client: TestClient, ada: Person, custom: dict[str, str]
    ) -> None:
        self.launched(platform, client, ada, custom)

        assert self.launched(platform, client, ada, custom).url.path == "/embedded/lessons/linear"
