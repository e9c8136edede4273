"""Marks quiz answers. Everything is derived from the forward program's shapes; any text is a valid argument."""

from collections.abc import Mapping
from functools import partial

from app.content.blocks import Axes, Cells, Choice, Matmul, Number, Numbers, Order, Shape
from app.grading.quiz.feedback import Mark, marked
from app.grading.quiz.mark_axes import mark_axes
from app.grading.quiz.mark_cells import mark_cells
from app.grading.quiz.mark_choice import mark_choice
from app.grading.quiz.mark_matmul import mark_matmul
from app.grading.quiz.mark_number import mark_number, mark_numbers
from app.grading.quiz.mark_order import mark_order
from app.grading.quiz.mark_shape import mark_shape

__all__ = ["mark"]

MARKS: Mapping[type, Mark] = {
    Shape: mark_shape,
    Number: mark_number,
    Numbers: mark_numbers,
    Choice: mark_choice,
    Axes: mark_axes,
    Matmul: mark_matmul,
    Order: mark_order,
    Cells: mark_cells,
}

mark = partial(marked, MARKS)
