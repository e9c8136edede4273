"""Cells: the entries of a small table, by number; those that change when one entry of an input does; or one of them.

What is right follows from the program, which is walked and not run.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from app.content.blocks import Forward
from app.content.blocks.exercises import ROUNDING, USUAL_TOLERANCE
from app.content.text.arithmetic import UnreadableError, number_of
from app.content.text.sizes import format_shape
from app.grading.diagnosis.evidence import Array
from app.grading.forward.data import draw_inputs
from app.grading.quiz.feedback import (
    THAT_HOLDS,
    Feedback,
    Shapes,
    count_text,
    right_feedback,
    underivable_feedback,
    unread_feedback,
    wrong_feedback,
)
from app.grading.reading.node import UntracedError
from app.grading.reading.walk import trace_program, values_of
from app.kinds.cells.block import CellsQuestion
from app.kinds.cells.product_text import product_text
from app.kinds.number.block import NumberQuestion
from app.kinds.number.mark import answered_each, spread_values

MOST = 64
NUDGE = 1e-3
_ZERO = 1e-9


def mark_cells(quiz: CellsQuestion, values: Sequence[str], _shapes: Shapes, forward: Forward | None) -> Feedback:
    answer = answer_of(quiz, forward)
    if answer is None:
        return underivable_feedback(quiz.of)
    names = names_of(quiz, answer.shape)
    if quiz.pick is not None:
        return _mark_picked(quiz, values, answer, names)
    return (
        _mark_ticked(quiz, values, answer, names) if quiz.feeds else _mark_filled(quiz, values, answer, names, forward)
    )


def answer_of(quiz: CellsQuestion, forward: Forward | None) -> Array | None:
    """The entries of the table, or for each of them whether it is right; None where the program cannot be walked."""
    if forward is None:
        return None
    try:
        array = _entries_that_read(quiz, forward, *quiz.feeds) if quiz.feeds else _entries(quiz, forward)
        array = array if quiz.pick is None else _picked_entries(quiz.pick, array)
    except (UntracedError, KeyError, IndexError, ValueError):
        return None
    return array if 0 < array.size <= MOST else None


def names_of(quiz: CellsQuestion, shape: Sequence[int]) -> list[str]:
    """The cells in the order of an answer: `dA[0, 1]`."""
    if not shape:
        return [quiz.of]
    return [f"{quiz.of}[{', '.join(map(str, index))}]" for index in product(*map(range, shape))]


def right_values(quiz: CellsQuestion, answer: Array) -> list[str]:
    """The right answer as it comes from the page."""
    flat = answer.ravel().tolist()
    if quiz.pick is not None:
        return [str(flat.index(True))]
    return [str(at) for at, fed in enumerate(flat) if fed] if quiz.feeds else [f"{item:.6g}" for item in flat]


def _entries(quiz: CellsQuestion, forward: Forward) -> Array:
    walk = trace_program(forward, quiz.at)
    return walk.values[quiz.of] if quiz.of in walk.values else walk.gradients[quiz.of.removeprefix("d")]


def _picked_entries(pick: tuple[int, ...] | str, entries: Array) -> Array:
    """For each of *entries*, whether it is the one to *pick*; of equal ones, each is."""
    if isinstance(pick, str):
        return np.asarray(np.isclose(entries, entries.max() if pick == "largest" else entries.min()))
    array = np.zeros(entries.shape, dtype=bool)
    array[pick] = True
    return array if np.count_nonzero(array) == 1 else np.zeros(entries.shape, dtype=bool)


def _mark_picked(quiz: CellsQuestion, values: Sequence[str], answer: Array, names: Sequence[str]) -> Feedback:
    chosen = [at for at in map(_as_index, values) if at is not None and at < len(names)]
    if not chosen:
        return unread_feedback("Choose one of the entries.")
    if len(chosen) > 1:
        return unread_feedback("Only one entry is asked for.")
    name = names[chosen[0]]
    if answer.ravel()[chosen[0]]:
        return right_feedback(THAT_HOLDS, name)
    for distractor in quiz.tempting:
        if _squeezed(distractor.value) == _squeezed(name):
            return wrong_feedback(distractor.html, name)
    return wrong_feedback(f"It is not `{name}`.", name)


def _as_index(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) < 4 else None


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _entries_that_read(quiz: CellsQuestion, forward: Forward, name: str, index: tuple[int, ...]) -> Array:
    drawn = draw_inputs(forward, forward.dims, quiz.name, "float64")
    point = {text: np.asarray(quiz.at.get(text, drawn[text])) for text in drawn}
    moved = {**point, name: point[name].astype(np.float64)}
    moved[name][index] += NUDGE
    return np.asarray(values_of(forward, moved)[quiz.of] != values_of(forward, point)[quiz.of])


def _tolerance(entry: float) -> float:
    return ROUNDING if abs(entry - round(entry)) <= _ZERO else USUAL_TOLERANCE


def _mark_filled(
    quiz: CellsQuestion, values: Sequence[str], answer: Array, names: Sequence[str], forward: Forward | None
) -> Feedback:
    texts = spread_values(values, len(names))
    asked = [
        NumberQuestion(
            place=quiz.place, name=name, answer=repr(float(entry)), rtol=_tolerance(float(entry)), atol=_ZERO
        )
        for name, entry in zip(names, answer.ravel(), strict=True)
    ]
    answers = answered_each(asked, texts, "cell", "cells")
    if isinstance(answers, Feedback):
        return answers
    if all(feedback.correct for feedback in answers):
        return right_feedback(f"That is `{quiz.of}`, entry by entry.")
    for tempting in quiz.tempting:
        entries = spread_values([tempting.value], len(texts))
        if len(entries) == len(texts) and all(map(_agree, texts, entries)):
            return wrong_feedback(tempting.html)
    if said := _product(quiz, texts, answer, forward):
        return wrong_feedback(f"{said}")
    off = [name for name, feedback in zip(names, answers, strict=True) if not feedback.correct]
    right = len(names) - len(off)
    tally = f"{right} of {len(names)} {'is' if right == 1 else 'are'} right."
    return wrong_feedback(f"{tally} Look at `{off[0]}` first.")


def _product(quiz: CellsQuestion, texts: Sequence[str], answer: Array, forward: Forward | None) -> str:
    """Which product the numbers *texts* are."""
    if forward is None:
        return ""
    try:
        given = np.array([number_of(text) for text in texts]).reshape(answer.shape)
    except UnreadableError:
        return ""  # read, but not as a plain number
    return product_text(quiz, forward, answer, given)


def _agree(text: str, entry: str) -> bool:
    try:
        return abs(float(text) - float(entry)) <= 1e-3 * max(1.0, abs(float(entry)))
    except ValueError:
        return text == entry


def _mark_ticked(quiz: CellsQuestion, values: Sequence[str], answer: Array, names: Sequence[str]) -> Feedback:
    words = [word for value in values for word in value.replace(",", " ").split()]
    chosen = {int(word) for word in words if word.isdecimal() and len(word) < 4 and int(word) < len(names)}
    if not chosen:
        return unread_feedback("Tick every cell that changes.")
    fed = set(np.flatnonzero(answer).tolist())
    entry = _entry(quiz)
    if chosen == fed:
        return right_feedback(
            f"`{entry}` feeds {count_text(len(fed), 'entry', 'entries')} of `{quiz.of}`, and no other."
        )
    for distractor in quiz.tempting:
        if {int(word) for word in distractor.value.replace(",", " ").split() if word.isdecimal()} == chosen:
            return wrong_feedback(distractor.html)
    extra, missing = sorted(chosen - fed), sorted(fed - chosen)
    if extra:
        return wrong_feedback(f"`{names[extra[0]]}` stays as it is when `{entry}` changes.")
    return wrong_feedback(f"`{names[missing[0]]}` changes, too." if len(chosen) > 1 else "It is not the only one.")


def _entry(quiz: CellsQuestion) -> str:
    name, index = quiz.feeds or (quiz.of, ())
    return f"{name}[{format_shape(index).strip('(),')}]" if index else name
