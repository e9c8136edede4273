"""Histories of a course, read from a database into columns."""

from array import array
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from app.content.blocks import Course, Exercise, Lesson
from app.insight.curves import FamilyMeetings, families_met, family_of_code
from app.insight.histories import SOLUTION, Histories, Ints, Openings, Solved, Tries, Visits, in_order
from app.insight.mistakes import mistake_key
from app.practice.scheduler import slip_of
from app.store import board, history_rows
from app.store.database import Database, now
from app.store.moments import PAGE, Place, list_editions
from app.store.written_sentences import sentences_shown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """All that a database holds about a course.

    Args:
        places: The exercises by number; *mistakes* are the keys of `mistake_key`, by number.
        meetings: With *families* of operations and their *slips*, each by number.
        written: Lesson, exercise and mistake of sentences that an instructor wrote for all who make it.
    """

    histories: Histories
    places: tuple[tuple[Lesson, Exercise], ...]
    editions: Mapping[Place, Sequence[tuple[str, datetime]]]
    mistakes: tuple[str, ...]
    meetings: FamilyMeetings
    families: tuple[str, ...]
    slips: tuple[str, ...]
    written: Set[tuple[str, str, str]]


@dataclass(slots=True)
class _Numbers:
    """Numbers of values, from 0, in the order in which they came."""

    numbers: dict[Any, int] = field(default_factory=dict)

    def of(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.numbers)


class _Rows:
    """Rows of whole numbers that grow: eight bytes each."""

    def __init__(self, kind: Any, columns: int) -> None:
        self._kind, self._columns, self._values = kind, columns, array("q")

    def add(self, *values: int) -> None:
        self._values.extend(values)

    def columns(self) -> Any:
        table: Ints = np.frombuffer(self._values, dtype=np.int64).reshape(-1, self._columns)
        return self._kind(*(np.ascontiguousarray(column) for column in table.T))


async def read_record(database: Database, course: Course, group: int | None = None) -> Record:
    """Read everything that learners did in *course*; what is no exercise of it now is left out.

    Args:
        group: A class: then of its learners, what its instructors may see: exercises that are assigned, no practice.
    """
    async with database.read() as db:
        editions, staff = await list_editions(db), frozenset(await history_rows.list_staff(db))
        learners = None if group is None else {row.learner_id for row in await board.list_learners(db, group)}
        assigned = None if group is None else await board.assigned_exercises(db, group)
        written = (await sentences_shown(db, group)).keys()
    reader = _Reader(course, staff, learners, assigned)
    async for page in history_rows.judged_tries(database):
        reader.add_tries(page)
    async for page in history_rows.first_moments(database):
        reader.add_moments(page)
    async for page in history_rows.solved_moments(database):
        reader.add_solved(page)
    if group is None:
        async for page in history_rows.practised_items(database):
            reader.add_practised(page)
    return reader.record(editions, written)


class _Reader:
    """Reader of rows into columns.

    Args:
        staff: Who is left out. *only* the others count, where these are given, and only what is *assigned*.
    """

    def __init__(
        self, course: Course, staff: frozenset[int], only: Set[int] | None = None, assigned: board.Asked | None = None
    ) -> None:
        self.staff, self.only = staff, only
        self.places = tuple(
            (lesson, exercise)
            for lesson in course.lessons
            for exercise in lesson.exercises
            if assigned is None or board.has_exercise(assigned, lesson.name, exercise.name)
        )
        self.at = {(lesson.name, exercise.name): number for number, (lesson, exercise) in enumerate(self.places)}
        self.lessons = {lesson.name: number for number, lesson in enumerate(course.lessons)}
        units = {lesson.name: number for number, unit in enumerate(course.units) for lesson in unit.lessons}
        self.units = [units[lesson.name] for lesson, _ in self.places]
        self.families_met = [families_met(lesson, exercise.name) for lesson, exercise in self.places]
        self.learners, self.mistakes, self.families, self.slips = _Numbers(), _Numbers(), _Numbers(), _Numbers()
        self.codes: dict[tuple[int, str], tuple[str | None, str]] = {}
        self.keys: dict[tuple[int, str | None, str, str], int] = {}
        self.met: set[tuple[int, int]] = set()
        self.tries, self.openings = _Rows(Tries, 5), _Rows(Openings, 4)
        self.visits, self.solved = _Rows(Visits, 3), _Rows(Solved, 3)
        self.meetings = _Rows(FamilyMeetings, 4)

    def _is_left_out(self, learner: int) -> bool:
        return learner in self.staff or (self.only is not None and learner not in self.only)

    def add_tries(self, page: Sequence[Any]) -> None:
        for number, learner, lesson, exercise, correct, code, at, answer, verdict in page:
            place = self.at.get((lesson, exercise))
            if place is None or self._is_left_out(learner):
                continue
            who = self.learners.of(learner)
            mistake = -1 if correct else self._mistake_of(place, code, answer, verdict)
            self.tries.add(number, who, place, mistake, at)
            if (who, place) not in self.met:
                self.met.add((who, place))
                self._meet(who, place, at, None if correct else code)

    def _mistake_of(self, place: int, code: str | None, answer: str, verdict: str) -> int:
        """Number of a mistake; what many write alike is read once."""
        key = place, code, answer, verdict
        number = self.keys.get(key)
        if number is None:
            number = self.mistakes.of(mistake_key(self.places[place][1], code, answer, verdict))
            self.keys[key] = number
        return number

    def _meet(self, learner: int, place: int, at: int, code: str | None) -> None:
        """Meet all families of an exercise; *code* is about one of them."""
        families = self.families_met[place]
        wrong, slip = self._family_and_slip(place, code) if code and families else (None, "")
        for family in dict.fromkeys((*families, *([wrong] if wrong else []))):
            slip_number = self.slips.of(slip) if family == wrong else -1
            self.meetings.add(learner, self.families.of(family), at, slip_number)

    def _family_and_slip(self, place: int, code: str) -> tuple[str | None, str]:
        if (place, code) not in self.codes:
            (lesson, exercise), slip = self.places[place], slip_of(code) or code
            self.codes[place, code] = family_of_code(lesson, exercise.name, code, slip), slip
        return self.codes[place, code]

    def add_moments(self, page: Sequence[Any]) -> None:
        for learner, lesson, exercise, what, at in page:
            if self._is_left_out(learner):
                continue
            if exercise == PAGE and lesson in self.lessons:
                self.visits.add(self.learners.of(learner), self.lessons[lesson], at)
            elif (place := self.at.get((lesson, exercise))) is not None:
                hint = int(what.rpartition("-")[2])
                self.openings.add(self.learners.of(learner), place, hint, at)

    def add_solved(self, page: Sequence[Any]) -> None:
        for learner, lesson, exercise, solved_at, solution_at in page:
            place = self.at.get((lesson, exercise))
            if place is None or self._is_left_out(learner):
                continue
            who = self.learners.of(learner)
            if solved_at:
                self.solved.add(who, place, solved_at)
            if solution_at:
                self.openings.add(who, place, SOLUTION, solution_at)

    def add_practised(self, page: Sequence[Any]) -> None:
        for learner, family, code, given_at in page:
            if not self._is_left_out(learner):
                slip = self.slips.of(slip_of(code) or code) if code else -1
                self.meetings.add(self.learners.of(learner), self.families.of(family), given_at, slip)

    def record(
        self, editions: Mapping[Place, Sequence[tuple[str, datetime]]], written: Set[tuple[str, str, str]]
    ) -> Record:
        histories = Histories(
            lessons=np.array([self.lessons[lesson.name] for lesson, _ in self.places], dtype=np.int64),
            units=np.array(self.units, dtype=np.int64),
            editions=[[_milliseconds(since) for _, since in editions.get(place, ())] for place in self.at],
            tries=in_order(self.tries.columns()),
            openings=self.openings.columns(),
            visits=self.visits.columns(),
            solved=self.solved.columns(),
            now=_milliseconds(now()),
        )
        return Record(
            histories=histories,
            places=self.places,
            editions=editions,
            mistakes=self.mistakes.values,
            meetings=self.meetings.columns(),
            families=self.families.values,
            slips=self.slips.values,
            written=written,
        )


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
