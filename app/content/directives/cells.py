"""`{cells}`: the entries of a small table, to be filled in; or those to be ticked that one entry feeds."""

import re

from app.content.blocks import Cells, Forward
from app.content.fences import Directive
from app.content.options import Options
from app.content.points import point_of, shape_in
from app.content.reading import Reading

OPTIONS = ("forward", "of", "at", "feeds", "right", "was")
ENTRY = re.compile(r"^([^\W\d]\w*)\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]$")


def read(directive: Directive, reading: Reading) -> Cells:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward, tensors=True)
    feeds = _feeds(options, forward)
    inside, tempting = reading.with_tempting(directive)
    return Cells(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        at={} if "feeds" in options and "at" not in options else point_of(options, forward),
        feeds=feeds,
        tempting=tempting,
    )


def _feeds(options: Options, forward: Forward | None) -> tuple[str, tuple[int, ...]] | None:
    """The entry of `:feeds:`, such as `A[0, 1]`, which an input of the program has."""
    text = options.text("feeds")
    if text is None or forward is None:
        return None
    match = ENTRY.match(text)
    if match is None:
        options.wrong("feeds", "wrong-type", f"':feeds:' is one entry, such as 'A[0, 1]'; it is {text!r}.")
        return None
    name, index = match[1], tuple(int(one) for one in match[2].split(","))
    shapes = {one.name: shape_in(forward, one) for one in forward.inputs if one.real}
    if name not in shapes:
        options.wrong("feeds", "unknown-name", f"{name!r} is no input of {forward.name!r} that holds real numbers.")
    elif len(index) != len(shapes[name]) or any(at >= size for at, size in zip(index, shapes[name], strict=True)):
        options.wrong("feeds", "wrong-shape", f"{text} is no entry of {name!r}, whose shape is {shapes[name]}.")
    else:
        return name, index
    return None
