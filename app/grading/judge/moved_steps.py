"""Lines whose numbers are right because the line before them holds what belongs into them.

Such as `ds = … * D ** -0.5` and then `dq = ds @ k`: given a right `ds` the second is wrong, yet its numbers are right.
One line is to be mended, the one that is ahead of itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from app.grading.judge.compare import DiagnosisSource, Fit, hidden_values
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.verdict import NameVerdict

Culprits = Callable[[str, Mapping[str, NameVerdict]], tuple[str, ...]]
"""The names at fault that a name is computed from."""


def blamed_ahead(
    standing: Mapping[str, NameVerdict],
    fit: Fit,
    plan: ParsedSubmission,
    culprits: Culprits,
    laboratory: Callable[[], DiagnosisSource],
) -> dict[str, NameVerdict]:
    """Blame the line that is ahead, and not those of *standing* whose numbers it makes right."""
    verdicts = dict(standing)
    ahead: dict[str, list[str]] = {}
    for name, verdict in standing.items():
        if verdict.verdict != "wrong" or verdict.code is not None or not _is_right_in_numbers(fit, name):
            continue
        before = [text for text in culprits(name, standing) if standing[text].verdict == "wrong"]
        before = [text for text in before if not _is_right_in_numbers(fit, text)]
        if not before:
            continue
        ahead.setdefault(before[0], []).append(name)
        message = f"Its numbers are right: what this line lacks is in `{before[0]}` already."
        verdicts[name] = replace(verdict, verdict="follows", message=message, word=f"follows from {before[0]}")
    for name in ahead:
        if verdicts[name].code is None and (found := _moved_step(name, fit, plan, laboratory())) is not None:
            verdicts[name] = replace(verdicts[name], code=found[0], message=found[1])
    return verdicts


def _is_right_in_numbers(fit: Fit, name: str) -> bool:
    """True if *name* is right where the learner's own numbers flow on, and these data could tell."""
    return not fit.references["true"][name[1:]].vacuous and fit.fits(name, "true") and fit.fits(name, "v")


def _moved_step(name: str, fit: Fit, plan: ParsedSubmission, laboratory: DiagnosisSource) -> tuple[str, str] | None:
    """Code and sentence of a line that goes on into the forward line of its own tensor."""
    got = hidden_values(fit.trials, name)
    if got is None:
        return None
    diagnosis = laboratory.early_step(name, got, again=len(plan.writing(name)) > 1)
    return None if diagnosis is None else (diagnosis.code, diagnosis.message)
