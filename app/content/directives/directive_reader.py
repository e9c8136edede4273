"""A directive as the parser knows it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from app.content.blocks import Block, SourceLocation
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveReader:
    """One directive: its name, the class that it writes, and the options that it takes besides `lang`.

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
