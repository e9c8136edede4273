"""The verdict on a learner's check: for each case what it answered, against what it should have answered.

Made outside of the jail, which never knows the second. What comes from there is what untrusted code returned.
"""

from collections.abc import Mapping

from app.content.blocks import Checker, CheckerCase
from app.grading.judge.run_reports import ReportedError, RunReport
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.verdict import NameVerdict

ANSWER = "answer"
_WORDS = {True: "accepted", False: "refused"}
_NOTHING = "NoneType"


def names_of(checker: Checker) -> tuple[str, ...]:
    """Names of the cases, in file order: `right case 1`, `wrong case 1`, `wrong case 2` …"""
    names: list[str] = []
    for case in checker.cases:
        kind = "right case" if case.right else "wrong case"
        names.append(f"{kind} {sum(name.startswith(kind) for name in names) + 1}")
    return tuple(names)


def _code(name: str, slip: str) -> str:
    """The stable code of what went wrong at the case *name*, such as `mistake-2:accepted`."""
    kind, _, number = name.rpartition(" ")
    return f"{'correct' if kind == 'right case' else 'mistake'}-{number}:{slip}"


def stopped_everywhere(trials: Mapping[str, RunReport]) -> ReportedError | None:
    """The one error that ended the check on every case; None where it answered any, or they differ."""
    first = next((run_report.errors[0] for run_report in trials.values() if run_report.errors), None)
    if first is None or len(trials) < 2:
        return None
    ends = {
        (run_report.errors[0].text, run_report.errors[0].line) if run_report.errors else None
        for run_report in trials.values()
    }
    return first if len(ends) == 1 else None


def verdicts_of(checker: Checker, trials: Mapping[str, RunReport]) -> tuple[NameVerdict, ...]:
    """One verdict per case, in file order; where all right cases were refused, mistakes that were
    accepted come first.

    Args:
        trials: What came back, by the name of the case.
    """
    pairs = list(zip(names_of(checker), checker.cases, strict=True))
    name_verdicts = [_verdict(name, case, trials[name]) for name, case in pairs]
    if any(
        name_verdict.verdict == "right"
        for name_verdict, case in zip(name_verdicts, checker.cases, strict=True)
        if case.right
    ):
        return tuple(name_verdicts)
    # What accepts a mistake and no right case at all has taken the one for the other: that says more than a refusal.
    return tuple(
        sorted(name_verdicts, key=lambda name_verdict: (name_verdict.code or "").rpartition(":")[2] != _WORDS[True])
    )


def _verdict(name: str, case: CheckerCase, trial: RunReport) -> NameVerdict:
    answer = _answer(trial)
    if answer is None:
        line = trial.errors[0].line if trial.errors else None
        code = _code(name, "raised" if trial.errors else "no-answer")
        return NameVerdict(
            name=name,
            verdict="wrong",
            code=code,
            message=_instead(trial),
            line=line,
            word="neither accepted nor refused",
            facts=_facts(case),
        )
    if answer == case.right:
        return NameVerdict(name=name, verdict="right", word=f"{_WORDS[answer]}, rightly")
    message = case.message or _silent(answer)
    return NameVerdict(
        name=name,
        verdict="wrong",
        code=_code(name, _WORDS[answer]),
        message=message,
        word=f"{_WORDS[answer]}, wrongly",
        facts=_facts(case),
    )


def _facts(case: CheckerCase) -> tuple[tuple[str, str], ...]:
    return (("The case", case.code.source.strip()),)


def _answer(trial: RunReport) -> bool | None:
    """True or false, as a truth value or as the number 1 or 0; None for everything else."""
    value = trial.values.get(ANSWER)
    if trial.errors or value is None or value.size != 1:
        return None
    number = value.reshape(-1)[0]
    return bool(number) if number in (0, 1) else None


def _silent(answer: bool) -> str:
    return "Your check accepts a wrong gradient." if answer else "Your check refuses a right gradient."


def _instead(trial: RunReport) -> str:
    """Say what came instead of an answer."""
    if trial.errors:
        return f"Your check stopped with an error instead of answering. {translate_error(trial.errors[0])}"
    value, kind = trial.values.get(ANSWER), trial.kinds.get(ANSWER, "")
    if value is not None and value.size == 1:
        kind = f"number {value.reshape(-1)[0]:.3g}"
    if kind.startswith("number"):
        return f"Your check returned the {kind}. Compare it with a limit, and return `True` or `False`."
    if kind == _NOTHING:
        return "Your check returned nothing. Every way through it must end in `return`, with `True` or `False`."
    if kind.startswith("tensor"):
        return f"Your check returned a {kind}: an answer for every entry. Ask whether all of them hold, with `.all()`."
    return f"Your check returned a {kind or 'value that cannot be read'}. Return `True` or `False`."
