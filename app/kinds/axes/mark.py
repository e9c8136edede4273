"""Axes: which axes of an upstream are summed so that the gradient of a broadcast tensor is left."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.content.blocks import Forward
from app.content.text.sizes import format_shape, name_of, shape_text
from app.grading.forward.data import Array
from app.grading.forward.facts import Shape
from app.grading.quiz.feedback import (
    Feedback,
    Shapes,
    right_feedback,
    tensor_of,
    underivable_feedback,
    unread_feedback,
    word_list,
    wrong_feedback,
)
from app.grading.quiz.worked import evaluate_on_random_data, gradient_slices, is_equal
from app.kinds.axes.block import AxesQuestion

MOST_AXES = 6


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis that the page offers: its number, the name of its dim or nothing, and its size."""

    number: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class AxesOption:
    """Result of summing over *axes*, for a page that shows it as the learner chooses."""

    axes: tuple[int, ...]
    shape: Shape


def axes_offered(quiz: AxesQuestion, shapes: Mapping[str, Shape]) -> tuple[Axis, ...]:
    """The axes of the quiz's source, from the left; empty while its shape is not known."""
    tensor = tensor_of(quiz.source, shapes)
    sizes = shapes[tensor] if tensor else ()
    return tuple(Axis(number, name_of(size), int(size)) for number, size in enumerate(sizes))


def sums_offered(quiz: AxesQuestion, shapes: Mapping[str, Shape]) -> tuple[AxesOption, ...]:
    """Every choice of axes with the shape it leaves; empty where there are too many axes to list."""
    offered = axes_offered(quiz, shapes)
    numbers = range(len(offered))
    if len(offered) > MOST_AXES:
        return ()
    choices = [choice for count in range(len(offered) + 1) for choice in combinations(numbers, count)]
    return tuple(
        AxesOption(choice, tuple(axis.size for axis in offered if axis.number not in choice)) for choice in choices
    )


def stretched(source: Shape, target: Shape) -> tuple[frozenset[int], frozenset[int]] | None:
    """Which axes of *source* a broadcast of *target* added or stretched, and which it may have (1 stays 1).

    Returns:
        Axes that must be summed, and axes that may be; None where *target* does not broadcast to *source*.
    """
    added = len(source) - len(target)
    if added < 0:
        return None
    must, may = set(range(added)), set()
    for axis, size in enumerate(target, start=added):
        if size == source[axis] == 1:
            may.add(axis)
        elif size == 1:
            must.add(axis)
        elif size != source[axis]:
            return None
    return frozenset(must), frozenset(may)


def right_axes(quiz: AxesQuestion, shapes: Shapes, forward: Forward | None) -> tuple[frozenset[int], ...]:
    """Every choice of axes that is right, the smallest first.

    By the numbers: of a gradient that comes to one place of an axis alone, something arrives at one place where the
    axis is kept, and everywhere where it is summed. Only of a program that cannot be read the shapes decide.
    """
    source, target = tensor_of(quiz.source, shapes), tensor_of(quiz.of, shapes)
    if source is None or target is None:
        return ()
    axes = range(len(shapes[source]))
    if forward is not None and len(axes) <= MOST_AXES:
        choices = [frozenset(some) for size in range(len(axes) + 1) for some in combinations(axes, size)]
        is_right = _by_numbers(quiz, forward, source, target)
        if is_right is not None:
            return tuple(choice for choice in choices if is_right(choice))
    wanted = stretched(shapes[source], shapes[target])
    if wanted is None:
        return ()
    must, may = wanted
    return tuple(must | set(some) for size in range(len(may) + 1) for some in combinations(may, size))


def _by_numbers(
    quiz: AxesQuestion, forward: Forward, source: str, target: str
) -> Callable[[frozenset[int]], bool] | None:
    """Test of a choice of axes on numbers; None if the program cannot be read."""
    numbers = evaluate_on_random_data(forward)
    if numbers is None or not {quiz.source, quiz.of} <= numbers.keys():
        return None
    start, end = numbers[quiz.source], numbers[quiz.of]
    gradients = source != quiz.source and target != quiz.of
    sent = gradient_slices(forward, source, target) if gradients else None

    def is_right(axes: frozenset[int]) -> bool:
        return is_equal(start.sum(tuple(axes)), end) or (sent is not None and _sums(axes, start.shape, end.shape, sent))

    return is_right


def _sums(axes: frozenset[int], sizes: Shape, target: Shape, sent: Sequence[Sequence[Array]]) -> bool:
    """True if the terms *sent* from each axis arrive as they would after a sum over *axes*."""
    kept = [axis for axis in range(len(sizes)) if axis not in axes and sizes[axis] != 1]
    left = tuple(sizes[axis] for axis in kept)
    if left != tuple(size for size in target if size != 1):
        return False
    arrived = [[place.reshape(left) if place.size == np.prod(target) else place for place in places] for places in sent]
    if not any(place.any() for places in arrived for place in places):
        return False
    for rank, axis in enumerate(kept):
        for at, array in enumerate(arrived[axis]):
            if array.shape == left and np.delete(array, at, rank).any():
                return False
    return all(_spread(arrived[axis], sizes[axis]) for axis in axes)


def _spread(places: Sequence[Array], size: int) -> bool:
    """True if places of an axis of *size* arrive together, as they do only if it is summed."""
    reached = [place != 0 for place in places]
    return size == 1 or any((item & other).any() for item, other in combinations(reached, 2))


def mark_axes(quiz: AxesQuestion, values: Sequence[str], shapes: Shapes, forward: Forward | None) -> Feedback:
    source, target = tensor_of(quiz.source, shapes), tensor_of(quiz.of, shapes)
    if source is None or target is None:
        return underivable_feedback(quiz.source if source is None else quiz.of)
    answers = right_axes(quiz, shapes, forward)
    if not answers:
        return underivable_feedback(quiz.of)
    count = len(shapes[source])
    chosen = axes_in(values, count)
    if chosen is None:
        return unread_feedback(f"`{quiz.source}` has the axes {word_list([f'`{axis}`' for axis in range(count)])}.")
    if not chosen and answers[0]:
        return unread_feedback("Choose at least one axis.")
    echo = f"sum over {_axes_words(chosen)}" if chosen else "no sum"
    if chosen in answers:
        return right_feedback(_right(quiz, chosen, shapes[source], shapes[target]), echo)
    for distractor in quiz.tempting:
        if axes_in([distractor.value], count) == chosen:
            return wrong_feedback(distractor.html, echo)
    return wrong_feedback(_wrong(quiz, chosen, shapes[source], shapes[target], target), echo)


def axes_in(values: Sequence[str], count: int) -> frozenset[int] | None:
    """The axes named in *values*; negative ones count from the right; None where one does not exist."""
    words = re.findall(r"[-−]?\d+", " ".join(values))
    if re.search(r"[^\W\d]", re.sub(r"\b(?:axis|axes|dim|and|sum|over)\b", "", " ".join(values))):
        return None
    if any(len(word) > 3 for word in words):
        return None
    axes = {int(word.replace("−", "-")) for word in words}
    if not all(-count <= axis < count for axis in axes):
        return None
    return frozenset(axis % count for axis in axes)


def _axes_words(axes: frozenset[int]) -> str:
    numbers = [str(axis) for axis in sorted(axes)]
    return f"{'axis' if len(numbers) == 1 else 'axes'} {word_list(numbers)}"


def _axes_text(axes: frozenset[int], source: Shape) -> str:
    """`axis 0 (N, 32 entries)`."""
    words = []
    for axis in sorted(axes):
        name = name_of(source[axis])
        words.append(f"axis {axis} ({f'`{name}`, ' if name else ''}{int(source[axis])} entries)")
    return word_list(words) or "no axis"


def _holds(shape: Shape) -> str:
    """`one number per N and H`."""
    if not shape:
        return "a single number"
    names = [f"`{name_of(size)}`" if name_of(size) else f"{int(size)}" for size in shape if size != 1]
    if not names:
        return "a single number"
    if all(name.startswith("`") for name in names):
        return f"one number per {word_list(names)}"
    return f"{' × '.join(str(int(size)) for size in shape)} numbers"


def _shape_left(axes: frozenset[int], source: Shape, *, keepdim: bool = False) -> Shape:
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(source))
    return tuple(size for axis, size in enumerate(source) if axis not in axes)


def _right(quiz: AxesQuestion, chosen: frozenset[int], source: Shape, target: Shape) -> str:
    if not chosen:
        return f"Nothing was copied, so nothing is summed: `{quiz.of}` has the shape {shape_text(target)}."
    left = _shape_left(chosen, source)
    result = f"Summing over {_axes_text(chosen, source)} leaves {shape_text(left)}: {_holds(left)}."
    if left == target:
        return result
    return f"{result} With `keepdim=True` it keeps the shape of `{quiz.of}`, `{format_shape(target)}`."


def _wrong(quiz: AxesQuestion, chosen: frozenset[int], source: Shape, target: Shape, tensor: str) -> str:
    left = _shape_left(chosen, source)
    result = f"You summed over {_axes_text(chosen, source)}. What is left is {shape_text(left)}: {_holds(left)}."
    needs = f"`{quiz.of}` needs {shape_text(target)}: {_holds(target)}."
    if target in (left, _shape_left(chosen, source, keepdim=True)):
        return (
            f"{result} The shape fits, but the numbers are not the ones: broadcasting lines shapes up from the right, "
            f"so `{tensor}` was copied along another axis."
        )
    return f"{result} {needs}"
