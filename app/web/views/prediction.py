"""Prediction of a check before it runs: which gradients will be red. The verdict is shown beside it."""

from dataclasses import dataclass

from markupsafe import Markup

from app.content.blocks import CodeBox
from app.content.text.sentences import render_sentence
from app.grading.judge.hunt_verdict import PREDICTED, split_line
from app.grading.judge.verdict import RIGHT, Verdict

NOT_RED = frozenset({*RIGHT, "not-yet", "follows"})
NOTHING, SEVERAL = "Nothing will be red.", "More than one will be red."


@dataclass(frozen=True, slots=True)
class Prediction:
    """The question, what can be predicted, which of it was (from 1), and how it compares with the verdict."""

    question: Markup
    options: tuple[Markup, ...]
    chosen: int | None
    compared: Markup


def prediction_of(box: CodeBox, chosen: int | None, checked: str, verdict: Verdict | None) -> Prediction:
    """Prediction at a *box* that asks for one.

    Args:
        chosen: What is marked on the page.
        checked: The text that *verdict* is about.
    """
    options = options_of(box)
    predicted = split_line(checked, PREDICTED)[1] if verdict and verdict.outcome == "graded" else None
    came = came_of(box, verdict) if verdict else None
    if predicted is None or came is None or not 0 < predicted <= len(options):
        compared = Markup()
    elif predicted == came:
        compared = Markup("As you predicted: {}").format(options[came - 1])
    else:
        compared = Markup("You predicted: {} It came otherwise.").format(options[predicted - 1])
    return Prediction(box.predict, options, chosen, compared)


def options_of(box: CodeBox) -> tuple[Markup, ...]:
    each = [f"`{name}` will be red{'' if len(box.require) == 1 else ', and nothing else'}." for name in box.require]
    return tuple(render_sentence(item) for item in (NOTHING, *each, *([SEVERAL] if len(box.require) > 1 else ())))


def came_of(box: CodeBox, verdict: Verdict) -> int:
    """The number of the option that came true; what is not written yet is not red, nor what follows from another."""
    red = [name_verdict.name for name_verdict in verdict.names if name_verdict.verdict not in NOT_RED]
    if not red:
        return 1
    return box.require.index(red[0]) + 2 if len(red) == 1 else len(box.require) + 2
