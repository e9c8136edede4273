"""`{sheet}`: questions in one form, row by row, each judged on its own."""

from collections.abc import Mapping
from dataclasses import replace

from app.content.blocks import Quiz, Sheet
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive
from app.content.text.options import Value
from app.kinds.readers import READERS

ROWS: Mapping[str, DirectiveReader] = {reader.name: reader for reader in READERS if reader.row}
ROW_OPTIONS: Mapping[str, tuple[str, ...]] = {name: reader.known for name, reader in ROWS.items()}


def parse(directive: Directive, reading: ParseContext) -> Sheet:
    options = reading.options(directive)
    forward = reading.forward(options, needed=False)
    name = reading.name(directive)
    inside = reading.inside(directive, tuple(ROWS), ROW_OPTIONS)
    shared = {"forward": options.entries["forward"]} if forward else {}
    rows = [replace(child, options=_passed_on(shared, child)) for child in inside.children]
    if len(rows) < 2:
        message = f"{reading.title(directive)} has {'one row only' if rows else 'no row'}."
        fix = "Put questions in it, such as ':::{shape} some-id'; a single one stands for itself."
        reading.faults.add(directive.place, "too-few-rows", message, fix)
    reading.prose.anchors += [row.argument for row in rows]
    return Sheet(
        place=directive.place,
        name=name,
        prompt=reading.prompt(directive, inside.tokens, inside.line),
        rows=tuple(_row(row, reading) for row in rows),
    )


def _row(row: Directive, reading: ParseContext) -> Quiz:
    quiz = ROWS[row.name].parse(row, reading)
    assert isinstance(quiz, Quiz), "a row is a question"
    return quiz


def _passed_on(shared: Mapping[str, Value], row: Directive) -> Mapping[str, Value]:
    """The options of *row*, and those of the sheet that it takes and does not have."""
    return {key: value for key, value in shared.items() if key in ROW_OPTIONS[row.name]} | dict(row.options)


READER = DirectiveReader(name="sheet", block=Sheet, options=("forward",), read=parse)
