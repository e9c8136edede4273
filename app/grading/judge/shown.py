"""How a value of a run without a verdict is shown: as torch prints it, cut to a bound. Runs in the jail."""

from typing import Any

import torch

_PLAIN = (bool, int, float, str, torch.Size, torch.dtype)
_CHARACTERS = 4000


def shown_as(name: str, value: object) -> dict[str, Any]:
    """*value* as JSON values; what is neither tensor nor number, text or shape is only named."""
    if type(value) is torch.Tensor:
        text = str(value)[:_CHARACTERS]
        return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype)[6:], "text": text}
    text = repr(value)[:_CHARACTERS] if isinstance(value, _PLAIN) else f"a {type(value).__name__}"
    return {"name": name, "shape": [], "dtype": type(value).__name__, "text": text}
