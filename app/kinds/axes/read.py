"""`{axes}`: which axes are summed to give a gradient."""

from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.directives.vary import parse_with_draws
from app.content.text.fences import Directive
from app.kinds.axes.block import AxesQuestion


@parse_with_draws
def read_axes(directive: Directive, reading: ParseContext) -> AxesQuestion:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward)
    source = reading.gradient(options, "from", forward, tensors=True)
    if of and of == source:
        message = f"Nothing is summed between {source!r} and itself."
        options.wrong("from", "wrong-value", message, "Name in ':from:' what the gradient is the sum of.")
    inside, tempting = take_tempting(reading.inside(directive), reading)
    return AxesQuestion(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        source=source or "",
        tempting=tempting,
    )


READERS = (
    DirectiveReader(
        name="axes", block=AxesQuestion, options=("forward", "of", "from", "vary"), read=read_axes, row=True, sized=True
    ),
)
