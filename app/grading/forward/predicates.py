"""The predicates that a forward program decides by, such as the sign of what relu reads, and how often each side came.

A mode of torch's sees every operation that is run, also those inside of others (`relu6` clamps at two numbers). What an
operation asks about is in one table; what draws data looks at the counts. This module runs in the jail.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from app.grading.forward.driver_jobs import MASK, ROUTER, Asked

Tensor = torch.Tensor
Quantities = Iterable[Tensor]
SMALLEST_THRESHOLD = 1e-5
"""A floor below this keeps a number away from 0, and is no gate that data should pass."""


def _thresholds(x: Tensor, *numbers: Any) -> Quantities:
    """Distances of *x* above each of *numbers*, which may be tensors; an absent one or a mere floor asks nothing."""
    for number in numbers:
        if number is None or (not isinstance(number, Tensor) and 0 < abs(number) <= SMALLEST_THRESHOLD):
            continue
        yield x - number


def _sign(x: Tensor, *_: Any, **__: Any) -> Quantities:
    return (x,)


def _between(x: Tensor, low: Any = None, high: Any = None) -> Quantities:
    return _thresholds(x, low, high)


def _comparison_edges(x: Any, y: Any, **_: Any) -> Quantities:
    return _thresholds(x, y) if isinstance(x, Tensor) else _thresholds(y, x)


def _apart(x: Tensor, y: Tensor, _: int = 1, threshold: float = 1.0) -> Quantities:
    """Quantity that decides between the square and the straight part of a loss."""
    return ((x - y).abs() - threshold,)


def _one_norm(x: Tensor, order: float = 2, *_: Any, **__: Any) -> Quantities:
    return (x,) if order == 1 else ()


GATES: Mapping[str, Callable[..., Quantities]] = {
    **dict.fromkeys(("relu", "abs", "sign", "sgn", "leaky_relu", "elu", "celu", "_prelu_kernel"), _sign),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max", "threshold"), _between),
    **dict.fromkeys(("gt", "ge", "lt", "le", "maximum", "minimum", "fmax", "fmin"), _comparison_edges),
    **dict.fromkeys(("hardswish", "hardsigmoid"), lambda x: _thresholds(x, -3, 3)),
    **dict.fromkeys(("hardshrink", "softshrink"), lambda x, limit=0.5: _thresholds(x, -limit, limit)),
    **dict.fromkeys(("huber_loss", "smooth_l1_loss"), _apart),
    "threshold": lambda x, limit, _: _thresholds(x, limit),
    "hardtanh": lambda x, low=-1, high=1: _thresholds(x, low, high),
    "linalg_vector_norm": _one_norm,
}
"""By operation: the quantities whose sides count."""

MASKS: Mapping[str, Callable[..., Tensor]] = {
    "where": lambda mask, *_: mask,
    "masked_fill": lambda _, mask, *__: mask,
    "eq": lambda x, y: torch.eq(x, y),
    "ne": lambda x, y: torch.eq(x, y),
}
"""By operation: the truths of which there should be some of each."""

ROUTERS = {
    **dict.fromkeys(("argmax", "max", "amax"), torch.argmax),
    **dict.fromkeys(("argmin", "min", "amin"), torch.argmin),
}
"""Operations that choose a place along an axis, with what says which."""


class Watch(TorchDispatchMode):
    """Recorder of every predicate while it is entered; the caller that runs the program sets *statement*."""

    def __init__(self) -> None:
        self.statement = 0
        self.asked: list[Asked] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here; to be skipped, torch would have to load its compiler first.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__.rstrip("_")  # an operation in place changes what it asks about
        if name in GATES:
            for quantity in GATES[name](*args, **kwargs):
                self._count(name, quantity < 0, quantity > 0)
        elif name in MASKS:
            mask = MASKS[name](*args, **kwargs).bool()
            self._count(MASK, ~mask, mask)
        elif name in ROUTERS:
            self._route(ROUTERS[name], *args)
        return func(*args, **kwargs)

    def _route(self, place: Callable[..., Tensor], x: Tensor, axis: int | list[int] | None = None, *_: Any) -> None:
        axes = axis if isinstance(axis, list) else [axis]
        if len(axes) == 1 and isinstance(axes[0], int) and x.ndim and x.shape[axes[0]] > 1:
            last = place(x, axes[0]) == x.shape[axes[0]] - 1
            self._count(ROUTER, ~last, last)

    def _count(self, kind: str, below: Tensor, above: Tensor) -> None:
        below_count, beyond = int(below.sum()), int(above.sum())
        self.asked.append(Asked(self.statement, kind, below_count, below.numel() - below_count - beyond, beyond))
