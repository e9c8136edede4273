"""A directive as the parser knows it."""

from collections.abc import Callable
from dataclasses import dataclass

from app.content.blocks import Block
from app.content.directives.parse_context import ParseContext
from app.content.text.fences import Directive


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveReader:
    """One directive: its name, the options that it takes besides `lang`, and how it becomes a block.

    Args:
        read: Gives None, or what it can, where it has added a fault.
        turn: Directives with a lower one are read before it: those that it may refer to.
        row: Whether it may stand in a sheet.
    """

    name: str
    options: tuple[str, ...]
    read: Callable[[Directive, ParseContext], Block | None]
    turn: int = 1
    row: bool = False
