"""A broadcast that was undone in another way than by summing over the axes that were copied.

| code | what was done with the share before it was summed |
|---|---|
| `not-reduced` | nothing |
| `wrong-axis` | summed over other axes than the ones that were copied, with or without keepdim |
| `mean`, `mean-wrong-axis` | averaged over the right axes, or over others |
| `one-slice`, `largest` | one slice was kept, or the largest (or smallest) entry |
| `summed-all` | summed into a single number |
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from app.grading.diagnosis.evidence import Array, Diagnosis, Hypothesis, Observation, WrongGradient
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.naming import axes_text, axis_text, join_words, shape_in, shown_observation
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.share_words import of_share
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import Axes
from app.grading.reading.node import is_broadcastable, stretched_axes

SAY = sentences_of("reductions")

RANK_MAX = 5
Source = Callable[[Observation, GradientPath], Any]


def reduction_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    for path in view.paths:
        wide, narrow = unreduced_share(view.first_look, path).shape, view.first_look.reference.shape
        if math.prod(wide) > math.prod(narrow) and 0 < len(wide) <= RANK_MAX and is_broadcastable(wide, narrow):
            yield from _of_path(view, path, unreduced_share, stretched_axes(wide, narrow))
        elif wide == narrow:
            yield from _hidden_sum(view, path)


def diagnose_unsummed(view: GradientAnalysis) -> Diagnosis | None:
    """Shares of one entry side by side, wherever on the way they are to be added up."""
    case, looks = view.case, view.case.looks
    rank = looks[0].got.ndim
    if view.shaped() or not looks[0].reference.ndim < rank <= RANK_MAX:
        return None
    for axes in _axis_sets(rank):
        if all(view.got[look].ndim == rank and not view.wrong(view.got[look].sum(axes), look) for look in looks):
            return case.told("not-reduced", SAY["loose"], wrong=wrong_shape(case), axes=axes_text(case, "", axes))
    return None


def unreduced_share(look: Observation, path: GradientPath) -> Array:
    """The share of *path* before a broadcast was undone."""
    return look.unreduced.get(path.key, look.shares[path.key])


def _hidden_sum(view: GradientAnalysis, path: GradientPath) -> Iterator[Hypothesis]:
    """A sum that no broadcast shows: a vector in a matrix product, or a bias inside of `conv2d` and the like."""
    looks = view.case.looks
    rank = looks[0].upstream[path.key].ndim
    if all(_vector_product(view, look, path) is not None for look in looks):
        yield from _of_path(view, path, partial(_vector_product, view), tuple(range(rank)))
        return
    for axes in _axis_sets(rank) if rank <= RANK_MAX else ():
        if all(_is_sum(look, path, axes) for look in looks):
            yield from _of_path(view, path, lambda look, path: look.upstream[path.key], axes)
            return


def _is_sum(look: Observation, path: GradientPath, axes: Axes) -> bool:
    share, upstream = look.shares[path.key], look.upstream[path.key]
    total = upstream.sum(axis=axes)
    return (
        upstream.size > share.size
        and total.shape == share.shape
        and bool(np.allclose(total, share, rtol=1e-9, atol=1e-12))
    )


def _vector_product(view: GradientAnalysis, look: Observation, path: GradientPath) -> Array | None:
    """The products whose sum is the gradient of a vector v in M @ v."""
    steps = view.steps(path, look)
    step = steps[-1] if steps else None
    if step is None or step.node.op != "matmul" or step.position == 0 or step.x.ndim != 1 or step.z.ndim < 2:
        return None
    return np.asarray(step.g[..., None] * step.z)


def _of_path(view: GradientAnalysis, path: GradientPath, source: Source, right: Axes) -> Iterator[Hypothesis]:
    wide = source(view.first_look, path).shape

    def row(code: str, act: Callable[[Array], Any], say: str, axes: Axes = right) -> Hypothesis:
        say = say if say == SAY["wide"] or len(view.paths) == 1 else of_share(say, path, [path], view.paths)
        return Hypothesis(
            code, partial(_predict, view, path, source, act), partial(_say, view.case, path, say, axes, right)
        )

    yield row("not-reduced", lambda u: u, SAY["wide"])
    for axes, keepdim in product(_axis_sets(len(wide)), (False, True)):
        summed, mean = (partial(act, axis=axes, keepdims=keepdim) for act in (np.sum, np.mean))
        if axes == right:
            yield row("mean", mean, SAY["mean"])
            continue
        yield row("summed-all" if len(axes) == len(wide) else "wrong-axis", summed, SAY["axis"], axes)
        yield row("mean-wrong-axis", mean, SAY["average"], axes)
    everything = tuple(range(len(wide)))
    for code, say, act in (("summed-all", "axis", np.sum), ("mean-wrong-axis", "average", np.mean)):
        if everything != right:
            yield replace(row(code, act, SAY[say], everything), predict=partial(_spread, view, path, source, act))
    for keepdim in (False, True):
        for extreme in (np.max, np.min):
            yield row("largest", partial(extreme, axis=right, keepdims=keepdim), SAY["slice"])
        for end in (0, -1):
            yield row("one-slice", partial(_one_slice, axes=right, end=end, keepdim=keepdim), SAY["slice"])


def _axis_sets(rank: int) -> Iterator[Axes]:
    for size in range(1, rank + 1):
        yield from combinations(range(rank), size)


def _predict(
    view: GradientAnalysis, path: GradientPath, source: Source, act: Callable[[Array], Any], look: Observation
) -> Array | None:
    share, reference = np.asarray(act(source(look, path))), look.reference
    # The same numbers in the tensor's own shape differ from it only by keepdim.
    if share.size == reference.size and share.shape != reference.shape and len(view.paths) > 1:
        share = share.reshape(reference.shape)
    return view.gradient_with_share(path, look, share)


def _spread(
    view: GradientAnalysis, path: GradientPath, source: Source, act: Callable[[Array], Any], look: Observation
) -> Array | None:
    """One number of everything, in each entry."""
    return view.gradient_with_share(path, look, np.broadcast_to(act(source(look, path)), look.reference.shape))


def _one_slice(unreduced: Array, axes: Axes, end: int, keepdim: bool) -> Array:
    for axis in reversed(axes):
        unreduced = unreduced.take([end], axis) if keepdim else unreduced.take(end, axis)
    return unreduced


def _say(case: WrongGradient, path: GradientPath, say: str, axes: Axes, right: Axes) -> str:
    look = shown_observation(case)
    return say.format(
        name=case.name,
        tensor=case.tensor,
        got=shape_in(case, look, look.got),
        reference=shape_in(case, look, look.reference),
        axes=_share_axes_text(case, path, axes),
        copied=_copies_text(case, path, right),
    )


def _share_axes_text(case: WrongGradient, path: GradientPath, axes: Axes) -> str:
    """Axes of the share of *path*: by name where the consumer has them, too, as a product's other sizes are not its."""
    look = shown_observation(case)
    share, consumer, name = unreduced_share(look, path), look.forward[path.consumer], _named_like_share(look, path)
    foreign = share.ndim == consumer.ndim and share.shape != look.reference.shape
    return join_words(
        [axis_text(case, "" if foreign and share.shape[axis] != consumer.shape[axis] else name, axis) for axis in axes]
    )


def _named_like_share(look: Observation, path: GradientPath) -> str:
    """The tensor by whose axes those of a share are called; none where the line gives another rank on its way."""
    rank = unreduced_share(look, path).ndim
    return path.consumer if rank in {look.forward[path.consumer].ndim, look.reference.ndim} else ""


def _copies_text(case: WrongGradient, path: GradientPath, axes: Axes) -> str:
    look = shown_observation(case)
    wide = unreduced_share(look, path).shape
    along = _share_axes_text(case, path, axes)
    if wide == look.reference.shape:
        return f"`{case.tensor}` is used along {along} of `{path.consumer}`"
    if look is not case.visible:
        # Hidden sizes are nobody's business: the learner cannot see them.
        return f"`{case.tensor}` was copied along {along}"
    return f"`{case.tensor}` was copied along {along}, {join_words([str(wide[axis]) for axis in axes])} times here"
