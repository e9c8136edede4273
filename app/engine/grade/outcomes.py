"""How a run that did not finish is told: which limit, whose fault, what to do next."""

from app.grading.forward.facts import Outcome
from app.grading.judge.verdict import Verdict
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


def ending(reply: Reply, seconds: float) -> Verdict:
    """The verdict on a run that ended before its time."""
    how = reply.ending if reply.ending in _OUTCOMES else "fault"
    return Verdict(outcome=_OUTCOMES[how], message=_MESSAGES[how].format(seconds=seconds))


def author_fault(reply: Reply) -> str:
    """The forward program of the exercise did not get through the jail."""
    return f"The forward program of this exercise did not finish (it ended as: {reply.ending}). {_OURS}"


def grader_fault() -> Verdict:
    return Verdict(outcome="fault", message=f"The grader stumbled. {_OURS}")
