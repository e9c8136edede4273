"""The directives of a lesson: each turns a fence into a frozen block, or adds faults.

To add one that is no kind of exercise, write its file with `OPTIONS` and `parse`, and name it here.
"""

from collections.abc import Mapping

from app.content.directive_reader import DirectiveReader
from app.content.parse_context import CODE
from app.course.directives import bug, callout, checker, forward, grad, program, reveal, sheet, train, visual
from app.kinds.registry import QUIZZES

# A directive is called as its file is; the callouts share one.
_FILES = {
    module.__name__.rpartition(".")[2]: module
    for module in (forward, grad, bug, checker, program, sheet, reveal, train, visual)
} | dict.fromkeys(callout.CALLOUT_KINDS, callout)
_TURNS = {"forward": 0, "reveal": 3}
"""Exercises refer to forward programs, and what stays closed to exercises."""

READERS: Mapping[str, DirectiveReader] = {
    name: DirectiveReader(name=name, options=file.OPTIONS, read=file.parse, turn=_TURNS.get(name, 1))
    for name, file in _FILES.items()
} | {reader.name: reader for kind in QUIZZES for reader in kind.readers}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    name: reader.options if name in CODE else (*reader.options, "lang") for name, reader in READERS.items()
}
