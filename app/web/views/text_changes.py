"""Differences of two texts, line by line."""

from dataclasses import dataclass
from difflib import unified_diff
from typing import Literal

MAX_COMPARED_LINES = 400
"""Of a text that is compared: to find what changed takes the square of them."""
Kind = Literal["same", "new", "gone", "gap"]
DIFF_KINDS: dict[str, Kind] = {" ": "same", "+": "new", "-": "gone", "@": "gap"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference; `…` represents unchanged lines between."""

    kind: Kind
    text: str


def diff_lines(before: str, after: str) -> tuple[DiffLine, ...]:
    """Lines that changed, with one line around them; the second text alone if they are too long."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return tuple(DiffLine("same", name) for name in new)
    changed = list(unified_diff(old, new, lineterm="", n=1))[2:]
    lines = [DiffLine(DIFF_KINDS[name[0]], "…" if name[0] == "@" else name[1:]) for name in changed]
    return tuple(lines[1:])
