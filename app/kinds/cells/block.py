"""A question for the entries of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.content.blocks.exercises import Quiz


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsQuestion(Quiz):
    """Ask for the entries of *of* (such as `dA`), where the program starts from the numbers *at*.

    Args:
        feeds: With it, ask instead which entries of *of* change with one entry of an input: its name and its index.
        pick: With it, ask instead for one entry of *of*: its index, or `largest` or `smallest`.
    """

    forward: str
    of: str
    at: Mapping[str, object] = field(default_factory=dict)
    feeds: tuple[str, tuple[int, ...]] | None = None
    pick: tuple[int, ...] | str | None = None
