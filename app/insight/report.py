"""Report on the items of a course: their numbers, what needs an author, and learning curves.

Nothing in it names a learner, and nothing is told of fewer than *least* of them: such a count is `FEW`, such a text
left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from app.content.blocks import Course, Quiz
from app.grading.quiz.feedback import Shapes
from app.grading.reading.shape_inference import infer_shapes
from app.insight.curves import LearningCurve, learning_curves
from app.insight.item_counts import HintCounts, ItemCounts, MistakeCounts, NextTries, count_items
from app.insight.mistakes import LineCount, code_line, common_lines, is_recognised, line_of_code, never_chosen
from app.insight.needs import MANY, Judged, Need, Sign, needs_of
from app.insight.people import meetings_of
from app.insight.reading import Record, read_record
from app.store import history_rows
from app.store.database import Database, now

FEW = -1
"""In place of a count of people that is too small to be told."""
PEOPLE = ("seen", "tried", "right", "first", "in_few", "after_hint", "after_solution", "left", "compared")
MOST_MISTAKES = 12
MOST_LINES = 6
NEWEST_TEXTS = 40
"""Texts of one mistake that are looked at for common lines."""
TEXTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedNeed:
    """A sign, with the number of the hint or the key of the mistake that it is *about*."""

    sign: Sign
    weight: float
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedMistake:
    """A mistake by its key, with the *lines* that it was made in; *recognised* if there is a sentence for it."""

    key: str
    people: int
    tries: int
    after: NextTries
    recognised: bool
    lines: tuple[LineCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedItem:
    """Numbers of an exercise in one of its *editions*, which count from 1; *since* when it is served, if that is known.

    Args:
        counts: Without mistakes; those that enough people made are *mistakes*.
        unrecognised: Wrong tries for which there is no sentence.
        never: Wrong options that were never chosen.
    """

    lesson: str
    exercise: str
    edition: int
    editions: int
    since: datetime | None
    counts: ItemCounts
    mistakes: tuple[ReportedMistake, ...]
    unrecognised: int
    never: tuple[int, ...]
    needs: tuple[ReportedNeed, ...]

    @property
    def current(self) -> bool:
        return self.edition == self.editions

    @property
    def weight(self) -> float:
        """Weight of its signs: the larger, the more it needs an author."""
        return sum(need.weight for need in self.needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseReport:
    """Report as of *made_at*, which tells of no fewer than *least* people; the items that need most come first."""

    made_at: datetime
    least: int
    items: tuple[ReportedItem, ...]
    curves: tuple[LearningCurve, ...]


REPORT: TypeAdapter[CourseReport] = TypeAdapter(CourseReport)


async def make_report(database: Database, course: Course, least: int, group: int | None = None) -> CourseReport:
    """Read what learners did in *course*, and count it.

    Args:
        group: A class: then of its learners alone, at what is assigned to them.
    """
    made_at = now()
    record = await read_record(database, course, group)
    counted = count_items(record.histories, meetings_of(record.histories))
    items = report_items(record, [item for item in counted if item.tried >= least], least)
    curves = learning_curves(record.meetings, record.families, record.slips, least)
    items = await _with_lines(database, record, items, least)
    return CourseReport(made_at=made_at, least=least, items=tuple(items), curves=curves)


def report_items(record: Record, counted: Sequence[ItemCounts], least: int) -> list[ReportedItem]:
    """Items as they are told, the neediest first."""
    newest = {item.place: item.edition for item in counted}
    current = [item for item in counted if newest[item.place] == item.edition]
    lessons = record.histories.lessons
    by_lesson = {
        lesson: [item for item in current if lessons[item.place] == lesson]
        for lesson in {int(lessons[item.place]) for item in current}
    }
    shapes = _Shapes(record)
    reported = [_item(record, item, by_lesson[int(lessons[item.place])], shapes, least) for item in counted]
    return sorted(reported, key=lambda item: -item.weight)


class _Shapes:
    """Shapes of forward programs, inferred once."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._inferred: dict[tuple[str, str], Shapes] = {}

    def of(self, place: int) -> Shapes:
        lesson, exercise = self._record.places[place]
        forward = lesson.forwards.get(exercise.forward or "")
        if forward is None:
            return {}
        key = lesson.name, forward.name
        if key not in self._inferred:
            self._inferred[key] = infer_shapes(forward)
        return self._inferred[key]


def _item(record: Record, item: ItemCounts, lesson: Sequence[ItemCounts], shapes: _Shapes, least: int) -> ReportedItem:
    place, exercise = record.places[item.place]
    editions = record.editions.get((place.name, exercise.name), ())
    mistakes = [_mistake(record, item.place, counts, shapes) for counts in item.mistakes]
    unrecognised = sum(mistake.tries for mistake in mistakes if not mistake.recognised)
    mistakes = [mistake for mistake in mistakes if mistake.people >= least]
    judged = Judged(item=item, lesson=lesson, unrecognised=unrecognised, by_answer=isinstance(exercise, Quiz))
    needs = needs_of(judged) if item in lesson else ()
    never = [record.mistakes[counts.mistake] for counts in item.mistakes] if item.tried >= MANY else None
    return ReportedItem(
        lesson=place.name,
        exercise=exercise.name,
        edition=item.edition + 1,
        editions=max(len(editions), item.edition + 1),
        since=editions[item.edition][1] if editions else None,
        counts=hide_few(item, least),
        mistakes=tuple(mistakes[:MOST_MISTAKES]),
        unrecognised=unrecognised,
        never=() if never is None else never_chosen(exercise, never),
        needs=tuple(_reported_need(record, need) for need in needs if _may_be_told(item, need, least)),
    )


def _mistake(record: Record, place: int, counts: MistakeCounts, shapes: _Shapes) -> ReportedMistake:
    lesson, exercise = record.places[place]
    key = record.mistakes[counts.mistake]
    return ReportedMistake(
        key=key,
        people=counts.people,
        tries=counts.tries,
        after=counts.after,
        recognised=(lesson.name, exercise.name, key) in record.written
        or is_recognised(lesson, exercise, key, shapes.of(place)),
    )


def _reported_need(record: Record, need: Need) -> ReportedNeed:
    about = "" if need.about is None else str(need.about)
    return ReportedNeed(
        sign=need.sign, weight=need.weight, about=record.mistakes[int(about)] if need.sign == "sentence" else about
    )


def _may_be_told(item: ItemCounts, need: Need, least: int) -> bool:
    people = {counts.mistake: counts.people for counts in item.mistakes}
    return need.sign != "sentence" or need.about is None or people[need.about] >= least


def hide_few(item: ItemCounts, least: int) -> ItemCounts:
    """*item* without its mistakes, and without what tells of fewer than *least* people."""
    values: dict[str, Any] = {name: rough(getattr(item, name), least) for name in PEOPLE}
    others = {"discrimination": item.compared, "median_tries": item.right, "most_tries": item.right}
    others |= {"work_minutes": item.right - item.first, "start_minutes": item.tried}
    values |= {name: None for name, people in others.items() if people < least}
    return replace(item, **values, hints=tuple(_hint(hint, least) for hint in item.hints), mistakes=())


def _hint(hint: HintCounts, least: int) -> HintCounts:
    after = hint.after if hint.after.tries >= least else NextTries()
    return replace(hint, people=rough(hint.people, least), after=after)


def rough(people: int, least: int) -> int:
    """*people*, or `FEW` where they are so few that each might be known."""
    return FEW if 0 < people < least else people


async def _with_lines(
    database: Database, record: Record, items: Iterable[ReportedItem], least: int
) -> list[ReportedItem]:
    """*items* with the lines that mistakes at code boxes were made in."""
    numbers = {key: number for number, key in enumerate(record.mistakes)}
    places = {(lesson.name, exercise.name): number for number, (lesson, exercise) in enumerate(record.places)}
    tries = record.histories.tries
    tries = tries.take(np.lexsort((tries.number, tries.place)))
    wanted: dict[tuple[int, str], list[int]] = {}
    for item in items:
        place = places[item.lesson, item.exercise]
        if not isinstance(record.places[place][1], Quiz):
            start, end = np.searchsorted(tries.place, [place, place + 1])
            for mistake in item.mistakes:
                rows = np.flatnonzero(tries.mistake[start:end] == numbers[mistake.key])[-NEWEST_TEXTS:]
                wanted[place, mistake.key] = [int(number) for number in tries.number[start:end][rows]]
    texts = await _texts(database, sorted({number for rows in wanted.values() for number in rows}))
    lines = {
        (place, key): common_lines(
            (
                (learner, code_line(text, line_of_code(verdict, key)))
                for learner, text, verdict in (texts[row] for row in rows)
            ),
            least,
            MOST_LINES,
        )
        for (place, key), rows in wanted.items()
    }
    return [
        replace(
            item,
            mistakes=tuple(
                replace(mistake, lines=lines.get((places[item.lesson, item.exercise], mistake.key), ()))
                for mistake in item.mistakes
            ),
        )
        for item in items
    ]


async def _texts(database: Database, numbers: Sequence[int]) -> Mapping[int, tuple[int, str, str]]:
    """Learner, text and verdict of attempts; nothing of one that was deleted since."""
    texts = dict.fromkeys(numbers, (0, "", ""))
    for start in range(0, len(numbers), TEXTS_AT_ONCE):
        async with database.read() as db:
            for number, learner, text, verdict in await history_rows.texts_of(
                db, numbers[start : start + TEXTS_AT_ONCE]
            ):
                texts[number] = learner, text, verdict
    return texts
