"""A quiet sitting from the draw to the grade: one clock for all, which a test moves."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from app.content.blocks import Course, Grad
from app.practice import sittings
from app.store.learners import open_session
from app.store.sittings import find_sitting
from app.store.tables import Assignment, AuditEvent, Class, Sitting, SittingAnswer, SittingRecord
from app.teaching.codes import shown_code
from app.web import sitting_jobs
from app.web.application import create_app, sitting_jobs_of
from tests.courses import LESSONS
from tests.web.asking import without_clock
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER, FakeGrader, settings_in, started

FOLDER = LESSONS
OPENS = datetime(2199, 11, 30, 9, tzinfo=UTC)
"""10:00 in Berlin, on a day that the gradebook, which reads the clock of the house, never sees."""
UNTIL = OPENS + timedelta(hours=2)
JSON = {"accept": "application/json"}
FORM = {
    "title": "Mid-term", "opens": "2199-11-30T10:00", "until": "2199-11-30T12:00", "minutes": "40", "points": "",
    "shows": "nothing", "family": ["matmul", ""], "level": ["1", "1"], "count": ["1", "1"],
}  # fmt: skip
NUMBERS = count(1)


@dataclass
class Room:
    """A class with a sitting, its people's browsers, and the clock."""

    app: FastAPI
    client: TestClient
    classroom: Classroom
    group: Class
    ada: TestClient
    sitting: int = 0
    moment: datetime = OPENS - timedelta(days=1)
    pupils: dict[str, TestClient] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"/classes/{self.group.id}/sittings/{self.sitting}"

    def make(self, **changed: Any) -> None:
        made = self.ada.post(f"/classes/{self.group.id}/sittings", data={**FORM, **changed})
        assert made.status_code == 200, made.text
        self.sitting = int(str(made.url).rpartition("/")[2])

    def work(self) -> None:
        """All that servers do by themselves."""
        jobs = sitting_jobs_of(self.app)
        self.client.portal.call(jobs.draw_due)
        self.client.portal.call(jobs.close_and_grade)

    def pupil(self, name: str) -> TestClient:
        self.pupils[name] = self.classroom.browser(name)
        self.classroom.join(self.group, name)
        return self.pupils[name]

    def at(self, **after: int) -> None:
        """It is so long after the window opened."""
        self.moment = OPENS + timedelta(**after)

    def page(self, who: TestClient) -> str:
        return said(who.get(self.address).text)

    def begin(self, who: TestClient) -> str:
        return said(who.post(f"{self.address}/begin").text)

    def save(self, who: TestClient, item: int, text: str, revision: int = 0) -> Any:
        data = {"code": text, "revision": str(revision)}
        return who.post(f"{self.address}/code/item-{item}/draft", data=data, headers=JSON)

    def solution(self, name: str, item: int) -> str:
        """The author's lines of an item of somebody."""

        async def lines(db) -> str:
            record = await db.get_one(SittingRecord, (self.sitting, self.classroom.ids[name]))
            own = await find_sitting(db, self.group.id, self.sitting, record.learner_id)
            box = (await self.app.state.site.sittings.of(db, own))[item - 1].boxes[0]
            assert isinstance(box, Grad)
            return box.solution.source

        return self.classroom.write(lines)

    def rows(self, table: Any) -> list[Any]:
        async def all_rows(db) -> list[Any]:
            name = "assignment_id" if hasattr(table, "assignment_id") else "class_id"
            which = self.sitting if name == "assignment_id" else self.group.id
            return list(await db.scalars(select(table).where(getattr(table, name) == which)))

        return self.classroom.write(all_rows)

    def grade(self, name: str) -> str:
        """What the gradebook's file says of somebody's sitting."""
        text = self.ada.get(f"/classes/{self.group.id}/gradebook.csv").text.removeprefix("\ufeff")
        head, *rows = csv.reader(io.StringIO(text))
        return next(row[head.index("Mid-term")] for row in rows if row[0].partition(" (left")[0] == name)


def said(html: str) -> str:
    """The words of a page."""
    main = html.partition("<main")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, empty_database: Path, course: Course) -> Iterator[FastAPI]:
    patch = pytest.MonkeyPatch()
    patch.setattr(sitting_jobs, "VARIANTS", 1)
    patch.setattr(sittings, "SPARE", 1 - sittings.VARIANTS)  # the first that fits will do
    app = create_app(settings_in(tmp_path_factory.mktemp("data"), empty_database), course, FakeGrader())
    with without_clock(), started(app) as client:
        app.state.client = client
        yield app
    patch.undo()


@pytest.fixture
def empty_room(server: FastAPI) -> Room:
    classroom = Classroom(server, server.state.client.portal.call)
    classroom.run = lambda work: server.state.client.portal.call(lambda: work)
    ada = classroom.browser("Ada", teaches=True)
    room = Room(server, server.state.client, classroom, classroom.found(f"Class {next(NUMBERS)}", "Ada"), ada)
    server.state.site.practice.clock = lambda: room.moment
    return room


@pytest.fixture
def room(empty_room: Room) -> Room:
    """With a sitting that is drawn, and has not opened."""
    empty_room.make()
    empty_room.work()
    return empty_room


@pytest.fixture
def bob(room: Room) -> TestClient:
    """Somebody who has begun ten minutes after it opened."""
    browser = room.pupil("Bob")
    room.at(minutes=10)
    assert "40 minutes left" in room.begin(browser)
    return browser


def test_a_form_has_one_row_and_another_for_each_that_is_asked_for(empty_room: Room) -> None:
    address = f"/classes/{empty_room.group.id}/sittings"
    first, before = empty_room.ada.get(f"{address}/new").text, len(empty_room.rows(Sitting))
    typed = {"title": "Half", "family": ["", "products"], "level": ["2", "1"], "count": ["3", ""], "another": "row"}

    second = empty_room.ada.post(address, data=typed).text

    assert (first.count('name="count"'), second.count('name="count"')) == (1, 3)
    assert 'name="title" value="Half"' in second
    assert 'name="count" value="3"' in second
    assert second.count("autofocus") == 1
    assert "Another row" not in empty_room.ada.post(address, data={**typed, **dict.fromkeys(
        ("family", "level", "count"), ["1"] * 30)}).text  # fmt: skip
    assert len(empty_room.rows(Sitting)) == before


def test_nobody_begins_before_it_opens_or_is_drawn(empty_room: Room) -> None:
    empty_room.make()
    bob = empty_room.pupil("Bob")

    assert "It opens Sat 30 Nov 2199, 10:00" in empty_room.page(bob)
    assert "is not open" in empty_room.begin(bob)
    empty_room.at(minutes=1)
    assert "still being drawn" in empty_room.begin(bob)
    empty_room.work()
    assert "40 minutes left" in empty_room.begin(bob)


def test_a_writer_is_told_how_keys_leave_a_box_and_of_no_check_key(room: Room, bob: TestClient) -> None:
    page = room.page(bob)

    assert "Esc , then Tab leaves a box." in page
    assert "verdict" not in page


def test_each_has_programs_and_sizes_of_their_own_and_keeps_them(room: Room, bob: TestClient) -> None:
    eve = room.pupil("Eve")
    room.begin(eve)

    figures = {name: re.findall(r"<figcaption>.*?</figcaption>", who.get(room.address).text, re.DOTALL)
               for name, who in room.pupils.items()}  # fmt: skip
    room.app.state.site.sittings.__init__()  # as after a start

    assert len(figures["Bob"]) == len(figures["Eve"]) == 2
    assert figures["Bob"] != figures["Eve"]
    assert figures["Bob"] == re.findall(r"<figcaption>.*?</figcaption>", bob.get(room.address).text, re.DOTALL)


def test_a_page_of_somebody_who_writes_tells_no_answer(room: Room, bob: TestClient) -> None:
    text = bob.get(room.address).text

    assert room.solution("Bob", 1).splitlines()[0] not in unescape(text)
    assert "hint" not in text.partition("<main")[2].partition('class="footer"')[0].lower()
    assert "/shapes" not in text
    assert bob.post(f"{room.address}/code/item-1/check", data={"code": "x", "revision": "0"}).status_code == 403
    assert bob.post(f"{room.address}/code/item-1/shapes", data={"code": "x"}).status_code == 404


def test_what_is_saved_is_there_after_a_reload(room: Room, bob: TestClient) -> None:
    saved = room.save(bob, 1, "dX = 1")

    assert saved.json()["revision"] == 1
    assert "dX = 1" in room.page(bob)
    assert room.save(bob, 3, "dX = 1").status_code == 404


def test_the_clock_hands_in_what_was_saved_without_a_page(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, room.solution("Bob", 1))
    room.at(minutes=50, seconds=4)
    assert room.save(bob, 2, "late but on its way").status_code == 200
    room.at(minutes=50, seconds=6)
    assert room.save(bob, 2, "too late").json()["message"].startswith("The time is over")
    room.work()

    (record,) = room.rows(SittingRecord)
    assert (record.handed_in_at, record.handed_in_by) == (OPENS + timedelta(minutes=50), "clock")
    assert "The clock handed in what was saved, Sat 30 Nov 2199, 10:50" in room.page(bob)
    assert room.rows(SittingAnswer) == []


def test_after_the_end_for_all_each_sees_the_whole_diagnosis(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, room.solution("Bob", 1))
    room.save(bob, 2, "dX = 2")
    assert "still empty" not in said(bob.post(f"{room.address}/hand-in").text)
    assert "You handed in" in said(bob.post(f"{room.address}/hand-in", data={"sure": "yes"}).text)
    assert room.grade("Bob") == ""
    assert "Nothing is graded yet" in said(room.ada.get(f"{room.address}/results/{room.classroom.ids['Bob']}").text)
    room.at(hours=2, seconds=6)
    assert room.grade("Bob") == ""
    room.work()

    shown = room.page(bob)
    assert "1 of 2 items are right" in shown
    assert "This is the transpose of" in shown
    assert room.solution("Bob", 2).splitlines()[0].replace(" ", "") in shown.replace(" ", "")
    assert room.grade("Bob") == "1"
    assert "transpose" in said(room.ada.get(f"{room.address}/results/{room.classroom.ids['Bob']}").text)
    assert room.ada.get(f"{room.address}/results/999999").status_code == 404
    assert "1 of 1" in room.page(room.ada)


def test_who_handed_in_and_left_is_in_the_gradebook_and_not_on_the_board(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, room.solution("Bob", 1))
    bob.post(f"{room.address}/hand-in", data={"sure": "yes"})
    bob.post(f"/classes/{room.group.id}/leave", data={"sure": "yes"})
    room.at(hours=3)
    room.work()

    assert room.grade("Bob") == "1"
    assert ("0 of 0 have begun" in room.page(room.ada), "1 of 1" in room.page(room.ada)) == (True, False)


def test_who_did_not_begin_has_no_points_once_it_has_ended(room: Room) -> None:
    eve = room.pupil("Eve")
    room.at(hours=3)
    room.work()

    assert "you did not begin" in room.page(eve)
    # The gradebook reads the clock of the house, by which this window is not over.
    assert room.grade("Eve") == ""


def test_extra_time_holds_at_once_and_opens_again_what_the_clock_took(room: Room, bob: TestClient) -> None:
    room.at(minutes=51)
    room.work()
    assert "The clock handed in" in room.page(bob)
    who = str(room.classroom.ids["Bob"])

    room.ada.post(f"{room.address}/time", data={"who": who, "percent": "25 %", "minutes": "2"})

    assert "11 minutes left" in room.page(bob)
    assert room.save(bob, 1, "dX = 3").status_code == 200
    assert {event.verb for event in room.rows(AuditEvent)} >= {"sitting-made", "sitting-time"}


def test_a_save_tells_how_much_time_is_left_by_now(room: Room, bob: TestClient) -> None:
    room.at(minutes=40)
    assert room.save(bob, 1, "dX = 1").headers["seconds-left"] == "600"

    room.ada.post(f"{room.address}/time", data={"who": str(room.classroom.ids["Bob"]), "minutes": "2"})

    assert room.save(bob, 1, "dX = 2", revision=1).headers["seconds-left"] == "720"


def test_what_ends_late_by_extra_time_counts_in_full(room: Room) -> None:
    eve = room.pupil("Eve")
    room.ada.post(f"{room.address}/time", data={"who": str(room.classroom.ids["Eve"]), "percent": "50"})
    room.at(hours=1, minutes=30)
    assert "50 minutes left" in room.begin(eve)
    room.at(hours=2, minutes=15)
    assert room.save(eve, 1, room.solution("Eve", 1)).status_code == 200
    room.work()
    assert not room.rows(Sitting)[0].released_at
    room.at(hours=2, minutes=20, seconds=6)
    room.work()

    assert room.grade("Eve") == "1"


def test_who_missed_it_gets_a_window_of_their_own(room: Room) -> None:
    eve = room.pupil("Eve")
    room.at(hours=3)
    room.work()
    window = {"opens": "2199-12-02T10:00", "until": "2199-12-02T11:00"}
    room.ada.post(f"{room.address}/time", data={"who": str(room.classroom.ids["Eve"]), **window})

    room.at(days=2, minutes=5)
    assert "40 minutes left" in room.begin(eve)
    room.save(eve, 1, room.solution("Eve", 1))
    room.at(days=2, minutes=46)
    room.work()

    assert "1 of 2 items are right" in room.page(eve)
    assert room.grade("Eve") == "1"


def test_one_change_of_device_is_told_on_both_and_a_second_needs_leave(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, "dX = 1")
    others = [second_browser(room, "Bob") for _ in range(2)]

    assert "write on" in room.page(others[0])
    assert room.save(others[0], 1, "stolen").status_code == 409
    assert "dX = 1" in said(others[0].post(f"{room.address}/switch").text)
    assert "on another device at 10:10 (Europe/Berlin)" in room.save(bob, 1, "dX = 2", 1).json()["message"]
    assert "used your change of device" in said(others[1].post(f"{room.address}/switch").text)
    room.ada.post(f"{room.address}/switches/{room.classroom.ids['Bob']}")
    assert "dX = 1" in said(others[1].post(f"{room.address}/switch").text)


def test_a_personal_link_to_a_seat_is_a_change_of_device(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, "dX = 1")
    programs = room.page(bob)
    fresh, other = (TestClient(room.app, headers=dict(room.ada.headers)) for _ in range(2))
    room.at(minutes=30)
    fresh.post(seat_link(room, room.classroom.ids["Bob"]))
    before = room.page(fresh)
    after = fresh.post(f"{room.address}/switch").text

    assert ("write on" in before, "20 minutes left" in after, "dX = 1" in after) == (True, True, True)
    assert re.findall(r"dims.*", after) == re.findall(r"dims.*", programs)
    (record,) = room.rows(SittingRecord)
    other.post(seat_link(room, record.learner_id))
    assert "used your change of device" in said(other.post(f"{room.address}/switch").text)


def test_who_handed_in_sits_it_no_second_time_by_a_personal_link(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, room.solution("Bob", 1))
    bob.post(f"{room.address}/hand-in", data={"sure": "yes"})
    fresh = TestClient(room.app, headers=dict(room.ada.headers))
    fresh.post(seat_link(room, room.classroom.ids["Bob"]))
    fresh.post(f"{room.address}/begin")
    room.at(hours=3)
    room.work()

    assert len(room.rows(SittingRecord)) == 1
    assert room.grade("Bob") == "1"


def seat_link(room: Room, learner: int) -> str:
    page = room.ada.post(f"/classes/{room.group.id}/roster/{learner}/reset").text
    found = re.search(r"<code>(http.*?)</code>", re.sub(r"</?span[^>]*>", "", page))
    assert found
    return unescape(found[1])


def second_browser(room: Room, name: str) -> TestClient:
    token = room.classroom.write(lambda db: open_session(db, room.classroom.ids[name]))
    return TestClient(room.app, headers=dict(room.ada.headers), cookies={"session": token})


def test_a_verdict_without_a_name_tells_right_or_not_yet_alone(empty_room: Room) -> None:
    room = empty_room
    room.make(shows="right")
    room.work()
    bob = room.pupil("Bob")
    room.at(minutes=1)
    room.begin(bob)
    answers = [
        said(bob.post(f"{room.address}/code/item-1/check", data={"code": text, "revision": "0"}).text)
        for text in ("dX = 2", room.solution("Bob", 1))
    ]

    assert "Item 1, 10:01: Not yet." in answers[0]
    assert "transpose" not in answers[0]
    assert "Item 1, 10:01: Right." in answers[1]
    assert room.rows(SittingAnswer) == []


def test_nothing_of_an_item_is_taken_out_before_the_end(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, "dX = 1")

    with zipfile.ZipFile(io.BytesIO(bob.get("/me/export.zip").content)) as archive:
        rows = archive.read("sitting_record.jsonl").decode() + archive.read("draft.jsonl").decode()

    assert "dX = 1" in rows
    assert room.solution("Bob", 1).splitlines()[0] not in rows
    assert "token_hash" not in rows


def test_who_joins_when_a_sitting_is_over_is_not_led_to_it(room: Room) -> None:
    def led_to(name: str, due: datetime) -> str:
        async def change(db) -> None:
            row = await db.get_one(Assignment, room.sitting)
            row.opens_at, row.due_at = datetime(2026, 3, 1, tzinfo=UTC), due

        room.classroom.write(change)
        comer = TestClient(room.app, headers=BROWSER, follow_redirects=False)
        answer = comer.post(f"/join/{shown_code(room.group.join_code or '')}", data={"name": name})
        return answer.headers["location"]

    assert led_to("Early", datetime(2199, 1, 1, tzinfo=UTC)) == room.address
    assert led_to("Late", datetime(2026, 3, 2, tzinfo=UTC)).startswith("/lessons/")


def test_a_window_of_days_is_from_the_first_minute_to_the_last(empty_room: Room) -> None:
    room, day = empty_room, {"opens": "2199-11-30", "until": "2199-11-30"}
    room.make(**day)
    room.pupil("Eve")
    page = said(room.ada.get(room.address).text)

    given = {"who": str(room.classroom.ids["Eve"]), "opens": "2199-12-02", "until": "2199-12-02"}
    own = said(room.ada.post(f"{room.address}/time", data=given).text)

    assert "Sat 30 Nov 2199, 00:00" in page
    assert "Sat 30 Nov 2199, 23:59" in page
    assert "from Mon 2 Dec 2199, 00:00 to Mon 2 Dec 2199, 23:59" in own


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"title": ""}, "Write what the sitting is called."),
        ({"minutes": "4"}, "A sitting takes from 5 to 600 minutes."),
        ({"minutes": "soon"}, "Minutes: 'soon' is no number."),
        ({"until": "2199-11-30T09:00"}, "The window ends before it opens."),
        ({"minutes": "121"}, "The window is shorter than 121 minutes."),
        ({"opens": ""}, "When it opens is missing."),
        ({"count": ["", ""]}, "Say in one row at least"),
        ({"count": ["x", ""]}, "Row 1: 'x' is no number of exercises from 1 to 20."),
        ({"count": ["11", "10"]}, "A sitting has 20 exercises at most."),
        ({"family": ["softmax", ""]}, "begin at level 2. Choose a higher level."),
        ({"family": ["nonsense", ""]}, "the course teaches nothing"),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_a_sentence(
    empty_room: Room, changed: dict[str, Any], problem: str
) -> None:
    answer = empty_room.ada.post(f"/classes/{empty_room.group.id}/sittings", data={**FORM, **changed})

    assert answer.status_code == 409
    assert problem in said(answer.text)


def test_next_term_takes_a_sitting_over_without_its_people(room: Room, bob: TestClient) -> None:
    assert bob
    assert room.ada.post(f"/classes/{room.group.id}/next", data={"name": "Spring", "weeks": "20"}).status_code == 200

    copies = [one for one in room.classroom.write(all_sittings) if one.assignment_id > room.sitting]
    original = room.rows(Sitting)[0]
    assert [(one.minutes, one.slots_json, one.drawn_at) for one in copies] == [(40, original.slots_json, None)]
    assert copies[0].secret != original.secret


async def all_sittings(db) -> list[Sitting]:
    return list(await db.scalars(select(Sitting).order_by(Sitting.assignment_id)))


def test_a_sitting_is_given_to_no_other_class_and_its_dates_stay_its_own(room: Room) -> None:
    name = f"practice/sitting-{room.group.id}-{room.sitting}-2"
    assign: Callable[..., Any] = room.ada.post

    assert assign(f"/classes/{room.group.id}/assignments", data={"lesson": name}).status_code == 409
    moved = assign(f"/classes/{room.group.id}/assignments/{room.sitting}", data={"due": "2200-01-01T10:00"})
    assert "set on its own page" in said(moved.text)


def test_a_sitting_is_taken_back_only_by_who_means_it(room: Room, bob: TestClient) -> None:
    room.save(bob, 1, "dX = 1")
    address = f"/classes/{room.group.id}/assignments/{room.sitting}/delete"

    assert "Tick that this is meant" in said(room.ada.post(address).text)
    assert room.rows(SittingRecord)
    assert room.ada.post(address, data={"sure": "yes"}).status_code == 200
    assert room.rows(SittingRecord) == []
    assert bob.get(room.address).status_code == 404


def test_a_class_that_hands_in_at_once_waits_for_no_grader(room: Room) -> None:
    room.at(minutes=1)
    pupils = [room.pupil(f"Pupil {number}") for number in range(12)]
    for pupil in pupils:
        room.begin(pupil)
        room.save(pupil, 1, "dX = dX of a class")
    checked = room.app.state.site.grader.checked
    room.at(minutes=42)
    room.work()
    assert {record.handed_in_by for record in room.rows(SittingRecord)} == {"clock"}
    assert "dX = dX of a class" not in checked
    room.at(hours=2, seconds=6)
    room.work()

    assert checked.count("dX = dX of a class") == len(pupils)
    assert all(record.graded_at for record in room.rows(SittingRecord))
