"""The right numbers in the wrong places: views, permutations, heads, parts of a concatenation.

| code | what the learner has |
|---|---|
| `permute-skipped` | the upstream reshaped at once, without undoing the exchange of axes: heads or channels are mixed |
| `permute-not-inverted` | the permutation of the forward applied again |
| `axes-mixed` | another permutation of the axes |
| `wrong-part` | another part of a concatenation |
| `view-order` | the same numbers, in other places |
| `mirrored` | the same numbers, in reverse order along an axis |
"""

from collections.abc import Iterator
from functools import partial
from itertools import permutations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Diagnosis, Look, Mistake
from app.grading.diagnosis.slips import Slip, at_step, every_step
from app.grading.diagnosis.steps import Step
from app.grading.forward.program import Path

VIEWS = frozenset({"reshape", "permute"})
RANK_MAX = 4


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for path, depth, step in every_step(bench):
        if step.node.op in VIEWS:
            yield from _of_view(bench, path, depth, step)
        if step.node.op == "cat":
            yield from _of_parts(bench, path, depth, step)
    for axis in range(bench.case.looks[0].reference.ndim):
        yield Mistake(code="mirrored", predict=partial(_mirrored, axis=axis), say=partial(_say_mirrored, axis=axis))


def _of_view(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    fields = bench.spot(path, depth)
    moved = any(node.op == "permute" for node, _ in ((step.node, 0), *step.below))
    if moved:
        say = (
            "`{name}` has the shape of `{tensor}` and all of its numbers, in the wrong places: the exchange of axes "
            "in `{statement}` was not undone before the reshape, so entries of different groups are mixed."
        ).format(**fields)
        predict = partial(_reshaped, bench, path, depth, None)
        yield Mistake(code="permute-skipped", predict=predict, say=partial(_constant, say))
    if step.node.op == "permute" and step.g.ndim <= RANK_MAX:
        again = Slip(
            "permute-not-inverted",
            lambda step: _fitting(step.g.transpose(step.node.options["order"]), step),
            "`{name}` applies the permutation of `{statement}` once more; going back takes its inverse.",
        )
        yield at_step(bench, path, depth, again)
    if step.g.ndim <= RANK_MAX:
        say = "`{name}` holds the right numbers with its axes exchanged in another way than `{statement}` did.".format(
            **fields
        )
        for order in permutations(range(step.g.ndim)):
            predict = partial(_reshaped, bench, path, depth, order)
            yield Mistake(code="axes-mixed", predict=predict, say=partial(_constant, say))


def _fitting(array: Array, step: Step) -> Array | None:
    return array if array.shape == step.x.shape else None


def _reshaped(
    bench: Bench, path: Path, depth: int, order: tuple[int, ...] | None, _case: Case, look: Look
) -> Array | None:
    steps = bench.steps(path, look)
    if depth >= len(steps):
        return None
    g = steps[depth].g
    g = g if order is None else g.transpose(order)
    if g.size != look.reference.size:
        return None
    return bench.exchanged(path, look, np.ascontiguousarray(g).reshape(look.reference.shape))


def _of_parts(bench: Bench, path: Path, depth: int, step: Step) -> Iterator[Mistake]:
    axis = step.node.options["axis"]
    for start in range(step.g.shape[axis] - step.x.shape[axis] + 1):
        say = "`{name}` takes another part of {up} than the one in which `{statement}` placed `{x}`."
        yield at_step(bench, path, depth, Slip("wrong-part", partial(_part, start=start), say))


def _part(step: Step, start: int) -> Array:
    axis = step.node.options["axis"]
    return step.g.take(range(start, start + step.x.shape[axis]), axis)


def _mirrored(_case: Case, look: Look, axis: int) -> Array:
    return np.flip(look.reference, axis)


def _say_mirrored(case: Case, axis: int) -> str:
    return f"All numbers of `{case.name}` are right, in reverse order along axis {axis}."


def _constant(text: str, _case: Case) -> str:
    return text


def misplaced(bench: Bench) -> Diagnosis | None:
    """The last resort of this family: sorted, both tensors are equal."""
    for look in bench.case.looks:
        got, reference = bench.got[id(look)], look.reference
        if got.size != reference.size or got.size < 2 or len(np.unique(reference)) < 2:
            return None
        apart = np.abs(np.sort(got.ravel()) - np.sort(reference.ravel())).max()
        if apart > bench.slack(got, look):
            return None
    name, statements = bench.case.name, ", ".join(f"`{path.statement.source}`" for path in bench.paths)
    message = (
        f"All numbers of `{name}` are right but sit in the wrong places. Undo the layout steps "
        f"of {statements} one by "
        "one, the last one first."
    )
    return Diagnosis(code=f"{name}:view-order", message=message)
