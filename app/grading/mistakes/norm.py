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
| `term-axis` | an average of the fused formula runs along other axes |
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.evidence import Array, Case, Diagnosis, Look, Mistake
from app.grading.mistakes.bench import Bench
from app.grading.mistakes.factors import NEAR, any_factor, named_factor
from app.grading.mistakes.rules import Axes
from app.grading.mistakes.words import in_code, listed

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
        if all(np.abs(blocked - look.blocked[other]).max() > FLAT * np.abs(look.reference).max() for other in found):
            found.append(name)
    return tuple(found)


def mistakes(bench: Bench) -> Iterator[Mistake]:
    names = statistics(bench)
    if len(names) > 1:
        say = partial(_say_all, names=names)
        yield Mistake(code="statistics-constant", predict=partial(_direct, names=names), say=say)
    for name, value in bench.case.looks[0].blocked.items():
        if value.any():
            say = partial(_say_one, name=name)
            yield Mistake(code=f"held-constant:{name}", predict=partial(_held, name=name), say=say)
    if names:
        yield from _other_axes(bench, names)


def _direct(_case: Case, look: Look, names: Sequence[str]) -> Array | None:
    missing = sum(look.reference - look.blocked[name] for name in names)
    return np.asarray(look.reference - missing)


def _held(_case: Case, look: Look, name: str) -> Array | None:
    return look.blocked.get(name)


def _other_axes(bench: Bench, names: Sequence[str]) -> Iterator[Mistake]:
    """The fused formula with its averages along other axes than the statistics were taken along."""
    look = bench.case.looks[0]
    rank = look.reference.ndim
    if not 2 <= rank <= RANK_MAX:
        return
    units = [
        name for name, value in look.forward.items() if value.shape == look.reference.shape and value.dtype.kind == "f"
    ]
    for size in range(1, rank + 1):
        for axes in combinations(range(rank), size):
            for unit in units:
                for centred in (True, False):
                    predict = partial(_fused, names=names, axes=axes, unit=unit, centred=centred)
                    yield Mistake(code="term-axis", predict=predict, say=partial(_say_axes, axes=axes))


def _fused(_case: Case, look: Look, names: Sequence[str], axes: Axes, unit: str, centred: bool) -> Array | None:
    direct, u = _direct(_case, look, names), look.forward[unit]
    if direct is None:
        return None
    mean = direct.mean(axis=axes, keepdims=True) if centred else 0.0
    return np.asarray(direct - mean - u * (direct * u).mean(axis=axes, keepdims=True))


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
        f"The averages in `{case.name}` run over {shown}. They run over the axes along which "
        f"the forward takes the mean "
        f"and the variance of `{case.tensor}`."
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
