"""Pages of a quiet sitting as one learner has it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from app.content.blocks import CodeBox, Forward, Lesson
from app.practice.item_lessons import LEVELS
from app.practice.practice_words import family_words
from app.practice.sittings import SLOTS, SittingSlot
from app.store.progress import AttemptSummary, LessonState
from app.store.sitting_results import release_moment
from app.store.sittings import OwnSitting
from app.store.tables import Attempt, Draft, SittingAnswer, SittingRecord
from app.teaching.dates import format_moment, to_local
from app.web.site import Site
from app.web.views.exercise_view import CodeView, code_view

State = Literal["early", "undrawn", "open", "writing", "elsewhere", "over", "shown", "missed"]


@dataclass(frozen=True, slots=True)
class SittingItemView:
    """One item: its box as a learner has it, *right* where it is known; *written* tells that it is not empty."""

    number: int
    lesson: Lesson
    view: CodeView
    right: bool = False
    written: bool = True

    @property
    def program(self) -> Forward:
        """The program that it goes back through."""
        return next(iter(self.lesson.forwards.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingView:
    """A sitting as one learner has it; times are in words of the class's zone.

    Args:
        ends_at: When the time of a learner who writes is over; *left* says how long that is.
        results: When all is shown.
        by_clock: It was handed in by the clock.
        may_switch: They may go on here, on another device than *device*.
    """

    title: str
    state: State
    slots: tuple[str, ...]
    count: int
    minutes: int
    all_minutes: int
    opens: str
    until: str
    points: str
    tells_right: bool
    results: str
    begun: str = ""
    begun_at: str = ""
    ends: str = ""
    ends_at: str = ""
    seconds: int = 0
    left: str = ""
    handed_in: str = ""
    by_clock: bool = False
    device: str = ""
    switched: str = ""
    switched_at: str = ""
    may_switch: bool = False
    items: tuple[SittingItemView, ...] = ()
    right: int = 0

    @property
    def empty(self) -> int:
        """Number of items in which nothing is written."""
        return sum(not item.written for item in self.items)


def slot_words(slot: SittingSlot) -> str:
    """`2 exercises: sums, level 2 (three to five lines with a fork)`"""
    what = f": {family_words(slot.family).lower()}" if slot.family else ""
    exercises = "exercise" if slot.count == 1 else "exercises"
    return f"{slot.count} {exercises}{what}, level {slot.level} ({LEVELS[slot.level]})"


def left_words(seconds: float) -> str:
    """`12 minutes left`: never less than there is."""
    minutes = math.ceil(seconds / 60)
    return f"{minutes} minutes left" if minutes > 1 else "less than a minute left"


def seconds_left(ends: datetime, moment: datetime) -> int:
    """Whole seconds until a learner's time is over, for the clock of their page."""
    return max(0, math.floor((ends - moment).total_seconds()))


def sitting_state(own: OwnSitting, moment: datetime, token_hash: str) -> State:
    """State of a learner in a sitting, in the browser of *token_hash*."""
    record, time = own.record, own.time
    if record is not None and record.begun_at is not None:
        if own.is_over(moment):
            return "shown" if record.graded_at is not None else "over"
        return "writing" if record.token_hash == token_hash else "elsewhere"
    if moment < time.opens:
        return "early"
    if moment >= time.until:
        return "missed"
    return "open" if own.sitting.drawn_at is not None else "undrawn"


def sitting_view(
    own: OwnSitting,
    records: Sequence[SittingRecord],
    zone: str,
    moment: datetime,
    token_hash: str = "",
    items: Sequence[SittingItemView] = (),
) -> SittingView:
    """The page of one learner; *records* are those of all."""
    record, time, ends = own.record, own.time, own.ends_at
    slots = SLOTS.validate_json(own.sitting.slots_json)
    handed_in = (record.handed_in_at or (ends if own.is_over(moment) else None)) if record else None
    return SittingView(
        title=own.assignment.heading or "A quiet sitting",
        state=sitting_state(own, moment, token_hash),
        slots=tuple(map(slot_words, slots)),
        count=sum(slot.count for slot in slots),
        minutes=time.minutes,
        all_minutes=own.sitting.minutes,
        opens=format_moment(time.opens, zone),
        until=format_moment(time.until, zone),
        points=f"{own.assignment.points:g}",
        tells_right=own.sitting.shows == "right",
        results=format_moment(release_moment(own.assignment, own.sitting, records), zone),
        begun=clock_words(record.begun_at, zone) if record and record.begun_at else "",
        begun_at=record.begun_at.isoformat() if record and record.begun_at else "",
        ends=clock_words(ends, zone) if ends else "",
        ends_at=ends.isoformat() if ends else "",
        seconds=seconds_left(ends, moment) if ends else 0,
        left=left_words((ends - moment).total_seconds()) if ends else "",
        handed_in=format_moment(handed_in, zone) if handed_in else "",
        by_clock=record is not None and record.handed_in_by != "learner",
        device=(record.device or "another device") if record else "",
        switched=clock_words(record.switched_at, zone) if record and record.switched_at else "",
        switched_at=record.switched_at.isoformat() if record and record.switched_at else "",
        may_switch=record is not None and record.switches < record.switches_allowed,
        items=tuple(items),
        right=sum(item.right for item in items),
    )


def clock_words(moment: datetime, zone: str) -> str:
    """Hours and minutes of *moment* in the time of a *zone*."""
    return f"{to_local(moment, zone):%H:%M}"


def written_items(site: Site, lessons: Sequence[Lesson], drafts: Mapping[str, Draft]) -> list[SittingItemView]:
    """The items with what is written in them, and with nothing said of it."""
    return [_item(site, number, lesson, drafts, None) for number, lesson in enumerate(lessons, start=1)]


def graded_items(site: Site, lessons: Sequence[Lesson], answers: Sequence[SittingAnswer]) -> list[SittingItemView]:
    """The items with the full diagnosis of each answer, and the author's lines."""
    by_item = {answer.item: answer for answer in answers}
    return [_item(site, number, lesson, {}, by_item.get(number)) for number, lesson in enumerate(lessons, start=1)]


def _item(
    site: Site, number: int, lesson: Lesson, drafts: Mapping[str, Draft], answer: SittingAnswer | None
) -> SittingItemView:
    box = lesson.boxes[0]
    assert isinstance(box, CodeBox), "an item is a box"
    draft = drafts.get(box.name)
    state = LessonState(
        drafts={box.name: draft} if draft else {},
        tries={box.name: _tries(answer)} if answer and answer.verdict_json else {},
    )
    shapes = site.shapes.known(lesson, box)
    view = code_view(site.kept, lesson, box, state, site.scope(lesson, box), shapes)
    view = replace(view, nudges={})
    text = answer.text if answer else draft.text if draft else ""
    if answer is not None:
        view = replace(view, code=text, solved=answer.correct, solution=replace(view.solution, shown=True, own=""))
    return SittingItemView(
        number, lesson, view, right=answer is not None and answer.correct, written=bool(text.strip())
    )


def _tries(answer: SittingAnswer) -> AttemptSummary:
    attempt = Attempt(text=answer.text, verdict_json=answer.verdict_json, correct=answer.correct, code=answer.code)
    return AttemptSummary(1, int(not answer.correct), attempt)
