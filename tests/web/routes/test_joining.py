"""From a code to the first exercise: a name is enough, and nothing that is wrong ends without a sentence."""

import asyncio
import re
from datetime import UTC, datetime

import httpx2
import pytest
from starlette.testclient import TestClient

from app.store import classes, invitations, roster_lists, rosters
from app.store.assignments import AssignmentSettings, assign_lesson
from app.store.tables import Class, Membership
from app.teaching.codes import shown_code
from app.teaching.roster import read_roster
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.accounts import sign_in, take_name

pytestmark = pytest.mark.alone


def listed(room: Classroom, group: Class, text: str) -> None:
    room.write(lambda db: roster_lists.apply_list(db, group, read_roster(text).entries, None))


def members(room: Classroom, group: Class) -> list[tuple[str, str, bool]]:
    people = room.write(lambda db: classes.list_members(db, group.id))
    return [(one.name, one.external_id or "", one.joined_at is not None) for one in people if one.role == "learner"]


def changed(room: Classroom, group: Class, whom: str) -> None:
    room.write(lambda db: classes.let_in(db, group.id, whom, None))


def test_joining_takes_one_form_and_two_requests_to_the_first_exercise(
    room: Classroom, group: Class, client: TestClient
) -> None:
    bob = TestClient(room.app, headers=BROWSER, follow_redirects=False)
    page = bob.get(f"/join/{shown_code(group.join_code or '')}")
    forms = re.findall(r'<form[^>]*method="post"[^>]*action="(/join[^"]*)"', page.text)

    begun = bob.post(forms[0], data={"name": "Bob"})
    exercise = bob.get(begun.headers["location"].partition("#")[0])

    assert len(forms) == 1
    assert exercise.status_code == 200
    assert f'id="{begun.headers["location"].partition("#")[2]}"' in exercise.text
    assert f'href="/sign-in?next={exercise.url.path}"' in exercise.text
    assert f'href="/sign-in?next=/classes/{group.id}"' in bob.get(f"/classes/{group.id}").text
    assert client.get("/classes").text.count("Algebra") == 0


def test_who_joins_a_class_that_was_given_practice_comes_to_it(room: Classroom, group: Class) -> None:
    room.write(
        lambda db: assign_lesson(
            db, group.id, "practice/set-matmul", AssignmentSettings(None, None, None, None, 0.5, 5, None), None
        )
    )
    bob = TestClient(room.app, headers=BROWSER, follow_redirects=False)
    door = f"/join/{shown_code(group.join_code or '')}"
    (form,) = re.findall(r'<form[^>]*method="post"[^>]*action="(/join[^"]*)"', bob.get(door).text)

    begun = bob.post(form, data={"name": "Bob"})

    assert begun.headers["location"].partition("#")[0] == "/practice/set/matmul"


def test_who_joins_a_second_class_comes_to_what_is_due_there(room: Classroom, group: Class) -> None:
    second = room.found("Geometry", "Ada")
    room.assign(group, "practice/set-matmul", due_at=datetime(2199, 1, 1, tzinfo=UTC))
    room.assign(second, "practice/set-broadcast", due_at=datetime(2199, 1, 2, tzinfo=UTC))
    bob = TestClient(room.app, headers=BROWSER, follow_redirects=False)

    doors = [f"/join/{shown_code(each.join_code or '')}" for each in (group, second)]
    led_to = [bob.post(door, data={"name": "Bob"}).headers["location"].partition("#")[0] for door in doors]

    assert led_to == ["/practice/set/matmul", "/practice/set/broadcast"]


@pytest.mark.parametrize("name", ["", " \t ", "\0", "A" * 81])
def test_a_name_that_is_none_is_asked_for_again(room: Classroom, group: Class, name: str) -> None:
    answer = room.browser("Bob").post(f"/join/{group.join_code}", data={"name": name})

    assert answer.status_code == 409
    assert "name" in answer.text
    assert members(room, group) == []


def test_nobody_becomes_a_learner_of_the_server_by_a_wrong_code(room: Classroom, client: TestClient) -> None:
    answer = TestClient(room.app, headers=BROWSER).post("/join/000-000-000", data={"name": "Bob"})

    assert answer.status_code == 404
    assert "No class has the code" in answer.text
    assert "set-cookie" not in answer.headers
    assert client


def test_a_class_opens_its_code_at_the_same_moment(room: Classroom, group: Class) -> None:
    async def everybody() -> list[int]:
        transport = httpx2.ASGITransport(room.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=BROWSER) as client:
            address = f"/join/{shown_code(group.join_code or '')}"
            found = await asyncio.gather(*(client.get(address) for _ in range(30)))
        await room.app.state.site.database.close()
        return [one.status_code for one in found]

    assert asyncio.run(everybody()) == [200] * 30


def test_guesses_end_after_ten_and_right_codes_cost_nothing(room: Classroom, group: Class) -> None:
    bob = room.browser("Bob")
    guesses = room.app.state.site.guesses
    for counter in (guesses, guesses._browsers, guesses._networks, guesses._classes):
        counter._clock = lambda: 1.0
    for _ in range(30):
        assert bob.get(f"/join/{group.join_code}").status_code == 200

    guesses = [bob.get(f"/join/{'0' * 8}{at}") for at in range(12)]
    after = bob.post(f"/join/{group.join_code}", data={"name": "Bob"})

    assert [one.status_code for one in guesses] == [404] * 10 + [429] * 2
    assert "wrong codes" in guesses[-1].text
    assert (after.status_code, int(after.headers["retry-after"]) > 0) == (429, True)


def test_a_code_that_was_replaced_is_nobodys(room: Classroom, group: Class) -> None:
    changed(room, group, "rotate")

    assert room.browser("Bob").get(f"/join/{group.join_code}").status_code == 404


def test_who_joins_twice_is_in_once_under_the_first_name(room: Classroom, group: Class) -> None:
    bob = room.browser("Bob")
    for name in ("Bob", "Robert"):
        bob.post(f"/join/{group.join_code}", data={"name": name})

    assert members(room, group) == [("Bob", "", True)]
    assert "You are in already, as Bob" in bob.get(f"/join/{group.join_code}").text


def test_an_instructor_who_joins_stays_one(room: Classroom) -> None:
    ada = room.browser("Ada", teaches=True)
    group = room.found("Algebra", "Ada")

    ada.post(f"/join/{group.join_code}", data={"name": "A learner"})

    assert members(room, group) == []
    assert ada.get(f"/classes/{group.id}/settings").status_code == 200


@pytest.mark.parametrize(
    ("state", "words"),
    [("closed", "Nobody can join"), ("invited", "Only those who are on its list"), ("over", "is over")],
)
def test_a_class_that_lets_nobody_in_says_so(room: Classroom, group: Class, state: str, words: str) -> None:
    if state == "over":
        terms = classes.ClassSettings("Algebra", "UTC", None, archived=True)

        async def end(db) -> None:
            await classes.change_class(db, await db.get_one(Class, group.id), terms, None)

        room.write(end)
    else:
        changed(room, group, state)

    answer = room.browser("Bob").post(f"/join/{group.join_code}", data={"name": "Bob"})

    assert answer.status_code == 409
    assert words in answer.text
    assert members(room, group) == []


def test_who_is_expected_takes_the_seat_by_id_and_nobody_takes_it_again(room: Classroom, group: Class) -> None:
    listed(room, group, "Lovelace, Ada;4711\nBob;4712")
    changed(room, group, "invited")
    code = f"/join/{group.join_code}"

    first = room.browser("One").post(code, data={"name": "Ada", "external_id": " 4711 "})
    again = room.browser("Two").post(code, data={"name": "Eve", "external_id": "4711"})
    unknown = room.browser("Three").post(code, data={"name": "Eve", "external_id": "4799"})

    assert first.url.path.startswith("/lessons/")
    assert "joined Algebra with the id &#39;4711&#39; already" in again.text
    assert "Nobody with the id &#39;4799&#39;" in unknown.text
    for typed, refused in (("4711", again), ("4799", unknown)):
        assert f'name="external_id" value="{typed}" aria-invalid="true"' in refused.text
        assert refused.text.count("aria-invalid") == 1
    assert members(room, group) == [("Bob", "4712", False), ("Lovelace, Ada", "4711", True)]


def test_in_an_open_class_a_name_that_one_alone_has_is_enough(room: Classroom, group: Class) -> None:
    listed(room, group, "Bob;1\nEve;2\nEve;3")

    for name in ("bob", "Eve"):
        room.browser(name).post(f"/join/{group.join_code}", data={"name": name})

    assert sorted(members(room, group)) == [
        ("Bob", "1", True), ("Eve", "", True), ("Eve", "2", False), ("Eve", "3", False),
    ]  # fmt: skip


def test_a_name_without_its_marks_is_enough_where_no_other_is_nearer(room: Classroom, group: Class) -> None:
    listed(room, group, "Zoë Łukasz;1\nJosé;2\nJose;3\nRené;4\nRenè;5")

    for name in ("zoe lukasz", "Jose", "Rene"):
        room.browser(name).post(f"/join/{group.join_code}", data={"name": name})

    assert sorted(members(room, group)) == [
        ("Jose", "3", True), ("José", "2", False), ("Rene", "", True), ("Renè", "5", False), ("René", "4", False),
        ("Zoë Łukasz", "1", True),
    ]  # fmt: skip


def test_a_personal_link_gives_the_seat_once(room: Classroom) -> None:
    ada = room.browser("Ada", teaches=True)
    group = room.found("Algebra", "Ada")
    listed(room, group, "Bob;1")
    changed(room, group, "closed")
    links = ada.post(f"/classes/{group.id}/invitations").text
    link = re.search(r"/join/[0-9A-Z-]{11}", links)
    assert link

    shown = room.browser("Bob").get(link[0])
    room.browser("Robert").post(link[0], data={"name": "Robert"})
    again = room.browser("Eve").post(link[0], data={"name": "Eve"})

    assert 'value="Bob"' in shown.text
    assert again.status_code == 404
    assert members(room, group) == [("Bob", "1", True)]


def test_who_is_blocked_cannot_come_back_and_who_left_can(room: Classroom, group: Class) -> None:
    bob, eve = room.browser("Bob"), room.browser("Eve")
    for one, name in ((bob, "Bob"), (eve, "Eve")):
        one.post(f"/join/{group.join_code}", data={"name": name})

    async def block(db) -> None:
        person = await db.get(Membership, (group.id, room.ids["Bob"]))
        await rosters.take_out(db, group, person, None, block=True)

    room.write(block)
    eve.post(f"/classes/{group.id}/leave", data={"sure": "yes"})
    refused = bob.post(f"/join/{group.join_code}", data={"name": "Bob"})
    back = eve.post(f"/join/{group.join_code}", data={"name": "Eve S."})

    assert "You cannot join" in refused.text
    assert back.status_code == 200
    assert members(room, group) == [("Eve S.", "", True)]


def test_printed_invitation_codes_are_valid_until_the_first_one_teaches(room: Classroom) -> None:
    words = [room.write(invitations.first_word) for _ in range(2)]
    ada, eve = room.browser("Ada"), room.browser("Eve")

    became = ada.post(f"/join/{words[1]}", data={"name": "Ada"})

    assert became.url.path == "/classes/new"
    assert eve.post(f"/join/{words[0]}", data={"name": "Eve"}).status_code == 404
    assert room.write(invitations.first_word) is None


def test_a_word_makes_one_instructor(room: Classroom) -> None:
    word = room.write(invitations.teacher_word)
    ada, eve = room.browser("Ada"), room.browser("Eve")

    became = ada.post(f"/join/{shown_code(word)}", data={"name": "Ada"})
    again = eve.post(f"/join/{shown_code(word)}", data={"name": "Eve"})

    assert became.url.path == "/classes/new"
    assert again.status_code == 404
    assert eve.get("/classes/new").status_code == 404


def test_a_class_stays_with_the_account_that_joined_in_a_shared_browser(
    room: Classroom, group: Class, client: TestClient, other: TestClient
) -> None:
    take_name(other, "Grace")
    take_name(client, "Ida")
    client.post(f"/join/{shown_code(group.join_code or '')}", data={"name": "Ida"})

    sign_in(client, "Grace")
    as_grace = client.get("/classes").text
    sign_in(client, "Ida")

    assert "Algebra" not in as_grace
    assert "Algebra" in client.get("/classes").text
    assert [name for name, _, _ in members(room, group)] == ["Ida"]


def test_ids_of_the_school_are_not_tried_out_without_end(room: Classroom, group: Class) -> None:
    listed(room, group, "name,id\nBob,7")
    changed(room, group, "invited")
    eve = TestClient(room.app, headers=BROWSER)
    address = f"/join/{shown_code(group.join_code or '')}"

    said = [eve.post(address, data={"name": "Eve", "external_id": str(n)}).status_code for n in range(100, 112)]

    assert said[0] != 429
    assert said[-1] == 429


def test_a_seat_with_an_id_that_was_taken_by_name_is_told_the_instructor(
    room: Classroom, group: Class, ada: TestClient
) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "name;id\nGrace Hopper;7\nEmmy Noether;8", "apply": "yes"})
    for name, number in (("Grace Hopper", ""), ("Emmy Noether", "8")):
        room.browser(name).post(f"/join/{group.join_code}", data={"name": name, "external_id": number})

    page = ada.get(f"/classes/{group.id}/roster").text

    assert "1 seat with an id was taken by a name alone, without the id: Grace Hopper." in page
    assert page.count("taken by name</span>") == 1


def test_the_page_to_join_promises_no_name_where_a_list_says_who_may(
    room: Classroom, group: Class, ada: TestClient
) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "name;id\nGrace Hopper;7", "apply": "yes"})
    before = room.browser("Bob").get(f"/join/{group.join_code}").text
    ada.post(f"/classes/{group.id}/joining", data={"joining": "invited"})

    page = room.browser("Eve").get(f"/join/{group.join_code}").text

    assert "A name is enough" in before
    assert "A name is enough" not in page
    assert "if you have one" not in page
    assert 'name="external_id" value="" required' in page


@pytest.mark.parametrize(("name", "end"), [("Anna Meier, Dr.", "Anna Meier, Dr.</p>"), ("Bob", "as Bob.</p>")])
def test_the_home_of_a_class_ends_with_one_full_stop(room: Classroom, group: Class, name: str, end: str) -> None:
    anna = room.browser(name)
    room.join(group, name)

    assert end in anna.get(f"/classes/{group.id}").text
