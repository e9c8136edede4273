"""What the page offers for an answer, and how a form's values become the answer that is marked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.content.blocks import Axes, Forward, Matmul, Quiz
from app.grading.forward.facts import Shape
from app.grading.quiz.mark_axes import Axis, axes_offered, sums_offered
from app.grading.quiz.mark_matmul import Operand, operands_offered
from app.grading.quiz.wording import written

PRODUCT_FIELDS = ("left", "left_transposed", "right", "right_transposed")


@dataclass(frozen=True, slots=True)
class Widget:
    """What an axes or matmul quiz offers; empty for the others.

    Args:
        sums: For every choice of axes the shape that is left, as text for a script: `0|(27,); 0 1|()`.
    """

    axes: tuple[Axis, ...] = ()
    sums: str = ""
    operands: tuple[Operand, ...] = ()


def widget_of(quiz: Quiz, shapes: Mapping[str, Shape], forward: Forward | None) -> Widget:
    if isinstance(quiz, Axes):
        sums = (
            f"{' '.join(str(axis) for axis in one.axes)}|{written(one.shape)}" for one in sums_offered(quiz, shapes)
        )
        return Widget(axes=axes_offered(quiz, shapes), sums="; ".join(sums))
    if isinstance(quiz, Matmul):
        return Widget(operands=operands_offered(quiz, shapes, forward))
    return Widget()


def answer_of(quiz: Quiz, given: Sequence[str]) -> list[str]:
    """The values of a form as `mark` reads them: a product's factors as `X.T`, everything else as it came."""
    if not isinstance(quiz, Matmul):
        return list(given)
    fields = dict(zip(PRODUCT_FIELDS, given, strict=False))
    return [
        f"{fields[side]}.T" if fields.get(f"{side}_transposed") else fields[side]
        for side in ("left", "right")
        if fields.get(side)
    ]
