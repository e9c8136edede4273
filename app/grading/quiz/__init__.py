"""Marks quiz answers. Everything is derived from the forward program's shapes; any text is a valid argument."""

from collections.abc import Mapping
from functools import partial

from app.content.blocks import (
    AxesQuestion,
    CellsQuestion,
    ChoiceQuestion,
    MatmulQuestion,
    NumberQuestion,
    NumbersQuestion,
    OrderQuestion,
    ShapeQuestion,
)
from app.grading.quiz.feedback import Mark, mark_with
from app.grading.quiz.mark_axes import mark_axes
from app.grading.quiz.mark_cells import mark_cells
from app.grading.quiz.mark_choice import mark_choice
from app.grading.quiz.mark_matmul import mark_matmul
from app.grading.quiz.mark_number import mark_number, mark_numbers
from app.grading.quiz.mark_order import mark_order
from app.grading.quiz.mark_shape import mark_shape

__all__ = ["mark"]

MARKS: Mapping[type, Mark] = {
    ShapeQuestion: mark_shape,
    NumberQuestion: mark_number,
    NumbersQuestion: mark_numbers,
    ChoiceQuestion: mark_choice,
    AxesQuestion: mark_axes,
    MatmulQuestion: mark_matmul,
    OrderQuestion: mark_order,
    CellsQuestion: mark_cells,
}

mark = partial(mark_with, MARKS)
