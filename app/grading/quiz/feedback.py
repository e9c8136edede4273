"""Feedback on quiz answers, and the words that all quizzes share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from app.content.blocks import (
    AxesQuestion,
    CellsQuestion,
    Forward,
    MatmulQuestion,
    NumbersQuestion,
    OrderQuestion,
    Quiz,
)
from app.content.blocks import ShapeQuestion as ShapeQuiz
from app.content.programs import tensors_of
from app.content.sentences import render_sentence
from app.grading.forward.facts import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The reply to one quiz answer.

    Args:
        correct: None where the answer could not be read or was empty: neither right nor wrong.
        echo: How the answer was read, such as `(27,)`; empty where there is nothing to say.
        message: The reason, rendered.
    """

    correct: bool | None
    message: Markup
    echo: str = ""


NOT_YET = "Not yet."
THAT_IS_IT, THOSE_ARE, THAT_HOLDS = USUAL = "That is the number.", "Those are the numbers.", "That holds."
"""Said to a right answer for want of anything to say."""
LONGEST_ANSWER, LONGEST_VALUE = 120, 24
IN_PLACE = (OrderQuestion, CellsQuestion, NumbersQuestion)
"""Kinds of quiz in whose answers a value is known by its place, so that an empty one counts."""

Shapes = Mapping[str, Shape]
Mark = Callable[[Any, Sequence[str], Shapes, Forward | None], Feedback]


def mark_with(
    marks: Mapping[type, Mark], quiz: Quiz, answer: str | Sequence[str], shapes: Shapes, forward: Forward | None = None
) -> Feedback:
    """The reply to *answer*, from the one of *marks* for the kind of *quiz*.

    Args:
        answer: A text, or the values of the form's controls: option numbers of a choice, axis numbers of an axes quiz,
            operands of a product from left to right, such as `["X.T", "dY"]`.
        shapes: Of the tensors of the forward program that the quiz is about, as `infer_shapes` or `Facts` give them.
        forward: That program. Without it, a product is judged by its shape alone.
    """
    values = [answer] if isinstance(answer, str) else list(answer)
    values = [value.strip() for value in values if value.strip() or isinstance(quiz, IN_PLACE)]
    # Where each value has a field of its own, there may be many, and each is read alone.
    lengths = [len(value) for value in values] or [0]
    if sum(lengths) > LONGEST_ANSWER and (max(lengths) > LONGEST_VALUE or not isinstance(quiz, IN_PLACE)):
        return Feedback(correct=None, message=Markup("That is too long to be read as an answer."))
    feedback = marks[type(quiz)](quiz, values, shapes, forward)
    if not (feedback.correct and quiz.right):
        return feedback
    usual = () if feedback.message in USUAL else (feedback.message,)
    return replace(feedback, message=Markup(" ").join((*usual, Markup("<p>{}</p>").format(quiz.right))))


def wanted_tensors(quiz: Quiz, forward: Forward) -> tuple[str, ...]:
    """A product may be made of any tensor of the program; other quizzes are about those that they name."""
    match quiz:
        case MatmulQuestion():
            return tensors_of(forward)
        case AxesQuestion(of=of, source=source):
            return of.removeprefix("d"), source.removeprefix("d")
        case ShapeQuiz(of=str() as of):
            return (of.removeprefix("d"),)
    return ()


def shapes_offered(inferred: Shapes, ran: Shapes, names: tuple[str, ...]) -> Shapes:
    """The shapes that a page shows: *inferred* from the source, with those of a run where that leaves out a name."""
    return inferred if inferred.keys() >= set(names) else {**ran, **inferred}


def tensor_of(name: str, shapes: Mapping[str, Shape]) -> str | None:
    """The tensor whose shape *name* has: itself, or `W` for `dW`."""
    if name in shapes:
        return name
    return name[1:] if name.startswith("d") and name[1:] in shapes else None


def word_list(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def count_text(number: int, thing: str, things: str) -> str:
    return f"{number} {thing if number == 1 else things}"


def unread_feedback(message: str, echo: str = "") -> Feedback:
    """Neither right nor wrong."""
    return Feedback(correct=None, message=render_sentence(message), echo=echo)


def wrong_feedback(message: str | Markup, echo: str = "") -> Feedback:
    return Feedback(
        correct=False, message=message if isinstance(message, Markup) else render_sentence(message), echo=echo
    )


def right_feedback(message: str | Markup, echo: str = "") -> Feedback:
    return Feedback(
        correct=True, message=message if isinstance(message, Markup) else render_sentence(message), echo=echo
    )


def underivable_feedback(name: str) -> Feedback:
    """The author's program, or a grader that is not there, is the reason; never the learner."""
    return unread_feedback(f"The shape of `{name}` is not known yet, so this answer cannot be marked now.")
