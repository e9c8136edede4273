"""Feedback on quiz answers, and the words that all quizzes share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.content.text.sentences import render_sentence
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


THAT_IS_IT, THOSE_ARE, THAT_HOLDS = USUAL = "That is the number.", "Those are the numbers.", "That holds."
"""Said to a right answer for want of anything to say."""

Shapes = Mapping[str, Shape]


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
