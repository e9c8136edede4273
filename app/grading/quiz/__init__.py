"""Marks quiz answers. Everything is derived from the forward program's shapes; any text is a valid argument."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from app.content.blocks import Axes, Choice, Forward, Matmul, Number, Quiz
from app.grading.forward.facts import Shape
from app.grading.quiz.feedback import Feedback
from app.grading.quiz.mark_axes import mark_axes
from app.grading.quiz.mark_choice import mark_choice
from app.grading.quiz.mark_matmul import mark_matmul
from app.grading.quiz.mark_number import mark_number
from app.grading.quiz.mark_shape import mark_shape

__all__ = ["mark"]

LONGEST_ANSWER = 400


def mark(
    quiz: Quiz, answer: str | Sequence[str], shapes: Mapping[str, Shape], forward: Forward | None = None
) -> Feedback:
    """The reply to *answer*.

    Args:
        answer: A text, or the values of the form's controls: option numbers of a choice, axis numbers of an axes quiz,
            operands of a product from left to right, such as `["X.T", "dY"]`.
        shapes: Of the tensors of the forward program that the quiz is about, as `shapes.infer` or `Facts` give them.
        forward: That program. Without it, a product is judged by its shape alone.
    """
    values = [answer] if isinstance(answer, str) else list(answer)
    values = [value.strip() for value in values if value.strip()]
    if sum(len(value) for value in values) > LONGEST_ANSWER:
        return Feedback(correct=None, message=Markup("That is too long to be read as an answer."))
    if isinstance(quiz, Choice):
        return mark_choice(quiz, values)
    if isinstance(quiz, Axes):
        return mark_axes(quiz, values, shapes)
    if isinstance(quiz, Matmul):
        return mark_matmul(quiz, values, shapes, forward)
    text = ", ".join(values)
    if isinstance(quiz, Number):
        return mark_number(quiz, text)
    return mark_shape(quiz, text, shapes, forward)
