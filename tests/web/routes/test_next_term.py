"""The class of next term: the same assignments at later dates, and nobody of the earlier one."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from app.store.tables import Assignment, Class, Extension, Membership
from app.teaching.dates import to_local
from tests.turns import PAGES
from tests.web.classroom import Classroom

pytestmark = pytest.mark.alone
DUE = datetime(2026, 10, 23, 21, 59, tzinfo=UTC)
"""23:59 in Berlin on a Friday, two days before clocks go back."""


def classes_of(room: Classroom) -> list[Class]:
    async def every(db) -> list[Class]:
        return list(await db.scalars(select(Class).order_by(Class.id)))

    return room.write(every)


def assigned(room: Classroom, group: int) -> list[Assignment]:
    async def rows(db) -> list[Assignment]:
        return list(await db.scalars(select(Assignment).where(Assignment.class_id == group).order_by(Assignment.id)))

    return room.write(rows)


def make(browser: TestClient, group: Class, **form: str) -> int:
    return browser.post(f"/classes/{group.id}/next", data={"name": "Algebra, spring", **form}).status_code


@pytest.fixture
def earlier(room: Classroom, group: Class, bob: TestClient) -> Class:
    """Ada's class with Bob in it, who has more time."""
    assert bob
    opens, late = DUE.replace(day=9), DUE.replace(day=30)
    row = room.assign(group, "linear-layer", opens_at=opens, due_at=DUE, late_until=late, points=7.0)
    more = {"due_at": late, "reason": "", "set_at": DUE}

    async def extend(db) -> None:
        db.add(Extension(assignment_id=row.id, learner_id=room.ids["Bob"], **more))

    room.write(extend)
    return group


def test_assignments_come_along_at_the_same_times_of_day(room: Classroom, ada: TestClient, earlier: Class) -> None:
    assert make(ada, earlier, weeks="26") == 200

    fresh = classes_of(room)[-1]
    (row,) = assigned(room, fresh.id)
    moments = [to_local(moment, "Europe/Berlin") for moment in (row.opens_at, row.due_at, row.late_until)]
    assert [f"{moment:%Y-%m-%d %H:%M}" for moment in moments] == [
        "2027-04-09 23:59", "2027-04-23 23:59", "2027-04-30 22:59"
    ]  # fmt: skip
    assert (row.lesson, row.points, fresh.name, fresh.timezone) == (
        "linear-layer", 7.0, "Algebra, spring", "Europe/Berlin"
    )  # fmt: skip


def test_dates_move_onto_a_new_first_day(room: Classroom, ada: TestClient, earlier: Class) -> None:
    make(ada, earlier, first="2027-04-12")

    (row,) = assigned(room, classes_of(room)[-1].id)
    assert f"{to_local(row.opens_at, 'Europe/Berlin'):%Y-%m-%d}" == "2027-04-12"
    assert f"{to_local(row.due_at, 'Europe/Berlin'):%Y-%m-%d}" == "2027-04-26"


def test_people_extensions_and_what_the_earlier_class_has_stay_there(
    room: Classroom, ada: TestClient, earlier: Class
) -> None:
    make(ada, earlier, weeks="26")

    fresh = classes_of(room)[-1]

    async def people(db) -> list[tuple[str, str]]:
        rows = await db.scalars(select(Membership).where(Membership.class_id == fresh.id))
        return [(row.name, row.role) for row in rows]

    assert room.write(people) == [("Ada", "instructor")]
    assert fresh.join_code != earlier.join_code
    assert [row.due_at for row in assigned(room, earlier.id)] == [DUE]

    async def extensions(db) -> list[int]:
        return list(await db.scalars(select(Extension.assignment_id)))

    assert room.write(extensions) == [row.id for row in assigned(room, earlier.id)]


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"name": " "}, "Write what the class is called."),
        ({}, "Say when the term begins"),
        ({"weeks": "-1"}, "is no number of weeks from 0 to 522."),
        ({"weeks": "523"}, "is no number of weeks from 0 to 522."),
        ({"weeks": "½"}, "is no number of weeks"),
        ({"first": "soon"}, "soon"),
        ({"first": "2026-10-08"}, "2026-10-08 is before 2026-10-09"),
        ({"first": "2037-10-09"}, "more than ten years"),
        ({"first": "2027-04-12", "weeks": "3"}, "say different things"),
    ],
)
def test_what_cannot_be_meant_is_named_and_makes_no_class(
    room: Classroom, ada: TestClient, earlier: Class, form: dict[str, str], said: str
) -> None:
    answer = ada.post(f"/classes/{earlier.id}/next", data={"name": "Algebra, spring", **form})

    assert answer.status_code == 409
    assert said in answer.text
    assert answer.text.count('aria-invalid="true"') >= 1
    assert all(f'value="{value.strip()}"' in answer.text for value in form.values())
    assert [group.id for group in classes_of(room)] == [earlier.id]


def test_a_class_without_dates_needs_no_day(room: Classroom, ada: TestClient, group: Class) -> None:
    room.assign(group, "linear-layer")

    assert make(ada, group) == 200

    assert [row.due_at for row in assigned(room, classes_of(room)[-1].id)] == [None]


def test_an_instructor_who_may_make_no_class_has_no_such_page(room: Classroom, group: Class) -> None:
    eve = room.browser("Eve")
    room.join(group, "Eve", "instructor")

    assert eve.get(f"/classes/{group.id}/next").status_code == 404
    assert make(eve, group, weeks="1") == 404
    assert "/next" not in eve.get("/classes").text


def test_who_makes_classes_finds_the_way(ada: TestClient, group: Class) -> None:
    assert f'href="/classes/{group.id}/next"' in ada.get("/classes").text
