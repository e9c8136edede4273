"""Which mistakes are made at which kind of operation: by a class, or by one learner."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape
from sqlalchemy.ext.asyncio import AsyncSession

from app.bindings import first_use
from app.content.blocks import CodeBox, Exercise, Forward, Lesson
from app.grading.judge.verdict import OTHER_ROAD
from app.grading.operations.table import NAMES, OPERATIONS
from app.practice.practice_words import slip_words
from app.practice.scheduler import slip_of
from app.store import board
from app.store.board import SlipCounts
from app.syntax import parse_code

MOST_SLIPS = 12
MANY_WAYS, OTHER = "forks", "other boxes"
FUNCTIONS = "functions"
GROUPS: Mapping[str, str] = {
    "@": "matrix products",
    "+": "sums of tensors",
    "-": "sums of tensors",
    "*": "products, quotients",
    "/": "products, quotients",
    "**": "powers",
    "[]": "picks",
    "=": "copies",
}
"""By the use that is made of a tensor: what its operation is called; the others have the names of functions."""
PRACTICE = "practice"
Known = Callable[[str], Lesson | None]
"""A lesson by its name, where it is shown."""


@dataclass(frozen=True, slots=True)
class SlipCount:
    """One kind of mistake: in each family of operations, how often, and its share there in percent."""

    said: Markup
    counts: tuple[int, ...]
    shares: tuple[int, ...]
    total: int

    def heat(self, at: int) -> int:
        """From 0 to 4, how much of a family this mistake is."""
        return -(-self.shares[at] // 25)


@dataclass(frozen=True, slots=True)
class SlipsView:
    """Slips by *families* of operations, the most frequent first; *left_out* are too rare to be shown."""

    families: tuple[str, ...]
    slips: tuple[SlipCount, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class RecentMistake:
    """A mistake that some learners made lately."""

    lesson: Lesson
    exercise: Exercise
    said: Markup
    learners: int


def slips_view(known: Known, counted: Iterable[SlipCounts], *, by_learners: bool) -> SlipsView:
    """The table of *counted* at lessons that are *known*; *by_learners* counts people, otherwise attempts."""
    cells: defaultdict[Markup, Counter[str]] = defaultdict(Counter)
    for slip_counts in counted:
        lesson = known(slip_counts.lesson)
        if lesson is not None and slip_of(slip_counts.code) != OTHER_ROAD:
            count = slip_counts.learners if by_learners else slip_counts.attempts
            cells[said_of(lesson, slip_counts.exercise, slip_counts.code)][
                family_of(lesson, slip_counts.exercise, slip_counts.code)
            ] += count
    totals = sum(cells.values(), Counter[str]())
    families = tuple(name for name, _ in totals.most_common())
    ordered = sorted(cells.items(), key=lambda item: (-item[1].total(), item[0]))
    slips = tuple(
        SlipCount(
            words,
            tuple(row[family] for family in families),
            tuple(round(100 * row[family] / totals[family]) for family in families),
            row.total(),
        )
        for words, row in ordered[:MOST_SLIPS]
    )
    return SlipsView(families, slips, len(ordered) - len(slips))


def said_of(lesson: Lesson, exercise: str, code: str) -> Markup:
    """A kind of mistake in words: those of the author, where the author declared it."""
    slip, box = slip_of(code) or code, lesson.named.get(exercise)
    number = slip.removeprefix("declared-")
    declared = box.mistakes if isinstance(box, CodeBox) else ()
    if number != slip and number.isdecimal() and len(number) < 4 and 0 < int(number) <= len(declared):
        return declared[int(number) - 1].html
    return escape(slip_words(slip))


def family_of(lesson: Lesson, exercise: str, code: str) -> str:
    """The kind of operation that a gradient comes back through; of what was drawn for each, that it was practice."""
    if lesson.drawn:
        return PRACTICE
    box = lesson.named.get(exercise)
    forward = lesson.forwards.get(box.forward or "") if isinstance(box, CodeBox) else None
    if forward is None or not code.startswith("d"):
        return OTHER
    if slip_of(code).startswith("share"):
        return MANY_WAYS
    return operation_on(forward, code.partition(":")[0].removeprefix("d"))


def operation_on(forward: Forward, tensor: str) -> str:
    """The family of the operation that reads *tensor* first."""
    use = first_use(parse_code(forward.source), tensor)
    return OTHER if use is None else GROUPS.get(use) or _group(use)


def _group(name: str) -> str:
    return OPERATIONS[NAMES[name]].group or FUNCTIONS if name in NAMES else FUNCTIONS


async def recent_mistakes(db: AsyncSession, known: Known, class_id: int, since: datetime) -> list[RecentMistake]:
    """The mistakes at lessons that are *known* since a moment, the most frequent first."""
    mistakes = []
    for slip_counts in await board.slip_counts(db, class_id, since=since):
        lesson = known(slip_counts.lesson)
        exercise = lesson.named.get(slip_counts.exercise) if lesson else None
        if lesson and exercise and slip_of(slip_counts.code) != OTHER_ROAD:
            mistakes.append(
                RecentMistake(
                    lesson, exercise, said_of(lesson, slip_counts.exercise, slip_counts.code), slip_counts.learners
                )
            )
    return mistakes
