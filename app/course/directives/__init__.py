"""The directives of a lesson: each turns a fence into a frozen block, or adds faults.

To add one that is no kind of exercise, write its file with `OPTIONS` and `parse`, and name it here.
"""

from collections.abc import Mapping

from app.content.blocks import Callout, Forward, Reveal, Sheet
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import CODE
from app.course.directives import callout, forward, reveal, sheet
from app.kinds import readers

# Exercises refer to forward programs, and what stays closed to exercises.
_OTHERS = (
    DirectiveReader(name="forward", block=Forward, options=forward.OPTIONS, read=forward.parse, turn=0),
    DirectiveReader(name="sheet", block=Sheet, options=sheet.OPTIONS, read=sheet.parse),
    DirectiveReader(name="reveal", block=Reveal, options=reveal.OPTIONS, read=reveal.parse, turn=3),
    *(
        DirectiveReader(name=name, block=Callout, options=callout.OPTIONS, read=callout.parse)
        for name in callout.CALLOUT_KINDS
    ),
)
READERS: Mapping[str, DirectiveReader] = {reader.name: reader for reader in (*_OTHERS, *readers.READERS)}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    name: reader.options if name in CODE else (*reader.options, "lang") for name, reader in READERS.items()
}
