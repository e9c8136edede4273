"""Grade a learner's function or class: run it on the author's cases, and the author's on the same ones, apart.

Two processes: the learner's text never shares one with the author's solution or with what it expects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.content.blocks import FunctionBox
from app.engine.grade import definition_runs
from app.engine.grade.jail_runs import JailRunner, TimeLimitedRunner
from app.engine.grade.slip_search import Holding, SlipSearch
from app.engine.grader import RunResult
from app.engine.task import PATIENCE
from app.grading.forward.driver_jobs import FunctionHeader
from app.grading.judge.function_verdict import (
    CaseResult,
    answers_digest,
    explained,
    names_of,
    slips_text,
    verdict_of,
)
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import parse_report
from app.grading.judge.slips.slip import Slip
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.unfit_answers import arguments_in
from app.grading.judge.verdict import RIGHT, NameVerdict, Verdict
from app.sandbox.wire import Job, Reply
from app.syntax import defined_name, is_simple, nodes_in, parse_code, program_of, source_text

_SECONDS = 4.0
_TRY_SECONDS = 0.5
_ENDLESS = frozenset({"timeout", "memory", "crashed"})
"""Endings of a run for which a slip may be the reason."""

Answers = Mapping[str, CaseResult]
Declared = tuple[tuple[str, frozenset[str], Answers], ...]
"""The messages of declared mistakes, each with the statements of the solution that it lacks, and what it gives."""


def check_function(
    box: FunctionBox,
    code: str,
    plan: ParsedSubmission,
    jail: JailRunner,
    author_jail: JailRunner,
    declared: Callable[[], Declared | None],
    value_key: Callable[[bytes], str],
) -> Verdict:
    """The verdict on *code*, which *plan* was read from; *value_key* makes a key of a digest.

    In *jail* run the learner's texts, with less time in a first try; in *author_jail*, with all of it, the solution.
    """
    if (unfinished := definition_runs.blank_verdict(box, plan)) is not None:
        return unfinished
    reply = jail.run(_job(box, code, judge=False))
    if (stopped := definition_runs.stopped_verdict(box, reply)) is not None:
        return (
            _with_slips(stopped, _slips(box, code, frozenset(), jail, author_jail))
            if reply.ending in _ENDLESS
            else stopped
        )
    printed = reply.texts.get("printed", "")
    answers = _answers(box, reply)
    references = _references(box, reply, author_jail)
    if isinstance(references, Verdict):
        return references
    names = _verdicts(box, answers, references, arguments_in([line.node for line in plan.lines]))
    first = next((name_verdict for name_verdict in names if name_verdict.verdict not in RIGHT), None)
    if first is not None:
        printed += reply.texts.get(f"printed/{first.name}", "")
        own, right = _statements(code), _statements(box.solution.source)
        # Another text may come to the same: one that has all of what the mistake lacks, and lacks other statements of
        # the solution, does not make that mistake.
        fitting = (
            text
            for text, lacks, gives in declared() or ()
            if not (right - own and lacks and lacks <= own)
            if _same(gives, answers)
        )
        message = next(fitting, "")
        slips = () if message else _slips(box, code, _holding(names), jail, author_jail)
        names = explained(names, message, slips, lambda: value_key(answers_digest(answers)))
    return Verdict(outcome="graded", passed=first is None, names=names, printed=printed[: definition_runs.PRINTED])


def run_function_text(box: FunctionBox, code: str, plan: ParsedSubmission, jail: JailRunner) -> RunResult:
    """Run the text itself, without any case: what it prints, and the values it leaves."""
    return definition_runs.run_definitions(box, _job(box, code, judge=False, shown=list(plan.last)), jail)


def run_declared_mistakes(box: FunctionBox, jail: JailRunner) -> Declared | None:
    """Results of each declared mistake of *box*; one that does not end has none. None where the jail failed."""
    right, declared = _statements(box.solution.source), list[tuple[str, frozenset[str], Answers]]()
    for mistake in box.mistakes:
        reply = jail.run(_job(box, mistake.code.source, judge=False))
        if reply.ending == "fault":
            return None
        if reply.ending == "done":
            declared.append((mistake.message, right - _statements(mistake.code.source), _answers(box, reply)))
    return tuple(declared)


def _statements(code: str) -> frozenset[str]:
    """The simple statements of *code*, however they are spaced."""
    return frozenset(source_text(node) for node in nodes_in(parse_code(code)) if is_simple(node))


def _verdicts(
    box: FunctionBox, own: Answers, references: Answers, arguments: Mapping[str, Sequence[str]] = {}
) -> tuple[NameVerdict, ...]:
    """One verdict a case; *arguments* are those of each function of the learner's program."""
    return tuple(
        verdict_of(name, case, own[name], references[name], arguments)
        for name, case in zip(names_of(box), box.cases, strict=True)
    )


def _holding(names: tuple[NameVerdict, ...]) -> Holding:
    return frozenset(name_verdict.name for name_verdict in names if name_verdict.verdict in RIGHT)


def _slips(box: FunctionBox, code: str, right: Holding, jail: JailRunner, author_jail: JailRunner) -> tuple[Slip, ...]:
    """The slips of *code*, for which the cases *right* hold."""
    quick = TimeLimitedRunner(jail, _TRY_SECONDS)

    def holds(text: str) -> Holding | None:
        reply = quick.run(_job(box, text, judge=False))
        if reply.ending != "done":
            return None
        references = _references(box, reply, author_jail)
        if isinstance(references, Verdict):
            return None
        return _holding(_verdicts(box, _answers(box, reply), references))

    return SlipSearch(holds, names_of(box), right).slips_in(code, box.solution.source)


def _with_slips(stopped: Verdict, slips: tuple[Slip, ...]) -> Verdict:
    """The verdict on a text that came to no end, and whose *slips* are the reason."""
    if not slips:
        return stopped
    return replace(stopped, line=slips[0].line, message=f"{stopped.message.partition('. ')[0]}. {slips_text(slips)}")


def _references(box: FunctionBox, reply: Reply, jail: JailRunner) -> Answers | Verdict:
    """Results of the author's solution, and the verdicts of its `expect` on the learner's results in *reply*."""
    report = parse_report(reply.texts.get("report", ""))
    judged = {
        name: _mapping(report.get(name)).get("result")
        for name, case in zip(names_of(box), box.cases, strict=True)
        if case.predicate and "result" in _mapping(report.get(name))
    }
    arrays = {key: array for key, array in reply.arrays.items() if key.rpartition("/")[0] in judged}
    answered = jail.run(_job(box, box.solution.source, judge=True, judged=judged, arrays=arrays))
    if answered.ending != "done" or "escaped" in answered.texts:
        return _solution_fault(f"it ended as: {answered.ending}")
    results = _answers(box, answered)
    failed = next((case_result.error for case_result in results.values() if case_result.error is not None), None)
    if failed is not None:
        return _solution_fault(translate_error(failed))
    return results


def _solution_fault(why: str) -> Verdict:
    return Verdict(outcome="fault", message=f"The solution of this exercise did not run ({why}). Our fault, not yours.")


def _same(gives: Answers, answers: Answers) -> bool:
    return all(case_result.same_as(gives[name]) for name, case_result in answers.items())


def _answers(box: FunctionBox, reply: Reply) -> Answers:
    report = parse_report(reply.texts.get("report", ""))
    return {name: CaseResult(name, report, reply.arrays) for name in names_of(box)}


def _job(
    box: FunctionBox,
    code: str,
    *,
    judge: bool,
    judged: Mapping[str, Any] | None = None,
    arrays: Mapping[str, Any] | None = None,
    shown: list[str] | None = None,
) -> Job:
    cases = {} if shown is not None else dict(zip(names_of(box), box.cases, strict=True))
    header = FunctionHeader(
        source=code,
        function=box.function,
        arguments=list(box.arguments),
        cases={name: _source(case.code.source, judge=judge) for name, case in cases.items()},
        judged=dict(judged or {}),
        shown=shown or [],
    )
    seconds = max(box.seconds, _SECONDS) if judge else box.seconds
    return Job(
        driver="function",
        header=header,
        arrays=arrays or {},
        seconds=PATIENCE * seconds,
        cpu_seconds=seconds,
        output_bytes=definition_runs.OUTPUT_BYTES,
    )


def _source(case: str, *, judge: bool) -> str:
    """A case without comments; `expect` is for the author's run alone."""
    statements = parse_code(case).body
    return source_text(program_of(each for each in statements if judge or defined_name(each) != "expect"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
