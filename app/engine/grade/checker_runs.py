"""Grade a learner's check: run it on the author's cases, in an order that only this side knows.

The expected answers stay here. A check that answers by counting its calls, or always the same, cannot pass.
"""

import ast
import logging
from random import SystemRandom

from app.content.blocks import Checker
from app.engine.grade.jail_runs import JailRuns
from app.engine.grade.outcomes import ending, grader_fault, shown_in
from app.engine.grader import Run
from app.grading.forward.driver_jobs import CheckHeader
from app.grading.judge.check_verdict import ANSWER, names_of, not_yet, stopped_everywhere, verdicts_of
from app.grading.judge.plan import Plan
from app.grading.judge.torch_errors import translate
from app.grading.judge.trials import Trial, read_trials
from app.grading.judge.verdict import RIGHT, Verdict
from app.sandbox.wire import Job

_LOG = logging.getLogger(__name__)
_OWN, _FAILED = "own", "failed"
_OUTPUT_BYTES = 2**20
_PRINTED = 4000
_ORDER = SystemRandom()


def check(checker: Checker, code: str, plan: Plan, jail: JailRuns) -> Verdict:
    """The verdict on *code*, which *plan* was read from."""
    if any(line.blank for line in plan.lines):
        return _waiting(checker, "There is still a blank in your code.")
    cases = [(f"c{index}", name) for index, name in enumerate(_shuffled(names_of(checker)))]
    reply = jail.run(_job(checker, code, dict(cases)))
    if reply.ending != "done":
        return ending(reply, checker.seconds)
    if "escaped" in reply.texts:
        _LOG.error("the checker driver failed: %s", reply.texts["escaped"])
        return grader_fault()
    found = read_trials(reply.arrays, reply.texts, [_OWN, _FAILED, *(key for key, _ in cases)])
    own, failed = found[_OWN], found[_FAILED]
    printed = reply.texts.get("printed", "")
    if failed.kinds:
        said = failed.kinds.get(ANSWER, "it did not say how")
        return Verdict(outcome="fault", message=f"A case of this exercise failed: {said}")
    if own.errors:
        error = own.errors[0]
        return Verdict(outcome="error", line=error.line, message=translate(error), printed=printed)
    if own.kinds:
        return _waiting(checker, _undefined(checker, own), printed)
    trials = {name: found[key] for key, name in cases}
    everywhere = stopped_everywhere(trials)
    if everywhere is not None:
        message = f"{translate(everywhere)} It stopped on every case that it was tried on."
        return Verdict(outcome="error", line=everywhere.line, message=message, printed=printed)
    names = verdicts_of(checker, trials)
    first = next((one.name for one in names if one.verdict not in RIGHT), None)
    said = "".join(reply.texts.get(f"printed/{key}", "") for key, name in cases if name == first)
    passed = first is None and bool(names)
    return Verdict(outcome="graded", passed=passed, names=names, printed=f"{printed}{said}"[:_PRINTED])


def run(checker: Checker, code: str, plan: Plan, jail: JailRuns) -> Run:
    """Run the text itself, without any case: what it prints, and the values it leaves."""
    reply = jail.run(_job(checker, code, {}, shown=list(plan.last)))
    if reply.ending != "done":
        verdict = ending(reply, checker.seconds)
        return Run(outcome=verdict.outcome, message=verdict.message)
    if "escaped" in reply.texts:
        return Run(outcome="fault", message=grader_fault().message)
    own = read_trials(reply.arrays, reply.texts, [_OWN])[_OWN]
    shown = shown_in(own.shown)
    printed = reply.texts.get("printed", "")
    if own.errors:
        error = own.errors[0]
        return Run(outcome="error", shown=shown, printed=printed, line=error.line, message=translate(error))
    return Run(outcome="graded", shown=shown, printed=printed)


def _shuffled(names: tuple[str, ...]) -> list[str]:
    return _ORDER.sample(names, len(names))


def _job(checker: Checker, code: str, cases: dict[str, str], shown: list[str] | None = None) -> Job:
    sources = dict(zip(names_of(checker), checker.cases, strict=True))
    header: CheckHeader = {
        "source": code,
        "function": checker.function,
        "arguments": list(checker.arguments),
        # Unparsed: a comment of the author's would tell what the case is about.
        "cases": {key: ast.unparse(ast.parse(sources[name].code.source)) for key, name in cases.items()},
        "shown": shown or [],
    }
    return Job(driver="checker", header=header, seconds=checker.seconds, output_bytes=_OUTPUT_BYTES)


def _waiting(checker: Checker, message: str, printed: str = "") -> Verdict:
    return Verdict(outcome="graded", names=(not_yet(checker, message),), printed=printed)


def _undefined(checker: Checker, own: Trial) -> str:
    call = f"`def {checker.function}({', '.join(checker.arguments)}):`"
    kind = own.kinds.get(ANSWER, "object")
    if kind == "NoneType":
        return f"Nothing called `{checker.function}` was defined. Begin with {call}."
    return f"`{checker.function}` is a {kind} and cannot be called. Begin with {call}."
