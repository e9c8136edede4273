"""The directives of a lesson: each turns a fence into a frozen block, or adds faults.

To add one that is no kind of exercise, write its file with `OPTIONS` and `parse`, and name it here.
"""

from collections.abc import Mapping

from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import CODE
from app.course.directives import callout, forward, reveal, sheet
from app.kinds.registry import KINDS

# Exercises refer to forward programs, and what stays closed to exercises.
_OTHERS = (
    DirectiveReader(name="forward", options=forward.OPTIONS, read=forward.parse, turn=0),
    DirectiveReader(name="sheet", options=sheet.OPTIONS, read=sheet.parse),
    DirectiveReader(name="reveal", options=reveal.OPTIONS, read=reveal.parse, turn=3),
    *(DirectiveReader(name=name, options=callout.OPTIONS, read=callout.parse) for name in callout.CALLOUT_KINDS),
)
READERS: Mapping[str, DirectiveReader] = {
    reader.name: reader for reader in (*_OTHERS, *(reader for kind in KINDS for reader in kind.readers))
}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    name: reader.options if name in CODE else (*reader.options, "lang") for name, reader in READERS.items()
}
