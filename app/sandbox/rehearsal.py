"""A small job of our own, which a waiting child runs while nobody waits for it.

A fork shares its parent's pages until it writes to them; most of the time of a short run is spent on copying the pages
that every run writes to. A child that has rehearsed has copied them already. The job is the graded run of Y = X W.
"""

from typing import Any

import torch

DRIVER = "attempt"
SOURCE = "dX = dY @ W.T\ndW = X.T @ dY\n"
_SCOPE = ("W", "X", "Y", "dY")
_SHAPES = {"X": (3, 2), "W": (2, 4), "Y": (3, 4), "dY": (3, 4), "dX": (3, 2), "dW": (2, 4)}


def _run(name: str, dtype: str, forced: bool) -> dict[str, Any]:
    return {
        "id": name,
        "dtype": dtype,
        "dims": {"N": 3, "D": 2, "M": 4},
        "scope": {tensor: f"{name}/{tensor}" for tensor in _SCOPE},
        "forced": {tensor: f"{name}/{tensor}" for tensor in ("dX", "dW")} if forced else {},
        "isolated": forced,
        "visible": not forced,
    }


HEADER: dict[str, Any] = {
    "source": SOURCE,
    "lines": [
        {"blank": False, "reads": ["W", "dY"], "writes": ["dX"]},
        {"blank": False, "reads": ["X", "dY"], "writes": ["dW"]},
    ],
    "last": {"dX": 0, "dW": 1},
    "required": ["dX", "dW"],
    "shown": [],
    "runs": [_run("v", "float32", forced=False), _run("a", "float64", forced=True)],
}


def arrays() -> dict[str, torch.Tensor]:
    return {
        f"{run['id']}/{name}": torch.ones(shape, dtype=getattr(torch, run["dtype"]))
        for run in HEADER["runs"]
        for name, shape in _SHAPES.items()
    }
