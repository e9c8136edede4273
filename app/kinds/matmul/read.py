"""`{matmul}`: build a gradient as a product of two tensors."""

from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.directives.vary import parse_with_draws
from app.content.text.fences import Directive
from app.kinds.matmul.block import MatmulQuestion


@parse_with_draws
def read_matmul(directive: Directive, reading: ParseContext) -> MatmulQuestion:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward)
    inside, tempting = take_tempting(reading.inside(directive), reading)
    return MatmulQuestion(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        tempting=tempting,
    )


READERS = (
    DirectiveReader(
        name="matmul", block=MatmulQuestion, options=("forward", "of", "vary"), read=read_matmul, sized=True
    ),
)
