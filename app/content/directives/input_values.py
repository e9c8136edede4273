"""`:at:`, the numbers that a small program is walked with: one for each entry of its inputs."""

from collections.abc import Mapping
from math import isfinite, prod

from app.content.blocks import Forward, Input
from app.content.text.arithmetic import UnreadableError, integer_of
from app.content.text.errors import did_you_mean, quoted_names
from app.content.text.options import Options, items_of, plain_of

MAX_POINT_ENTRIES = 16
Point = Mapping[str, object]
"""By name of an input, or of the gradient of an output: a number, or lists of numbers."""


def point_of(options: Options, forward: Forward | None, free: str | None = None) -> Point:
    """The numbers of `:at:`; faults for an input without any, one that is not there, and shapes that are not theirs.

    Args:
        free: An input that needs none.
    """
    value = options.need("at", "{x: 2, y: -1}") if free is None else options.entries.get("at")
    items = items_of(value, options.faults, "':at:'") if value else None
    if forward is None or (value and items is None):
        return {}
    shapes = {tensor_input.name: shape_in(forward, tensor_input) for tensor_input in forward.inputs}
    upstreams = forward.upstreams
    point: dict[str, object] = {}
    for name, (entry, node) in (items or {}).items():
        point[name] = plain_of(node)
        shape = shape_of_lists(point[name])
        if name not in shapes and name not in upstreams:
            fix = did_you_mean(name, [*shapes, *upstreams])
            options.faults.add(entry.place, "unknown-name", f"{name!r} is no input of {forward.name!r}.", fix)
        elif shape is None:
            options.faults.add(entry.place, "wrong-type", f"{name!r} is a number, or a list of rows of one length.")
        elif name in shapes and shape != shapes[name]:
            message = f"{name!r} has the shape {shape} here; in the program it has {shapes[name]}."
            options.faults.add(entry.place, "wrong-shape", message)
        elif prod(shape) > MAX_POINT_ENTRIES:
            options.faults.add(entry.place, "too-long", f"{name!r} has more than {MAX_POINT_ENTRIES} entries.")
    missing = [name for name in shapes if name not in point and name != free]
    if missing and value:
        message = f"':at:' has no number for {quoted_names(missing)}."
        options.wrong("at", "incomplete", message, "Give every input of the program.")
    elif missing and free is not None:
        options.need("at", f"{{{missing[0]}: 1}}")
    return point


def shape_of_lists(value: object) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None where they are none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return ()
    if not isinstance(value, list) or not value:
        return None
    inner = {shape_of_lists(item) for item in value}
    shape = inner.pop()
    return None if inner or shape is None else (len(value), *shape)


def shape_in(forward: Forward, input_: Input) -> tuple[int, ...]:
    """The shape of the input *one* on the lesson's own sizes."""
    try:
        return tuple(integer_of(size, forward.dims) for size in input_.sizes)
    except UnreadableError:
        return ()
