"""Mistakes as many make them: a diagnosis code at a box, an answer to a question; and the lines that they stand in."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.content.blocks import Exercise, Lesson, Quiz
from app.engine.json_columns import decoded_answer, decoded_draw
from app.grading.judge.verdict import UNRECOGNISED
from app.grading.quiz.feedback import Shapes
from app.kinds.registry import answer_key, is_named_answer, mark_quiz, quiz_kind, select_draw
from app.practice.scheduler import slip_of

LONGEST_LINE = 160
STOPPED = "stopped"
"""In place of a code where a box was not judged to its end: the learner was told why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCount:
    """A line that so many *people* wrote."""

    line: str
    people: int


def mistake_key(exercise: Exercise, code: str | None, answer: str, verdict: str) -> str:
    """Text that is the same for all who made one mistake: the code, or the answer with the draw it was given to."""
    if not isinstance(exercise, Quiz):
        return code or STOPPED
    given = decoded_answer(answer)
    draw = 0 if quiz_kind(exercise).by_option or not exercise.draws else decoded_draw(verdict)
    return answer_key(exercise, draw, given if given is not None else [answer])


def answer_of(key: str) -> tuple[int, tuple[str, ...]]:
    """The draw and the answer in the key of a mistake at a question."""
    draw, *given = json.loads(key)
    return draw, tuple(given)


def is_recognised(lesson: Lesson, exercise: Exercise, key: str, shapes: Shapes) -> bool:
    """True if the author, or the diagnosis, has a sentence for that very mistake."""
    if not isinstance(exercise, Quiz):
        return slip_of(key) != UNRECOGNISED
    draw, given = answer_of(key)
    drawn = select_draw(exercise, draw)
    values = quiz_kind(drawn).values(given)
    return is_named_answer(drawn, mark_quiz(drawn, values, shapes, lesson.forwards.get(drawn.forward or "")))


def code_line(text: str, number: int | None) -> str:
    """Line *number* of *text*, from 1, without its comment and with single spaces; empty where there is none."""
    lines = text.split("\n")
    if number is None or not 0 < number <= len(lines):
        return ""
    return " ".join(lines[number - 1].partition("#")[0].split())[:LONGEST_LINE]


def line_of_code(verdict: str, code: str) -> int | None:
    """The line that a verdict (JSON) tells with *code*, or of the whole run; None where it tells of none.

    Args:
        code: As a try is kept with it, followed by the key of its numbers where it names no mistake.
    """
    try:
        entry = json.loads(verdict)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    names = [name for name in entry.get("names") or () if isinstance(name, dict)]
    number = next(
        (name.get("line") for name in names if code in (name.get("code"), name.get("key"))),
        entry.get("line"),
    )
    return number if isinstance(number, int) else None


def common_lines(written: Iterable[tuple[int, str]], least: int, most: int) -> tuple[LineCount, ...]:
    """Lines that at least *least* learners wrote, spaces aside, by *written* pairs of a learner and a line."""
    people: defaultdict[str, set[int]] = defaultdict(set)
    spelling: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for learner, line in written:
        if line:
            plain = "".join(line.split())
            people[plain].add(learner)
            spelling[plain][line] += 1
    shared = sorted((-len(who), plain) for plain, who in people.items() if len(who) >= least)
    return tuple(LineCount(line=spelling[plain].most_common(1)[0][0], people=-count) for count, plain in shared[:most])


def never_chosen(exercise: Exercise, keys: Sequence[str]) -> tuple[int, ...]:
    """Wrong options of a choice that were never chosen, from 0, given the *keys* of all mistakes."""
    options = getattr(exercise, "options", ())
    chosen = {value for key in keys for value in answer_of(key)[1]} if options else set()
    return tuple(number for number, option in enumerate(options) if not option.right and str(number) not in chosen)
