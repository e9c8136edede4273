"""A tensor that also moves a statistic, as in normalisation: statistics held constant, terms with a wrong coefficient.

A statistic is an intermediate Z that is smaller than the tensor x and that x moves. The term through Z is the reference
minus what it is with Z held constant; what remains without any of them is the direct term. So the same code serves
batch norm, layer norm and RMS norm, with n or n - 1, fused or in pieces.

| code | meaning |
|---|---|
| `statistics-constant` | only the direct term: no statistic is taken to depend on x |
| `statistics-constant:Z` | the term through Z is missing |
| `term-changed:Z` | the term through Z off by one number per slice |
| `term-not-averaged:Z` | the term through Z lacks the sum along the slice |
| `term-axis` | an average of the fused formula runs along other axes |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np

from app.grading.diagnosis.brackets import row_edits
from app.grading.diagnosis.claims import all_of, cannot_be_read, is_unmended, lacks_no_gradient, lacks_sum
from app.grading.diagnosis.evidence import Array, Diagnosis, Hypothesis, Observation, always
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.naming import in_code, join_words
from app.grading.diagnosis.phrases import sentences_of
from app.grading.operations.numerics import Axes
from app.grading.reading.node import is_broadcastable, stretched_axes

SAY = sentences_of("statistics")
DIRECT = "direct"

FLAT = 1e-9
RANK_MAX = 4
Form = Callable[[Array, Array], Array]
FORMS: tuple[tuple[str, str, Form], ...] = (
    ("term-changed", "changed", lambda _, term: term),
    ("term-not-averaged", "unaveraged", lambda direct, _: direct),
    ("term-not-averaged", "unaveraged", lambda direct, term: direct * term**2),
)
"""What the term through a statistic may be, up to one number per slice: made of the direct term and the right one."""


def names_of(view: GradientAnalysis) -> tuple[str, ...]:
    """Names of the statistics, one for each different term."""
    look = view.first_look
    if any(each.blocked.keys() != look.blocked.keys() for each in view.case.looks):
        return ()
    held: list[str] = []
    for name, blocked in look.blocked.items():
        value = look.forward.get(name)
        if value is None or value.size >= look.reference.size or not blocked.any():
            continue
        if not view.weighty(look.reference - blocked, look):
            continue  # what is rounding has nothing to tell
        if is_broadcastable(look.reference.shape, value.shape) and all(
            np.abs(blocked - look.blocked[other]).max() > FLAT * np.abs(look.reference).max() for other in held
        ):
            held.append(name)
    return tuple(held)


def all_constant_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """All statistics held constant."""
    names = names_of(view)
    if len(names) > 1:
        held = join_words([in_code(name) for name in names])
        predict, claim = partial(_direct, names), partial(is_unmended, view, (row_edits,))
        yield view.hypothesis("statistics-constant", predict, SAY["all"], (), claim, held=held)


def one_constant_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """One of the statistics held constant."""
    for name in names_of(view):
        claim = partial(all_of, partial(lacks_no_gradient, view), partial(is_unmended, view, (row_edits,)))
        predict = partial(_with_constant, name)
        yield view.hypothesis(f"statistics-constant:{name}", predict, SAY["one"], (), claim, held=in_code(name))


def _direct(names: Sequence[str], look: Observation) -> Array:
    return _terms(look, names)[DIRECT]


def _with_constant(name: str, look: Observation) -> Array:
    return look.blocked[name]


def _terms(look: Observation, names: Sequence[str]) -> Mapping[str, Array]:
    parts = {name: look.reference - look.blocked[name] for name in names}
    return {DIRECT: look.reference - np.asarray(sum(parts.values())), **parts}


def other_axes(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The fused formula with its averages along other axes than the statistics were taken along."""
    names, look = names_of(view), view.first_look
    rank, case = look.reference.ndim, view.case
    if not names or not 2 <= rank <= RANK_MAX:
        return
    readers = [each.outputs[0] for each in case.statements if set(names) & set(each.inputs)]
    units = [name for name in readers if _is_array(look, name) and look.forward[name].shape == look.reference.shape]
    scales = [None, *(name for name in names if _is_array(look, name))]
    right = {stretched_axes(look.reference.shape, look.forward[name].shape) for name in names}
    for axes in (axes for size in range(1, rank + 1) for axes in combinations(range(rank), size) if axes not in right):
        shown = join_words([f"axis {axis}" for axis in axes])
        for scale, unit, changed in product(scales, (None, *units), (*((name,) for name in names), names)):
            # Where one average of several is off, an edit of the line shows which.
            alone = len(changed) == 1
            claim = partial(cannot_be_read, view) if alone else always
            predict, say = partial(_along, names, changed, axes, scale, unit), SAY["axis" if alone else "axes"]
            yield view.hypothesis("term-axis", predict, say, (), claim, axes=shown)


def _is_array(look: Observation, name: str) -> bool:
    return name in look.forward and look.forward[name].dtype.kind == "f"


def _along(
    names: Sequence[str], changed: Sequence[str], axes: Axes, scale: str | None, unit: str | None, look: Observation
) -> Array:
    """The terms through *changed* with averages along *axes*: of what arrives, or of its product with *unit*."""
    direct = _terms(look, names)[DIRECT]
    factor = np.ones(()) if scale is None else look.forward[scale]
    arriving = direct / factor
    mean = arriving.mean(axis=axes, keepdims=True)
    u = np.zeros(()) if unit is None else look.forward[unit]
    variance = u * (arriving * u).mean(axis=axes, keepdims=True)
    if len(changed) > 1:
        return np.asarray(factor * (arriving - mean - variance))
    return np.asarray(look.blocked[changed[0]] - factor * (mean if unit is None else variance))


def diagnose_changed_term(view: GradientAnalysis) -> Diagnosis | None:
    """One term that has kept its form: the right one times another number, for one slice or all, or not averaged."""
    for held in names_of(view) if view.shaped() else ():
        for code, say, form in FORMS:
            fits = all(_has_form(view, look, held, form) for look in view.case.looks)
            if fits and (code == "term-changed" or lacks_sum(view)):
                return view.case.told(f"{code}:{held}", SAY[say], held=held)
    return None


def _has_form(view: GradientAnalysis, look: Observation, name: str, form: Form) -> bool:
    """True if the learner's term through *name* is *form* times one number for each slice."""
    own = view.got[look] - look.blocked[name]
    right = form(_terms(look, names_of(view))[DIRECT], look.reference - look.blocked[name])
    axes = stretched_axes(look.reference.shape, look.forward[name].shape)
    if not axes or right.shape != own.shape or own.shape[axes[0]] < 2:
        return False
    if (np.count_nonzero(right, axis=axes) < 2).all():
        return False  # any entry is a number times the only other one
    # The number per slice is a least-squares fit, so that a zero in *form* does no harm.
    number = (own * right).sum(axis=axes, keepdims=True) / (right**2).sum(axis=axes, keepdims=True)
    return bool(np.abs(own - number * right).max() <= view.slack(own, look))
