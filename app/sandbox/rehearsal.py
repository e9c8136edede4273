"""A small job of our own, which a zygote runs until the interpreter has fitted its code to it.

Every child can read it, so it is a program of no lesson and its lines are the gradients of no exercise.
"""

from typing import Any

import torch

DRIVER = "attempt"
SOURCE = "dA = C @ B.T / 7 - A\ndB = A.T @ C - B / 7\n"
_SCOPE = ("A", "B", "C")
_SHAPES = {"A": (3, 2), "B": (2, 4), "C": (3, 4), "dA": (3, 2), "dB": (2, 4)}


def _rehearsal_run(name: str, dtype: str, forced: bool) -> dict[str, Any]:
    return {
        "id": name,
        "dtype": dtype,
        "dims": {"N": 3, "D": 2, "M": 4},
        "scope": {tensor: f"{name}/{tensor}" for tensor in _SCOPE},
        "forced": {tensor: f"{name}/{tensor}" for tensor in ("dA", "dB")} if forced else {},
        "isolated": forced,
        "visible": not forced,
    }


HEADER: dict[str, Any] = {
    "source": SOURCE,
    "lines": [
        {"blank": False, "reads": ["A", "B", "C"], "writes": ["dA"]},
        {"blank": False, "reads": ["A", "B", "C"], "writes": ["dB"]},
    ],
    "last": {"dA": 0, "dB": 1},
    "required": ["dA", "dB"],
    "shown": [],
    "echoes": False,
    "runs": [_rehearsal_run("v", "float32", forced=False), _rehearsal_run("a", "float64", forced=True)],
}


def rehearsal_arrays() -> dict[str, torch.Tensor]:
    return {
        f"{run['id']}/{name}": torch.ones(shape, dtype=getattr(torch, run["dtype"]))
        for run in HEADER["runs"]
        for name, shape in _SHAPES.items()
    }
