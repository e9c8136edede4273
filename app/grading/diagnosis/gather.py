"""Slips at an index, whose backward adds each share to the row that was picked.

| code | what the learner has |
|---|---|
| `scatter-overwrite` | one share per row: a row that was picked several times kept the last (or first) one |
| `scatter-mean` | the shares of a row averaged |
| `dense` | a share in every entry, picked or not |
| `index-every-row` | whole columns, where one entry of each row was picked |
| `rows-shifted` | the shares one row too far |
| `wrong-index:T` | the rows that another integer tensor T (or the position of the largest entry) names |
| `positions` | the shares of some positions of the index only |
| `positions-repeated` | one position's upstream used for all of them |
| `upstream-missing` | counts instead of shares |
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Diagnosis, Look, Mistake
from app.grading.diagnosis.naming import axis_text, places_text
from app.grading.diagnosis.slips import Slip, at_step, every_step, local
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

Index = tuple[Any, ...]
POSITIONS_MAX = 40
ROUND = 1e-6


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path, depth, step in every_step(bench):
        if step.node.op != "index":
            continue
        if not any(isinstance(part, np.ndarray) for part in step.node.options["index"]):
            continue
        slips = [*SLIPS, *_shifted(), *_repetitions(step), *_wrong_index(step)]
        for slip in slips:
            yield at_step(bench, path, depth, slip)


def overwritten(step: Step, turned: bool = False) -> Array | None:
    """Each row keeps its last share, or its first where *turned*."""
    full, index, g = np.zeros(step.x.shape), step.node.options["index"], step.g
    rank = _picked(index).ndim
    flat = tuple(part.ravel() if isinstance(part, np.ndarray) else part for part in index)
    if turned:
        flat = tuple(part[::-1] if isinstance(part, np.ndarray) else part for part in flat)
    try:
        rows = g.reshape(-1, *g.shape[rank:])
        full[flat] = rows[::-1] if turned else rows
    except (ValueError, IndexError):
        return None
    return full


def _averaged(step: Step) -> Array:
    counts = local(step)
    return np.asarray(vjp(step.node, 0, step.g) / np.maximum(counts, 1.0))


def _dense(step: Step) -> Array | None:
    """What one pick per row gives when the pick is forgotten."""
    index, x = step.node.options["index"], step.x
    if len(index) == x.ndim and step.g.shape == x.shape[:-1]:
        return np.broadcast_to(step.g[..., None], x.shape)
    if len(index) == 1 and step.g.shape[step.g.ndim - x.ndim + 1 :] == x.shape[1:]:
        rows = step.g.reshape(-1, *x.shape[1:])
        return np.broadcast_to(rows.sum(0), x.shape)
    return None


def _every_row(step: Step) -> Array | None:
    """What `[:, t]` gives where `[arange, t]` was picked: whole columns."""
    index, full = step.node.options["index"], np.zeros(step.x.shape)
    if len(index) != 2 or full.ndim != 2 or step.g.ndim != 1 or not isinstance(index[1], np.ndarray):
        return None
    full[:, index[1]] = step.g[:, None] if len(step.g) == len(full) else step.g
    return full


SLIPS = (
    Slip(
        "index-every-row",
        _every_row,
        "`{name}` writes to the picked columns in every row. In `{statement}` each row has one entry that was picked.",
    ),
    Slip(
        "scatter-overwrite",
        overwritten,
        "In `{name}` a row that was picked several times holds one share only: a later write replaced the earlier "
        "ones. Rows that were picked once are right. Add each share to what is there.",
    ),
    Slip(
        "scatter-overwrite",
        partial(overwritten, turned=True),
        "In `{name}` a row that was picked several times holds one share only. Add each share to what is there.",
    ),
    Slip(
        "scatter-mean",
        _averaged,
        "`{name}` averages the shares of a row that was picked several times; each pick counts in full.",
    ),
    Slip(
        "dense",
        _dense,
        "`{name}` gives a share to every entry. In `{statement}` only the entries that were picked can be felt; all "
        "others are zero.",
    ),
    Slip(
        "dense",
        lambda step: np.broadcast_to(
            step.g.reshape(-1)[0] if step.g.size and np.ptp(step.g) == 0 else np.nan, step.x.shape
        ),
        "`{name}` holds the same number everywhere. In `{statement}` only the entries that were picked can be felt; "
        "all others are zero.",
    ),
    Slip(
        "upstream-missing",
        local,
        "`{name}` counts how often each entry was picked. Multiply by what arrives from above, {up}.",
    ),
)


def _picked(index: Index) -> Array:
    """The index array, or what several of them broadcast to."""
    return np.asarray(np.broadcast_arrays(*[part for part in index if isinstance(part, np.ndarray)])[0])


def _scattered(step: Step, index: Index, g: Array) -> Array | None:
    full = np.zeros(step.x.shape)
    try:
        np.add.at(full, index, g)
    except (ValueError, IndexError):
        return None
    return full


def _shifted() -> Iterator[Slip]:
    for shift in (-1, 1):

        def moved(step: Step, shift: int = shift) -> Array | None:
            *first, last = step.node.options["index"]
            axis = len(first)
            wrapped = (np.asarray(last) + shift) % step.x.shape[axis] if isinstance(last, np.ndarray) else last
            return _scattered(step, (*first, wrapped), step.g)

        say = "`{name}` adds every share one place beside the entry that `{statement}` picked."
        yield Slip("rows-shifted", moved, say)


def _repetitions(step: Step) -> Iterator[Slip]:
    picked = _picked(step.node.options["index"])
    for axis in range(picked.ndim if picked.ndim > 1 or step.g.ndim > picked.ndim else 0):
        say = f"`{{name}}` uses the upstream of position 0 along axis {axis} of `{{y}}` for every position."
        yield Slip("positions-repeated", partial(_repeated, axis=axis), say)


def _repeated(step: Step, axis: int) -> Array:
    return vjp(step.node, 0, np.broadcast_to(step.g.take([0], axis), step.g.shape))


def _wrong_index(step: Step) -> Iterator[Slip]:
    index = step.node.options["index"]
    place = next(rank for rank in reversed(range(len(index))) if isinstance(index[rank], np.ndarray))
    mine = np.asarray(index[place])
    for name, tensor in step.look.forward.items():
        if tensor.dtype.kind == "i" and tensor.shape == mine.shape:
            say = f"`{{name}}` writes to the places that `{name}` names; `{{statement}}` picked others."
            yield Slip(f"wrong-index:{name}", partial(_elsewhere, place=place, name=name), say, (name,))
    if step.x.ndim == 2 and mine.shape == step.x.shape[:1]:
        for name in ("argmax", "argmin"):
            say = f"`{{name}}` writes to the {name[3:]}imum of each row; `{{statement}}` picked other places."
            yield Slip(f"wrong-index:{name}", partial(_at_extreme, place=place, name=name), say)


def _elsewhere(step: Step, place: int, name: str) -> Array | None:
    index = list(step.node.options["index"])
    other = step.look.forward[name]
    if np.array_equal(other, index[place]):
        return None
    index[place] = other
    return _scattered(step, tuple(index), step.g)


def _at_extreme(step: Step, place: int, name: str) -> Array | None:
    index = list(step.node.options["index"])
    index[place] = getattr(step.x, name)(axis=1)
    return _scattered(step, tuple(index), step.g)


def positions(bench: Bench) -> Diagnosis | None:
    """The learner's tensor as a sum of the shares of single positions of the index, some of them left out."""
    if not bench.shaped():
        return None
    for path, depth, step in every_step(bench):
        if step.node.op != "index" or not any(isinstance(part, np.ndarray) for part in step.node.options["index"]):
            continue
        for axis in range(_picked(step.node.options["index"]).ndim):
            read = [_of_positions(bench, path, depth, axis, look) for look in bench.case.looks]
            if all(each is not None for each in read):
                left_out = [each for each in read if each is not None]
                where = axis_text(bench.case, path.consumer, axis)
                message = (
                    f"`{bench.case.name}` lacks the shares of {places_text(left_out)} along {where} of "
                    f"`{bench.spot(path, depth)['y']}`. Every position that was picked has a share."
                )
                return Diagnosis(code=f"{bench.case.name}:positions", message=message)
    return None


def _of_positions(bench: Bench, path: Path, depth: int, axis: int, look: Look) -> Array | None:
    """Which positions were left out; None where the learner's tensor is no sum of the others."""
    step = bench.steps(path, look)[depth]
    size = step.g.shape[axis]
    if not 2 <= size <= POSITIONS_MAX or look.reference.size <= size:
        return None
    shape = [1] * step.g.ndim
    shape[axis] = size
    parts = [step.carried(vjp(step.node, 0, step.g * (np.arange(size) == at).reshape(shape))) for at in range(size)]
    columns = np.stack([part.ravel() for part in parts if part is not None], 1)
    target = bench.got[id(look)].ravel() - (look.reference - look.shares[path.key]).ravel()
    found, _, rank, _ = np.linalg.lstsq(columns, target, rcond=1e-9)
    if rank < size or float(np.abs(columns @ found - target).max()) > bench.slack(target, look):
        return None
    whole = np.rint(found)
    if np.abs(found - whole).max() > ROUND or (whole < 0).any() or whole.all() or not whole.any():
        return None
    return np.asarray(whole == 0)
