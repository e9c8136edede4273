"""The driver that nudges one entry of one tensor of a forward program, in the jail, and sends back what became of L.

L is the sum of upstream times output, over all outputs. It is measured, never differentiated: no autograd runs here. A
tensor in the middle of the program is nudged where it is written, and what follows is run again.
"""

import json
import math
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from app.grading.forward.driver_jobs import DriverOutput, NudgeHeader

Tensor = torch.Tensor
_TEXT_CHARS = 2000


def run(header: NudgeHeader, arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Send L without a nudge, and by step of *header* L above, L below and their differences from each other."""
    torch.set_default_dtype(torch.float64)
    probe = _Probe(header, arrays)
    try:
        with torch.no_grad():
            still = probe.terms(0.0)
            rows = [_row(still, probe.terms(step), probe.terms(-step)) for step in header["steps"]]
    except MemoryError:
        raise
    except Exception as error:
        out.text("failed", "".join(traceback.format_exception_only(error)).strip()[:_TEXT_CHARS])
        return
    out.tensor("rows", torch.stack(rows))
    out.text("size", json.dumps(float(still.abs().sum())))


def _row(still: Tensor, above: Tensor, below: Tensor) -> Tensor:
    # Differences term by term: the sum of many terms would round away what one of them gained.
    return torch.stack([above.sum(), below.sum(), (above - still).sum(), (still - below).sum()])


class _Probe:
    """The program with one entry of one tensor moved."""

    def __init__(self, header: NudgeHeader, arrays: Mapping[str, Tensor]) -> None:
        self._data = {name: arrays[name] for name in header["inputs"]}
        self._upstreams = {name: arrays[f"d{name}"] for name in header["outputs"]}
        self._tensor = header["tensor"]
        self._entry = tuple(header["entry"])
        self._scope = {"torch": torch, "F": F, "math": math, **header["dims"]}
        self._codes = [
            (compile(dict_type["source"], "<forward>", "exec"), list(dict_type["outputs"]))
            for dict_type in header["statements"]
        ]

    def terms(self, step: float) -> Tensor:
        """The terms of L after the entry has moved by *step*."""
        torch.default_generator.manual_seed(0)
        scope: dict[str, Any] = {**self._scope, **self._data}
        self._move(scope, self._data, step)
        for code, outputs in self._codes:
            exec(code, scope)
            self._move(scope, outputs, step)
        terms = [(upstream * scope[name].to(torch.float64)).flatten() for name, upstream in self._upstreams.items()]
        return torch.cat(terms)

    def _move(self, scope: dict[str, Any], written: Sequence[str] | Mapping[str, Any], step: float) -> None:
        if self._tensor in written:
            moved = scope[self._tensor].detach().clone()
            moved[self._entry] += step
            scope[self._tensor] = moved
