"""Slips at normalisation, and wherever a tensor also moves a statistic: statistics held constant, fused formulas.

A statistic is an intermediate Z that is smaller than the tensor x and that x moves. The term through Z is the reference
minus what it is with Z held constant; what remains without any of them is the direct term. So the same code serves
batch norm, layer norm and RMS norm, with n or n - 1, fused or in pieces.

| code | meaning |
|---|---|
| `statistics-constant` | only the direct term: no statistic is taken to depend on x |
| `held-constant:Z` | the term through Z is missing |
| `term-missing:direct` | the direct term is missing |
| `term-sign:Z`, `term-factor:Z:F` | a term of the opposite sign, or too large by F, see `factors` |
| `term-changed:Z` | the term through Z off by one number per slice |
| `term-not-averaged:Z` | the term through Z lacks the sum along the slice |
| `term-axis` | an average of the fused formula runs along other axes |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Diagnosis, Look, Mistake
from app.grading.diagnosis.factors import NEAR, any_factor, named_factor
from app.grading.diagnosis.naming import in_code, listed
from app.grading.diagnosis.reduction import fits
from app.grading.diagnosis.rules import Axes, stretched_axes

DIRECT = "direct"
FLAT = 1e-9
RANK_MAX = 4


def statistics(bench: Bench) -> tuple[str, ...]:
    """Names of the statistics, one for each different term."""
    look = bench.case.looks[0]
    if any(each.blocked.keys() != look.blocked.keys() for each in bench.case.looks):
        return ()
    found: list[str] = []
    for name, blocked in look.blocked.items():
        value = look.forward.get(name)
        if value is None or value.size >= look.reference.size or not blocked.any():
            continue
        if not fits(look.reference.shape, value.shape):
            continue
        if all(np.abs(blocked - look.blocked[other]).max() > FLAT * np.abs(look.reference).max() for other in found):
            found.append(name)
    return tuple(found)


def constants(bench: Bench) -> Iterator[Mistake]:
    names = statistics(bench)
    if len(names) > 1:
        say = partial(_say_all, names=names)
        yield Mistake(code="statistics-constant", predict=partial(_direct, names=names), say=say)


def mistakes(bench: Bench) -> Iterator[Mistake]:
    for name, value in bench.case.looks[0].blocked.items():
        if value.any():
            say = partial(_say_one, name=name)
            yield Mistake(code=f"held-constant:{name}", predict=partial(_held, name=name), say=say)


def _direct(_case: Case, look: Look, names: Sequence[str]) -> Array | None:
    missing = sum(look.reference - look.blocked[name] for name in names)
    return np.asarray(look.reference - missing)


def _held(_case: Case, look: Look, name: str) -> Array | None:
    return look.blocked.get(name)


def other_axes(bench: Bench) -> Iterator[Mistake]:
    """The fused formula with its averages along other axes than the statistics were taken along."""
    names, look = statistics(bench), bench.case.looks[0]
    rank = look.reference.ndim
    if not names or not 2 <= rank <= RANK_MAX:
        return
    readers = [each for each in bench.case.statements if set(names) & set(each.inputs)]
    units = [each.outputs[0] for each in readers if _like(look, each.outputs[0], look.reference.shape)]
    scales = [None, *(name for name in names if _like(look, name, look.forward[name].shape))]
    for axes in (axes for size in range(1, rank + 1) for axes in combinations(range(rank), size)):
        say = partial(_say_axes, axes=axes)
        for scale in scales:
            for name in names:
                mean = partial(_mean_along, names=names, name=name, axes=axes, scale=scale)
                yield Mistake(code="term-axis", predict=mean, say=say)
                for unit in units:
                    variance = partial(_variance_along, names=names, name=name, axes=axes, scale=scale, unit=unit)
                    yield Mistake(code="term-axis", predict=variance, say=say)
            for unit in units:
                both = partial(_both_along, names=names, axes=axes, scale=scale, unit=unit)
                yield Mistake(code="term-axis", predict=both, say=say)


def _like(look: Look, name: str, shape: tuple[int, ...]) -> bool:
    return name in look.forward and look.forward[name].shape == shape and look.forward[name].dtype.kind == "f"


def _unscaled(look: Look, names: Sequence[str], scale: str | None) -> tuple[Array, Array]:
    """What arrives before the division by the spread, and that division's factor."""
    direct = _terms(look, names)[DIRECT]
    factor = np.ones(()) if scale is None else look.forward[scale]
    return direct / factor, factor


def _mean_along(
    _case: Case, look: Look, names: Sequence[str], name: str, axes: Axes, scale: str | None
) -> Array | None:
    arriving, factor = _unscaled(look, names, scale)
    return np.asarray(look.blocked[name] - factor * arriving.mean(axis=axes, keepdims=True))


def _variance_along(
    _case: Case, look: Look, names: Sequence[str], name: str, axes: Axes, scale: str | None, unit: str
) -> Array | None:
    arriving, factor = _unscaled(look, names, scale)
    u = look.forward[unit]
    return np.asarray(look.blocked[name] - factor * u * (arriving * u).mean(axis=axes, keepdims=True))


def _both_along(
    _case: Case, look: Look, names: Sequence[str], axes: Axes, scale: str | None, unit: str
) -> Array | None:
    arriving, factor = _unscaled(look, names, scale)
    u = look.forward[unit]
    mean, variance = arriving.mean(axis=axes, keepdims=True), u * (arriving * u).mean(axis=axes, keepdims=True)
    return np.asarray(factor * (arriving - mean - variance))


def _say_all(case: Case, names: Sequence[str]) -> str:
    held = listed([in_code(name) for name in names])
    return (
        f"`{case.name}` holds {held} constant. `{case.tensor}` also moves them, and each sends back a share of its own."
    )


def _say_one(case: Case, name: str) -> str:
    return f"`{case.name}` treats `{name}` as a constant. `{case.tensor}` moves it, and that share is missing."


def _say_axes(case: Case, axes: Axes) -> str:
    shown = listed([f"axis {axis}" for axis in axes])
    return (
        f"The averages in `{case.name}` run over {shown}. They run over the axes along which the forward takes the "
        f"mean and the variance of `{case.tensor}`."
    )


def terms(bench: Bench) -> Diagnosis | None:
    """The coefficients of the terms in the learner's tensor; all of them are one in the reference."""
    names = statistics(bench)
    if not names or not bench.shaped():
        return None
    fits = [_fit(_terms(look, names), bench.got[id(look)], bench, look) for look in bench.case.looks]
    read = [fit for fit in fits if fit is not None]
    if len(read) < len(fits):
        return None
    ratios = {name: [fit[name] for fit in read] for name in read[0]}
    wrong = {name: ratio for name, ratio in ratios.items() if any(abs(each - 1) > NEAR for each in ratio)}
    if not wrong:
        return None
    facts = {name: _fact(bench, name, ratio) for name, ratio in wrong.items()}
    code = next(iter(facts.values()))[0] if len(facts) == 1 else "several"
    message = (
        f"`{bench.case.name}` is made of {len(ratios)} terms: " + "; ".join(text for _, text in facts.values()) + "."
    )
    return Diagnosis(code=f"{bench.case.name}:{code}", message=message)


def _terms(look: Look, names: Sequence[str]) -> Mapping[str, Array]:
    parts = {name: look.reference - look.blocked[name] for name in names}
    return {DIRECT: look.reference - np.asarray(sum(parts.values())), **parts}


def _fit(parts: Mapping[str, Array], target: Array, bench: Bench, look: Look) -> dict[str, float] | None:
    kept = {name: part for name, part in parts.items() if bench.weighty(part, look)}
    matrix = np.stack([part.ravel() for part in kept.values()], 1)
    if len(matrix) <= matrix.shape[1]:
        return None
    coefficients, _, rank, _ = np.linalg.lstsq(matrix, target.ravel(), rcond=1e-9)
    if rank < matrix.shape[1]:
        return None
    if float(np.abs(matrix @ coefficients - target.ravel()).max()) > bench.slack(target, look):
        return None
    return dict(zip(kept, coefficients.tolist(), strict=True))


def _fact(bench: Bench, name: str, ratio: Sequence[float]) -> tuple[str, str]:
    way = "the direct one" if name == DIRECT else f"the one through `{name}`"
    if all(abs(each) < NEAR for each in ratio):
        return ("term-missing:direct" if name == DIRECT else f"held-constant:{name}"), f"{way} is missing"
    factor = named_factor(bench, ratio, bench.paths) or any_factor(ratio)
    if factor.code == "sign":
        return f"term-sign:{name}", f"{way} {factor.text}"
    return f"term-factor:{name}:{factor.code.removeprefix('factor:')}", f"{way} {factor.text}"


def changed(bench: Bench) -> Diagnosis | None:
    """One term that has kept its form: the right one times another number for each slice, or not averaged."""
    if not bench.shaped():
        return None
    for name in statistics(bench):
        code = f"term-changed:{name}"
        if all(_in_form(bench, look, name, _itself) for look in bench.case.looks):
            message = (
                f"Only the share of `{bench.case.name}` that comes through `{name}` is off, and by one number per "
                "slice: what is averaged or summed there is not what arrives at it."
            )
            return Diagnosis(code=f"{bench.case.name}:{code}", message=message)
        if any(all(_in_form(bench, look, name, form) for look in bench.case.looks) for form in (_once, _squared)):
            message = (
                f"Only the share of `{bench.case.name}` that comes through `{name}` is off: it is not averaged. "
                f"`{name}` is one number per slice, so what arrives at it is first added up along the slice."
            )
            return Diagnosis(code=f"{bench.case.name}:term-not-averaged:{name}", message=message)
    return None


def _itself(_direct: Array, term: Array) -> Array:
    return term


def _once(direct: Array, _term: Array) -> Array:
    return direct


def _squared(direct: Array, term: Array) -> Array:
    return np.asarray(direct * term**2)


def _in_form(bench: Bench, look: Look, name: str, form: Callable[[Array, Array], Array]) -> bool:
    """Whether the learner's term through *name* is *form* times a number that is constant where *name* is."""
    term = look.reference - look.blocked[name]
    own = bench.got[id(look)] - look.blocked[name]
    direct = _terms(look, statistics(bench))[DIRECT]
    shape = look.forward[name].shape
    axes = stretched_axes(look.reference.shape, shape)
    right = form(direct, term)
    if not axes or right.shape != own.shape or own.shape[axes[0]] < 2:
        return False
    # The number per slice is a least-squares fit, so that a zero in *form* does no harm.
    number = (own * right).sum(axis=axes, keepdims=True) / (right**2).sum(axis=axes, keepdims=True)
    return bool(np.abs(own - number * right).max() <= bench.slack(own, look))
