"""The right numbers in another shape or in other places: kept axes, transposes, views, heads, parts of a concatenation.

| code | what the learner has |
|---|---|
| `keepdim-lost`, `keepdim-added` | an axis of size 1 is missing, or one too many |
| `not-expanded` | one number per slice, not yet spread over the axis it was summed along |
| `transposed`, `axes-reversed` | the last two axes exchanged, or all in reverse order |
| `not-reshaped` | the same numbers in the same order, in another shape |
| `upstream-unchanged` | the upstream gradient, in the output's shape |
| `permute-skipped` | the upstream reshaped at once, without undoing the exchange of axes: heads or channels are mixed |
| `axes-mixed` | another permutation than the one that leads back |
| `wrong-part` | another part of a concatenation |
| `axes-permuted` | the gradient with its axes in another order |
| `mirrored`, `view-order` | the same numbers in reverse order along an axis, or in other places |
| `shape` | any other shape |
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, permutations

import numpy as np

from app.grading.diagnosis.evidence import Array, Diagnosis, Hypothesis, Observation, Predict, WrongGradient
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.naming import in_code, join_words, shape_in, shown_observation, upstream_name
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import swapped
from app.syntax import arguments_of, called_name, nodes_in, options_of, owner_of, sign_of

SAY = sentences_of("layout")

FLAT = 1e-9
RANK_MAX = 4


def wrong_shape(case: WrongGradient) -> str:
    """The true fact that remains where no prediction fits: two shapes that differ."""
    look = shown_observation(case)
    if look is not case.visible and (case.visible or len({observation.got.ndim for observation in case.looks}) > 1):
        return f"The shape of `{case.name}` changes with the data; a gradient has the shape of its tensor."
    said = (
        f"`{case.name}` has shape {shape_in(case, look, look.got)}; a gradient has the shape of its tensor, and "
        f"`{case.tensor}` has {shape_in(case, look, look.reference)}."
    )
    return said if look.got.ndim else f"{said}{_taken_in(case)}"


def _taken_in(case: WrongGradient) -> str:
    """Part of the learner's lines that makes a single number of a tensor."""
    for node in (node for write in case.writes for node in nodes_in(write)):
        way = called_name(node)
        if way in {"sum", "mean"} and owner_of(node) is not None and not arguments_of(node) and not options_of(node):
            return f" `.{way}()` without an axis takes in every entry and leaves a single number."
    return ""


def shape_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The reference in another shape."""
    case, shape = view.case, view.first_look.reference.shape

    def row(code: str, act: Callable[[Array], Array | None], say: str) -> Hypothesis:
        return seen(code, partial(_remade, act), say)

    def seen(code: str, predict: Predict, say: str, **more: str) -> Hypothesis:
        return Hypothesis(code, predict, lambda: say.format(name=case.name, wrong=wrong_shape(case), **more))

    if len(shape) >= 2:
        yield row("transposed", swapped, SAY["transposed" if _multiplies(view) else "transposed-alone"])
    if len(shape) >= 3:
        yield row("axes-reversed", np.transpose, SAY["reversed"])
    if view.shaped():
        return
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    for axes in (axes for size in range(1, len(ones) + 1) for axes in combinations(ones, size)):
        yield row("keepdim-lost", partial(np.squeeze, axis=axes), SAY["lost"])
    for axis in range(len(shape) + 1):
        yield row("keepdim-added", partial(np.expand_dims, axis=axis), SAY["added"])
    for axis, keepdim in ((axis, keepdim) for keepdim in (True, False) for axis in range(len(shape))):
        yield row("not-expanded", partial(_folded, axis=axis, keepdim=keepdim), SAY["folded"])
    yield seen("not-reshaped", lambda look: look.reference.reshape(view.got[look].shape), SAY["reshaped"])
    for path in view.paths:
        if case.first_look.got.shape == case.first_look.upstream[path.key].shape:
            same = partial(_upstream, key=path.key)
            yield seen("upstream-unchanged", same, SAY["unchanged"], upstream=upstream_name(path))


def _multiplies(view: GradientAnalysis) -> bool:
    return any(sign_of(node) == "@" for node in view.text.nodes)


def _remade(act: Callable[[Array], Array | None], look: Observation) -> Array | None:
    return act(look.reference)


def _upstream(look: Observation, key: str) -> Array:
    return look.upstream[key]


def _folded(reference: Array, axis: int, keepdim: bool) -> Array | None:
    """One slice along *axis*, where all slices are equal."""
    if reference.shape[axis] < 2:
        return None
    first = reference.take([0], axis)
    if np.abs(reference - first).max() > FLAT * np.abs(reference).max():
        return None
    return first if keepdim else first.squeeze(axis)


def view_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """A layout step that was undone in another way."""
    for path, depth, step in view.every_step():
        if step.node.op in {"reshape", "permute"}:
            yield from _of_view(view, path, depth, step)
        if step.node.op == "cat":
            axis = step.node.options["axis"]
            for start in range(step.g.shape[axis] - step.x.shape[axis] + 1):
                yield view.hypothesis_at_step(path, depth, "wrong-part", partial(_part, start=start), SAY["part"])
        if step.node.op == "stack":
            for at in range(len(step.node.operands)):
                yield view.hypothesis_at_step(path, depth, "wrong-part", partial(_slice, at=at), SAY["part"])
    yield from _unturned_hypotheses(view)
    for axis in range(view.first_look.reference.ndim):
        yield view.hypothesis(
            "mirrored", partial(_remade, partial(np.flip, axis=axis)), SAY["mirrored"], axis=str(axis)
        )


def _unturned_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """No exchange of axes undone, on any of several paths."""
    lines = dict.fromkeys(step.statement.source for _, _, step in view.every_step() if step.node.op == "permute")
    if lines and len(view.paths) > 1:
        predict = partial(view.everywhere, lambda step: step.node.op == "permute", _as_it_lies)
        yield view.hypothesis("permute-skipped", predict, SAY["skipped"], statements=join_words([*map(in_code, lines)]))


def _as_it_lies(step: PathStep) -> Array:
    return np.ascontiguousarray(step.g).reshape(step.x.shape)


def _of_view(view: GradientAnalysis, path: GradientPath, depth: int, step: PathStep) -> Iterator[Hypothesis]:
    fields = {**view.spot(path, depth), "statements": in_code(step.statement.source)}
    if step.node.op == "permute" and len(view.paths) > 1:
        yield view.hypothesis_at_step(
            path, depth, "permute-skipped", _as_it_lies, SAY["skipped"], statements=fields["statements"]
        )
    if any(node.op == "permute" for node, _ in ((step.node, 0), *step.below)):
        yield view.hypothesis("permute-skipped", partial(_laid, view, path, depth, None), SAY["skipped"], **fields)
    if step.g.ndim > RANK_MAX:
        return
    for order in permutations(range(step.g.ndim)):
        yield view.hypothesis("axes-mixed", partial(_laid, view, path, depth, order), SAY["mixed"], **fields)


def _laid(
    view: GradientAnalysis, path: GradientPath, depth: int, order: tuple[int, ...] | None, look: Observation
) -> Array | None:
    g = view.steps(path, look)[depth].g
    g = g if order is None else g.transpose(order)
    if g.size != look.reference.size:
        return None
    return view.gradient_with_share(path, look, np.ascontiguousarray(g).reshape(look.reference.shape))


def _part(step: PathStep, start: int) -> Array:
    axis = step.node.options["axis"]
    return step.g.take(range(start, start + step.x.shape[axis]), axis)


def _slice(step: PathStep, at: int) -> Array:
    return np.asarray(step.g.take(at, step.node.options["axis"]))


def diagnose_permuted(view: GradientAnalysis) -> Diagnosis | None:
    """The gradient with its axes in another order."""
    case, rank = view.case, view.first_look.reference.ndim
    for order in permutations(range(rank)) if 2 < rank <= RANK_MAX else ():
        if all(view.equal(look.reference.transpose(order), look) for look in case.looks):
            letters = (
                " The letters after `->` say it."
                if any(called_name(node) == "einsum" for node in view.text.nodes)
                else ""
            )
            how = "." if view.shaped() else f": {wrong_shape(case)}"
            return case.told("axes-permuted", SAY["permuted"], how=f"{how}{letters}")
    return None


def diagnose_misplaced(view: GradientAnalysis) -> Diagnosis | None:
    """The last resort of this family: sorted, both tensors are equal."""
    for look in view.case.looks:
        got, reference = view.got[look], look.reference
        if got.size != reference.size or got.size < 2 or len(np.unique(reference)) < 2:
            return None
        apart = np.abs(np.sort(got.ravel()) - np.sort(reference.ravel())).max()
        if apart > view.slack(got, look):
            return None
    moved = (step.statement.source for _, _, step in view.every_step() if step.node.op in {"reshape", "permute"})
    sources = dict.fromkeys(moved) or dict.fromkeys(path.statement.source for path in view.paths)
    statements = ", ".join(map(in_code, sources))
    return view.case.told("view-order", SAY["misplaced"], statements=statements)
