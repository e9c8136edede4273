"""Grades on their way to a platform that behaves as a live Moodle was seen to, row by row."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from app.lti import platform_client
from app.lti.scores import LOOK_SECONDS, ScoreSender, below
from app.store import lti_scores, progress
from app.store.assignments import override_grade
from app.store.database import now
from app.store.lti_scores import GIVEN_UP_AFTER, LEASE, LONGEST_WAIT, QUIET, retry_wait
from app.store.progress import NewAttempt
from app.store.tables import Assignment, Credential, LtiContext, LtiLineItem, LtiScore, Membership
from tests.lti.platform import AGS, CLAIM, MEMBERSHIP, Column, Link, Person, Platform
from tests.web.classroom import Classroom
from tests.web.conftest import BROWSER
from tests.web.routes.platforms import frame, platform, shared, standing_platform

__all__ = ["platform", "shared", "standing_platform"]

LESSON = "linear-layer"


class Course:
    """A course with an instructor, a link that is graded, and learners who come by it."""

    def __init__(self, platform: Platform, app: FastAPI, room: Classroom) -> None:
        self.platform, self.app, self.room = platform, app, room
        self.column = platform.add_column("Linear", 20.0, link="link-1")
        self.link = Link("link-1", {"lesson": LESSON}, self.column)
        self.teacher = frame(app)
        self.come(platform.person("teacher", "Ada", "Instructor"), self.teacher)
        self.exercises = app.state.site.exercises(LESSON)

    def come(self, person: Person, browser: TestClient | None = None, **claims: Any) -> TestClient:
        browser = browser or frame(self.app)
        reply = self.platform.launch(browser, person, self.link, **claims)
        assert reply.status_code == 303, reply.text
        return browser

    @property
    def assignment(self) -> Assignment:
        query = select(Assignment).where(Assignment.class_id == self.group_id)
        return self.room.write(lambda db: db.scalar(query))

    @property
    def group_id(self) -> int:
        query = select(LtiContext.class_id).where(LtiContext.context_id == self.platform.context)
        return self.room.write(lambda db: db.scalar(query))

    def learner(self, person: Person) -> int:
        # The same name may have come from the platforms of other tests.
        query = select(Credential.learner_id).where(Credential.subject == person.subject)
        return self.room.write(lambda db: db.scalar(query.order_by(Credential.id.desc())))

    def solve(self, person: Person, how_many: int = 1) -> None:
        learner = self.learner(person)

        async def solved(db: Any) -> None:
            for name in self.exercises[:how_many]:
                await progress.mark_solved(db, learner, LESSON, name)

        self.room.write(solved)

    def attempt(self, person: Person, exercise: str) -> None:
        learner = self.learner(person)
        wrong = NewAttempt(kind="quiz", text='"x"', verdict="{}", correct=False)
        self.room.write(lambda db: progress.record_attempt(db, learner, LESSON, exercise, wrong))

    def gradebook(self) -> str:
        return self.teacher.get(f"/embedded/classes/{self.group_id}/gradebook", headers=BROWSER).text

    def hurry(self) -> None:
        """Let what waits be due now."""
        self.room.write(lambda db: db.execute(update(LtiScore).values(due_at=now() - timedelta(seconds=1))))

    def send(self) -> int:
        """Send all that waits, as a server does."""
        self.hurry()
        site = self.app.state.site
        sender = ScoreSender(site.database, site.lti.services, lambda: site.exercises_for_anybody)
        portal = self.app.state.portal
        return int(portal.call(sender.send_due))

    def waiting(self) -> int:
        return self.room.write(lambda db: db.scalar(select(func.count()).select_from(LtiScore)))


@pytest.fixture
def taught(platform: Platform, app: FastAPI, room: Classroom) -> Course:
    room.write(lambda db: db.execute(LtiScore.__table__.delete()))
    return Course(platform, app, room)


@pytest.fixture
def bob(taught: Course, platform: Platform) -> Person:
    person = platform.person(f"bob-{platform.context}", "Bob")
    taught.come(person)
    return person


def given(column: Column, person: Person) -> float | None:
    return column.grades.get(person.subject, (None, 0))[0]


def test_a_graded_link_is_an_assignment_whose_grades_go_back(taught: Course, bob: Person) -> None:
    assignment, total = taught.assignment, len(taught.exercises)
    assert (assignment.lesson, assignment.points) == (LESSON, float(total))
    taught.solve(bob, 2)
    before = taught.gradebook()

    taught.send()

    assert "1 is on the way." in before
    assert "on the way" not in taught.gradebook()
    score = taught.column.scores[-1]
    assert (score["scoreGiven"], score["scoreMaximum"]) == (2.0, float(total))
    assert (score["activityProgress"], score["gradingProgress"]) == ("InProgress", "FullyGraded")
    assert taught.waiting() == 0


def test_a_lesson_that_is_done_is_completed(taught: Course, bob: Person) -> None:
    taught.solve(bob, len(taught.exercises))
    taught.send()

    assert taught.column.scores[-1]["activityProgress"] == "Completed"


def test_a_link_to_an_exercise_is_graded_by_it_alone(taught: Course, platform: Platform, bob: Person) -> None:
    column = platform.add_column("One", 5.0)
    taught.link = Link("link-2", {"lesson": LESSON, "exercise": taught.exercises[0]}, column)
    taught.come(bob)
    taught.solve(bob, 1)
    taught.send()

    assert (column.scores[-1]["scoreGiven"], column.scores[-1]["scoreMaximum"]) == (1.0, 1.0)
    assert taught.column.scores[-1]["scoreGiven"] == 1.0


def test_a_grade_waits_for_quiet_and_no_longer_than_a_minute(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)

    def row() -> LtiScore:
        return taught.room.write(lambda db: db.scalar(select(LtiScore)))

    first = row()
    assert first.due_at - first.changed_at == QUIET
    early = first.began_at - timedelta(seconds=20)
    taught.room.write(lambda db: db.execute(update(LtiScore).values(began_at=early, due_at=early + QUIET)))
    taught.solve(bob, 2)

    assert row().due_at - early <= LONGEST_WAIT
    assert row().changed_at > first.changed_at
    assert timedelta(seconds=60) > LONGEST_WAIT + timedelta(seconds=LOOK_SECONDS)
    assert taught.column.scores == []


def test_what_is_sent_is_the_newest_grade(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)
    taught.solve(bob, 3)
    taught.send()

    assert [score["scoreGiven"] for score in taught.column.scores] == [3.0]


def test_a_change_while_a_grade_is_sent_is_sent_too(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)
    taught.hurry()
    row = taught.room.write(lti_scores.claim_due)
    taught.solve(bob, 2)
    taught.room.write(lambda db: lti_scores.settle(db, row))
    assert taught.waiting() == 1

    taught.send()
    assert given(taught.column, bob) == 2.0


def test_a_grade_by_hand_goes_back_and_is_never_more_than_there_is(taught: Course, bob: Person) -> None:
    """Moodle takes more than there is: no platform protects us."""
    learner, assignment = taught.learner(bob), taught.assignment
    taught.room.write(lambda db: override_grade(db, assignment, learner, 99.0, "", None))
    taught.send()

    assert given(taught.column, bob) == assignment.points


class TestAsMoodle:
    """Each row of what was seen of a live Moodle 4.5.5, by its number."""

    def test_1_a_clock_behind_the_platform_s_loses_no_grade(
        self, taught: Course, platform: Platform, bob: Person
    ) -> None:
        platform.ahead, platform.dated = 30.0, False
        taught.solve(bob, 1)
        taught.send()
        taught.solve(bob, 2)
        taught.send()

        assert given(taught.column, bob) == 2.0
        assert "results" in platform.asked
        assert taught.waiting() == 0

    def test_1_without_results_the_platform_s_clock_is_believed(
        self, taught: Course, platform: Platform, bob: Person
    ) -> None:
        platform.ahead, platform.scopes = 120.0, ["score"]
        taught.app.state.site.lti.services._tokens.clear()
        for number in (1, 2):
            taught.solve(bob, number)
            taught.send()

        assert given(taught.column, bob) == 2.0

    def test_1_a_refusal_as_stale_is_never_the_last_word(self, taught: Course, platform: Platform, bob: Person) -> None:
        platform.broken = [409, 409]
        taught.solve(bob, 1)
        taught.send()
        assert taught.waiting() == 1
        taught.send()

        assert given(taught.column, bob) == 1.0

    def test_2_scores_of_one_second_and_of_a_clock_ahead_are_taken(
        self, taught: Course, platform: Platform, bob: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        second = datetime(2030, 1, 1, tzinfo=UTC)
        platform.clock = second.timestamp
        for number, shown in enumerate((0.2, 0.9, 30.0, 0.9), start=1):
            monkeypatch.setattr("app.lti.scores.now", lambda shown=shown: second + timedelta(seconds=shown))
            taught.solve(bob, number)
            taught.send()

        assert [score["scoreGiven"] for score in taught.column.scores] == [1.0, 2.0, 3.0, 4.0]
        assert "results" not in platform.asked

    def test_4_nobody_is_told_of_grades_of_teachers(self, taught: Course, platform: Platform) -> None:
        taught.solve(platform.people["teacher"], 3)

        assert taught.waiting() == 0

    def test_4_a_person_whom_the_platform_does_not_know_is_told_of_once(
        self, taught: Course, platform: Platform, bob: Person
    ) -> None:
        eve = platform.person(f"eve-{platform.context}", "Eve")
        taught.come(eve)
        del platform.people[eve.subject]
        taught.solve(eve, 1)
        taught.solve(bob, 1)
        taught.send()
        platform.asked = []
        taught.send()
        page = taught.gradebook()

        assert given(taught.column, bob) == 1.0
        assert "score" not in platform.asked
        assert "Incorrect score received" in page
        assert "Moodle does not have this person as a learner of the course." in page
        assert "Eve" in page
        assert "not tried again" in page

    def test_6_words_go_into_the_path_of_an_address_with_a_query(self) -> None:
        assert (
            below("https://m.example/1/lineitem?type_id=1", "scores") == "https://m.example/1/lineitem/scores?type_id=1"
        )
        assert below("https://m.example/1/lineitem/", "scores") == "https://m.example/1/lineitem/scores"

    def test_7_work_that_was_begun_is_told_once_without_a_score(self, taught: Course, bob: Person) -> None:
        first, second = taught.exercises[:2]
        for name in (first, first, second):
            taught.attempt(bob, name)
            taught.send()

        (score,) = taught.column.scores
        assert (score["activityProgress"], score["gradingProgress"]) == ("InProgress", "Pending")
        assert not {"scoreGiven", "scoreMaximum"} & score.keys()
        taught.solve(bob, 1)
        taught.send()
        assert given(taught.column, bob) == 1.0

    def test_7_what_was_solved_since_it_was_begun_is_one_message(self, taught: Course, bob: Person) -> None:
        taught.attempt(bob, taught.exercises[0])
        taught.solve(bob, 1)
        taught.send()

        assert [score["scoreGiven"] for score in taught.column.scores] == [1.0]

    def test_7_a_score_that_stands_is_not_taken_back(self, taught: Course, platform: Platform, bob: Person) -> None:
        taught.column.grades[bob.subject] = (5.0, 0.0)  # of a teacher, by hand
        taught.attempt(bob, taught.exercises[0])
        taught.send()
        assert (given(taught.column, bob), taught.waiting()) == (5.0, 0)

        platform.scopes = ["score"]  # it does not say what stands there
        taught.app.state.site.lti.services._tokens.clear()
        number = taught.assignment.id
        taught.room.write(lambda db: lti_scores.queue_assignment(db, number))
        taught.send()
        assert (given(taught.column, bob), taught.waiting()) == (5.0, 0)

    def test_7_of_what_an_assignment_does_not_count_nothing_is_told(
        self, taught: Course, platform: Platform, bob: Person
    ) -> None:
        first, second = taught.exercises[:2]
        column = platform.add_column("One", 5.0)
        taught.link = Link("link-2", {"lesson": LESSON, "exercise": second}, column)
        taught.come(bob)
        taught.send()
        taught.attempt(bob, first)
        taught.send()
        assert (len(taught.column.scores), column.scores) == (1, [])

        taught.attempt(bob, second)
        taught.send()
        assert (len(taught.column.scores), len(column.scores)) == (1, 1)

    def test_11_what_the_platform_did_not_fill_in_is_not_there(
        self, taught: Course, platform: Platform, bob: Person
    ) -> None:
        link = Link("link-3", {"lesson": "$Lesson.id", "exercise": "$Exercise.id"})
        reply = platform.launch(frame(taught.app), bob, link)

        assert reply.headers["location"] == f"/embedded/classes/{taught.group_id}"


def test_a_platform_that_is_down_is_asked_again(taught: Course, platform: Platform, bob: Person) -> None:
    platform.broken = [503, 500, 429, 408]
    taught.solve(bob, 1)
    for _ in range(len(platform.broken)):
        taught.send()
        assert (taught.waiting(), given(taught.column, bob)) == (1, None)

    taught.send()

    assert (taught.waiting(), given(taught.column, bob)) == (0, 1.0)


def test_a_platform_that_hangs_keeps_no_grade_for_another_waiting(
    taught: Course, platform: Platform, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = platform.person(f"eve-{platform.context}", "Eve")
    taught.come(eve)
    monkeypatch.setattr(platform_client, "SECONDS", 0.2)
    monkeypatch.setattr("app.lti.scores.AT_ONCE", 1)
    for person in (bob, eve):
        taught.solve(person, 1)
    platform.broken = ["hang"]

    assert (taught.send(), taught.waiting()) == (1, 2)
    monkeypatch.undo()
    taught.send()
    assert given(taught.column, bob) == given(taught.column, eve) == 1.0


def test_a_token_that_is_expired_is_asked_for_anew(taught: Course, platform: Platform, bob: Person) -> None:
    platform.broken = [401]
    taught.app.state.site.lti.services._tokens.clear()
    taught.solve(bob, 1)
    taught.send()

    assert platform.asked.count("token") == 2
    assert given(taught.column, bob) == 1.0


def test_retries_are_further_and_further_apart_and_end_after_a_week(
    taught: Course, platform: Platform, bob: Person
) -> None:
    taught.solve(bob, 1)
    waits = []
    for _ in range(3):
        platform.broken = [503]
        taught.send()
        row = taught.room.write(lambda db: db.scalar(select(LtiScore)))
        waits.append(round((row.due_at - now()).total_seconds() / 60))
        assert row.refused_at is None
    assert waits == [1, 2, 4]
    minutes = [retry_wait(tries) / timedelta(minutes=1) for tries in range(11)]
    assert minutes == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]

    long_ago = now() - GIVEN_UP_AFTER - timedelta(hours=1)
    taught.room.write(lambda db: db.execute(update(LtiScore).values(failing_since=long_ago)))
    platform.broken = [503]
    taught.send()
    page = taught.gradebook()
    assert "Down for maintenance" in page
    assert "&lt;h1&gt;" in page
    assert "not tried again" in page

    again = taught.teacher.post(f"/embedded/classes/{taught.group_id}/gradebook/again", headers=BROWSER)
    assert again.status_code == 200
    taught.send()
    assert given(taught.column, bob) == 1.0


def test_who_has_left_is_not_graded_any_more(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)
    theirs = update(Membership).where(Membership.class_id == taught.group_id).values(left_at=now())
    taught.room.write(lambda db: db.execute(theirs))
    taught.send()

    assert (taught.waiting(), given(taught.column, bob)) == (0, None)


def test_what_was_done_before_coming_counts_from_then_on(taught: Course, platform: Platform, bob: Person) -> None:
    taught.solve(bob, 2)
    taught.send()
    other = Platform.add_column(platform, "Again", 10.0)
    taught.link = Link("link-9", {"lesson": LESSON}, other)
    taught.come(bob)
    taught.send()

    assert given(other, bob) == 2.0


def test_two_courses_of_a_platform_have_columns_of_their_own(taught: Course, platform: Platform, bob: Person) -> None:
    first = taught.column
    platform.context = platform.context + "-b"
    second = Course(platform, taught.app, taught.room)
    second.come(bob)
    second.solve(bob, 1)
    second.send()

    assert given(first, bob) == given(second.column, bob) == 1.0
    query = select(func.count()).select_from(LtiLineItem).where(LtiLineItem.url.in_((first.url, second.column.url)))
    assert taught.room.write(lambda db: db.scalar(query)) == 2


def test_an_assistant_or_a_demoted_learner_is_not_graded(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)
    taught.come(bob, **{CLAIM + "roles": [MEMBERSHIP + "Instructor"]})
    taught.solve(bob, 2)
    taught.send()

    assert (taught.waiting(), given(taught.column, bob)) == (0, None)


def test_a_link_without_the_right_to_grade_is_not_graded(taught: Course, platform: Platform) -> None:
    eve = platform.person(f"no-right-{platform.context}", "Eve")
    column = platform.add_column("No right")
    taught.link = Link("link-8", {"lesson": LESSON, "exercise": taught.exercises[1]}, column)
    taught.come(eve, **{AGS + "claim/endpoint": {"scope": [], "lineitem": column.url}})

    query = select(LtiLineItem.id).where(LtiLineItem.url == column.url)
    assert taught.room.write(lambda db: db.scalar(query)) is None


def test_servers_share_the_outbox_and_one_that_was_killed_leaves_its_part(taught: Course, bob: Person) -> None:
    taught.solve(bob, 1)
    taught.hurry()
    first, second = (taught.room.write(lti_scores.claim_due) for _ in range(2))
    assert (first.learner_id, second) == (taught.learner(bob), None)

    # That server has ended before it asked anybody.
    over = now() - LEASE
    taught.room.write(lambda db: db.execute(update(LtiScore).values(leased_until=over)))
    assert taught.send() == 1
    assert given(taught.column, bob) == 1.0
