"""Verdicts on submissions that were not run, not read, or did not finish: which limit, whose fault, what to do next."""

from dataclasses import replace

from app.engine.grade.jail_runs import JailFailedError
from app.grading.forward.facts import Outcome
from app.grading.judge.judging import Judge
from app.grading.judge.overwritten import overwriting_blame
from app.grading.judge.run_reports import ReportedError
from app.grading.judge.syntax_recovery import UnparsableLine
from app.grading.judge.verdict import Verdict
from app.sandbox.gate import Refusal
from app.sandbox.wire import Ending, Reply

_OURS = "Our fault, not yours; nothing was counted. Please try again."

_OUTCOMES: dict[Ending, Outcome] = {
    "timeout": "timeout",
    "memory": "memory",
    "flood": "memory",
    "denied": "denied",
    "crashed": "crashed",
    "fault": "fault",
}
_MESSAGES: dict[Ending, str] = {
    "timeout": (
        "The code was stopped after {seconds:g} s, the time limit of this box. A loop that never ends, or one over "
        "single entries where a tensor operation would do, is the usual reason."
    ),
    "memory": (
        "The code asked for more memory than a run may use (256 MB). A list that only grows, or a tensor with an axis "
        "too many, is the usual reason."
    ),
    "flood": (
        "The code sent back more than a run may (64 MB), so it was stopped. A tensor with an axis too many, or code "
        "that writes to a stream, is the usual reason."
    ),
    "denied": (
        "The code tried something that no box needs, such as opening a file or a connection, and was stopped. A "
        "backward pass needs tensors only."
    ),
    "crashed": (
        "The process that ran the code crashed. Nothing else is harmed. An index far outside of a tensor, or very deep "
        "recursion, is the usual reason."
    ),
    "fault": "The code could not be run safely, so it was not run at all. " + _OURS,
}


def early_end_verdict(reply: Reply, seconds: float) -> Verdict:
    """The verdict on a run that ended before its time."""
    how = reply.ending if reply.ending in _OUTCOMES else "fault"
    return Verdict(outcome=_OUTCOMES[how], message=_MESSAGES[how].format(seconds=seconds))


def author_fault(reply: Reply) -> str:
    """Message to a learner whose box has a forward program that did not get through the jail."""
    return f"The forward program of this exercise did not finish (it ended as: {reply.ending}). {_OURS}"


def grader_fault() -> Verdict:
    return Verdict(outcome="fault", message=f"The grader failed. {_OURS}")


def exercise_fault_verdict(error: Exception) -> Verdict:
    """The exercise itself cannot be used."""
    if isinstance(error, JailFailedError):
        return Verdict(outcome="fault", message=author_fault(error.reply))
    return Verdict(outcome="fault", message=f"This exercise is broken: {str(error).rstrip('.')}. Our fault, not yours.")


def refused_by(refusal: Refusal) -> Verdict:
    return Verdict(outcome="refused", line=refusal.line, column=refusal.column, message=refusal.message)


def syntax_verdict(fault: UnparsableLine) -> Verdict:
    """The text is no Python."""
    return Verdict(outcome="error", line=fault.line, column=fault.column, message=fault.message)


def stopped_by(judge: Judge, error: ReportedError, declared: str, verdict: Verdict) -> Verdict:
    """*verdict* where a line raised *error*: what the author *declared* of it, or what can be said of its cause."""
    if declared:
        return replace(verdict, line=error.line, message=declared)
    cause = overwriting_blame(error, judge.plan, judge.visible.rebound)
    message = f"{judge.translated(error)} {cause}".rstrip()
    faults = [name_verdict for name_verdict in verdict.names if name_verdict.verdict in {"wrong", "aliased", "mutated"}]
    above = [name_verdict for name_verdict in faults if (name_verdict.line or 0) < (error.line or 0)]
    # A wrong shape stops a line, which wrong numbers seldom do.
    misshapen = [name_verdict for name_verdict in above if _is_misshapen(judge, name_verdict.name)]
    if above and not judge.stopped_by_itself:
        # The line is right: what happened is told, and no advice on it.
        happened = f"{judge.translated(error).partition('. ')[0].removesuffix('.')}."
        message = f"With right numbers this line runs; the cause is above it, at `{(misshapen or above)[0].name}`."
        message = f"{message} {happened} {cause}".rstrip()
    return replace(verdict, line=error.line, message=message)


def _is_misshapen(judge: Judge, name: str) -> bool:
    """True if *name* has another shape than its tensor on the lesson's own sizes."""
    got = judge.visible.final(name)
    return got is not None and got.shape != judge.references["v"][name[1:]].gradient.shape
