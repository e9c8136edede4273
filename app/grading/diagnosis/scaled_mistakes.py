"""A mistake and a factor besides, such as `wrong-axis+sign`: what a row of another table predicts, times a number."""

from collections.abc import Iterable
from itertools import takewhile

import numpy as np

from app.grading.diagnosis.claims import keeps_minus
from app.grading.diagnosis.evidence import Diagnosis, Hypothesis, Observation
from app.grading.diagnosis.factors import NEAR, named_factor
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import beside_others, sentences_of

SAY = sentences_of("factors")
SCALED_THEMSELVES = ("mean", "operand-changed", "upstream-unchanged")
"""A mean is a sum times a factor; another expression may be any with one; and what is unchanged has none."""


def diagnose_scaled(view: GradientAnalysis, mistakes: Iterable[Hypothesis]) -> Diagnosis | None:
    """The first row that predicts a multiple of the learner's tensor; each is of all paths: the factor is plain."""
    rows = (mistake for mistake in mistakes if not mistake.code.startswith(SCALED_THEMSELVES))
    # A line that reads no gradient has no factor beside a rule: nothing that arrives is in it. And a multiple of the
    # gradient has one factor: whether it is a wrong one, or two of which one is missing, no number tells.
    reads = not view.text.lines or bool(view.text.names & (view.case.other_gradients))
    multiple = view.shaped() and all(
        view.solved([look.reference], view.got[look], look) is not None for look in view.case.looks
    )
    for mistake in rows if reads and not multiple else ():
        ratios = list(takewhile(bool, (_ratio(view, mistake, look) for look in view.case.looks)))
        factor = named_factor(view, ratios, view.paths) if len(ratios) == len(view.case.looks) else None
        if (
            factor is not None
            and _passes_on(view, mistake)
            and not (factor.code == "sign" and keeps_minus(view, mistake.code))
        ):
            fields = {"said": beside_others(mistake.say()), "factor": factor.text}
            return view.case.told(f"{mistake.code}+{factor.code}", SAY["twofold"], **fields)
    return None


def _passes_on(view: GradientAnalysis, mistake: Hypothesis) -> bool:
    """True if *mistake* makes twice as much of twice as much: what is turned over turns a factor beside it as well."""
    look = view.first_look
    single, two = view.predicted(mistake, look), view.predicted(mistake, look.under(2.0))
    return single is not None and two is not None and bool(np.allclose(2.0 * single, two, rtol=NEAR, atol=0.0))


def _ratio(view: GradientAnalysis, mistake: Hypothesis, look: Observation) -> float:
    """The learner's tensor over the prediction; 0 where it is no multiple of it."""
    tensor, got = view.predicted(mistake, look), view.got[look]
    if tensor is None or tensor.shape != got.shape or not view.wrong(tensor, look):
        return 0.0
    array = view.solved([tensor], got, look)
    return 0.0 if array is None else float(array[0])
