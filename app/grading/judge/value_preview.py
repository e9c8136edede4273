"""How a value of a run without a verdict is shown: its first entries, a map of all, and as torch prints it.

All of it is cut to a bound. Runs in the jail.
"""

import math
from typing import Any

import torch

from app.grading.forward.driver_jobs import HEAD
from app.grading.judge.verdict import STEPS

_PLAIN = (bool, int, float, str, torch.Size, torch.dtype)
_CHARACTERS = 4000
MAP_ROWS, MAP_COLUMNS = 24, 40


def shown_as(name: str, value: object, *, printed: bool = True) -> dict[str, Any]:
    """*value* as JSON values; what is neither tensor nor number, text or shape is only named.

    Args:
        printed: As torch prints it as well, which takes longer than all the rest: for what somebody wrote down to be
            seen, and for what has no first entries.
    """
    if type(value) is torch.Tensor:
        seen = _seen(value)
        text = str(value)[:_CHARACTERS] if printed or not seen else ""
        shape, dtype = list(value.shape), str(value.dtype)[6:]
        return {"name": name, "shape": shape, "dtype": dtype, "text": text, **seen}
    text = repr(value)[:_CHARACTERS] if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return {"name": name, "shape": [], "dtype": type(value).__name__, "text": text}


def _seen(value: torch.Tensor) -> dict[str, Any]:
    """The first entries in words, and the map; the axes before the last stand below each other."""
    if not value.numel() or value.is_complex() or value.layout is not torch.strided:
        return {}
    table = value.detach().reshape(-1, value.shape[-1] if value.ndim else 1)
    rows, columns = (_spaced(size, most) for size, most in zip(table.shape, (MAP_ROWS, MAP_COLUMNS), strict=True))
    numbers = table[rows][:, columns].to(torch.float64).tolist()
    largest = max((abs(item) for row in numbers for item in row if math.isfinite(item)), default=0.0)
    return {
        "rows": [[_word(item) for item in row] for row in table[:HEAD, :HEAD].tolist()],
        "map": ["".join(_level(item, largest) for item in row) for row in numbers],
    }


def _spaced(size: int, most: int) -> list[int]:
    """At most *most* places, from the first to the last."""
    return list(range(size)) if size <= most else [at * (size - 1) // (most - 1) for at in range(most)]


def _word(number: float) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _level(number: float, largest: float) -> str:
    """A letter for the magnitude; capitals are below zero, a point is zero, and `?` is no number."""
    # By the square root, so that small numbers beside a large one can still be told from zero.
    if not math.isfinite(number):
        return "?"
    if not number:
        return "."
    level = STEPS[max(0, math.ceil(len(STEPS) * math.sqrt(abs(number) / largest)) - 1)]
    return level if number > 0 else level.upper()
