"""Facts derived from a forward program on the lesson's own sizes: shapes and the backward order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Shape = tuple[int, ...]
Outcome = Literal["graded", "refused", "error", "timeout", "memory", "denied", "crashed", "fault", "busy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a forward program.

    Args:
        shapes: By name of every tensor (inputs and intermediates), on the lesson's sizes.
        gradable: Names of the tensors that have a gradient, in backward order, the output first.
        error: Why the program did not run; empty when it did.
        line: The line of the lesson file that *error* speaks of; 0 where it speaks of none.
        pinned: Why it runs on the lesson's own sizes alone, so that no other sizes are tried; empty where it does not.
        one_sided: Statements that ask about something which is the same in every hidden run, each with its line of the
            lesson file.
        outcome: Whose fault that is: the program's own (`graded`), or one that says nothing about it.
    """

    shapes: Mapping[str, Shape]
    gradable: tuple[str, ...]
    error: str = ""
    line: int = 0
    outcome: Outcome = "graded"
    pinned: str = ""
    one_sided: tuple[tuple[int, str], ...] = ()
