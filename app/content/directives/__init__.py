"""One directive per file: each turns a fence into a frozen block, or adds faults.

To add a directive, write its file with `OPTIONS` and `read`, and add a row here.
"""

from collections.abc import Callable, Mapping

from app.content.blocks import Block
from app.content.directives import (
    axes,
    bug,
    callout,
    checker,
    choice,
    forward,
    grad,
    matmul,
    number,
    program,
    shape,
    train,
    visual,
)
from app.content.fences import Directive
from app.content.reading import Reading

Read = Callable[[Directive, Reading], Block | None]

READERS: Mapping[str, Read] = {
    "forward": forward.read,
    "shape": shape.read,
    "number": number.read,
    "choice": choice.read,
    "axes": axes.read,
    "matmul": matmul.read,
    "grad": grad.read,
    "bug": bug.read,
    "checker": checker.read,
    "program": program.read,
    "train": train.read,
    "visual": visual.read,
    "note": callout.read,
    "aside": callout.read,
    "plan": callout.read,
}

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "forward": forward.OPTIONS,
    "shape": shape.OPTIONS,
    "number": number.OPTIONS,
    "choice": choice.OPTIONS,
    "axes": axes.OPTIONS,
    "matmul": matmul.OPTIONS,
    "grad": grad.OPTIONS,
    "bug": bug.OPTIONS,
    "checker": checker.OPTIONS,
    "program": program.OPTIONS,
    "train": train.OPTIONS,
    "visual": visual.OPTIONS,
    "note": callout.OPTIONS,
    "aside": callout.OPTIONS,
    "plan": callout.OPTIONS,
}
