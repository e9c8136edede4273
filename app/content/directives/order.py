"""`{order}`: lines out of order, those of a code box or of a solution of its own; every order that works is right."""

from app.content.blocks import Order
from app.content.boxes import only
from app.content.dependence import needs_of, shuffled, sources_of
from app.content.fences import Directive
from app.content.options import Options
from app.content.programs import check_python
from app.content.reading import Inside, Reading

OPTIONS = ("of", "forward", "right", "was")
MOST_LINES = 40


def read(directive: Directive, reading: Reading) -> Order:
    options = reading.options(directive)
    inside = reading.inside(directive, ("hint", "solution"))
    forward = reading.forward(options, needed=False)
    lines = sources_of(_source(options, inside, directive, reading))
    needs = needs_of(lines)
    order = shuffled(needs, directive.argument)
    if lines and order is None:
        message = "Every order of these lines is right."
        reading.faults.add(
            directive.place, "any-order", message, "Take lines of which one reads what another one writes."
        )
    if len(lines) > MOST_LINES:
        message = f"These are {len(lines)} lines; up to {MOST_LINES} can be put in order."
        reading.faults.add(directive.place, "too-long", message)
    if len(set(lines)) < len(lines):
        again = next(line for at, line in enumerate(lines) if line in lines[:at])
        reading.faults.add(directive.place, "twice", f"The line {again!r} stands twice.", "Keep one of them.")
    return Order(
        **reading.asked(directive, options, inside),
        lines=lines,
        shown=order or (),
        of=options.text("of"),
        forward=forward.name if forward else None,
    )


def _source(options: Options, inside: Inside, directive: Directive, reading: Reading) -> str:
    """The lines in an order that is right; nothing where there was a fault."""
    own = only(inside, "solution", directive, reading)
    if own is not None and "of" in options:
        options.wrong("of", "disagree", "The lines stand in ':of:' and in a '{solution}'.", "Keep one of them.")
    if own is not None:
        tree = check_python(own.body.text, own.body.line, "This solution", reading.faults)
        return own.body.text if tree is not None else ""
    box = reading.box(options, "of") if options.need("of", "linear-backward") else None
    return box.solution.source if box else ""
