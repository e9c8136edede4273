"""People of a course as its platform lists them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update
from starlette.testclient import TestClient

from app.lti import rosters
from app.lti.rosters import RosterReader
from app.store.classes import Role
from app.store.database import now
from app.store.rosters import reserve_seat
from app.store.tables import Class, Credential, LtiContext, LtiMember, Membership
from tests.lti.platform import Link, Person, Platform
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.platforms import frame, platform, shared, standing_platform

__all__ = ["platform", "shared", "standing_platform"]

OFFER = r'action="(/embedded/classes/[0-9]+/roster/[0-9]+/seat)"><button name="seat" value="([0-9]+)"'
"""Where somebody is put into a seat, and which."""


class Course:
    def __init__(self, platform: Platform, app: FastAPI, room: Classroom) -> None:
        self.platform, self.app, self.room = platform, app, room
        self.ada = platform.person(f"ada-{platform.context}", "Ada", "Instructor")
        self.browser = frame(app)
        platform.launch(self.browser, self.ada, Link("link-1", {}))
        query = select(LtiContext).where(LtiContext.context_id == platform.context)
        self.context = room.write(lambda db: db.scalar(query))

    def person(self, name: str, role: str = "Learner") -> Person:
        return self.platform.person(f"{name}-{self.platform.context}", name, role)

    def read(self) -> None:
        """Read the list anew, as a server does."""
        self.room.write(
            lambda db: db.execute(
                update(LtiContext).values(roster_read_at=now()).where(LtiContext.id != self.context.id)
            )
        )
        self.room.write(
            lambda db: db.execute(
                update(LtiContext).values(roster_read_at=None).where(LtiContext.id == self.context.id)
            )
        )
        site = self.app.state.site
        self.app.state.portal.call(RosterReader(site.database, site.lti.services).read_due)

    def members(self) -> dict[str, str]:
        """Roles of those who are there, by name."""
        query = select(Membership.name, Membership.role).where(
            Membership.class_id == self.context.class_id, Membership.left_at.is_(None)
        )
        return {row.name: row.role for row in self.room.write(lambda db: db.execute(query))}

    def answer(self) -> str | None:
        query = select(LtiContext.roster_answer).where(LtiContext.id == self.context.id)
        return self.room.write(lambda db: db.scalar(query))


@pytest.fixture
def taught(platform: Platform, app: FastAPI, room: Classroom) -> Course:
    return Course(platform, app, room)


def test_10_a_list_comes_in_pages_with_short_names_of_roles(taught: Course, platform: Platform) -> None:
    for number in range(5):
        taught.person(f"Learner {number}")
    taught.person("Tom", "TeachingAssistant")
    taught.person("Mia", "Mentor")
    platform.page = 2
    platform.asked = []
    taught.read()

    expected = {"Ada": "instructor", "Tom": "assistant"} | {f"Learner {number}": "learner" for number in range(5)}
    assert taught.members() == expected
    assert platform.asked.count("members") == 4


def test_who_was_listed_is_the_one_who_comes(taught: Course, platform: Platform, app: FastAPI) -> None:
    bob = taught.person("Bob")
    taught.read()
    query = select(Credential.learner_id).where(Credential.subject == bob.subject)
    before = taught.room.write(lambda db: db.scalar(query))
    platform.launch(frame(app), bob, Link("link-1", {}))

    assert taught.room.write(lambda db: db.scalars(query)).all() == [before]
    assert taught.members() == {"Ada": "instructor", "Bob": "learner"}


def test_who_is_listed_no_more_has_left_and_comes_back(taught: Course, platform: Platform) -> None:
    bob = taught.person("Bob")
    taught.read()
    del platform.people[bob.subject]
    taught.read()
    assert taught.members() == {"Ada": "instructor"}

    platform.people[bob.subject] = bob
    taught.read()
    assert taught.members() == {"Ada": "instructor", "Bob": "learner"}


def test_an_unlisted_instructor_stays_a_day_and_the_last_one_for_good(
    taught: Course, platform: Platform, app: FastAPI
) -> None:
    max_ = taught.person("Max", "Instructor")
    platform.launch(frame(app), max_, Link("link-1", {}))
    del platform.people[max_.subject]
    taught.read()
    assert taught.members() == {"Ada": "instructor", "Max": "instructor"}

    long_ago = now() - timedelta(days=2)
    taught.room.write(lambda db: db.execute(update(LtiMember).values(launched_at=long_ago)))
    taught.read()
    assert taught.members() == {"Ada": "instructor"}

    platform.people.clear()
    taught.read()
    assert taught.members() == {"Ada": "instructor"}


def test_a_list_that_does_not_come_whole_changes_nothing(
    taught: Course, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        taught.person(f"Learner {number}")
    taught.read()
    before = taught.members()
    platform.people = {taught.ada.subject: taught.ada} | {str(number): Person(str(number), "X") for number in range(9)}
    platform.page = 2
    monkeypatch.setattr(rosters, "MAX_PAGES", 2)
    taught.read()
    assert taught.members() == before
    assert "more than 2 pages" in (taught.answer() or "")
    page = taught.browser.get(f"/embedded/classes/{taught.context.class_id}/roster", headers=BROWSER).text
    assert "could not be read: Its list has more than 2 pages." in page

    monkeypatch.setattr(rosters, "MAX_PAGES", 50)
    monkeypatch.setattr(rosters, "MAX_MEMBERS", 3)
    taught.read()
    assert "more than 3 people" in (taught.answer() or "")
    assert taught.members() == before


def test_a_list_is_read_when_it_is_a_day_old_and_after_an_instructor_came(
    taught: Course, platform: Platform, app: FastAPI
) -> None:
    def read_at(ago: timedelta) -> Any:
        moment = now() - ago
        taught.room.write(lambda db: db.execute(update(LtiContext).values(roster_read_at=moment)))
        platform.launch(frame(app), taught.ada, Link("link-1", {}))
        query = select(LtiContext.roster_read_at).where(LtiContext.id == taught.context.id)
        return taught.room.write(lambda db: db.scalar(query))

    assert read_at(timedelta(minutes=5)) is not None
    assert read_at(timedelta(minutes=11)) is None


class TestWhoIsExpected:
    """A seat is kept for an id that the platform knows somebody by."""

    def expect(self, taught: Course, number: str, *, role: Role = "learner") -> int:
        async def reserve(db: Any) -> int:
            group = await db.get_one(Class, taught.context.class_id)
            seat = await reserve_seat(db, group, "B. Miller", role)
            seat.external_id, seat.label = number, "Group A"
            return int(seat.learner_id)

        return int(taught.room.write(reserve))

    def roster(self, taught: Course) -> str:
        page = f"/embedded/classes/{taught.context.class_id}/roster"
        return str(taught.browser.get(page, headers=BROWSER).text)

    @pytest.mark.parametrize("number", ["{}@EXAMPLE.org", "4711-{}"], ids=["by mail", "by number"])
    def test_the_instructor_is_offered_to_join_them_and_it_is_never_done_alone(
        self, taught: Course, number: str
    ) -> None:
        bob = taught.person("Bob")
        seat = self.expect(taught, number.format(bob.subject))
        taught.read()
        assert taught.members() == {"Ada": "instructor", "Bob": "learner", "B. Miller": "learner"}

        offer = re.search(OFFER, self.roster(taught))
        assert offer
        assert int(offer[2]) == seat
        taught.browser.post(offer[1], data={"seat": offer[2]}, headers=BROWSER)

        assert taught.members() == {"Ada": "instructor", "B. Miller": "learner"}
        assert "Perhaps the same" not in self.roster(taught)
        taught.read()
        assert taught.members() == {"Ada": "instructor", "B. Miller": "learner"}

    @pytest.mark.parametrize(("number", "role"), [("another@example.org", "learner"), ("{}@example.org", "assistant")])
    def test_who_is_not_expected_by_that_id_or_as_a_learner_is_not_offered(
        self, taught: Course, number: str, role: Role
    ) -> None:
        self.expect(taught, number.format(taught.person("Bob").subject), role=role)
        taught.read()

        assert "Perhaps the same" not in self.roster(taught)


def test_odd_entries_of_a_list_are_left_out(client: TestClient) -> None:
    assert client
    odd = (None, 7, {}, {"user_id": ""}, {"user_id": 7, "roles": ["Learner"]}, {"user_id": "a", "roles": []})
    gone = {"user_id": "a", "roles": ["Learner"], "status": "Inactive"}

    assert [rosters._person(one) for one in (*odd, gone)] == [None] * 7
    assert rosters._person({"user_id": "a", "roles": ["Learner"]}) == rosters.ListedPerson("a", "", "learner")
