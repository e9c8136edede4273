"""Columns of a platform's gradebook that no launch names: looked for, and made only where there is none."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

from app.lti.courses import set_class
from app.lti.line_item_search import MAX_SEEK_TRIES, LineItemFinder, _age
from app.store.classes import RefusedError
from app.store.database import now
from app.store.tables import Assignment, Class, LtiContext, LtiLineItem, LtiPlatform, LtiScore
from tests.lti.platform import Link, Person, Platform
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.platforms import frame, platform, shared, standing_platform
from tests.web.routes.test_lti_scores import LESSON, Course, given

__all__ = ["platform", "shared", "standing_platform"]

CHOSEN = {"lesson": LESSON, "points": "7"}
"""The parameters of a link that was chosen with points."""


class Sought(Course):
    """A course with a link that has points, and no column that a launch would name."""

    def __init__(self, platform: Platform, app: FastAPI, room: Classroom) -> None:
        self.platform, self.app, self.room = platform, app, room
        self.link = Link("link-1", CHOSEN)
        self.exercises = app.state.site.exercises(LESSON)
        self.ada = platform.person(f"ada-{platform.context}", "Ada", "Instructor")
        self.teacher = frame(app)
        # Of the courses of other tests nothing is looked for here, and nothing is sent.
        room.write(lambda db: db.execute(update(LtiLineItem).values(seek_at=None)))
        room.write(lambda db: db.execute(LtiScore.__table__.delete()))

    def launch(self, person: Person | None = None, **claims: Any) -> None:
        self.come(person or self.ada, self.teacher if person is None else None, **claims)

    def find(self) -> int:
        """Look for what is to be looked for, as a server does."""
        site = self.app.state.site
        return int(self.app.state.portal.call(LineItemFinder(site.database, site.lti.services).find_due))

    def items(self) -> list[LtiLineItem]:
        query = select(LtiLineItem).join(LtiContext, LtiContext.id == LtiLineItem.lti_context_id)
        query = query.where(LtiContext.context_id == self.platform.context).order_by(LtiLineItem.id)
        return list(self.room.write(lambda db: db.scalars(query)))

    @property
    def item(self) -> LtiLineItem:
        (item,) = self.items()
        return item

    def change(self, **values: Any) -> None:
        query = update(LtiLineItem).where(LtiLineItem.id == self.item.id).values(**values)
        self.room.write(lambda db: db.execute(query))

    def made(self) -> int:
        """How many columns the platform was asked to make."""
        return self.platform.asked.count("POST lineitems")

    def tie(self, group: int) -> None:
        """Let the course belong to the class *group*, as `backhand lti course` does."""

        async def work(db: Any) -> None:
            query = select(LtiPlatform).where(LtiPlatform.issuer == self.platform.url)
            await set_class(db, await db.scalar(query), self.platform.context, await db.get_one(Class, group))

        self.room.write(work)

    def gradebook(self) -> str:
        return self.teacher.get(f"/embedded/classes/{self.group_id}/gradebook", headers=BROWSER).text


@pytest.fixture
def sought(platform: Platform, app: FastAPI, room: Classroom) -> Sought:
    return Sought(platform, app, room)


def test_5_a_column_is_looked_for_before_one_is_made(sought: Sought, platform: Platform) -> None:
    there = platform.add_column("Theirs", resource_id=LESSON, tag="backhand")
    sought.launch()
    sought.find()

    assert sought.item.url == there.url
    assert sought.made() == 0


def test_where_there_is_no_column_one_is_made_with_its_points(sought: Sought, platform: Platform) -> None:
    sought.launch()
    sought.find()

    (column,) = platform.columns
    assert (column.maximum, column.resource_id, column.tag, column.links) == (7.0, LESSON, "backhand", ("link-1",))
    assert column.label == sought.assignment.heading
    sought.launch()
    sought.launch(platform.person("late", "Bob"))
    assert (sought.find(), sought.made()) == (0, 1)


def test_grades_from_before_a_column_was_found_are_sent(sought: Sought, platform: Platform) -> None:
    sought.launch()
    bob = platform.person(f"bob-{platform.context}", "Bob")
    sought.launch(bob)
    sought.solve(bob, 2)
    assert sought.send() == 0
    sought.find()
    sought.send()

    (column,) = platform.columns
    assert given(column, bob) == pytest.approx(7.0 * 2 / len(sought.exercises))


def test_5_of_several_columns_the_oldest_is_told_and_the_instructor_too(sought: Sought, platform: Platform) -> None:
    first, _ = (platform.add_column("Twice", resource_id=LESSON, tag="backhand") for _ in range(2))
    platform.columns.reverse()  # lists come in any order
    sought.launch()
    sought.find()

    assert sought.item.url == first.url
    assert "There are 2 columns for it in the gradebook there; grades go to the oldest." in sought.gradebook()


def test_the_older_of_two_columns_has_the_smaller_number() -> None:
    assert _age("https://m.example/2/lineitems/9/lineitem?type_id=1") < _age(
        "https://m.example/2/lineitems/10/lineitem"
    )


def test_a_column_of_the_link_is_found_without_a_resource(sought: Sought, platform: Platform) -> None:
    platform.add_column("Another's", link="another")
    own = platform.add_column("By hand", link="link-1")
    sought.launch()
    sought.find()

    assert (sought.item.url, sought.made()) == (own.url, 0)


def test_a_platform_that_lists_all_columns_in_pages_is_read(sought: Sought, platform: Platform) -> None:
    platform.filters, platform.page = False, 2
    for number in range(5):
        platform.add_column("Another's", resource_id=f"lesson-{number}", tag="backhand")
    own = platform.add_column("Own", resource_id=LESSON)
    sought.launch()
    sought.find()

    assert (sought.item.url, sought.made()) == (own.url, 0)


def test_12_after_a_copy_columns_are_read_and_none_is_made(sought: Sought, platform: Platform) -> None:
    sought.launch()
    sought.link = Link("link-1", {**CHOSEN, "class": str(sought.group_id)})
    other = Link("link-2", {"lesson": LESSON, "exercise": sought.exercises[0], **CHOSEN, "class": str(sought.group_id)})
    for _ in range(2):
        platform.add_column("Twice", link="link-1", resource_id=LESSON, tag="backhand")
    sought.link, other = platform.copy_course(sought.link, other)
    sought.launch()
    sought.find()
    copied = platform.columns[-1]
    assert (sought.item.url, copied.links) == (copied.url, ("link-1-copy", "link-1-copy"))
    assert "columns for it" not in sought.gradebook()

    sought.link = other
    sought.launch()
    sought.find()
    assert (sought.items()[1].url, sought.made()) == ("", 0)
    assert "There is no column for it in the gradebook there." in sought.gradebook()


def test_a_link_without_points_gets_no_column_and_no_assignment(sought: Sought) -> None:
    sought.link = Link("link-1", {"lesson": LESSON})
    sought.launch()

    assert (sought.find(), sought.items(), sought.assignment) == (0, [], None)


def test_who_may_only_read_columns_makes_none(sought: Sought, platform: Platform) -> None:
    platform.scopes = ["lineitem.readonly", "score"]
    sought.app.state.site.lti.services._tokens.clear()
    sought.launch()
    sought.find()
    assert (sought.item.url, sought.made()) == ("", 0)

    there = platform.add_column("Since then", resource_id=LESSON, tag="backhand")
    sought.launch(platform.person("bob", "Bob"))
    assert sought.find() == 0
    sought.launch()
    sought.find()
    assert sought.item.url == there.url


def test_without_any_right_to_columns_none_is_looked_for(sought: Sought, platform: Platform) -> None:
    platform.scopes = ["score"]
    sought.launch()

    assert sought.items() == []


def test_a_column_is_asked_for_once_by_servers_at_the_same_time(sought: Sought, platform: Platform) -> None:
    platform.latency = 0.05
    sought.launch()
    site = sought.app.state.site
    finders = [LineItemFinder(site.database, site.lti.services) for _ in range(4)]

    async def together() -> None:
        await asyncio.gather(*(finder.find_due() for finder in finders))

    sought.app.state.portal.call(together)

    assert sought.made() == 1


def test_a_server_killed_after_it_asked_for_a_column_leaves_one(sought: Sought, platform: Platform) -> None:
    sought.launch()
    sought.find()
    # It had not written down what it was answered.
    sought.change(url="", seek_at=now() - timedelta(seconds=1))
    sought.find()

    assert (len(platform.columns), sought.item.url) == (1, platform.columns[0].url)


def test_a_platform_that_is_down_is_looked_at_again_for_a_week(sought: Sought, platform: Platform) -> None:
    platform.broken_lists = [503]
    sought.launch()
    sought.find()
    item = sought.item
    assert (item.url, item.seek_tries) == ("", 1)
    assert timedelta(seconds=30) < item.seek_at - now() < timedelta(seconds=61)
    assert "answers 503. &lt;h1&gt;Down for maintenance" in sought.gradebook()

    platform.broken_lists = [503]
    sought.change(seek_at=now(), seek_tries=MAX_SEEK_TRIES - 1)
    sought.find()
    assert sought.item.seek_at is None
    sought.launch()
    sought.find()
    assert sought.item.url == platform.columns[0].url
    assert "503" not in sought.gradebook()


def test_a_column_that_was_deleted_is_not_made_again(sought: Sought, platform: Platform) -> None:
    bob = platform.person(f"bob-{platform.context}", "Bob")
    sought.launch()
    sought.find()
    sought.launch(bob)
    sought.solve(bob, 1)
    platform.broken = [404]
    sought.send()
    platform.columns[0] = replace(platform.columns[0], course="deleted")
    sought.launch()
    assert (sought.find(), sought.made()) == (1, 1)

    other = platform.add_column("Instead", resource_id=LESSON, tag="backhand")
    sought.launch()
    sought.find()
    sought.send()
    assert given(other, bob) == pytest.approx(7.0 / len(sought.exercises))


def test_a_launch_that_names_the_column_ends_the_search(sought: Sought, platform: Platform) -> None:
    sought.launch()
    column = platform.add_column("Named")
    sought.link = Link("link-1", CHOSEN, column)
    sought.launch()

    assert (sought.find(), sought.item.url) == (0, column.url)


def test_courses_that_share_a_class_have_a_column_each(sought: Sought, platform: Platform, app: FastAPI) -> None:
    sought.launch()
    sought.find()
    group, first = sought.group_id, platform.columns[0]
    platform.context += "-b"
    second = Sought(platform, app, sought.room)
    second.link = Link("link-1", {"lesson": "none"})
    second.launch()
    second.tie(group)
    second.link = sought.link
    second.launch()
    second.find()
    bob = platform.person(f"bob-{platform.context}", "Bob")
    second.launch(bob)
    second.solve(bob, len(second.exercises))
    second.send()

    assert second.item.url != first.url
    assert second.item.assignment_id == sought.assignment.id
    assert (given(platform.columns[1], bob), given(first, bob)) == (7.0, None)


def test_a_course_with_another_class_brings_its_people_and_columns(
    sought: Sought, platform: Platform, app: FastAPI
) -> None:
    sought.launch()
    first = sought.assignment
    platform.context += "-b"
    second = Sought(platform, app, sought.room)
    column = platform.add_column("Second")
    second.link = Link("link-2", CHOSEN, column)
    second.launch()
    bob = platform.person(f"bob-{platform.context}", "Bob")
    second.launch(bob)
    second.solve(bob, len(second.exercises))
    second.tie(first.class_id)
    second.send()

    assert (second.item.assignment_id, given(column, bob)) == (first.id, 7.0)
    with pytest.raises(RefusedError, match="belongs to class"):
        second.tie(first.class_id)


def test_an_assignment_that_was_changed_here_keeps_its_column(sought: Sought, platform: Platform) -> None:
    column = platform.add_column("Named")
    sought.link = Link("link-1", CHOSEN, column)
    sought.launch()
    row = sought.assignment

    async def fewer(db: Any) -> None:
        changed = await db.merge(row)
        changed.exercises_json = f'["{sought.exercises[0]}"]'

    sought.room.write(fewer)
    sought.launch()
    sought.link = Link("link-1", CHOSEN)
    sought.launch()
    sought.find()

    assert (sought.item.assignment_id, sought.item.url, sought.made()) == (row.id, column.url, 0)


def test_a_link_that_leads_elsewhere_now_takes_its_column_along(sought: Sought, platform: Platform) -> None:
    column = platform.add_column("Named")
    for name in sought.exercises[:2]:
        sought.link = Link("link-1", {"lesson": LESSON, "exercise": name, "points": "3"}, column)
        sought.launch()

    number = sought.item.assignment_id
    assignment = sought.room.write(lambda db: db.get(Assignment, number))
    assert assignment.exercises_json == f'["{sought.exercises[1]}"]'
    assert sought.item.url == column.url
