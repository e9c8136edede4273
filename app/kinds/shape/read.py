"""`{shape}`: ask for the shape of a tensor or of its gradient."""

from app.content.directives.answer_lists import take_tempting
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.directives.vary import parse_with_draws
from app.content.text.fences import Directive
from app.content.text.options import Options
from app.content.text.sizes import UnreadableShapeError, sizes_in
from app.kinds.shape.block import ShapeQuestion


@parse_with_draws
def read_shape(directive: Directive, reading: ParseContext) -> ShapeQuestion:
    options = reading.options(directive)
    forward = reading.forward(options, needed="answer" not in options or "of" in options)
    of = reading.gradient(options, "of", forward, tensors=True) if forward or "of" in options else None
    ask = options.text("ask")
    _check_explicit(options, ask)
    inside, tempting = take_tempting(reading.inside(directive), reading)
    return ShapeQuestion(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else options.text("forward"),
        of=of,
        ask=ask,
        answer=options.text("answer"),
        tempting=tempting,
    )


def _check_explicit(options: Options, ask: str | None) -> None:
    """`:ask:` has something to ask for, and `:answer:` fits it."""
    answer = options.text("answer")
    try:
        asked_sizes = sizes_in(ask) if ask is not None else None
    except UnreadableShapeError as error:
        options.wrong("ask", "wrong-shape", f"':ask:' is a shape with a '?' in it. {error}", "Write ':ask: (100, ?)'.")
        return
    if asked_sizes is not None and "?" not in asked_sizes:
        options.wrong("ask", "wrong-shape", "':ask:' has no '?' to fill in.", "Write ':ask: (100, ?)'.")
    if answer is None:
        return
    try:
        sizes = sizes_in(answer)
    except UnreadableShapeError as error:
        options.wrong("answer", "wrong-shape", f"':answer:' is a shape. {error}", "Write ':answer: (64, 10)'.")
        return
    if not all(size.isdecimal() for size in sizes):
        options.wrong("answer", "wrong-shape", "':answer:' is a shape of plain numbers.", "Write ':answer: (64, 10)'.")
    elif asked_sizes is not None and not _fits(sizes, asked_sizes):
        options.wrong("answer", "disagree", f"':answer:' {answer} does not fit ':ask:' {ask}.")


def _fits(sizes: tuple[str, ...], asked_sizes: tuple[str, ...]) -> bool:
    return len(sizes) == len(asked_sizes) and all(
        name in ("?", size) for size, name in zip(sizes, asked_sizes, strict=True)
    )


READERS = (
    DirectiveReader(
        name="shape",
        block=ShapeQuestion,
        options=("forward", "of", "ask", "answer", "vary"),
        read=read_shape,
        row=True,
        sized=True,
    ),
)
