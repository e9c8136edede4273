"""Grade a learner's function or class: run it on the author's cases, and the author's on the same ones, apart.

Two processes: the learner's text never shares one with the author's solution or with what it expects.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from app.content.blocks import FunctionBox
from app.engine.grade import definition_runs
from app.engine.grade.jail_runs import JailRunner
from app.engine.grader import RunResult
from app.grading.forward.driver_jobs import FunctionHeader
from app.grading.judge.function_verdict import CaseResult, names_of, verdict_of
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import parse_report
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.verdict import RIGHT, NameVerdict, Verdict
from app.sandbox.wire import Job, Reply

_SECONDS = 4.0

Answers = Mapping[str, CaseResult]
Declared = tuple[tuple[str, Answers], ...]
"""The messages of declared mistakes, each with what the mistake gives."""


def check_function(
    box: FunctionBox, code: str, plan: ParsedSubmission, jail: JailRunner, declared: Callable[[], Declared]
) -> Verdict:
    """The verdict on *code*, which *plan* was read from."""
    if (unfinished := definition_runs.blank_verdict(box, plan)) is not None:
        return unfinished
    reply = jail.run(_job(box, code, judge=False))
    if (stopped := definition_runs.stopped_verdict(box, reply)) is not None:
        return stopped
    printed = reply.texts.get("printed", "")
    answers = _answers(box, reply)
    references = _references(box, reply, jail)
    if isinstance(references, Verdict):
        return references
    names = _verdicts(box, answers, references, "")
    first = next((name_verdict for name_verdict in names if name_verdict.verdict not in RIGHT), None)
    if first is not None:
        message = next((said for said, gives in declared() if _same(gives, answers)), "")
        names = _verdicts(box, answers, references, message)
        printed += reply.texts.get(f"printed/{first.name}", "")
    return Verdict(outcome="graded", passed=first is None, names=names, printed=printed[: definition_runs.PRINTED])


def run_function_text(box: FunctionBox, code: str, plan: ParsedSubmission, jail: JailRunner) -> RunResult:
    """Run the text itself, without any case: what it prints, and the values it leaves."""
    return definition_runs.run_definitions(box, _job(box, code, judge=False, shown=list(plan.last)), jail)


def run_declared_mistakes(box: FunctionBox, jail: JailRunner) -> Declared:
    """What each declared mistake of *box* gives; one that does not end says nothing."""
    replies = (
        (declared_mistake.message, jail.run(_job(box, declared_mistake.code.source, judge=False)))
        for declared_mistake in box.mistakes
    )
    return tuple((message, _answers(box, reply)) for message, reply in replies if reply.ending == "done")


def _verdicts(box: FunctionBox, own: Answers, references: Answers, message: str) -> tuple[NameVerdict, ...]:
    """One verdict a case; *message*, of a declared mistake, stands at the first that is wrong."""
    name_verdicts: list[NameVerdict] = []
    for name, case in zip(names_of(box), box.cases, strict=True):
        first = all(name_verdict.verdict in RIGHT for name_verdict in name_verdicts)
        name_verdicts.append(verdict_of(name, case, own[name], references[name], message if first else ""))
    return tuple(name_verdicts)


def _references(box: FunctionBox, reply: Reply, jail: JailRunner) -> Answers | Verdict:
    """What the author's solution gives, and what its `expect` says of the learner's results in *reply*."""
    report = parse_report(reply.texts.get("report", ""))
    judged = {
        name: _mapping(report.get(name)).get("result")
        for name, case in zip(names_of(box), box.cases, strict=True)
        if case.predicate and "result" in _mapping(report.get(name))
    }
    arrays = {key: array for key, array in reply.arrays.items() if key.rpartition("/")[0] in judged}
    answered = jail.run(_job(box, box.solution.source, judge=True, judged=judged, arrays=arrays))
    if answered.ending != "done" or "escaped" in answered.texts:
        return _broken(f"it ended as: {answered.ending}")
    found = _answers(box, answered)
    failed = next((case_result.error for case_result in found.values() if case_result.error is not None), None)
    if failed is not None:
        return _broken(translate_error(failed))
    return found


def _broken(why: str) -> Verdict:
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
    return Job(
        driver="function",
        header=header,
        arrays=arrays or {},
        seconds=max(box.seconds, _SECONDS) if judge else box.seconds,
        output_bytes=definition_runs.OUTPUT_BYTES,
    )


def _source(case: str, *, judge: bool) -> str:
    """A case without comments; `expect` is for the author's run alone."""
    tree = ast.parse(case)
    kept = [
        statement
        for statement in tree.body
        if judge or not (isinstance(statement, ast.FunctionDef) and statement.name == "expect")
    ]
    return ast.unparse(ast.Module(kept, []))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
