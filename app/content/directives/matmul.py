"""`{matmul}`: build a gradient as a product of two tensors."""

from app.content.blocks import Matmul
from app.content.fences import Directive
from app.content.reading import Reading
from app.content.vary import varying

OPTIONS = ("forward", "of", "vary", "right", "was")


@varying
def read(directive: Directive, reading: Reading) -> Matmul:
    options = reading.options(directive)
    forward = reading.forward(options)
    of = reading.gradient(options, "of", forward)
    inside, tempting = reading.with_tempting(directive)
    return Matmul(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        of=of or "",
        tempting=tempting,
    )
