"""Rules of several terms, read by least squares: which terms are too large, and by how much.

| code | meaning |
|---|---|
| `term-factor:T:F`, `term-factor:T` | the term T is too large by F, see `factors`, or by a number without a name |
| `several` | more than one term is |
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.evidence import Array, Diagnosis, Look
from app.grading.diagnosis.factors import NEAR, any_factor, named_factor
from app.grading.diagnosis.phrases import sentences_of
from app.grading.forward.statements import Path
from app.grading.reading.rules import evaluated, rule_of, terms_of

SAY = sentences_of("terms")


def read(view: CaseView) -> Diagnosis | None:
    for path, depth, step in view.places() if view.shaped() else ():
        rule = rule_of(step.node, step.position)
        terms = terms_of(step.node.op, rule) if rule is not None else {}
        if len(terms) < 2:
            continue
        fitted = [_fitted(view, path, depth, tuple(terms.values()), look) for look in view.case.looks]
        ratios = [each for each in fitted if each is not None]
        if len(ratios) == len(fitted):
            by_word = dict(zip(terms, np.stack(ratios, 1).tolist(), strict=True))
            found = _said(view, path, by_word)
            if found is not None:
                return found
    return None


def _fitted(view: CaseView, path: Path, depth: int, terms: Sequence[str], look: Look) -> Array | None:
    """The coefficient of each term in the learner's tensor; None where they do not make it up."""
    step = view.steps(path, look)[depth]
    nothing = view.resent(path, depth, look, np.zeros_like(step.x))
    full = (evaluated(one, view.meanings(step), step.node, step.position) for one in terms)
    sent = [view.resent(path, depth, look, np.broadcast_to(one, step.x.shape)) for one in full]
    if nothing is None or any(each is None for each in sent):
        return None
    return view.solved([each - nothing for each in sent if each is not None], view.got[id(look)] - nothing, look)


def _said(view: CaseView, path: Path, ratios: Mapping[str, Sequence[float]]) -> Diagnosis | None:
    wrong = {word: ratio for word, ratio in ratios.items() if any(abs(each - 1.0) > NEAR for each in ratio)}
    facts = {word: named_factor(view, ratio, [path]) or any_factor(view, ratio) for word, ratio in wrong.items()}
    code = "several"
    if len(facts) == 1:
        ((word, factor),) = facts.items()
        code = f"term-factor:{word}" + ("" if factor.code == "factor" else f":{factor.code.removeprefix('factor:')}")
    texts = "; ".join(SAY["term"].format(word=word.replace("-", " "), factor=one.text) for word, one in facts.items())
    return view.case.told(code, SAY["form"], line=path.statement.source, terms=texts) if facts else None
