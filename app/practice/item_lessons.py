"""Items of practice as lessons of their own, so that pages, answers and checks treat them as they treat a lesson."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from app.cache import LruCache
from app.content.blocks import Bug, Course, Grad, Lesson
from app.content.blocks.exercises import Hint
from app.content.text.sentences import render_sentence
from app.practice.derived_hints import explain_lines, line_at_fault, principle
from app.practice.forms import (
    completion_exercise,
    lines_around,
    order_form,
    shapes_and_axes,
    worked_form,
)
from app.practice.item import GeneratedItem
from app.practice.operations import OPERATIONS, can_show
from app.practice.planted import chosen, hunted, is_planted
from app.practice.practice_words import family_words
from app.practice.session_plans import SETS, PracticeSet, set_called
from app.practice.sitting_names import sitting_named
from app.practice.taught import Kind, families_of, operations_in, operations_of, taught_by
from app.store.cards import lesson_of_item
from app.store.tables import PracticeItem

MOST_PARSED = 512
TITLES: Mapping[str, str] = {
    "write": "Write the backward pass",
    "worked": "A worked example",
    "fade": "One line is missing",
    "bug": "Find the bug",
    "order": "Put the lines in order",
    "shapes": "Shapes and sums",
    "which": "Which of the two?",
}
"""What an item is called, by its form."""
PARTLY_WRITTEN = "Three lines are missing"
WITHOUT_SUMS = "Shapes"

LINES_WRITTEN: Mapping[str, int] = {"write": 3, "fade": 1}
"""Forms that leave lines open, and how many at most. It is stored which: `write-2` opens three lines from the third on,
and `write` is a pass that has no more.
"""
FORM_RENDERERS: Mapping[str, Callable[[GeneratedItem], str | None]] = {
    "worked": worked_form,
    "order": order_form,
    "shapes": shapes_and_axes,
}
"""How the same program is asked in other ways than to write it."""
PLANTED: Mapping[str, Callable[[GeneratedItem, str, str, str], tuple[str, str] | None]] = {
    "which": chosen,
    "bug": hunted,
}
"""Forms with a wrong line. What is wrong with it is stored as well: `bug-sign`."""


def render_form(item: GeneratedItem, form: str, family: str, slip: str, avoided: str = "") -> tuple[str, str] | None:
    """The *form* as it is stored, and *item* in it; None where the program has no such form, or is written whole.

    Args:
        avoided: What is wrong with a planted line only where nothing else can be.
    """
    if form in LINES_WRITTEN:
        line = line_of(item, family, slip)
        left_open = lines_around(item, line, LINES_WRITTEN[form])
        if form == "write" and len(left_open) == len(item.lines):
            return None
        return f"{form}-{left_open.start}", completion_exercise(item, left_open, line)
    if form in PLANTED:
        found = PLANTED[form](item, family, slip, avoided)
        return (f"{form}-{found[0]}", found[1]) if found else None
    fragment = FORM_RENDERERS[form](item) if form in FORM_RENDERERS else None
    return (form, fragment) if fragment else None


def form_of(row: PracticeItem) -> str:
    """The form of *row*, without the lines that it leaves open."""
    return row.form.partition("-")[0]


def lines_open(row: PracticeItem) -> range | None:
    """Indices of the lines that *row* leaves open, as far as its solution has them; None where all are written."""
    form, _, first = row.form.partition("-")
    return range(int(first), int(first) + LINES_WRITTEN[form]) if form in LINES_WRITTEN and first else None


def title_of(row: PracticeItem) -> str:
    """Title of the item: by its form, and by what it asks where forms differ in that."""
    if row.form.startswith("write-"):
        return PARTLY_WRITTEN
    return WITHOUT_SUMS if row.form == "shapes" and "{axes}" not in row.fragment else TITLES[form_of(row)]


def families_written(row: PracticeItem) -> frozenset[str]:
    """Families of the operations whose lines are written."""
    lines = lines_open(row)
    if lines is None:
        return families_of(json.loads(row.operations_json))
    return families_of(json.loads(row.line_operations_json)[lines.start : lines.stop])


def line_of(item: GeneratedItem, family: str, slip: str = "") -> int:
    """The index of the longest line of the solution that undoes an operation of *family*, and can show *slip*."""
    own = [at for at, by in enumerate(item.by) if OPERATIONS[by].family == family]
    showing = [at for at, by in enumerate(item.by) if slip and can_show(item.lines[at], by, family, slip)]
    return max(showing or own, key=lambda at: len(item.lines[at])) if showing or own else item.key


def asks_for(row: PracticeItem, lesson: Lesson, family: str, slip: str) -> bool:
    """True if *slip* at *family* can be made at the item of *row*, or is planted there, in a line that is asked for."""
    item, box = item_of(row), lesson.exercises[0]
    if isinstance(box, Bug):
        lines: Iterable[int] = [box.line - 1] if is_planted(row.form.partition("-")[2], slip) else ()
    else:
        lines = lines_open(row) or range(len(item.lines))
    return any(can_show(item.lines[at], item.by[at], family, slip) for at in lines if at < len(item.lines))


LEVELS: Mapping[int, str] = {
    1: "two or three lines, no fork",
    2: "three to five lines with a fork",
    3: "six to eight lines with several forks",
}


class Curriculum:
    """Practice that the lessons of a course have taught."""

    def __init__(self, course: Course) -> None:
        self.lessons = {lesson.name: lesson for lesson in course.lessons}

    @cached_property
    def taught(self) -> Mapping[str, frozenset[Kind]]:
        """By lesson, in course order, the kinds of steps that it asks about; only those with an operation."""
        kinds = {name: taught_by(lesson) for name, lesson in self.lessons.items()}
        return {name: kind for name, kind in kinds.items() if operations_of(kind)}

    @cached_property
    def sets(self) -> Mapping[str, PracticeSet]:
        """Practice sets that can be assigned, by key, as their first round.

        Each family that the course teaches, for so many exercises or minutes, and each level.
        """
        families = sorted(families_of(self.operations_of(self.lessons)))
        practice_sets = [PracticeSet(family, family_words(family), family=family) for family in families]
        practice_sets += [
            PracticeSet(f"level-{level}", f"level {level} ({words})", level=level)
            for level, words in LEVELS.items()
            if families
        ]
        practice_sets += [
            PracticeSet(f"minutes-{family}", f"ten minutes of {family_words(family).lower()}", family, timed=True)
            for family in families
        ]
        return {practice_set.key: practice_set for practice_set in practice_sets}

    def assigned(self, name: str) -> Lesson | None:
        """Find what a class was assigned under *name*: a lesson, any round of practice, or a sitting."""
        if sitting := sitting_named(name):
            return sitting.lesson
        practice = self.set_called(name)
        return practice.lesson if practice else self.lessons.get(name)

    def set_called(self, name: str) -> PracticeSet | None:
        """The practice that is assigned as a lesson of that *name*, in any of its rounds."""
        return set_called(name.removeprefix(SETS), self.sets) if name.startswith(SETS) else None

    def next_round(self, name: str, given: Iterable[str]) -> Lesson | None:
        """Find what is assigned by *name*: of practice a round that is not among those *given*."""
        practice = self.set_called(name)
        if sitting_named(name):
            return None  # it is made for its class, and given to no other
        if practice is None:
            return self.assigned(name)
        rounds = (before.number for each in given if (before := self.set_called(each)) and before.kind == practice.kind)
        return practice.round(max(rounds, default=0) + 1).lesson

    @cached_property
    def first(self) -> Lesson | None:
        """The first lesson that teaches something to practise."""
        return next((self.lessons[name] for name in self.taught), None)

    def families_in(self, lesson: str) -> frozenset[str]:
        return families_of(self.operations_of([lesson]))

    def operations_of(self, lessons: Iterable[str]) -> frozenset[str]:
        """Operations that *lessons* have taught together."""
        return operations_of(kind for name in lessons for kind in self.taught.get(name, ()))

    def families_at(self, lesson: str, exercises: Iterable[str]) -> Iterator[str]:
        """The families of operations in the programs of those of *exercises* that are answered with gradients."""
        home = self.lessons.get(lesson)
        boxes = (home.exercise(name) for name in exercises) if home else ()
        for box in boxes:
            if home and isinstance(box, Grad) and box.forward in home.forwards:
                yield from families_of(operations_in(home.forwards[box.forward]))


def exercises_in(lesson: Lesson | None) -> tuple[str, ...]:
    """The names of its exercises; none where there is no lesson."""
    return tuple(exercise.name for exercise in lesson.exercises) if lesson else ()


class PracticeItems:
    """Cache of parsed items, so that a block is the same object while a learner works at it."""

    def __init__(self) -> None:
        self._lessons = LruCache[int, Lesson | None](MOST_PARSED)
        self._hinted = LruCache[tuple[int, tuple[int, ...]], Lesson](MOST_PARSED)

    def lesson(self, row: PracticeItem, faults: Sequence[str] = ("",)) -> Lesson | None:
        """*row* as a lesson; None for a text of long ago that is none any more.

        Args:
            faults: Diagnosis codes of what was not right yet as each hint was opened, and of what is not now: each
                hint stays as it was opened, and those to come are about the line that is wrong now.
        """
        lesson = self._lessons.of(row.id, lambda: _parse_row(row))
        if lesson is None or form_of(row) not in LINES_WRITTEN:
            return lesson
        item = item_of(row)
        lines = lines_open(row) or range(len(item.lines))
        asked = tuple(_line_hinted(item, lines, code) for code in faults)
        return self._hinted.of((row.id, asked), partial(_with_hints, lesson, item, asked))


def _line_hinted(item: GeneratedItem, lines: range, code: str) -> int:
    """The index of the line that a diagnosis *code* is about; the first one that is open for none."""
    # Of a gradient with several lines the open one; a given line is asked about only where it was changed.
    found = line_at_fault(item.lines[lines.start : lines.stop], item.by[lines.start : lines.stop], code)
    changed = line_at_fault(item.lines, item.by, code) if found is None else None
    return lines.start + (found or 0) if changed is None else changed


def _with_hints(lesson: Lesson, item: GeneratedItem, asked: tuple[int, ...]) -> Lesson:
    """*lesson* with a hint for each line of *asked*, and all that are left for the last of them."""
    left: dict[int, list[Hint]] = {}
    shown_rules: set[str] = set()

    def begin(line: int) -> list[Hint]:
        """The hints for *line* that are left; a rule that an open one has told is not told again."""
        rule = principle(item.lines[line], item.by[line])
        if line not in left:
            left[line] = list(item.hints_at(line))[rule in shown_rules :]
            shown_rules.add(rule)
        return left[line]

    opened = [ladder.pop(0) for line in asked[:-1] if (ladder := begin(line))]
    hints = (*opened, *begin(asked[-1]))
    return _boxes(lesson, lambda box: replace(box, hints=hints))


def item_of(row: PracticeItem) -> GeneratedItem:
    """Restore a generated item from its row."""
    return GeneratedItem(
        version=row.version,
        level=row.level,
        seed=row.seed,
        wanted=row.wanted,
        within=tuple(json.loads(row.within_json)),
        forward=row.forward,
        solution=row.solution,
        by=tuple(json.loads(row.line_operations_json)),
        operations=tuple(load for load in json.loads(row.operations_json) if load in OPERATIONS),
        points=round(row.points),
    )


def _parse_row(row: PracticeItem) -> Lesson | None:
    item = item_of(row)
    lesson, _ = item.parsed(row.fragment)
    if lesson is None:
        return None
    if form_of(row) in LINES_WRITTEN:
        said = tuple(map(render_sentence, explain_lines(item.lines, item.by)))
        lesson = _boxes(lesson, lambda box: replace(box, explained=said))
    return replace(
        lesson,
        name=lesson_of_item(row.id),
        slug=str(row.id),
        title=title_of(row),
        address=f"/practice/{row.id}",
        drawn=True,
    )


def _boxes(lesson: Lesson, change: Callable[[Grad], Grad]) -> Lesson:
    return replace(lesson, blocks=tuple(change(block) if isinstance(block, Grad) else block for block in lesson.blocks))
