"""Two slips at once: a row of another table, times a factor that has a name.

| code | meaning |
|---|---|
| `ROW+F` | what the row ROW predicts, too large by F, see `factors`; such as `wrong-axis+sign` |
"""

from collections.abc import Iterable, Sequence

import numpy as np

from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.evidence import Array, Diagnosis, Mistake
from app.grading.diagnosis.factors import named_factor


def scaled(view: CaseView, mistakes: Iterable[Mistake]) -> Diagnosis | None:
    """The first row that predicts a multiple of the learner's tensor; one path only, so that the factor is plain."""
    if len(view.paths) != 1:
        return None
    for mistake in mistakes:
        if mistake.code.startswith("mean"):
            # A mean is a sum times a factor already.
            continue
        ratios = _ratios(view, mistake)
        if not ratios:
            continue
        factor = named_factor(view, ratios, view.paths)
        if factor is not None:
            said = view.said(mistake)
            message = f"Two things are off. {said.message} Besides, every entry {factor.text}."
            return Diagnosis(code=f"{said.code}+{factor.code}", message=message)
    return None


def _ratios(view: CaseView, mistake: Mistake) -> Sequence[float]:
    """By look, the learner's tensor over the prediction; empty where they are no multiples."""
    found = []
    for look in view.case.looks:
        tensor, got = view.predicted(mistake, look), view.got[id(look)]
        if tensor is None or tensor.shape != got.shape or got.size < 2 or not view.wrong(tensor, look):
            return ()
        ratio = _multiple(tensor, got)
        if not ratio or float(np.abs(ratio * tensor - got).max()) > view.slack(got, look):
            return ()
        found.append(ratio)
    return found


def _multiple(tensor: Array, got: Array) -> float:
    square = float((tensor * tensor).sum())
    return float((tensor * got).sum()) / square if square else 0.0
