"""Runs of definitions, for checkers and functions of learners: a text that must define what its cases call."""

import logging
import re
from dataclasses import replace

from app.content.blocks import Checker, FunctionBox
from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.outcomes import early_end_verdict, grader_fault
from app.engine.grader import RunResult
from app.grading.judge.call_errors import a_kind
from app.grading.judge.check_verdict import ANSWER
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import RunReport, read_trials
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.verdict import NameVerdict, Verdict
from app.sandbox.wire import Job, Reply

_LOG = logging.getLogger(__name__)
_OWN = "own"
OUTPUT_BYTES = 2**20
PRINTED = 4000
"""Characters of what a verdict shows of it."""

Box = Checker | FunctionBox


def blank_verdict(box: Box, plan: ParsedSubmission) -> Verdict | None:
    """The verdict on a text with a blank, which is not run."""
    blank = any(line.blank for line in plan.lines)
    return _not_yet(box, "There is still a blank in your code.") if blank else None


def stopped_verdict(box: Box, reply: Reply) -> Verdict | None:
    """The verdict on a text that came to none of its cases; None where they were run."""
    if reply.ending != "done":
        return early_end_verdict(reply, box.seconds)
    if "escaped" in reply.texts:
        _LOG.error("the driver of '%s' failed: %s", box.name, reply.texts["escaped"])
        return grader_fault()
    own, printed = _own(reply), reply.texts.get("printed", "")
    if own.errors:
        error = own.errors[0]
        return Verdict(outcome="error", line=error.line, message=translate_error(error), printed=printed)
    if own.kinds:
        return replace(_not_yet(box, _undefined_message(box, own.kinds.get(ANSWER, "object"))), printed=printed)
    return None


def run_definitions(box: Box, job: Job, jail: JailRunner) -> RunResult:
    """Run the text itself, by a *job* without any case: what it prints, and the values it leaves."""
    reply = jail.run(job)
    ended, shown = stopped_verdict(box, reply), _own(reply).shown
    if ended is None or ended.outcome == "graded":  # only a check asks what it defines
        return RunResult(outcome="graded", shown=shown, printed=reply.texts.get("printed", ""))
    return RunResult(outcome=ended.outcome, shown=shown, printed=ended.printed, line=ended.line, message=ended.message)


def _own(reply: Reply) -> RunReport:
    return read_trials(reply.arrays, reply.texts, [_OWN])[_OWN]


def _not_yet(box: Box, message: str) -> Verdict:
    return Verdict(outcome="graded", names=(NameVerdict(name=box.function, verdict="not-yet", message=message),))


def _undefined_message(box: Box, kind: str) -> str:
    arguments = ", ".join(box.arguments)
    heads = (line for line in box.solution.source.splitlines() if re.match(rf"class {box.function}\b", line))
    begin = f"`{next(heads, f'def {box.function}({arguments}):').strip()}`"
    if kind == "NoneType":
        return f"Nothing called `{box.function}` was defined. Begin with {begin}."
    return f"`{box.function}` is {a_kind(kind)} and cannot be called. Begin with {begin}."
