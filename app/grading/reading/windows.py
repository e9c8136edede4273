"""Operations on windows of tensors: convolutions, forward and transposed, and pools."""

import math
from functools import partial
from typing import Any

import numpy as np

from app.grading.operations.collisions import check_axes
from app.grading.operations.costs import entry_count
from app.grading.operations.numerics import Array, Axes
from app.grading.reading.node import OpNode, UntracedError
from app.grading.reading.traced_call import TracedCall


def convolved(call: TracedCall) -> OpNode:
    """As torch has it, of [batch, in, *places] with a kernel [out, in, *places]: nothing is flipped."""
    nodes = [call.node(name) for name in ("input", "weight", "bias") if name in call]
    x, kernel = nodes[0].value, nodes[1].value
    rank, groups = kernel.ndim - 2, int(call.plain("groups", 1))
    if x.ndim != kernel.ndim:
        raise UntracedError("a convolution without a batch")
    if groups == 1:
        check_axes(x.shape, kernel.shape, (1, 1), "convolve")
    steps, padding, gaps = _spacing(call, rank)
    wide = [size + 2 * pad for size, pad in zip(x.shape[2:], padding, strict=True)]
    call.pay(entry_count(x.shape[:2]) * entry_count(wide) * entry_count(kernel.shape[2:]))
    call.pay(entry_count(x.shape[0], kernel.shape[0]) * entry_count(wide))
    windows = partial(_windows, sizes=kernel.shape[2:], steps=steps, padding=padding, gaps=gaps)
    cut = call.moved("windows", windows, nodes[0])
    parts = zip(np.split(cut.value, groups, 1), np.split(kernel, groups), strict=True)
    value = np.concatenate([_window_product(part, own) for part, own in parts], 1)
    if len(nodes) > 2:
        value = value + nodes[2].value.reshape(-1, *(1,) * rank)
    if groups > 1:
        return call.value_alone(value)
    return call.made(value, *nodes, windows=cut)


def _window_product(windows: Array, kernel: Array) -> Array:
    places = list(range(kernel.ndim, 2 * kernel.ndim - 2))
    product = np.tensordot(windows, kernel, ([1, *places], [1, *range(2, kernel.ndim)]))
    return np.moveaxis(product, -1, 1)


def convolved_back(call: TracedCall) -> OpNode:
    """A transposed convolution, of [batch, in, *places] with a kernel [in, out, *places], read for its value alone."""
    x, kernel = call.node("input").value, call.node("weight").value
    rank = kernel.ndim - 2
    if x.ndim != kernel.ndim:
        raise UntracedError("a convolution without a batch")
    check_axes(x.shape, kernel.shape, (1, 0), "convolve")
    steps, padding, gaps = _spacing(call, rank)
    more = _each(call.plain("output_padding", 0), rank)
    spans = [gap * (size - 1) for gap, size in zip(gaps, kernel.shape[2:], strict=True)]
    wide = [(size - 1) * step + 1 for size, step in zip(x.shape[2:], steps, strict=True)]
    around = [(span - pad, span - pad + end) for span, pad, end in zip(spans, padding, more, strict=True)]
    full = [size + low + high for size, (low, high) in zip(wide, around, strict=True)]
    call.pay(entry_count(x.shape[:2]) * entry_count(full) * entry_count(kernel.shape[2:]))
    call.pay(entry_count(x.shape[0], kernel.shape[1]) * entry_count(full))
    apart = np.zeros((*x.shape[:2], *wide))
    apart[(slice(None), slice(None), *(slice(None, None, step) for step in steps))] = x
    padded = np.pad(apart, [(0, 0), (0, 0), *around])
    windows = _windows(padded, kernel.shape[2:], (1,) * rank, (0,) * rank, gaps)
    value = _window_product(windows, np.flip(kernel, tuple(range(2, 2 + rank))).swapaxes(0, 1))
    if "bias" in call:
        value = value + call.node("bias").value.reshape(-1, *(1,) * rank)
    return call.value_alone(value)


def _spacing(call: TracedCall, rank: int) -> tuple[Axes, Axes, Axes]:
    stride, padding, dilation = (call.plain("stride", 1), call.plain("padding", 0), call.plain("dilation", 1))
    return _each(stride, rank), _each(padding, rank), _each(dilation, rank)


def pooled(call: TracedCall) -> OpNode:
    """Average or maximum of each window, read for its value alone."""
    x, rank = call.node("input").value, int(call.op.name[-2])
    sizes = _each(call.plain("kernel_size"), rank)
    steps, padding = _each(call.plain("stride", sizes), rank), _each(call.plain("padding", 0), rank)
    if x.ndim != rank + 2:
        raise UntracedError("windows without a batch")
    wide = [size + 2 * pad for size, pad in zip(x.shape[2:], padding, strict=True)]
    call.pay(entry_count(x.shape[:2]) * entry_count(wide) * entry_count(sizes))
    average = call.op.name.startswith("avg")
    fill = 0.0 if average else -math.inf
    padded = np.pad(x, [(0, 0), (0, 0), *((each, each) for each in padding)], constant_values=fill)
    windows = _windows(padded, sizes, steps, (0,) * rank, (1,) * rank)
    return call.value_alone((np.mean if average else np.max)(windows, tuple(range(-rank, 0))))


def _each(sizes: Any, rank: int) -> tuple[int, ...]:
    return tuple(sizes) if isinstance(sizes, tuple | list) else (int(sizes),) * rank


def _windows(x: Array, sizes: Axes, steps: Axes, padding: Axes, gaps: Axes) -> Array:
    """Every window of *x*: [batch, in, *positions, *places in the window]."""
    padded = np.pad(x, ((0, 0), (0, 0), *((each, each) for each in padding)))
    spans = [gap * (size - 1) + 1 for size, gap in zip(sizes, gaps, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, 2 + len(sizes))))
    return windows[(slice(None), slice(None), *(slice(None, None, each) for each in (*steps, *gaps)))]
