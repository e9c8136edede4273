"""`{reveal}`: prose and pictures that stay closed until the exercise above was answered."""

from collections.abc import Iterable, Mapping

from app.content.blocks import Callout, CodeBox, Prose, Quiz, Reveal, Visual
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive, TokenRun, split_at_directives
from app.content.text.options import Options
from app.course.directives import callout
from app.kinds.readers import READERS

INSIDE: Mapping[str, DirectiveReader] = {
    reader.name: reader for reader in (*callout.READERS, *READERS) if reader.block in (Callout, Visual)
}
KNOWN_INSIDE = {name: reader.known for name, reader in INSIDE.items()}


def parse(directive: Directive, reading: ParseContext) -> Reveal:
    options = reading.options(directive)
    name = reading.name(directive)
    tokens = reading.prose.tokens(directive.body.text, directive.body.line)
    parts = split_at_directives(tokens, directive.body.line, reading.file, KNOWN_INSIDE, reading.faults)
    blocks = tuple(block for part in parts if (block := _block(part, reading)) is not None)
    if not blocks:
        reading.faults.add(directive.place, "empty", f"{reading.title(directive)} has nothing to show.")
    return Reveal(
        place=directive.place,
        name=name,
        title=reading.line(options, "title"),
        after=_after(options, directive, reading),
        blocks=blocks,
    )


def _block(part: TokenRun | Directive, reading: ParseContext) -> Prose | Callout | Visual | None:
    if isinstance(part, TokenRun):
        html = reading.prose.render(part.tokens, part.line)
        return Prose(place=reading.file.place(part.line), html=html) if html else None
    if part.name not in callout.CALLOUT_KINDS:
        reading.prose.anchors.append(part.argument)
    block = INSIDE[part.name].parse(part, reading)
    assert isinstance(block, Visual | Callout), "the others are refused"
    return block


def _after(options: Options, directive: Directive, reading: ParseContext) -> tuple[str, ...]:
    """The exercises that are to be answered: those of `:after:`, or of the exercise or the sheet right above."""
    above = _above(directive, reading)
    if not above:
        fix = "Put it below a question or a box of code."
        reading.faults.add(directive.place, "no-exercise", "There is nothing above that can be answered.", fix)
        return ()
    name = options.text("after")
    if name is None:
        return above[max(above, key=lambda text: reading.names[text].line)]
    if name not in above:
        message = f"':after:' names {name!r}, which is no question and no box above."
        options.wrong("after", "unknown-exercise", message, did_you_mean(name, above))
    return above.get(name, ())


def _above(directive: Directive, reading: ParseContext) -> dict[str, tuple[str, ...]]:
    """Questions, boxes and sheets above, by name, each with the exercises that it represents."""
    rows = {row for names in reading.sheets.values() for row in names}
    single = {name: (name,) for name in _answered_names(reading) if name not in rows}
    return {
        name: names
        for name, names in (single | reading.sheets).items()
        if reading.names[name].line < directive.place.line
    }


def _answered_names(reading: ParseContext) -> Iterable[str]:
    return (name for name, exercise in reading.exercises.items() if isinstance(exercise, Quiz | CodeBox))


READER = DirectiveReader(name="reveal", block=Reveal, options=("after", "title"), read=parse, turn=3)
