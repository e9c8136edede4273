"""`{cells}`: the entries of a small table, to be filled in; those to be ticked that one entry feeds; or one to pick."""

import re

from app.content.blocks import Forward
from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.input_values import point_of, shape_in
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive
from app.content.text.options import Options
from app.kinds.cells.block import CellsQuestion

EXTREMES = ("largest", "smallest")
ENTRY = re.compile(r"^([^\W\d]\w*)\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]$")


def read_cells(directive: Directive, reading: ParseContext) -> CellsQuestion:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward, tensors=True)
    feeds = _feeds(options, forward)
    inside, tempting = take_tempting(reading.inside(directive), reading)
    return CellsQuestion(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        at={} if "feeds" in options and "at" not in options else point_of(options, forward),
        feeds=feeds,
        pick=_pick(options, of),
        tempting=tempting,
    )


def _pick(options: Options, of: str | None) -> tuple[int, ...] | str | None:
    """Parse the entry to pick: `largest`, `smallest`, or an entry of *of* by its index."""
    text = options.text("pick")
    if text is None:
        return None
    if "feeds" in options:
        options.wrong("pick", "disagree", "':feeds:' asks for several entries, ':pick:' for one.", "Keep one of them.")
    match = ENTRY.match(text)
    if text in EXTREMES or (match and match[1] == of):
        return _index(match) if match else text
    fix = f"Write 'largest', 'smallest', or an entry such as '{of}[0, 1]'."
    options.wrong("pick", "wrong-type", f"{text!r} is no entry of {of!r}.", fix)
    return None


def _index(match: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(part) for part in match[2].split(","))


def _feeds(options: Options, forward: Forward | None) -> tuple[str, tuple[int, ...]] | None:
    """The entry of `:feeds:`, such as `A[0, 1]`, which an input of the program has."""
    text = options.text("feeds")
    if text is None or forward is None:
        return None
    match = ENTRY.match(text)
    if match is None:
        options.wrong("feeds", "wrong-type", f"':feeds:' is one entry, such as 'A[0, 1]'; it is {text!r}.")
        return None
    name, index = match[1], _index(match)
    shapes = {
        tensor_input.name: shape_in(forward, tensor_input) for tensor_input in forward.inputs if tensor_input.real
    }
    if name not in shapes:
        options.wrong("feeds", "unknown-name", f"{name!r} is no input of {forward.name!r} that holds real numbers.")
    elif len(index) != len(shapes[name]) or any(entry >= size for entry, size in zip(index, shapes[name], strict=True)):
        options.wrong("feeds", "wrong-shape", f"{text} is no entry of {name!r}, whose shape is {shapes[name]}.")
    else:
        return name, index
    return None


READERS = (
    DirectiveReader(
        name="cells", block=CellsQuestion, options=("forward", "of", "at", "feeds", "pick"), read=read_cells
    ),
)
