"""What arrives from above, used in part or in another order: some examples only, one step late, mirrored, exchanged.

| code | what was done with the gradient at an output before it was sent on |
|---|---|
| `one-slice` | one slice along an axis was used, as if the others did not exist |
| `slice-missing` | the first or the last slice along an axis was left out |
| `upstream-shifted` | every slice met its neighbour's factor: one step early or late along an axis |
| `upstream-flipped` | used in reverse order along an axis |
| `upstream-transposed` | its last two axes, of equal size, were exchanged |
| `upstream-averaged` | its average stood in the place of each slice, or of each entry |
| `slice-repeated` | one slice was used in the place of all |
| `diagonal-only` | the entries on the diagonal alone |

A step sends what arrives in the same way to all of its entries, so each row is the rule itself with another upstream.
Where the tensor feeds several lines, the same is tried on all of them at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.naming import axis_text, in_code, listed
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

RANK_MAX = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What was done with the upstream, and how a sentence goes on after "In `dW` "."""

    code: str
    act: Callable[[Array], Array]
    say: str
    axis: int | None = None


def changes(rank: int, square: bool) -> Iterator[Change]:
    """Every change that a gradient of *rank* axes can go through."""
    for axis in range(rank):
        for end, where in ((0, "first"), (-1, "last")):
            only = f"only the {where} slice of {{up}} along {{axis}} is used; every slice sends a share"
            yield Change("one-slice", partial(_kept, axis=axis, end=end), only, axis)
            rest = f"the {where} slice of {{up}} along {{axis}} is left out; every slice sends a share"
            yield Change("slice-missing", partial(_dropped, axis=axis, end=end), rest, axis)
            same = f"the {where} slice of {{up}} along {{axis}} stands in the place of all of them"
            yield Change("slice-repeated", partial(_repeated, axis=axis, end=end), same, axis)
        for by in (1, -1):
            late = "{up} is one place off along {axis}: each slice meets the factor of its neighbour"
            yield Change("upstream-shifted", partial(_shifted, axis=axis, by=by), late, axis)
            yield Change("upstream-shifted", partial(np.roll, shift=by, axis=axis), late, axis)
        back = "{up} is used in reverse order along {axis}"
        yield Change("upstream-flipped", partial(np.flip, axis=axis), back, axis)
        mean = "the average of {up} along {axis} stands in the place of each slice"
        yield Change("upstream-averaged", partial(_averaged, axis=axis), mean, axis)
    for pair in combinations(range(rank), 2):
        only = "only one slice of {up} along two of its axes is used; every slice sends a share"
        yield Change("one-slice", partial(_kept_both, axes=pair), only)
    if rank > 1:
        mean = "the average of {up} stands in the place of each of its entries"
        yield Change("upstream-averaged", partial(_averaged, axis=None), mean)
    if square:
        turned = "{up} is used transposed: its last two axes have the same size and were exchanged"
        yield Change("upstream-transposed", lambda g: np.swapaxes(g, -1, -2), turned)
        diagonal = "only the diagonal of {up} is used; every entry sends a share"
        yield Change("diagonal-only", lambda g: g * np.eye(g.shape[-1]), diagonal)


def _kept(g: Array, axis: int, end: int) -> Array:
    full = np.zeros_like(g)
    at = _slab(g, axis, end)
    full[at] = g[at]
    return full


def _kept_both(g: Array, axes: tuple[int, int]) -> Array:
    return _kept(_kept(g, axes[0], 0), axes[1], 0)


def _dropped(g: Array, axis: int, end: int) -> Array:
    full = g.copy()
    full[_slab(g, axis, end)] = 0.0
    return full


def _repeated(g: Array, axis: int, end: int) -> Array:
    return np.broadcast_to(g.take([end], axis), g.shape)


def _shifted(g: Array, axis: int, by: int) -> Array:
    return _dropped(np.roll(g, by, axis), axis, 0 if by > 0 else -1)


def _averaged(g: Array, axis: int | None) -> Array:
    return np.broadcast_to(g.mean(axis=axis, keepdims=True), g.shape)


def _slab(g: Array, axis: int, at: int) -> tuple[slice | int, ...]:
    return tuple(at if each == axis else slice(None) for each in range(g.ndim))


def mistakes(bench: Bench) -> Iterator[Mistake]:
    seen: set[tuple[str, str, int]] = set()
    for path in bench.paths:
        for depth, step in enumerate(bench.steps(path, bench.case.looks[0])):
            if 0 < step.g.ndim <= RANK_MAX and _is_place(step, depth):
                yield from _at(bench, path, depth, step)
                together = (step.node.op, str(step.position), step.g.ndim)
                if len(bench.paths) > 1 and together not in seen:
                    seen.add(together)
                    yield from _everywhere(bench, path, depth, step)


def _is_place(step: Step, depth: int) -> bool:
    """Whether another place says more: entry by entry what happens to x happens to y."""
    return depth == 0 or step.g.shape != step.x.shape or step.node.op in {"matmul", "conv", "einsum"}


def _at(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    for change in changes(step.g.ndim, _square(step.g)):
        predict = partial(_predict, bench, path, depth, change.act)
        yield Mistake(code=change.code, predict=predict, say=partial(_say, bench, path, depth, change, ""))


def _square(g: Array) -> bool:
    return g.ndim > 1 and g.shape[-1] == g.shape[-2]


def _predict(
    bench: Bench, path: Path, depth: int, act: Callable[[Array], Array], _case: Case, look: Look
) -> Array | None:
    steps = bench.steps(path, look)
    if depth >= len(steps):
        return None
    found = bench.resent(path, depth, look, _sent(steps[depth], act))
    # What is left out along an axis that the tensor has itself is a hole in its gradient, and is told as one.
    return None if found is None or _holes(found) > _holes(look.reference) else found


def _holes(tensor: Array) -> int:
    """Slices that are zero, along any axis."""
    axes = range(tensor.ndim)
    return int(sum((~tensor.any(axis=tuple(each for each in axes if each != axis))).sum() for axis in axes))


def _sent(step: Step, act: Callable[[Array], Array]) -> Array:
    return vjp(step.node, step.position, act(step.g))


def _everywhere(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    """The same change on every path that has such a step."""
    names = listed(list(dict.fromkeys(in_code(each.consumer) for each in bench.paths)))
    for change in changes(step.g.ndim, _square(step.g)):
        predict = partial(_together, bench, step.node.op, step.position, step.g.ndim, change.act)
        say = partial(_say, bench, path, depth, change, f", and so on every way, through {names}")
        yield Mistake(code=change.code, predict=predict, say=say)


def _together(
    bench: Bench, op: str, position: int, rank: int, act: Callable[[Array], Array], _case: Case, look: Look
) -> Array | None:
    total: Array = np.zeros_like(look.reference)
    changed = 0
    for path in bench.paths:
        share: Array | None = look.shares[path.key]
        for step in bench.steps(path, look):
            if (step.node.op, step.position, step.g.ndim) == (op, position, rank):
                share, changed = step.carried(_sent(step, act)), changed + 1
                break
        if share is None or share.shape != total.shape:
            return None
        total = total + share
    return total if changed > 1 else None


def _say(bench: Bench, path: Path, depth: int, change: Change, more: str, case: Case) -> str:
    fields = bench.spot(path, depth)
    axis = "" if change.axis is None else axis_text(case, fields["y"], change.axis)
    return f"In `{fields['name']}` {change.say.format(up=fields['up'], axis=axis)}{more}."
