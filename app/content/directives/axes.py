"""`{axes}`: which axes are summed to give a gradient."""

from app.content.blocks import Axes
from app.content.fences import Directive
from app.content.reading import Reading
from app.content.vary import varying

OPTIONS = ("forward", "of", "from", "vary", "right", "was")


@varying
def read(directive: Directive, reading: Reading) -> Axes:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward)
    source = reading.gradient(options, "from", forward, tensors=True)
    if of and of == source:
        message = f"Nothing is summed between {source!r} and itself."
        options.wrong("from", "wrong-value", message, "Name in ':from:' what the gradient is the sum of.")
    inside, tempting = reading.with_tempting(directive)
    return Axes(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        source=source or "",
        tempting=tempting,
    )
