"""Findings for an author when a grader gives no response, or only one that would comfort a learner."""

import re

from app.check.findings import Finding
from app.content.blocks import SourceLocation
from app.engine.grade.outcomes import grader_fault
from app.engine.pool.grader_client import BUSY, FAULT, STOPPED
from app.grading.forward.facts import Outcome

UNANSWERED: frozenset[Outcome] = frozenset({"fault", "busy"})
"""Outcomes that say nothing about the code that was sent."""

OURS = re.compile(r" (?:That is )?[Oo]ur fault, not yours[^.]*\.(?: Please try again\.)?")
NO_ANSWER = {
    FAULT: "no answer came in time, or in memory. Shorten it or its sizes; if both are small, try again.",
    BUSY: "no grader was free in time. Try again when the machine is less busy.",
    STOPPED: "the graders were told to stop.",
    grader_fault().message: "the grader stumbled over it. Please report this lesson.",
}
"""What a learner is told where there is no answer at all, and what an author is told instead."""


def not_proved(place: SourceLocation, message: str) -> Finding:
    """Finding that the exercise at *place* is not proved; *message* is what a learner would see."""
    return Finding(place, "error", "not-proved", f"This was not proved: {NO_ANSWER.get(message, to_author(message))}")


def to_author(message: str) -> str:
    """*message* without what comforts a learner: an author is told what to mend."""
    return OURS.sub("", message).rstrip()
