"""The home of a class: for its instructors how it gets on, for a learner what is due."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Lesson
from app.insight.gain import Gain
from app.store import board
from app.store.assignments import Deadline
from app.store.classes import ClassMember
from app.store.database import now
from app.store.grades import Grade, build_gradebook
from app.store.progress import SITTINGS
from app.store.tables import Assignment, Attempt, Membership, Progress
from app.teaching import dates
from app.teaching.codes import shown_code
from app.teaching.roster import distinct_names
from app.web.site import Site
from app.web.views.occasion_view import class_gain, measured_span
from app.web.views.slips_view import RecentMistake, recent_mistakes

MAX_STUCK_LEARNERS = 3
STUCK_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class DueAssignment:
    """Assignment on the home page: *solved* is a share, of all who joined or of oneself. Times in words.

    Of a *sitting* nothing is counted before its grades are there.
    """

    lesson: Lesson | None
    name: str
    opens: str
    due: str
    late: str
    solved: float
    done: int
    total: int
    closed: bool
    sitting: bool


@dataclass(frozen=True, slots=True)
class StuckLearner:
    person: Membership
    name: str
    wrong: int


@dataclass(frozen=True, slots=True)
class HomeView:
    """*watching* is who sees the others; the rest is empty for a learner."""

    watching: bool
    assignments: tuple[DueAssignment, ...]
    stuck: tuple[StuckLearner, ...] = ()
    mistakes: tuple[RecentMistake, ...] = ()
    code: str = ""
    joined: int = 0
    gain: Gain | None = None
    measures: bool = False


async def home_view(site: Site, within: ClassMember, least: int) -> HomeView:
    """The home for instructors and assistants; what a class gained is shown of *least* learners and more."""
    group, measures = within.group, measured_span(site) is not None
    async with site.database.read() as db:
        book = await build_gradebook(db, group, site.exercises)
        stuck = await most_stuck(db, group.id)
        mistakes = await recent_mistakes(db, site.assigned, group.id, dates.start_of_day(group.timezone, now()))
    joined_rows = [row for row in book.rows if row.person.joined_at is not None and row.left_at is None]
    columns = [[row.grades[at] for row in joined_rows] for at in range(len(book.assignments))]
    return HomeView(
        watching=True,
        assignments=tuple(_due(site, within, *pair) for pair in zip(book.assignments, columns, strict=True)),
        stuck=tuple(stuck),
        mistakes=tuple(mistakes[:MAX_STUCK_LEARNERS]),
        code=shown_code(group.join_code) if group.join_code and within.is_at_least("instructor") else "",
        joined=len(joined_rows),
        gain=await class_gain(site, group.id, least) if measures else None,
        measures=measures,
    )


async def own_view(site: Site, within: ClassMember) -> HomeView:
    async with site.database.read() as db:
        book = await build_gradebook(db, within.group, site.exercises, within.person.learner_id)
    own = book.rows[0].grades
    return HomeView(
        watching=False,
        assignments=tuple(
            _due(site, within, assignment, [got]) for assignment, got in zip(book.assignments, own, strict=True)
        ),
        measures=measured_span(site) is not None,
    )


def _due(site: Site, within: ClassMember, assignment: Assignment, grades: list[Grade]) -> DueAssignment:
    done, total = sum(got.in_time + got.late for got in grades), sum(got.total for got in grades)
    common = Deadline(assignment.due_at, assignment.late_until)
    due, late = common if within.is_at_least("assistant") else grades[0].deadline
    zone = within.group.timezone
    return DueAssignment(
        lesson=site.assigned_as(assignment),
        name=assignment.lesson,
        opens=dates.format_moment(assignment.opens_at, zone)
        if assignment.opens_at and assignment.opens_at > now()
        else "",
        due=dates.format_moment(due, zone) if due else "",
        late=dates.format_moment(late, zone) if late and late > (due or late) else "",
        solved=done / total if total else 0.0,
        done=done,
        total=total,
        closed=due is not None and now() > max(due, late or due),
        sitting=assignment.lesson.startswith(SITTINGS),
    )


async def most_stuck(db: AsyncSession, group: int) -> list[StuckLearner]:
    """List learners with the most wrong answers, these days, at assigned exercises that they have not solved yet."""
    assigned = await board.assigned_exercises(db, group)
    solved = (
        select(Progress.learner_id)
        .where(
            Progress.learner_id == Attempt.learner_id,
            Progress.lesson == Attempt.lesson,
            Progress.exercise == Attempt.exercise,
            Progress.solved_at.is_not(None),
        )
        .exists()
    )
    wrong = (
        select(Attempt.learner_id, Attempt.lesson, Attempt.exercise, func.count())
        .join(Membership, Membership.learner_id == Attempt.learner_id)
        .where(
            Membership.class_id == group,
            Membership.role == "learner",
            Membership.left_at.is_(None),
            Membership.joined_at.is_not(None),
            Attempt.lesson.in_(list(assigned)),
            Attempt.correct.is_(False),
            Attempt.created_at > now() - STUCK_FOR,
            ~solved,
        )
        .group_by(Attempt.learner_id, Attempt.lesson, Attempt.exercise)
    )
    counts: dict[int, int] = {}
    for learner, lesson, exercise, count in await db.execute(wrong):
        some = assigned[lesson]
        if some is None or exercise in some:
            counts[learner] = counts.get(learner, 0) + count
    people = {membership.learner_id: membership for membership in await board.list_learners(db, group)}
    names = distinct_names(people.values())
    worst = sorted(counts, key=lambda number: (-counts[number], number))[:MAX_STUCK_LEARNERS]
    return [StuckLearner(people[number], names[number], counts[number]) for number in worst if number in people]
