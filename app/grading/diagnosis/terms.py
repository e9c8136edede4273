"""Rules of several terms: which of them are too large, and by how much.

| code | what the learner has |
|---|---|
| `term-factor:T:F`, `term-factor:T` | the term T of a rule, too large by F, which has a name, or none |
| `several` | different factors on different terms |
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.grading.diagnosis.evidence import Array, Diagnosis, Observation
from app.grading.diagnosis.factors import NEAR, any_factor, named_factor
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import PRODUCTS
from app.grading.diagnosis.naming import term_text
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.shares import ONE_SLIP
from app.grading.diagnosis.single_edit_search import mended_by
from app.grading.forward.statements import GradientPath
from app.grading.reading.rules import evaluate_rule, rule_of, terms_of
from app.syntax import called_name, sign_of

TERMS = sentences_of("terms")
SUMS = PRODUCTS | {"sum", "mean"}


def diagnose_terms(view: GradientAnalysis) -> Diagnosis | None:
    for path, depth, step in view.places() if view.shaped() else ():
        rule = rule_of(step.node, step.position)
        parts = terms_of(step.node.op, rule) if rule is not None else {}
        if len(parts) < 2:
            continue
        fitted = [_term_coefficients(view, path, depth, tuple(parts.values()), look) for look in view.case.looks]
        ratios = [each for each in fitted if each is not None]
        if len(ratios) == len(fitted):
            by_word = dict(zip(parts, np.stack(ratios, 1).tolist(), strict=True))
            diagnosis = _diagnose_ratios(view, path, by_word, step.row)
            if diagnosis is not None:
                return diagnosis
    return None


def _term_coefficients(
    view: GradientAnalysis, path: GradientPath, depth: int, terms: Sequence[str], look: Observation
) -> Array | None:
    """The coefficient of each term in the learner's tensor; None where they do not make it up."""
    step = view.steps(path, look)[depth]
    nothing = view.gradient_if_sent(path, depth, look, np.zeros_like(step.x))
    full = (evaluate_rule(term, view.meanings(step), step.node, step.position) for term in terms)
    sent = [view.gradient_if_sent(path, depth, look, np.broadcast_to(array, step.x.shape)) for array in full]
    if nothing is None or any(each is None for each in sent):
        return None
    return view.solved([each - nothing for each in sent if each is not None], view.got[look] - nothing, look)


def _diagnose_ratios(
    view: GradientAnalysis, path: GradientPath, ratios: Mapping[str, Sequence[float]], row: str
) -> Diagnosis | None:
    wrong = {word: ratio for word, ratio in ratios.items() if any(abs(each - 1.0) > NEAR for each in ratio)}
    facts = {word: named_factor(view, ratio, [path]) or any_factor(view, ratio) for word, ratio in wrong.items()}
    code = "several"
    unnamed = any(factor.code == "factor" for factor in facts.values())
    if (len(facts) > 1 or unnamed) and (slip := mended_by(view, ONE_SLIP)) is not None:
        return slip
    if len(facts) > 1 and unnamed:
        return None  # several factors, of which one has no name, fit too much
    if len(facts) == 1:
        ((word, factor),) = facts.items()
        code = f"term-factor:{word}" + ("" if factor.code == "factor" else f":{factor.code.removeprefix('factor:')}")
    texts = "; ".join(
        TERMS["term"].format(word=TERMS.get(word) or f"the {term_text(_term_name(view, word), row)}", factor=fact.text)
        for word, fact in facts.items()
    )
    return view.case.told(code, TERMS["form"], line=path.statement.source, terms=texts) if facts else None


def _term_name(view: GradientAnalysis, word: str) -> str:
    """Name of the term *word* in the learner's lines: fused with a loss, no row is summed in them."""
    sums = any(sign_of(node) == "@" or called_name(node) in SUMS for node in view.text.nodes)
    return "probabilities" if word == "row-sum" and view.text.nodes and not sums else word
