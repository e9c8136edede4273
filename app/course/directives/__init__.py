"""The directives of a lesson: each turns a fence into a frozen block, or adds faults.

To add one that is no kind of exercise, write its file with a `READER`, and name it here.
"""

from collections.abc import Mapping

from app.content.directives.directive_reader import DirectiveReader
from app.course.directives import callout, forward, reveal, sheet
from app.kinds import readers

# Exercises refer to forward programs, and what stays closed to exercises.
READERS: Mapping[str, DirectiveReader] = {
    reader.name: reader for reader in (forward.READER, sheet.READER, reveal.READER, *callout.READERS, *readers.READERS)
}
OPTIONS: Mapping[str, tuple[str, ...]] = {name: reader.known for name, reader in READERS.items()}
