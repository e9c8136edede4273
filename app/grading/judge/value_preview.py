"""Preview of a value in a run without a verdict: its first entries, a map of all, and torch's text.

All of it is cut to a bound. Runs in the jail.
"""

from typing import Any

import torch

from app.grading.forward.driver_jobs import HEAD
from app.grading.judge.verdict import STEPS

_PLAIN = (bool, int, float, str, torch.Size, torch.dtype)
_CHARACTERS = 4000
MAP_ROWS, MAP_COLUMNS = 24, 40
_LETTERS = torch.tensor(list(f".{STEPS}?{STEPS.upper()[::-1]}".encode()), dtype=torch.uint8)
"""By level: from 0 on those above zero, from the end those below."""
_NO_NUMBER = len(STEPS) + 1


def shown_as(name: str, value: object, *, printed: bool = True) -> dict[str, Any]:
    """*value* as JSON values; what is neither tensor nor number, text or shape is only named.

    Args:
        printed: As torch prints it as well, which takes longer than all the rest: for what a learner wrote down to be
            seen, and for what has no first entries.
    """
    if type(value) is torch.Tensor:
        seen = _preview(value)
        text = str(value)[:_CHARACTERS] if printed or not seen else ""
        shape, dtype = list(value.shape), str(value.dtype)[6:]
        return {"name": name, "shape": shape, "dtype": dtype, "text": text, **seen}
    text = repr(value)[:_CHARACTERS] if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return {"name": name, "shape": [], "dtype": type(value).__name__, "text": text}


def _preview(value: torch.Tensor) -> dict[str, Any]:
    """First entries in words, and the map; the axes before the last are below each other."""
    if not value.numel() or value.is_complex() or value.layout is not torch.strided:
        return {}
    table = value.detach().reshape(-1, value.shape[-1] if value.ndim else 1)
    return {
        "rows": [[_word(item) for item in row] for row in table[:HEAD, :HEAD].tolist()],
        "map": _levels(_spaced(_spaced(table, 0, MAP_ROWS), 1, MAP_COLUMNS).to(torch.float64)),
    }


def _spaced(table: torch.Tensor, axis: int, most: int) -> torch.Tensor:
    """At most *most* places along *axis*, from the first to the last."""
    size = table.shape[axis]
    if size <= most:
        return table
    return table.index_select(axis, torch.tensor([at * (size - 1) // (most - 1) for at in range(most)]))


def _word(number: float) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _levels(numbers: torch.Tensor) -> list[str]:
    """By row: a letter for each magnitude; capitals are below zero, a point is zero, and `?` is no number.

    All entries at once: of many tensors, one after another takes longer than the run whose values they are.
    """
    sizes = numbers.abs().where(numbers.isfinite(), 0.0)
    # By the square root, so that small numbers beside a large one can still be told from zero.
    levels = (sizes / (sizes.max().item() or 1.0)).sqrt().mul(len(STEPS)).ceil().clamp(min=1.0) * numbers.sign()
    letters = bytes(_LETTERS[levels.where(numbers.isfinite(), _NO_NUMBER).to(torch.int64)].flatten().tolist()).decode()
    columns = numbers.shape[1]
    return [letters[at : at + columns] for at in range(0, len(letters), columns)]
