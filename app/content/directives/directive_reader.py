"""A directive as the parser knows it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.content.blocks import Block, CodeBox, Exercise, SourceLocation
from app.content.directives.parse_context import CODE, ParseContext, check_fence
from app.content.text.fences import Directive

SHARED: Mapping[type, tuple[str, ...]] = {Exercise: ("right", "was"), CodeBox: ("time", "reveal")}
"""Options of every directive that writes such a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveReader:
    """One directive: its name, the class that it writes, and the options of its own.

    Args:
        read: Gives None, or what it can, where it has added a fault.
        turn: Directives with a lower one are read before it: those that it may refer to.
        row: Whether it may stand in a sheet.
        sized: Whether equal sizes would hide a mistake at it.
        care: Slips of care in what was read: a place, a code and what to do.
    """

    name: str
    block: type
    options: tuple[str, ...]
    read: Callable[[Directive, ParseContext], Block | None]
    turn: int = 1
    row: bool = False
    sized: bool = False
    care: Callable[[Any], Iterable[tuple[SourceLocation, str, str]]] = lambda _: ()

    def parse(self, directive: Directive, reading: ParseContext) -> Block | None:
        """Read *directive*, whose prose is in its own language or else in that around it."""
        check_fence(directive, reading.faults)
        with reading.prose_language(directive):
            return self.read(directive, reading)

    @property
    def known(self) -> tuple[str, ...]:
        """All options that it takes."""
        shared = [option for base, names in SHARED.items() if issubclass(self.block, base) for option in names]
        return (*self.options, *shared, *(() if self.name in CODE else ("lang",)))
