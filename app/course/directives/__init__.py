"""One directive per file: each turns a fence into a frozen block, or adds faults.

To add a directive, write its file with `OPTIONS` and `parse`, and name it here.
"""

from collections.abc import Callable, Mapping

from app.content.blocks import Block
from app.content.fences import Directive
from app.content.parse_context import CODE, ParseContext
from app.course.directives import (
    axes,
    bug,
    callout,
    cells,
    checker,
    choice,
    forward,
    grad,
    keep,
    matmul,
    number,
    order,
    program,
    reveal,
    shape,
    sheet,
    train,
    visual,
)

Parse = Callable[[Directive, ParseContext], Block | None]

# A directive is called as its file is; the callouts share one.
_FILES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        forward,
        shape,
        number,
        choice,
        axes,
        matmul,
        order,
        cells,
        keep,
        grad,
        bug,
        checker,
        program,
        sheet,
        reveal,
        train,
        visual,
    )
} | dict.fromkeys(callout.CALLOUT_KINDS, callout)

PARSERS: Mapping[str, Parse] = {name: file.parse for name, file in _FILES.items()}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    name: file.OPTIONS if name in CODE else (*file.OPTIONS, "lang") for name, file in _FILES.items()
}
