"""Ask which axes are summed to give a gradient."""

from collections.abc import Mapping, Sequence

from app.content.blocks import Forward
from app.content.text.sizes import format_shape
from app.grading.quiz.feedback import Shapes, word_list
from app.kinds.axes.block import AxesQuestion
from app.kinds.axes.mark import axes_offered, mark_axes, right_axes, sums_offered
from app.kinds.quiz_kind import Candidate, QuizKind


def _offer(quiz: AxesQuestion, shapes: Shapes, _: Forward | None) -> Mapping[str, object]:
    """The axes, and the shape that each choice leaves, as text for a script: `0|(27,); 0 1|()`."""
    left = sums_offered(quiz, shapes)
    sums = "; ".join(f"{' '.join(map(str, option.axes))}|{format_shape(option.shape)}" for option in left)
    return {"axes": axes_offered(quiz, shapes), "sums": sums}


def _answers(quiz: AxesQuestion, shapes: Shapes, _: Forward | None) -> Sequence[Candidate]:
    return [" ".join(map(str, option.axes)) for option in sums_offered(quiz, shapes)]


def _right(quiz: AxesQuestion, shapes: Shapes, forward: Forward | None) -> str:
    choices = right_axes(quiz, shapes, forward)
    if not choices or not choices[0]:
        return "no axis" if choices else ""
    return f"{'axis' if len(choices[0]) == 1 else 'axes'} {word_list([f'`{axis}`' for axis in sorted(choices[0])])}"


def _unanswerable(quiz: AxesQuestion) -> str:
    return (
        f"No sum over axes of `{quiz.source}` gives the numbers of `{quiz.of}`. Name the gradient in ':from:' "
        f"that `{quiz.of}` is the sum of: that of the tensor which a broadcast made of it."
    )


KINDS = (
    QuizKind(
        name="axes",
        block=AxesQuestion,
        mark=mark_axes,
        answers=_answers,
        tensors=lambda quiz, _: (quiz.of.removeprefix("d"), quiz.source.removeprefix("d")),
        offer=_offer,
        right=_right,
        unanswerable=_unanswerable,
    ),
)
