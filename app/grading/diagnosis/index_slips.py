"""Slips at an index, whose backward adds each share to the row that was picked, and at a maximum, which picks one.

| code | what the learner has |
|---|---|
| `scatter-overwrite` | one share per row: a row that was picked several times kept the last (or first) one |
| `scatter-mean` | the shares of a row averaged |
| `dense` | a share in every entry, picked or not |
| `index-every-row` | whole columns or rows, where one entry of each row was picked |
| `rows-shifted`, `index-of-index` | the shares one row too far, or read at the rows that they go to |
| `wrong-index:T`, `router-labels:T` | the places that another integer tensor T (or an extreme) names |
| `positions` | the shares of some positions of the index only |
| `positions-repeated` | one position's upstream used for all of them |
| `upstream-missing` | counts instead of shares |
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array, Diagnosis, Hypothesis, Observation
from app.grading.diagnosis.gradient_analysis import GradientAnalysis, Send
from app.grading.diagnosis.naming import axis_text, places_text
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import one_hot
from app.grading.reading.node import with_kept_axes

SAY = sentences_of("picks")

POSITIONS_MAX = 40
ROUND = 1e-6


def index_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    for path, depth, step in view.places():
        if is_pick(step):
            for code, send, say, word in _rows(step, SAY["dense" if len(view.paths) == 1 else "dense-share"]):
                mentions = ("{word}",) if code == "wrong-index:{word}" and word in step.look.forward else ()
                yield view.hypothesis_at_step(path, depth, code, send, say, mentions, word=word, axis=word)
        if step.node.op == "diagonal":
            yield view.hypothesis_at_step(
                path, depth, "dense", lambda s: np.broadcast_to(s.g[:, None], s.x.shape), SAY["diagonal"]
            )
        if step.node.op in {"max", "min"} and len(step.node.options["axes"]) == 1:
            yield from _labels(view, path, depth, step)
            yield from (
                view.hypothesis_at_step(path, depth, *row) for row in _whole() if step.node.options["axes"] == (1,)
            )


def is_pick(step: PathStep) -> bool:
    """True if the step picks entries by arrays of whole numbers."""
    return step.node.op == "index" and any(isinstance(part, np.ndarray) for part in step.node.options["index"])


def _rows(step: PathStep, dense: str) -> Iterator[tuple[str, Send, str, str]]:
    yield from ((*row, "") for row in _whole())
    yield "scatter-overwrite", last_shares, SAY["later"], ""
    yield "scatter-overwrite", partial(last_shares, turned=True), SAY["earlier"], ""
    yield "scatter-overwrite", _by_turns, SAY["turns"], ""
    yield "scatter-mean", lambda step: step.sends(step.g) / np.maximum(step.of_ones, 1.0), SAY["averaged"], ""
    yield "dense", _dense, dense, ""
    yield "dense", _constant, SAY["constant"], ""
    yield "upstream-missing", lambda step: step.of_ones, SAY["counts"], ""
    yield "index-of-index", lambda step: step.sends(step.g[_index_array(step)]), SAY["numbered"], ""
    for shift in (-1, 1):
        yield "rows-shifted", partial(_shifted, shift=shift), SAY["shifted"], ""
    picked = _index_array(step)
    for axis in range(picked.ndim if picked.ndim > 1 or step.g.ndim > picked.ndim else 0):
        yield "positions-repeated", partial(_repeated, axis=axis), SAY["repeated"], str(axis)
    place = _place(step)
    mine = np.asarray(step.node.options["index"][place])
    for name, tensor in step.look.forward.items():
        if tensor.dtype.kind == "i" and tensor.shape == mine.shape:
            yield "wrong-index:{word}", partial(_elsewhere, place=place, name=name), SAY["elsewhere"], name
    if step.x.ndim == 2 and mine.shape == step.x.shape[:1]:
        for word in ("max", "min"):
            yield f"wrong-index:arg{word}", partial(_at_extreme, place=place, name=f"arg{word}"), SAY["extreme"], word


def _place(step: PathStep) -> int:
    index = step.node.options["index"]
    return next(rank for rank in reversed(range(len(index))) if isinstance(index[rank], np.ndarray))


def _index_array(step: PathStep) -> Array:
    """The index array, or what several of them broadcast to."""
    arrays = [part for part in step.node.options["index"] if isinstance(part, np.ndarray)]
    return np.asarray(np.broadcast_arrays(*arrays)[0])


def last_shares(step: PathStep, turned: bool = False) -> Array:
    """Each row keeps its last share, or its first where *turned*."""
    origin = step.node.options["act"](np.arange(step.x.size).reshape(step.x.shape)).ravel()
    flat, shares = np.zeros(step.x.size), np.broadcast_to(step.g, step.y.shape).ravel()
    flat[origin[::-1] if turned else origin] = shares[::-1] if turned else shares
    return flat.reshape(step.x.shape)


def _by_turns(step: PathStep) -> Array | None:
    """Each row keeps its last share of each turn along the first axis; the turns are added up."""
    picked = _index_array(step)
    if picked.ndim < 2 or step.y.shape[: picked.ndim] != picked.shape or len(picked) > POSITIONS_MAX:
        return None
    origin = step.node.options["act"](np.arange(step.x.size).reshape(step.x.shape))
    total, shares = np.zeros(step.x.size), np.broadcast_to(step.g, step.y.shape)
    for places, share in zip(origin, shares, strict=True):
        turn = np.zeros(step.x.size)
        turn[places.ravel()] = share.ravel()
        total += turn
    return total.reshape(step.x.shape)


def _dense(step: PathStep) -> Array | None:
    """Gradient of one pick per row if the pick is forgotten."""
    index, x = step.node.options["index"], step.x
    if len(index) == x.ndim and step.g.shape == x.shape[:-1]:
        return np.broadcast_to(step.g[..., None], x.shape)
    if len(index) == 1 and step.g.shape[step.g.ndim - x.ndim + 1 :] == x.shape[1:]:
        return np.broadcast_to(step.g.reshape(-1, *x.shape[1:]).sum(0), x.shape)
    return None


def _constant(step: PathStep) -> Array | None:
    return np.broadcast_to(step.g.reshape(-1)[0], step.x.shape) if step.g.size and np.ptp(step.g) == 0 else None


def _whole() -> Iterator[tuple[str, Send, str]]:
    for down, turned in product((True, False), repeat=2):
        yield "index-every-row", partial(_everywhere, down=down, turned=turned), SAY["columns" if down else "rows"]


def _everywhere(step: PathStep, down: bool, turned: bool) -> Array | None:
    """Whole columns where entries `[..., t]` were picked, or won; rows where not *down*; shares *turned* to a row."""
    index = step.node.options.get("index") or (..., getattr(step.x, f"arg{step.node.op}")(axis=1))
    full = np.zeros(step.x.shape)
    if len(index) != 2 or full.ndim != 2 or not isinstance(index[1], np.ndarray):
        return None
    full[(slice(None), index[1]) if down else index[1]] = step.g.reshape((1, -1) if turned else (-1, 1))
    return full


def _with_index(step: PathStep, place: int, part: Any) -> Array:
    index = list(step.node.options["index"])
    index[place] = part
    full = np.zeros(step.x.shape)
    np.add.at(full, tuple(index), step.g)
    return full


def _shifted(step: PathStep, shift: int) -> Array:
    last = len(step.node.options["index"]) - 1
    part = step.node.options["index"][last]
    wrapped = (part + shift) % step.x.shape[last] if isinstance(part, np.ndarray) else part
    return _with_index(step, last, wrapped)


def _repeated(step: PathStep, axis: int) -> Array:
    return step.sends(np.broadcast_to(step.g.take([0], axis), step.g.shape))


def _elsewhere(step: PathStep, place: int, name: str) -> Array | None:
    other = step.look.forward[name]
    return None if np.array_equal(other, step.node.options["index"][place]) else _with_index(step, place, other)


def _at_extreme(step: PathStep, place: int, name: str) -> Array:
    return _with_index(step, place, getattr(step.x, name)(axis=1))


def _labels(view: GradientAnalysis, path: GradientPath, depth: int, step: PathStep) -> Iterator[Hypothesis]:
    """An integer tensor whose entries were taken for the winners' positions."""
    (axis,) = step.node.options["axes"]
    rest = step.x.shape[:axis] + step.x.shape[axis + 1 :]
    for name, tensor in step.look.forward.items():
        if tensor.dtype.kind == "i" and tensor.shape == rest:
            send = partial(_marked, name=name, axis=axis)
            yield view.hypothesis_at_step(path, depth, "router-labels:{word}", send, SAY["labels"], (name,), word=name)


def _marked(step: PathStep, name: str, axis: int) -> Array:
    mark = np.moveaxis(one_hot(step.look.forward[name], step.x.shape[axis]), -1, axis)
    return np.asarray(with_kept_axes(step.g, step.node) * mark)


def diagnose_positions(view: GradientAnalysis) -> Diagnosis | None:
    """The learner's tensor as a sum of the shares of single positions of the index, some of them left out."""
    for path, depth, step in view.every_step() if view.shaped() else ():
        for axis in range(_index_array(step).ndim) if is_pick(step) else ():
            read = [_of_positions(view, path, depth, axis, look) for look in view.case.looks]
            if all(each is not None for each in read):
                places = places_text([each for each in read if each is not None])
                along, y = axis_text(view.case, path.consumer, axis), view.spot(path, depth)["y"]
                return view.case.told("positions", SAY["positions"], places=places, axis=along, y=y)
    return None


def _of_positions(view: GradientAnalysis, path: GradientPath, depth: int, axis: int, look: Observation) -> Array | None:
    """Which positions were left out; None where the learner's tensor is no sum of the others."""
    step = view.steps(path, look)[depth]
    size = step.g.shape[axis]
    if not 2 <= size <= POSITIONS_MAX or look.reference.size <= size:
        return None
    masks = np.moveaxis(np.eye(size).reshape(size, size, *(1,) * (step.g.ndim - 1)), 1, axis + 1)
    parts = [step.carried(step.sends(step.g * mask)) for mask in masks]
    others = look.reference - look.shares[path.key]
    array = view.solved([part for part in parts if part is not None], view.got[look] - others, look)
    if array is None:
        return None
    whole = np.rint(array)
    if np.abs(array - whole).max() > ROUND or (whole < 0).any() or whole.all() or not whole.any():
        return None
    return np.asarray(whole == 0)
