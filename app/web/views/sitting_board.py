"""A quiet sitting as an instructor sees it: how far each learner is, and what went wrong in each item."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.practice.practice_words import slip_words
from app.practice.scheduler import slip_of
from app.store.sitting_results import release_moment
from app.store.sittings import GRACE, OwnSitting, time_of
from app.store.tables import Membership, SittingAnswer, SittingRecord
from app.teaching.dates import format_moment
from app.teaching.roster import distinct_names
from app.web.views.sitting_view import clock_words


@dataclass(frozen=True, slots=True, kw_only=True)
class SitterView:
    """One learner on the page of the instructors."""

    learner: int
    name: str
    label: str
    time: str
    begun: str
    handed_in: str
    state: str
    switches: str
    needs_switch: bool
    right: int | None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item over all: how many have it right, and the slips that were made most, in words."""

    number: int
    right: int
    of: int
    slips: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingBoard:
    """A sitting as its instructors see it."""

    sitters: tuple[SitterView, ...]
    begun: int
    handed_in: int
    graded: int
    results: tuple[ItemResult, ...]
    released: str
    release: str
    programs: int
    wanted: int


MOST_SLIPS = 3


def board_of(
    own: OwnSitting,
    people: Sequence[Membership],
    records: Sequence[SittingRecord],
    answers: Sequence[SittingAnswer],
    zone: str,
    moment: datetime,
    programs: tuple[int, int],
) -> SittingBoard:
    """
    Args:
        programs: How many there are, and how many there shall be.
    """
    by_learner = {record.learner_id: record for record in records}
    learners = [person for person in people if person.role == "learner"]
    names = distinct_names(people)
    rights = Counter(answer.learner_id for answer in answers if answer.correct)
    sitters = tuple(
        _sitter(replace(own, record=by_learner.get(person.learner_id)), person, names[person.learner_id],
                rights[person.learner_id], zone, moment)
        for person in learners
    )  # fmt: skip
    shown_records = [record for record in records if record.learner_id in names]
    return SittingBoard(
        sitters=sitters,
        begun=sum(record.begun_at is not None for record in shown_records),
        handed_in=sum(replace(own, record=record).is_over(moment, GRACE) for record in shown_records),
        graded=sum(record.graded_at is not None for record in shown_records),
        results=item_results([answer for answer in answers if answer.learner_id in names]),
        released=format_moment(own.sitting.released_at, zone) if own.sitting.released_at else "",
        release=format_moment(release_moment(own.assignment, own.sitting, records), zone),
        programs=programs[0],
        wanted=programs[1],
    )


def _sitter(own: OwnSitting, person: Membership, name: str, right: int, zone: str, moment: datetime) -> SitterView:
    record, time = own.record, own.time
    over = own.is_over(moment)
    state = "handed in" if over else "writing" if record and record.begun_at else ""
    if not state and moment >= time.until:
        state = "did not begin"
    plain = time_of(own.assignment, own.sitting, None)
    own_window = f", from {format_moment(time.opens, zone)} to {format_moment(time.until, zone)}"
    handed_in = (record.handed_in_at or own.ends_at) if record and over else None
    by_clock = ", by the clock" if record and record.handed_in_by != "learner" else ""
    return SitterView(
        learner=person.learner_id,
        name=name,
        label=person.label or "",
        time=f"{time.minutes} min{own_window if time.opens != plain.opens or (record and record.until) else ''}",
        begun=clock_words(record.begun_at, zone) if record and record.begun_at else "",
        handed_in=f"{clock_words(handed_in, zone)}{by_clock}" if handed_in else "",
        state=state,
        switches=f"{record.switches} of {record.switches_allowed}" if record and record.switches else "",
        needs_switch=record is not None and not over and record.begun_at is not None
        and record.switches >= record.switches_allowed,
        right=right if record and record.graded_at else None,
    )  # fmt: skip


def item_results(answers: Sequence[SittingAnswer]) -> tuple[ItemResult, ...]:
    """Each item over all *answers*: a slip is one, whichever gradient and numbers it came to."""
    results = []
    for number in sorted({answer.item for answer in answers}):
        own = [answer for answer in answers if answer.item == number]
        slips = Counter(slip_of(answer.code) for answer in own if answer.code and not answer.correct)
        words = tuple(f"{slip_words(slip)} ({count})" for slip, count in slips.most_common(MOST_SLIPS))
        results.append(ItemResult(number, sum(answer.correct for answer in own), len(own), words))
    return tuple(results)
