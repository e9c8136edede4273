"""The board of one exercise: what a class is stuck on now, counted over the newest attempt of each learner."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from markupsafe import Markup
from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import CodeBox, Course, Exercise, Forward, Lesson
from app.content.text.exercise_titles import exercise_title
from app.store import board
from app.store.board import ExerciseStatus
from app.store.database import now
from app.store.tables import Class, Membership
from app.teaching.dates import format_moment
from app.teaching.roster import distinct_names
from app.teaching.text_input import plain_letters
from app.web.pictures.graph import draw_graph, graph_rows
from app.web.pictures.scene import PictureInput
from app.web.pictures.svg import draw_bar
from app.web.views.attempt_mistakes import AttemptMistake, fault_of, most_often
from app.web.views.sections import is_in_section

STUCK_TIMES = 3
STUCK_FOR = timedelta(minutes=10)
GONE_AFTER = timedelta(minutes=90)
"""Whoever changed nothing for so long is not waiting for anybody."""


@dataclass(frozen=True, slots=True)
class MistakeBar:
    """Those who made one mistake, *of* so many in the class; *line* is what most wrote, where that is told."""

    fault: AttemptMistake
    people: tuple[Membership, ...]
    of: int
    line: str

    @property
    def count(self) -> int:
        return len(self.people)

    @property
    def drawn(self) -> Markup:
        """A bar as long as its share of the class."""
        return draw_bar((self.count / max(1, self.of), ""))


@dataclass(frozen=True, slots=True)
class WaitingLearner:
    """Learner who may need a visit, and why: the newest of so many wrong answers, *alike* if they have one code."""

    person: Membership
    times: int
    alike: bool
    idle: timedelta
    said: Markup

    @property
    def minutes(self) -> int:
        return int(self.idle.total_seconds() // 60)


@dataclass(frozen=True, slots=True)
class ExplanationEffect:
    """Effect of an explanation on those who had the mistake."""

    said: Markup
    then: int
    solved: int
    other: int

    @property
    def left(self) -> int:
        return self.solved + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """Board of one exercise of one class.

    Args:
        least: So many learners must share a mistake before their line is shown, or anything in a projection.
        explained: When it was explained last, with what became of the mistakes that were there then.
    """

    lesson: Lesson
    exercise: Exercise
    size: int
    solved: int
    untried: int
    bars: tuple[MistakeBar, ...]
    waiting: tuple[WaitingLearner, ...]
    least: int
    explained: datetime | None
    timezone: str
    since: tuple[ExplanationEffect, ...]
    forward: Forward | None
    names: Mapping[int, str]
    """Of the learners, namesakes told apart."""

    @property
    def explained_at(self) -> str:
        return format_moment(self.explained, self.timezone) if self.explained else ""

    @property
    def wrong(self) -> int:
        return sum(bar.count for bar in self.bars)

    @property
    def shared(self) -> tuple[MistakeBar, ...]:
        """Bars of mistakes that enough learners share to stay anonymous."""
        return tuple(bar for bar in self.bars if bar.count >= self.least)

    @property
    def others(self) -> int:
        """Number of learners with a mistake that few share."""
        return self.wrong - sum(bar.count for bar in self.shared)

    def rough(self, count: int) -> str:
        """Return *count* if it is large enough to stay anonymous."""
        return str(count) if count == 0 or count >= self.least else f"fewer than {self.least}"

    @property
    def lit(self) -> str:
        """The tensor whose line of the forward program most are stuck at; empty where it is none."""
        if self.forward is None:
            return ""
        stuck: Counter[str] = Counter()
        for bar in self.shared:
            stuck[line_at(self.forward, bar.fault)] += bar.count
        del stuck[""]
        return stuck.most_common(1)[0][0] if stuck else ""

    @property
    def graph(self) -> Markup:
        """The forward program, with that line lit."""
        if self.forward is None:
            return Markup()
        return draw_graph(PictureInput(given={"lit": self.lit}, of=None, forward=self.forward, shapes={}))


def line_at(forward: Forward, fault: AttemptMistake) -> str:
    """The first tensor of the statement that a gradient comes back through; empty where there is none.

    A tensor that several statements read has several ways back; a code that names one of them is about that one.
    """
    readers = [graph_row.name for graph_row in graph_rows(forward) if fault.name.removeprefix("d") in graph_row.reads]
    named = fault.key.rpartition(":")[2]
    return named if named in readers else readers[0] if readers else ""


async def board_view(
    db: AsyncSession, group: Class, lesson: Lesson, exercise: Exercise, *, least: int, label: str = ""
) -> BoardView:
    """Load the board of an exercise; with a *label*, of those alone who have it."""
    place = group.id, lesson.name, exercise.name
    everybody = await board.list_learners(db, group.id)
    people = {person.learner_id: person for person in everybody if is_in_section(person, label)}
    # Somebody may have joined since the first question.
    standings = {
        exercise_status.learner: exercise_status
        for exercise_status in await board.exercise_statuses(db, *place)
        if exercise_status.learner in people
    }
    stuck = {learner: exercise_status for learner, exercise_status in standings.items() if exercise_status.wrong}
    faults = await _faults(db, exercise, stuck)
    explained = await board.explained_at(db, *place)
    solved = sum(exercise_status.solved_at is not None for exercise_status in standings.values())
    tried = sum(
        exercise_status.solved_at is not None or exercise_status.tries > 0 for exercise_status in standings.values()
    )
    return BoardView(
        lesson=lesson,
        exercise=exercise,
        size=len(people),
        solved=solved,
        untried=len(people) - tried,
        bars=_bars(faults, people, least),
        waiting=_waiting(stuck, faults, people, await board.text_changes(db, *place)),
        least=least,
        explained=explained,
        timezone=group.timezone,
        since=await _since(db, place, exercise, explained, standings, faults) if explained else (),
        forward=lesson.forwards.get(exercise.forward or "") if isinstance(exercise, CodeBox) else None,
        names=distinct_names(everybody),
    )


async def _faults(
    db: AsyncSession, exercise: Exercise, stuck: Mapping[int, ExerciseStatus]
) -> dict[int, AttemptMistake]:
    texts = await board.said_in(
        db, [exercise_status.newest for exercise_status in stuck.values() if exercise_status.newest]
    )
    return {
        learner: fault_of(exercise, exercise_status.code, texts[exercise_status.newest])
        for learner, exercise_status in stuck.items()
        if exercise_status.newest in texts
    }


def _by_mistake(faults: Mapping[int, AttemptMistake]) -> Mapping[str, Sequence[int]]:
    """Learners who made the same mistake, by its key."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for learner, fault in faults.items():
        alike[fault.key].append(learner)
    return alike


def _bars(faults: Mapping[int, AttemptMistake], people: Mapping[int, Membership], least: int) -> tuple[MistakeBar, ...]:
    bars = []
    for group in _by_mistake(faults).values():
        # What was texts may quote a text: what was texts most often quotes the fewest.
        texts = Counter(faults[number] for number in group)
        line = most_often(faults[number].line for number in group) if len(group) >= least else ""
        members = sorted((people[number] for number in group), key=lambda membership: plain_letters(membership.name))
        bars.append(MistakeBar(texts.most_common(1)[0][0], tuple(members), len(people), line))
    return tuple(sorted(bars, key=lambda bar: (-bar.count, bar.fault.key)))


def _waiting(
    stuck: Mapping[int, ExerciseStatus],
    faults: Mapping[int, AttemptMistake],
    people: Mapping[int, Membership],
    changes: Mapping[int, datetime],
) -> tuple[WaitingLearner, ...]:
    """Those who repeat themselves or have stopped, the longest first."""
    waiting = []
    for learner, fault in faults.items():
        exercise_status = stuck[learner]
        moments = [at for at in (exercise_status.tried_at, changes.get(learner)) if at]
        idle = now() - max(moments)
        if idle < GONE_AFTER and (exercise_status.same >= STUCK_TIMES or idle >= STUCK_FOR):
            waiting.append(
                WaitingLearner(
                    people[learner], exercise_status.same, exercise_status.code is not None, idle, fault.said
                )
            )
    return tuple(sorted(waiting, key=lambda waiting_learner: (-waiting_learner.idle, -waiting_learner.times)))


async def _since(
    db: AsyncSession,
    place: tuple[int, str, str],
    exercise: Exercise,
    moment: datetime,
    standings: Mapping[int, ExerciseStatus],
    faults: Mapping[int, AttemptMistake],
) -> tuple[ExplanationEffect, ...]:
    """Of the mistakes that were there at *moment*, who has left them."""
    before = {
        exercise_status.learner: exercise_status
        for exercise_status in await board.exercise_statuses(db, *place, before=moment)
        if exercise_status.learner in standings
        and exercise_status.correct is False
        and (exercise_status.solved_at is None or exercise_status.solved_at > moment)
    }
    had = await _faults(db, exercise, before)
    effects = []
    for key, group in _by_mistake(had).items():
        solved = sum(standings[number].solved_at is not None for number in group)
        still = sum(number in faults and faults[number].key == key for number in group)
        effects.append(ExplanationEffect(had[group[0]].said, len(group), solved, len(group) - solved - still))
    return tuple(sorted(effects, key=lambda explanation_effect: -explanation_effect.then))


@dataclass(frozen=True, slots=True, eq=False)
class AssignedExercise:
    """An exercise that is assigned; *number* counts within its lesson."""

    lesson: Lesson
    exercise: Exercise
    number: int

    @property
    def value(self) -> str:
        return f"{self.lesson.slug}/{self.exercise.name}"

    @property
    def title(self) -> str:
        return exercise_title(self.exercise)


def by_lesson(all_places: Sequence[AssignedExercise]) -> list[tuple[Lesson, list[AssignedExercise]]]:
    return [
        (lesson, list(those))
        for lesson, those in groupby(all_places, key=lambda assigned_exercise: assigned_exercise.lesson)
    ]


async def assigned_places(db: AsyncSession, course: Course, group: int) -> list[AssignedExercise]:
    """Every exercise that the class *group* was given, in the order of the course."""
    assigned = await board.assigned_exercises(db, group)
    return [
        AssignedExercise(lesson, exercise, number)
        for lesson in course.lessons
        for number, exercise in enumerate(lesson.exercises, start=1)
        if board.has_exercise(assigned, lesson.name, exercise.name)
    ]
