"""The roster as its instructor sees and changes it."""

import re
from csv import DictReader
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.store import classes
from app.store.tables import Class, FormerMember, Membership, RosterChange, Session
from tests.web.classroom import Classroom

pytestmark = pytest.mark.usefixtures("bob")


def names(room: Classroom, group: Class) -> list[str]:
    return [one.name for one in room.write(lambda db: classes.list_members(db, group.id))]


def test_a_list_is_shown_before_it_is_laid_over_the_roster(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    text = "name,id\nBob,7\nEve,8\n,9"

    shown = ada.post(page, data={"text": text})
    before = names(room, group)
    applied = ada.post(page, data={"text": text, "apply": "yes"})

    assert "Line 4: It has no name." in shown.text
    assert "changes Bob" in shown.text
    assert before == ["Ada", "Bob"]
    assert names(room, group) == ["Ada", "Bob", "Eve"]
    assert "expected" in applied.text


def test_columns_that_were_not_read_are_named_and_can_be_assigned(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/roster"
    text = "Kandidat;Vorname;Nummer\nLovelace;Eve;8"

    shown = ada.post(page, data={"text": text}).text
    form = {"text": text, "head": "yes", "column": ["last", "first", "id"]}
    again = ada.post(page, data=form).text
    ada.post(page, data={**form, "apply": "yes"})

    assert re.findall(r"<strong>(.*?)</strong>", shown) == ["Kandidat", "Nummer"]
    assert "Not read" not in again
    assert again.count(" selected>") == 3
    assert names(room, group) == ["Ada", "Bob", "Eve Lovelace"]


def people(room: Classroom, group: Class) -> dict[str, Membership]:
    return {one.name: one for one in room.write(lambda db: classes.list_members(db, group.id))}


def test_the_last_list_is_taken_back_but_not_who_came_or_was_changed_since(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Bob,7,A\nEve,8,A\nMax,9,A", "apply": "yes"})
    eve = room.browser("Eve")
    eve.post(f"/join/{group.join_code}", data={"name": "Eve", "external_id": "8"})

    before = ada.get(page).text
    after = ada.post(f"{page}/undo").text

    assert "1 seat not taken yet, 1 changed" in before
    assert "Take the last list back" not in after
    assert [(one.name, one.external_id, one.label) for one in people(room, group).values()] == [
        ("Ada", None, None), ("Bob", None, None), ("Eve", "8", "A")
    ]  # fmt: skip


def test_a_list_that_was_mended_by_hand_is_not_undone_there(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Bob,7", "apply": "yes"})

    ada.post(f"{page}/{room.ids['Bob']}", data={"name": "Bob B.", "external_id": "7"})
    ada.post(f"{page}/undo")

    assert people(room, group)["Bob B."].external_id == "7"


def test_a_roster_is_searched_filtered_and_sorted(ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Éva,9,A\nEve,8,B\nMax,81,A", "apply": "yes"})

    def shown(**query: str) -> list[str]:
        return re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', ada.get(page, params=query).text)

    assert shown(q="ev") == ["Éva", "Eve"]
    assert shown(q="8") == ["Eve", "Max"]
    assert shown(label="A") == ["Éva", "Max"]
    assert shown(label="-") == ["Ada", "Bob"]
    assert shown(sort="id", q="e") == ["Eve", "Éva"]
    assert shown(sort="id")[:3] == ["Eve", "Max", "Éva"]
    assert ada.get(page, params={"sort": "nonsense"}).status_code == 422


def test_the_last_visit_is_listed_sorted_by_and_taken_away(room: Classroom, ada: TestClient, group: Class) -> None:
    page, moment = f"/classes/{group.id}/roster", datetime(2026, 3, 1, 8, tzinfo=UTC)
    of_bob = update(Session).where(Session.learner_id == room.ids["Bob"]).values(seen_at=moment)
    room.write(lambda db: db.execute(of_bob))

    listed = {order: ada.get(page, params={"sort": order}).text for order in ("name", "seen")}
    rows = {
        row["name"]: row["last seen"]
        for row in DictReader(StringIO(ada.get(f"{page}.csv").content.decode("utf-8-sig")))
    }

    assert rows == {"Ada": str(classes.today_of(group.timezone)), "Bob": "2026-03-01"}
    assert all(f"<td>{day}</td>" in listed["seen"] for day in rows.values())
    assert re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', listed["name"]) == ["Ada", "Bob"]
    assert re.findall(r'<th scope="row"><a [^>]*>(.*?)</a>', listed["seen"]) == ["Bob", "Ada"]


def test_days_of_records_are_those_of_the_class(room: Classroom, ada: TestClient, group: Class) -> None:
    noon, home = datetime(2026, 3, 1, 12, tzinfo=UTC), f"/classes/{group.id}"
    room.assign(group, "linear-layer")
    eve = room.browser("Eve")
    room.join(group, "Eve")
    eve.post(f"{home}/leave", data={"sure": "yes"})
    ada.post(f"{home}/roster", data={"text": "Max", "apply": "yes"})

    async def move(db: AsyncSession) -> None:
        (await db.get_one(Class, group.id)).timezone = "Pacific/Kiritimati"  # where it is two in the morning, a day on
        await db.execute(update(Session).where(Session.learner_id == room.ids["Bob"]).values(seen_at=noon))
        for column in (Membership.joined_at, FormerMember.left_at, RosterChange.changed_at):
            here = (column.class_.class_id == group.id, column.is_not(None))
            await db.execute(update(column.class_).where(*here).values({column.key: noon}))

    room.write(move)

    for page, days in (("roster", 3), ("roster.csv", 3), ("gradebook", 1), ("gradebook.csv", 1)):
        assert re.findall(r"2026-03-\d\d", ada.get(f"{home}/{page}").text) == ["2026-03-02"] * days, page


def test_many_get_one_label_or_are_taken_out_once_confirmed(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Eve,8,A\nMax,9,A\nTom,10,B", "apply": "yes"})
    eve = str(people(room, group)["Eve"].learner_id)

    ada.post(f"{page}/selected", data={"person": eve, "act": "label", "new_label": "C"})
    asked = ada.post(f"{page}/selected?label=A", data={"everybody": "yes", "act": "remove"}).text
    before = names(room, group)
    person = re.findall(r'name="person" value="(\d+)"', asked)
    ada.post(f"{page}/selected", data={"person": person, "act": "remove", "confirm": "yes"})
    none = ada.post(f"{page}/selected", data={"act": "remove"})

    assert "Take 1 out of the class?" in asked
    assert before == ["Ada", "Bob", "Eve", "Max", "Tom"]
    assert {name: one.label for name, one in people(room, group).items()} == {
        "Ada": None, "Bob": None, "Eve": "C", "Tom": "B"
    }  # fmt: skip
    assert none.status_code == 409
    assert "Nobody was chosen" in none.text


def test_the_only_instructor_is_not_taken_out_with_others(room: Classroom, ada: TestClient, group: Class) -> None:
    form = {"everybody": "yes", "act": "remove", "confirm": "yes"}

    answer = ada.post(f"/classes/{group.id}/roster/selected", data=form)

    assert "only instructor" in answer.text
    assert names(room, group) == ["Ada", "Bob"]


def test_who_joined_as_somebody_new_is_put_into_their_seat(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Robert Sand,7,A", "apply": "yes"})
    seat, bob = people(room, group)["Robert Sand"].learner_id, room.ids["Bob"]
    form = {"name": "Robert Sand", "external_id": "7", "label": "A", "extra_days": "5"}
    ada.post(f"{page}/{seat}", data=form)

    shown = ada.get(f"{page}/{bob}").text
    moved = ada.post(f"{page}/{bob}/seat", data={"seat": str(seat)})
    again = ada.post(f"{page}/{bob}/seat", data={"seat": str(seat)})

    assert f'<option value="{seat}">Robert Sand</option>' in shown
    assert 'value="5"' in moved.text
    assert names(room, group) == ["Ada", "Robert Sand"]
    person = people(room, group)["Robert Sand"]
    assert (person.learner_id, person.external_id, person.label, person.seated_by) == (bob, "7", "A", "instructor")
    assert "taken meanwhile" in again.text


def test_links_leave_as_a_table_for_a_mail_merge(room: Classroom, ada: TestClient, group: Class) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "Eve,8,A", "apply": "yes"})

    file = ada.post(f"/classes/{group.id}/invitations", data={"kind": "csv"})
    name, number, label, link = file.text.splitlines()[1].split(",")
    room.browser("Eve").post(link, data={"name": "Eve"})

    assert file.headers["cache-control"] == "private, no-store"
    assert (name, number, label) == ("Eve", "8", "A")
    assert people(room, group)["Eve"].joined_at is not None


def test_the_code_is_replaced_only_when_that_is_confirmed(room: Classroom, ada: TestClient, group: Class) -> None:
    page, code = f"/classes/{group.id}/joining", group.join_code

    async def code_now(db: AsyncSession) -> str | None:
        return (await db.get_one(Class, group.id)).join_code

    asked = ada.post(page, data={"joining": "rotate"})
    before = room.write(code_now)
    ada.post(page, data={"joining": "rotate", "confirm": "yes"})

    assert asked.status_code == 409
    assert "useless at once" in asked.text
    assert before == code
    assert room.write(code_now) != code


def test_another_time_zone_says_which_times_it_moves(room: Classroom, ada: TestClient, group: Class) -> None:
    due = datetime(2199, 11, 30, 22, 59, tzinfo=UTC)
    room.assign(group, "linear-layer", due_at=due, solutions_at=due + timedelta(days=1))
    page = f"/classes/{group.id}/settings"
    form = {"name": "Algebra", "timezone": "America/New_York"}

    asked = ada.post(page, data=form)
    unchanged = ada.get(page).text
    ada.post(page, data={**form, "confirm": "America/New_York"})

    assert asked.status_code == 409
    assert "due: Sat 30 Nov 2199, 23:59 is shown as Sat 30 Nov 2199, 17:59" in asked.text
    assert "solutions closed until: Sun 1 Dec 2199, 23:59 is shown as Sun 1 Dec 2199, 17:59" in asked.text
    assert 'value="Europe/Berlin"' in unchanged
    assert 'value="America/New_York"' in ada.get(page).text


def test_a_list_with_ids_suggests_to_let_in_nobody_else(ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    without = ada.get(page).text
    suggested = ada.post(page, data={"text": "Eve,8", "apply": "yes"}).text
    followed = ada.post(f"/classes/{group.id}/joining", data={"joining": "invited"}).text

    assert [word in text for text in (without, suggested, followed) for word in ("Let in only who",)] == [
        False, True, False
    ]  # fmt: skip


def test_a_list_of_five_thousand_imported_twice_doubles_no_person(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    rows = "\ufeffname;id\n" + "\n".join(f"Person {n};{n}" for n in range(5000))
    page = f"/classes/{group.id}/roster"

    for _ in range(2):
        answer = ada.post(page, data={"apply": "yes"}, files={"file": ("roster.csv", rows.encode())})
        assert answer.status_code == 200

    assert len(names(room, group)) == 5002


def test_the_roster_goes_out_guarded_and_comes_in_again_unchanged(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": '"=cmd|calc, Eve",8,"+A"', "apply": "yes"})
    out = ada.get(f"{page}.csv")
    again = ada.post(page, files={"file": ("roster.csv", out.content)})

    assert out.content.startswith(b"\xef\xbb\xbfname,")
    assert "\"'=cmd|calc, Eve\",8,'+A" in out.text
    assert "attachment" in out.headers["content-disposition"]
    assert "left out" not in again.text
    assert len(names(room, group)) == 3


def test_what_is_changed_about_somebody_is_on_the_roster(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster"
    bob = f"{page}/{room.ids['Bob']}"

    ada.post(bob, data={"name": "Bob B.", "external_id": "7", "label": "<b>A", "role": "assistant", "extra_days": "3"})

    shown = ada.get(page).text
    assert "&lt;b&gt;A" in shown
    assert "Bob B." in shown
    assert 'value="3"' in ada.get(bob).text


@pytest.mark.parametrize(
    ("field", "form", "words"),
    [
        ("name", {"name": ""}, "Write a name"),
        ("extra_days", {"name": "Bob", "extra_days": "400"}, "400 days cannot"),
        ("extra_days", {"name": "Bob", "extra_days": "1.5"}, "Extra days: &#39;1.5&#39; is no whole number."),
        ("extra_days", {"name": "Bob", "extra_days": "two"}, "Extra days: &#39;two&#39; is no number."),
        ("external_id", {"name": "Bob", "external_id": "8", "label": "typed"}, "Eve has the id &#39;8&#39;"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field_and_stays_there(
    room: Classroom, ada: TestClient, group: Class, field: str, form: dict[str, str], words: str
) -> None:
    page = f"/classes/{group.id}/roster"
    ada.post(page, data={"text": "Eve,8", "apply": "yes"})

    answer = ada.post(f"{page}/{room.ids['Bob']}", data=form)

    assert answer.status_code == 409
    assert words in answer.text
    assert all(f'name="{name}" value="{typed}"' in answer.text for name, typed in form.items())
    (marked,) = re.findall(r'<input [^>]*aria-invalid="true" aria-describedby="problem"', answer.text)
    assert f'name="{field}"' in marked


def test_the_only_instructor_stays_one(room: Classroom, ada: TestClient, group: Class) -> None:
    page = f"/classes/{group.id}/roster/{room.ids['Ada']}"

    assert "only instructor" in ada.post(page, data={"name": "Ada", "role": "learner"}).text
    assert "only instructor" in ada.post(page + "/remove").text


def test_a_person_of_another_class_is_nobody_here(room: Classroom, ada: TestClient, group: Class) -> None:
    room.browser("Eve")
    other = room.found("Geometry", "Eve")

    assert other.id != group.id
    assert ada.get(f"/classes/{group.id}/roster/{room.ids['Eve']}").status_code == 404
    assert ada.get(f"/classes/{group.id}/roster/{'9' * 30}").status_code == 404


def test_names_with_marks_stand_where_they_would_without(room: Classroom, ada: TestClient, group: Class) -> None:
    ada.post(f"/classes/{group.id}/roster", data={"text": "Zoe\nŁukasz\nÉva\nFay", "apply": "yes"})

    assert names(room, group) == ["Ada", "Bob", "Éva", "Fay", "Łukasz", "Zoe"]


def test_an_assistant_sees_no_code(room: Classroom, ada: TestClient, group: Class) -> None:
    tom = room.browser("Tom")
    room.join(group, "Tom", "assistant")
    code = f"{(group.join_code or '')[:3]}-"

    assert code in ada.get(f"/classes/{group.id}/roster").text
    assert code not in tom.get(f"/classes/{group.id}/roster").text
    assert code not in tom.get(f"/classes/{group.id}").text


def test_no_link_is_made_into_the_account_of_somebody_who_teaches(
    room: Classroom, ada: TestClient, group: Class
) -> None:
    page = ada.post(f"/classes/{group.id}/roster/{room.ids['Ada']}/reset")

    assert page.status_code == 409
    assert "token=" not in page.text
