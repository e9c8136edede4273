"""Names of tensors, shapes and axes in a diagnosis: always the learner's own."""

from collections.abc import Sequence

import numpy as np

from app.content.text.sizes import format_shape
from app.grading.diagnosis.evidence import Array, Observation, WrongGradient
from app.grading.forward.statements import GradientPath

SHOWN_MAX = 4
ORDINALS = ("first", "second", "third", "fourth", "last")


def shown_observation(case: WrongGradient) -> Observation:
    """The look that a sentence speaks of: the lesson's own, where the mistake has the same form there."""
    hidden, visible = case.first_look, case.visible
    if visible is None or visible.got.ndim != hidden.got.ndim:
        return hidden
    differs = not hidden.is_shaped
    return visible if (not visible.is_shaped) == differs else hidden


def places_text(marks: Sequence[Array]) -> str:
    """Places at which *marks*, one for each look, are set; by number only if all looks agree."""
    if all(mark[-1] and mark.sum() == 1 for mark in marks):
        return "the last position"
    places = [np.flatnonzero(mark).tolist() for mark in marks]
    if any(each != places[0] for each in places) or len(places[0]) > SHOWN_MAX:
        return "some positions"
    numbers = join_words([str(place) for place in places[0]])
    return f"positions {numbers}" if len(places[0]) > 1 else f"position {numbers}"


def shape_text(shape: Sequence[int | str]) -> str:
    """Such as `` `(32, 27)` ``; `` `()` `` for a scalar."""
    return in_code(format_shape(shape))


def shape_in(case: WrongGradient, look: Observation, array: Array) -> str:
    """The shape of *array* in *look*: in numbers on the lesson's own sizes, by the names of sizes on hidden ones."""
    if look is case.visible:
        return shape_text(array.shape)
    names = {1: "1", **{size: name for name, size in look.dims.items()}}
    return shape_text([names.get(size, "?") for size in array.shape])


def axis_text(case: WrongGradient, tensor: str, axis: int) -> str:
    """Such as ``axis 0 (`N`)``; without the name where the axis has none."""
    names = case.axes.get(tensor, ())
    if 0 <= axis < len(names) and names[axis] and not names[axis].isdecimal():
        return f"axis {axis} (`{names[axis]}`)"
    return f"axis {axis}"


def axes_text(case: WrongGradient, tensor: str, axes: Sequence[int]) -> str:
    """Such as ``axis 0 (`N`) and axis 1 (`D`)``."""
    return join_words([axis_text(case, tensor, axis) for axis in axes])


def join_words(parts: Sequence[str]) -> str:
    """Such as `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else list(parts))


def place_text(path: GradientPath) -> str:
    """Such as ``through its second place in `y = a * b + a` ``: as it is read, with the places that send no share."""
    inputs = path.statement.inputs
    ordinal = ORDINALS[min(inputs[: path.position].count(inputs[path.position]), len(ORDINALS) - 1)]
    return f"through its {ordinal} place in `{path.statement.source}`"


def term_text(word: str, row: str) -> str:
    """Name of a term of a rule, such as `row sum`, whose sum runs along a *row*, `column` or `slice`."""
    return word.replace("-", " ").replace("row", row)


def upstream_name(path: GradientPath) -> str:
    """The learner's name of what arrives at the consumer of *path*."""
    return f"d{path.consumer}"


def in_code(text: str) -> str:
    return f"`{text}`"


def number_text(value: float) -> str:
    """A short number: `2`, `0.5`, `-1.5`."""
    return f"{value:.4g}"
