"""Grade a learner's check: run it on the author's cases, in an order that only this side knows.

The expected answers stay here. A check that answers by counting its calls, or always the same, cannot pass.
"""

from random import SystemRandom

from app.content.blocks import Checker
from app.engine.grade import definition_runs
from app.engine.grade.jail_runs import JailRunner
from app.engine.grader import RunResult
from app.engine.task import PATIENCE
from app.grading.forward.driver_jobs import CheckHeader
from app.grading.judge.check_verdict import ANSWER, names_of, stopped_everywhere, verdicts_of
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import read_trials
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.verdict import RIGHT, Verdict
from app.sandbox.wire import Job
from app.syntax import without_style

_FAILED = "failed"
_ORDER = SystemRandom()


def check_checker(checker: Checker, code: str, plan: ParsedSubmission, jail: JailRunner) -> Verdict:
    """The verdict on *code*, which *plan* was read from."""
    if (unfinished := definition_runs.blank_verdict(checker, plan)) is not None:
        return unfinished
    cases = [(f"c{index}", name) for index, name in enumerate(_shuffle(names_of(checker)))]
    reply = jail.run(_job(checker, code, dict(cases)))
    if (stopped := definition_runs.stopped_verdict(checker, reply)) is not None:
        return stopped
    reports = read_trials(reply.arrays, reply.texts, [_FAILED, *(key for key, _ in cases)])
    printed = reply.texts.get("printed", "")
    if reports[_FAILED].kinds:
        detail = reports[_FAILED].kinds.get(ANSWER, "it did not say how")
        return Verdict(outcome="fault", message=f"A case of this exercise failed: {detail}")
    trials = {name: reports[key] for key, name in cases}
    everywhere = stopped_everywhere(trials)
    if everywhere is not None:
        message = f"{translate_error(everywhere)} It stopped on every case that it was tried on."
        return Verdict(outcome="error", line=everywhere.line, message=message, printed=printed)
    names = verdicts_of(checker, trials)
    first = next((name_verdict.name for name_verdict in names if name_verdict.verdict not in RIGHT), None)
    case_output = "".join(reply.texts.get(f"printed/{key}", "") for key, name in cases if name == first)
    passed = first is None and bool(names)
    return Verdict(
        outcome="graded", passed=passed, names=names, printed=f"{printed}{case_output}"[: definition_runs.PRINTED]
    )


def run_checker(checker: Checker, code: str, plan: ParsedSubmission, jail: JailRunner) -> RunResult:
    """Run the text itself, without any case: what it prints, and the values it leaves."""
    return definition_runs.run_definitions(checker, _job(checker, code, {}, shown=list(plan.last)), jail)


def _shuffle(names: tuple[str, ...]) -> list[str]:
    return _ORDER.sample(names, len(names))


def _job(checker: Checker, code: str, cases: dict[str, str], shown: list[str] | None = None) -> Job:
    sources = dict(zip(names_of(checker), checker.cases, strict=True))
    header: CheckHeader = {
        "source": code,
        "function": checker.function,
        "arguments": list(checker.arguments),
        # A comment of the author's would tell what the case is about.
        "cases": {key: without_style(sources[name].code.source) for key, name in cases.items()},
        "shown": shown or [],
    }
    return Job(
        driver="checker",
        header=header,
        seconds=PATIENCE * checker.seconds,
        cpu_seconds=checker.seconds,
        output_bytes=definition_runs.OUTPUT_BYTES,
    )
