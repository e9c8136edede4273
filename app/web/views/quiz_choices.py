"""Choices of a quiz, and how the fields of a form become the answer that is marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.content.blocks import AxesQuestion, CellsQuestion, Forward, MatmulQuestion, OrderQuestion, Quiz
from app.content.blocks import ShapeQuestion as ShapeQuiz
from app.content.programs import statement_of
from app.content.sizes import format_shape
from app.grading.forward.facts import Shape
from app.grading.quiz.mark_axes import Axis, axes_offered, sums_offered
from app.grading.quiz.mark_cells import answer_of, names_of
from app.grading.quiz.mark_matmul import OfferedTensor, operands_offered
from app.grading.quiz.mark_order import places_in

PRODUCT_FIELDS = ("left", "left_transposed", "right", "right_transposed")


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """Entry that is asked: its name, such as `dA[0, 1]`, its place in the answer, and its text."""

    number: int
    name: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class LineToPlace:
    """A line of an order with its *number* on the page, and the *place* that was answered, or nothing."""

    number: int
    source: str
    place: str
    html: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizChoices:
    """Choices of an axes or matmul quiz; empty for the others.

    Args:
        statement: The line of the program that writes the tensor of which the shape is asked.
        lines: The lines of an order as they are shown first.
        grid, point: The cells of a table that is asked, row by row, and the numbers that its program starts from.
        sums: For every choice of axes the shape that is left, as text for a script: `0|(27,); 0 1|()`.
    """

    axes: tuple[Axis, ...] = ()
    sums: str = ""
    operands: tuple[OfferedTensor, ...] = ()
    statement: str = ""
    grid: tuple[tuple[AnswerCell, ...], ...] = ()
    point: tuple[tuple[str, str], ...] = ()
    lines: tuple[LineToPlace, ...] = ()


def quiz_choices(quiz: Quiz, shapes: Mapping[str, Shape], forward: Forward | None) -> QuizChoices:
    if isinstance(quiz, AxesQuestion):
        left = sums_offered(quiz, shapes)
        sums = "; ".join(
            f"{' '.join(map(str, axes_option.axes))}|{format_shape(axes_option.shape)}" for axes_option in left
        )
        return QuizChoices(axes=axes_offered(quiz, shapes), sums=sums)
    if isinstance(quiz, CellsQuestion):
        return QuizChoices(
            grid=_grid(quiz, forward), point=tuple((name, str(value)) for name, value in quiz.at.items())
        )
    if isinstance(quiz, OrderQuestion):
        return QuizChoices(lines=lines_to_place(quiz, ()))
    if isinstance(quiz, ShapeQuiz) and quiz.of and forward:
        return QuizChoices(statement=statement_of(quiz.of, forward))
    return (
        QuizChoices(operands=operands_offered(quiz, shapes, forward))
        if isinstance(quiz, MatmulQuestion)
        else QuizChoices()
    )


def _grid(quiz: CellsQuestion, forward: Forward | None) -> tuple[tuple[AnswerCell, ...], ...]:
    entries = answer_of(quiz, forward)
    if entries is None:
        return ()
    names = names_of(quiz, entries.shape)
    given = np.asarray(quiz.at[quiz.of]).ravel().tolist() if quiz.of in quiz.at else [""] * len(names)
    answer_cells = [
        AnswerCell(number, name, str(item)) for number, (name, item) in enumerate(zip(names, given, strict=True))
    ]
    width = entries.shape[-1] if entries.shape else 1
    return tuple(tuple(answer_cells[start : start + width]) for start in range(0, len(answer_cells), width))


def lines_to_place(quiz: OrderQuestion, given: Sequence[str]) -> tuple[LineToPlace, ...]:
    """Lines by their places in what was *given*; those without one come last."""
    places = places_in(quiz, given) if given else {}
    shown = list(enumerate(quiz.shown, start=1))
    rows = sorted(shown, key=lambda row: places.get(row[1], len(shown) + 1))
    said: list[str] = [order_step.html for order_step in quiz.steps] or [""] * len(quiz.lines)
    return tuple(LineToPlace(at, quiz.lines[line], str(places.get(line, "")), said[line]) for at, line in rows)


def product_of(given: Sequence[str]) -> list[str]:
    """The factors of a product as `mark` reads them, such as `X.T`, from the values of its fields."""
    fields = dict(zip(PRODUCT_FIELDS, given, strict=False))
    return [
        f"{fields[side]}.T" if fields.get(f"{side}_transposed") else fields[side]
        for side in ("left", "right")
        if fields.get(side)
    ]
