"""A class narrowed to a section: board, heat map, gradebook, its files, and more time for all who have a label."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from app.store.tables import Assignment, Class, Extension, Membership
from tests.turns import PAGES
from tests.web.classroom import Classroom
from tests.web.conftest import WRONG

pytestmark = pytest.mark.alone
PLACE, BOX = "linear/linear-backward", "/lessons/linear/code/linear-backward/check"
DUE = datetime(2027, 3, 5, 22, 59, tzinfo=UTC)
Pupil = Callable[[str, str | None], TestClient]


@pytest.fixture
def pupil(room: Classroom, group: Class) -> Pupil:
    """Somebody in the class, with a label."""

    def come(name: str, label: str | None) -> TestClient:
        browser = room.browser(name)
        room.join(group, name)
        own = Membership.learner_id == room.ids[name]
        room.write(lambda db: db.execute(update(Membership).where(own).values(label=label)))
        return browser

    return come


@pytest.fixture
def seated(room: Classroom, group: Class, pupil: Pupil) -> Assignment:
    """Two sections and somebody without one; all of them wrong at one exercise that is assigned."""
    row = room.assign(group, "linear-layer", due_at=DUE)
    for name, label in (("Bea", "Mon & Tue"), ("Cyd", "Mon & Tue"), ("Dan", "Wed"), ("Eli", None)):
        pupil(name, label).post(BOX, data={"code": WRONG, "revision": "0"})
    return row


def shown(ada: TestClient, group: Class, page: str, **query: str) -> set[str]:
    """Who of them is on a page of the class."""
    text = ada.get(f"/classes/{group.id}/{page}", params=query).text
    return {name for name in ("Bea", "Cyd", "Dan", "Eli") if name in text}


@pytest.mark.in_turn(turns=4, places=PAGES)
@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("board", {"place": PLACE}),
        ("lessons/linear", {}),
        ("gradebook", {}),
        ("gradebook.csv", {}),
        ("gradebook.json", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.usefixtures("seated")
def test_a_page_is_narrowed_to_a_section(ada: TestClient, group: Class, page: str, query: dict[str, str]) -> None:
    assert shown(ada, group, page, **query) == {"Bea", "Cyd", "Dan", "Eli"}
    assert shown(ada, group, page, **query, label="Mon & Tue") == {"Bea", "Cyd"}
    assert shown(ada, group, page, **query, label="-") == {"Eli"}
    assert shown(ada, group, page, **query, label="none of them") == set()


@pytest.mark.usefixtures("seated")
def test_every_way_on_a_narrowed_board_stays_in_its_section(ada: TestClient, group: Class) -> None:
    page = ada.get(f"/classes/{group.id}/board", params={"place": PLACE, "label": "Mon & Tue"}).text

    assert f'data-events="/classes/{group.id}/board/events?place={PLACE}&amp;label=Mon+%26+Tue"' in page
    assert "2 learners: 0 solved it, 2 are wrong now" in page
    assert "<option selected>Mon &amp; Tue</option>" in page
    form = {"place": PLACE, "label": "Mon & Tue"}
    marked = ada.post(f"/classes/{group.id}/board/explained", data=form)
    assert marked.url.query == b"place=linear/linear-backward&label=Mon+%26+Tue"


@pytest.mark.usefixtures("seated")
def test_files_are_those_of_the_section_and_called_after_it(ada: TestClient, group: Class) -> None:
    page = ada.get(f"/classes/{group.id}/gradebook", params={"label": "Mon & Tue"}).text
    file = ada.get(f"/classes/{group.id}/gradebook.csv", params={"label": "Mon & Tue"})

    assert f'href="/classes/{group.id}/gradebook.csv?for=canvas&amp;label=Mon+%26+Tue"' in page
    assert file.headers["content-disposition"] == f'attachment; filename="grades-{group.id}-Mon-Tue.csv"'


def test_more_time_is_given_to_all_of_a_section_who_have_less(
    room: Classroom, ada: TestClient, group: Class, seated: Assignment
) -> None:
    place = f"/classes/{group.id}/assignments/{seated.id}/extensions"
    ada.post(place, data={"who": str(room.ids["Bea"]), "until": "2027-03-20T12:00"})

    assert ada.post(place, data={"who": "label:Mon & Tue", "until": "2027-03-10T12:00"}).status_code == 200

    async def days(db) -> dict[int, int]:
        rows = await db.scalars(select(Extension).where(Extension.assignment_id == seated.id))
        return {row.learner_id: row.due_at.day for row in rows}

    assert room.write(days) == {room.ids["Bea"]: 20, room.ids["Cyd"]: 10}
    nobody = ada.post(place, data={"who": "label:Fri", "until": "2027-03-10T12:00"})
    assert "Nobody in this class has the label &#39;Fri&#39;." in nobody.text
    earlier = ada.post(place, data={"who": "label:Mon & Tue", "until": "2027-03-01T12:00"})
    assert "is not after" in earlier.text


def test_a_class_without_labels_has_nothing_to_choose(
    room: Classroom, ada: TestClient, group: Class, pupil: Pupil
) -> None:
    room.assign(group, "linear-layer")
    pupil("Bea", None)

    for page in ("board", "lessons/linear", "gradebook"):
        assert 'name="label"' not in ada.get(f"/classes/{group.id}/{page}").text
