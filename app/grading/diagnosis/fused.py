"""Formulas of a few terms, read by least squares: which term has a wrong coefficient.

| code | meaning |
|---|---|
| `term-missing:T` | the term T has the coefficient 0 |
| `term-sign:T` | the opposite of the right one |
| `term-factor:T:F`, `term-factor:T` | too large by F, see `factors`, or by a number without a name |
| `term-extra:T` | a term that the formula does not have |
| `several` | more than one of these |
| `average-changed` | softmax: what is subtracted is one number per row, but another one |

The terms are, for softmax with the probabilities p and the upstream g: p·g and p times the row sum of p·g; for
log-softmax: g and p times the row sum of g; for cross-entropy: p and the one-hot of the labels; for its two-class form:
the sigmoid and the target; for layer norm: the direct one and those through the mean and the variance; for tanh and
sigmoid with output y: g, g·y and g·y²; for gelu and silu, x times a gate: what passes the gate, and what moves it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Diagnosis, Look
from app.grading.diagnosis.factors import NEAR, any_factor, named_factor
from app.grading.diagnosis.rules import gelu_density, gelu_gate, one_hot, sigmoid, softmax, standardised
from app.grading.diagnosis.slips import every_step
from app.grading.diagnosis.steps import Step
from app.grading.forward.program import Path

Terms = Mapping[str, tuple[Array, float]]
"""By word: the term, with its coefficient in the reference."""


def _softmax(step: Step) -> Terms:
    product = step.y * step.g
    budget = step.y * product.sum(axis=step.node.options["axes"], keepdims=True)
    return {"direct": (product, 1.0), "average": (budget, -1.0)}


def _log_softmax(step: Step) -> Terms:
    total = np.exp(step.y) * step.g.sum(axis=step.node.options["axes"], keepdims=True)
    return {"direct": (step.g, 1.0), "row-sum": (total, -1.0)}


def _cross_entropy(step: Step) -> Terms:
    target = step.z
    if step.position or step.x.ndim != 2:
        return {}
    picked = target if target.ndim == 2 else one_hot(target, step.x.shape[1])
    weight = step.g / len(step.x) if step.node.options["reduction"] == "mean" else step.g
    return {"probabilities": (weight * softmax(step.x, 1), 1.0), "one-hot": (weight * picked, -1.0)}


def _two_classes(step: Step) -> Terms:
    weight = step.g / step.x.size if step.node.options["reduction"] == "mean" else step.g
    return {"probabilities": (weight * sigmoid(step.x), 1.0), "target": (weight * step.z, -1.0)}


def _squares(step: Step) -> Terms:
    weight = 2 * step.g / step.x.size if step.node.options["reduction"] == "mean" else 2 * step.g
    return {"prediction": (weight * step.x, 1.0), "target": (weight * step.z, -1.0)}


def _curve(step: Step, true: Sequence[float]) -> Terms:
    words = ("one", "output", "squared-output")
    return {word: (step.g * step.y**power, true[power]) for power, word in enumerate(words)}


def _gated(gate: Callable[[Array], Array], density: Callable[[Array], Array], step: Step) -> Terms:
    """Of y = x · gate(x): what passes the gate, and what moves it."""
    return {"gate": (step.g * gate(step.x), 1.0), "density": (step.g * step.x * density(step.x), 1.0)}


def _layer_norm(step: Step) -> Terms:
    if step.position:
        return {}
    (u, factor), axes = standardised(step.node), step.node.options["axes"]
    arriving = step.g * step.node.operands[1].value if len(step.node.operands) > 1 else step.g
    return {
        "direct": (factor * arriving, 1.0),
        "mean": (np.broadcast_to(factor * arriving.mean(axis=axes, keepdims=True), u.shape), -1.0),
        "variance": (factor * u * (arriving * u).mean(axis=axes, keepdims=True), -1.0),
    }


FORMULAS: Mapping[str, Callable[[Step], Terms]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "cross_entropy": _cross_entropy,
    "binary_cross_entropy_with_logits": _two_classes,
    "mse_loss": _squares,
    "layer_norm": _layer_norm,
    "gelu": partial(_gated, partial(gelu_gate, approximate=False), partial(gelu_density, approximate=False)),
    "gelu_tanh": partial(_gated, partial(gelu_gate, approximate=True), partial(gelu_density, approximate=True)),
    "silu": partial(_gated, sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),
    "tanh": partial(_curve, true=(1.0, 0.0, -1.0)),
    "sigmoid": partial(_curve, true=(0.0, 1.0, -1.0)),
}


def terms(bench: Bench) -> Diagnosis | None:
    if not bench.shaped():
        return None
    for path, depth, step in every_step(bench):
        formula = FORMULAS.get(step.node.op)
        if formula is None:
            continue
        read = [_read(bench, path, depth, look, formula) for look in bench.case.looks]
        ratios = [each for each in read if each is not None]
        if len(ratios) == len(read) and ratios:
            found = _said(bench, path, step, ratios)
            if found is not None:
                return found
    return None


def _read(
    bench: Bench, path: Path, depth: int, look: Look, formula: Callable[[Step], Terms]
) -> dict[str, tuple[float, float]] | None:
    """By word: the learner's coefficient and the right one; None where the formula does not span the tensor."""
    step = bench.steps(path, look)[depth]
    parts = formula(step)
    if not parts:
        return None
    nothing = bench.resent(path, depth, look, np.zeros_like(step.x))
    sent = {word: bench.resent(path, depth, look, term) for word, (term, _) in parts.items()}
    if nothing is None or any(each is None or each.shape != nothing.shape for each in sent.values()):
        return None
    columns = np.stack([(each - nothing).ravel() for each in sent.values() if each is not None], 1)
    target = (bench.got[id(look)] - nothing).ravel()
    if len(target) <= columns.shape[1]:
        return None
    found, _, rank, _ = np.linalg.lstsq(columns, target, rcond=1e-9)
    if rank < columns.shape[1] or float(np.abs(columns @ found - target).max()) > bench.slack(target, look):
        return None
    return {word: (float(have), true) for word, have, (_, true) in zip(parts, found, parts.values(), strict=True)}


def _said(
    bench: Bench, path: Path, step: Step, ratios: Sequence[Mapping[str, tuple[float, float]]]
) -> Diagnosis | None:
    facts = []
    for word in ratios[0]:
        have, true = [each[word][0] for each in ratios], ratios[0][word][1]
        if any(abs(each - true) > NEAR for each in have):
            facts.append(_fact(bench, path, word, have, true))
    if not facts:
        return None
    code = facts[0][0] if len(facts) == 1 else "several"
    texts = "; ".join(text for _, text in facts)
    message = f"`{bench.case.name}` has the form that `{step.statement.source}` asks for, but {texts}."
    return Diagnosis(code=f"{bench.case.name}:{code}", message=message)


def _fact(bench: Bench, path: Path, word: str, have: Sequence[float], true: float) -> tuple[str, str]:
    shown = f"the term with the {word.replace('-', ' ')}"
    if true == 0.0:
        return f"term-extra:{word}", f"{shown} does not belong there"
    ratio = [each / true for each in have]
    if all(abs(each) < NEAR for each in ratio):
        return f"term-missing:{word}", f"{shown} is missing"
    factor = named_factor(bench, ratio, [path]) or any_factor(ratio)
    if factor.code == "sign":
        return f"term-sign:{word}", f"{shown} {factor.text}"
    if factor.code == "factor":
        return f"term-factor:{word}", f"{shown} {factor.text}"
    return f"term-factor:{word}:{factor.code.removeprefix('factor:')}", f"{shown} {factor.text}"


def average(bench: Bench) -> Diagnosis | None:
    """Softmax: p times the upstream minus one number per row, where that number is not the weighted average."""
    if not bench.shaped():
        return None
    for path, depth, step in every_step(bench):
        if step.node.op == "softmax" and all(_of_rows(bench, path, depth, look) for look in bench.case.looks):
            message = (
                f"`{bench.case.name}` has the form that `{step.statement.source}` asks for: the probabilities times "
                "what arrives minus one number per row. That number is not the average weighted by the probabilities."
            )
            return Diagnosis(code=f"{bench.case.name}:average-changed", message=message)
    return None


def _of_rows(bench: Bench, path: Path, depth: int, look: Look) -> bool:
    step = bench.steps(path, look)[depth]
    if step.below and bench.got[id(look)].shape != step.y.shape:
        return False
    number = step.g - bench.got[id(look)] / step.y
    spread = np.ptp(number, axis=step.node.options["axes"])
    return bool(np.all(spread <= 1e-6 * np.abs(step.g).max()) and np.isfinite(number).all())
