"""Grade one submission: gate, plan, three runs in the jail, comparison, diagnosis. Synchronous; one per process.

Everything that decides happens on this side of the wall; from the jail come numbers and an untrusted report.
"""

import logging
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.cache import LruCache, Same
from app.content.blocks import Bug, Checker, Forward, FunctionBox
from app.engine.grade import checker_runs, function_runs, nudging
from app.engine.grade.attempts import AttemptRuns, JudgedAttempt
from app.engine.grade.author_errors import AuthorError
from app.engine.grade.edges import with_remarks
from app.engine.grade.facts_cache import FactsCache
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_pairs import one_sided_statements
from app.engine.grade.jail_runs import JailFailedError, JailRunner, Timed, TimeLimitedRunner
from app.engine.grade.outcomes import (
    author_fault,
    early_end_verdict,
    exercise_fault_verdict,
    grader_fault,
    refused_by,
    stopped_by,
    syntax_verdict,
)
from app.engine.grade.prepared_task import PreparedTask, UngradableExerciseError, scales_output
from app.engine.grade.seeds import PUBLIC, Seeds
from app.engine.grade.substitution import StoppedError
from app.engine.grade.tape_queries import FURTHER_PAIRS, FurtherRuns
from app.engine.grader import Nudge, RunResult
from app.engine.task import AnyTask, GradTask, HuntTask
from app.grading.forward.facts import Facts
from app.grading.judge.hunt_verdict import (
    alone_verdict,
    changes_of,
    cured_verdict,
    line_verdict,
    others_verdict,
    split_line,
    unchanged_verdict,
    unmarked_verdicts,
)
from app.grading.judge.judging import Judge
from app.grading.judge.line_shapes import (
    InlayShapes,
    ShapeContext,
    ground_of_calls,
    ground_of_program,
    infer_line_shapes,
)
from app.grading.judge.origins import entry_origins
from app.grading.judge.parsed_submission import ParsedSubmission, parse_submission
from app.grading.judge.run_reports import RunReport, read_trials
from app.grading.judge.torch_errors import translate_error
from app.grading.judge.unrolling.submission import UnrolledSubmission
from app.grading.judge.verdict import RIGHT, NameVerdict, Verdict
from app.grading.reading.line_reader import KeptLine
from app.sandbox.gate import CLASSES, find_refusal, normalise, too_much
from app.sandbox.wire import Reply

_LOG = logging.getLogger(__name__)
UNEXPLAINED = "To look for the reasons took longer than it may, so only right and wrong are told."
_KEPT = 256
_LINES_KEPT = 1024


class Engine:
    """Answers for tasks, one at a time; it never raises for anything that a submission does.

    Args:
        facts_dir: Where references outlive the process; None keeps them in memory.
        seeds: Where hidden numbers come from.
        tell: Told a verdict without explanations before they are looked for: that may end the process.
    """

    def __init__(
        self,
        jail: JailRunner,
        facts_dir: Path | None,
        seeds: Seeds = PUBLIC,
        tell: Callable[[Verdict], None] | None = None,
    ) -> None:
        self._jail = Timed(jail)
        self._tell = tell
        self._seeds = seeds
        self._cache = FactsCache(facts_dir)
        self._studies = LruCache[Hashable, ForwardReferences | AuthorError](_KEPT)
        self._benches = LruCache[Hashable, PreparedTask](_KEPT)
        self._grounds = LruCache[Same, ShapeContext](_KEPT)
        self._lines = LruCache[Hashable, KeptLine | None](_LINES_KEPT)
        self._declared_answers = LruCache[Hashable, function_runs.Declared | None](_KEPT)

    def facts(self, forward: Forward) -> Facts:
        """Shapes and backward order of *forward*; `error` says why it could not be run."""
        try:
            study = self._study(forward)
            return replace(study.facts, one_sided=one_sided_statements(study))
        except AuthorError as error:
            return Facts(shapes={}, gradable=(), error=error.message, line=error.line)
        except JailFailedError as error:
            return Facts(shapes={}, gradable=(), error=author_fault(error.reply))

    def check(self, task: AnyTask, code: str, *, gate: bool = True, seconds: float | None = None) -> Verdict:
        """Grade *code*; *gate* is switched off only where the jail itself is on trial.

        Args:
            seconds: Less time than the task allows, where that is given.
        """
        spent = self._spent()
        try:
            verdict = self._check_gradients(task, normalise(code)[0], gate, self._time_limited_jail(seconds))
        except MemoryError:
            raise  # a limit of the reader's, which the text has met
        except Exception:
            # Whatever was overlooked here must not end the process that others wait for.
            _LOG.exception("a check of %s failed", task.name)
            verdict = grader_fault()
        wall, in_jail = spent()
        return replace(verdict, wall_ms=wall, jail_ms=in_jail)

    def _check_gradients(self, task: AnyTask, code: str, gate: bool, jail: JailRunner) -> Verdict:
        match task:
            case Checker():
                plan, refused = self._admit((), code, gate)
                return refused or checker_runs.check_checker(task, code, plan, jail)
            case FunctionBox():
                plan, refused = self._admit((CLASSES,), code, gate)
                declared = self._declared_results(task)
                return refused or function_runs.check_function(
                    task, code, plan, jail, self._jail, declared, self._seeds.value_key
                )
            case HuntTask(bug=bug, mending=mending):
                return self._check_hunt(bug, mending, code, gate, jail)
            case GradTask():
                return self._check(task, code, gate, jail)

    def _check_hunt(self, bug: Bug, mending: GradTask, text: str, gate: bool, jail: JailRunner) -> Verdict:
        """First the line, then what was made of it, then that nothing else was touched.

        A cure at another line is one: it is run before the line is called the wrong one.
        """
        code, named = split_line(text)
        line, changes = line_verdict(bug, named), changes_of(bug, code)
        cured = cured_verdict(bug, changes, named) if changes is not None else None
        if line.verdict not in RIGHT and cured is None:
            if changes is not None and changes.in_place and self._check(mending, code, gate, jail).passed:
                return Verdict(outcome="graded", names=unmarked_verdicts(bug, line, named))
            return Verdict(outcome="graded", names=(line,))
        if changes is not None and changes.alone:
            return Verdict(outcome="graded", names=(line, alone_verdict(bug)))
        if changes is not None and changes.none:
            return Verdict(outcome="graded", names=(line, unchanged_verdict(bug)))
        verdict = self._check(mending, code, gate, jail, (line,))
        if cured is not None and verdict.passed:
            return replace(verdict, names=(cured, *verdict.names))
        if line.verdict not in RIGHT:
            return Verdict(outcome="graded", names=(line,))
        if not verdict.passed or changes is None:
            return replace(verdict, names=(line, *verdict.names))
        others = others_verdict(bug, changes)
        return replace(verdict, names=(line, *verdict.names, others), passed=others.verdict in RIGHT)

    def _check(
        self, task: GradTask, code: str, gate: bool, jail: JailRunner, before: tuple[NameVerdict, ...] = ()
    ) -> Verdict:
        plan, refused = self._admit(task.grad.forbid, code, gate, in_part=True)
        if refused is not None:
            return refused
        try:
            bench = self._bench(task)
            ran = _run_attempt(bench, plan, jail)
        except (AuthorError, JailFailedError, UngradableExerciseError) as error:
            return exercise_fault_verdict(error)
        if ran.reply.ending != "done":
            return early_end_verdict(ran.reply, task.grad.seconds)
        if "escaped" in ran.reply.texts:
            _LOG.error("the attempt driver failed: %s", ran.reply.texts["escaped"])
            return grader_fault()
        try:
            attempt = _judge_attempt(bench, ran)
            if attempt.bare.passed:
                if not ran.with_others or not bench.differs_on_edge(plan, ran.reply):
                    return attempt.bare
                return with_remarks(attempt.bare, bench, plan, ran.reply, task.grad.solution.source, jail)
            bare = attempt.preferred.bare
            if bare.passed:
                return bare
            if self._tell is not None:
                message = f"{bare.message} {UNEXPLAINED}".lstrip()
                self._tell(replace(bare, names=(*before, *bare.names), message=message))
            best, names = attempt.explained
            verdict = _verdict(best.prepared, best.judge, names, best.runs.reply, best.declared)
        except StoppedError as error:
            return early_end_verdict(error.reply, task.grad.seconds)
        except (AuthorError, JailFailedError) as error:
            return exercise_fault_verdict(error)
        return verdict

    def run(self, task: AnyTask, code: str, *, gate: bool = True, seconds: float | None = None) -> RunResult:
        """Run *code* on the lesson's own sizes and show what it left, without a verdict."""
        spent = self._spent()
        try:
            ran = replace(
                self._ran(task, normalise(code)[0], gate, self._time_limited_jail(seconds)),
                told=self.line_shapes(task, code),
            )
        except (AuthorError, JailFailedError, UngradableExerciseError) as error:
            ran = RunResult(outcome="fault", message=exercise_fault_verdict(error).message)
        except MemoryError:
            raise  # a limit of the reader's, which the text has met
        except Exception:
            # Whatever was overlooked here must not end the process that others wait for.
            _LOG.exception("a run of %s failed", task.name)
            ran = RunResult(outcome="fault", message=grader_fault().message)
        wall, in_jail = spent()
        return replace(ran, wall_ms=wall, jail_ms=in_jail)

    def _ran(self, task: AnyTask, code: str, gate: bool, jail: JailRunner) -> RunResult:
        task = task.mending if isinstance(task, HuntTask) else task
        plan, refused = self._admit(_rules(task), code, gate)
        if refused is not None:
            return RunResult(outcome=refused.outcome, line=refused.line, message=refused.message)
        if isinstance(task, Checker):
            return checker_runs.run_checker(task, code, plan, jail)
        if isinstance(task, FunctionBox):
            return function_runs.run_function_text(task, code, plan, jail)
        bench = self._bench(task)
        reply = jail.run(bench.job(plan, visible_only=True))
        if reply.ending != "done":
            verdict = early_end_verdict(reply, task.grad.seconds)
            return RunResult(outcome=verdict.outcome, message=verdict.message)
        trial = bench.placed_in(plan)(read_trials(reply.arrays, reply.texts, ["v"])["v"])
        data = bench.study.sets["v"]
        upstreams = (*task.forward.outputs, *(name[1:] for name in task.given))
        scope = {**data.tensors, **{f"d{name}": data.tensors[name] for name in upstreams}}
        done = RunResult(
            outcome="graded",
            shown=trial.shown,
            printed=reply.texts.get("printed", ""),
            origins=entry_origins(plan, scope, data.dims, task.grad.require),
        )
        if not trial.errors:
            return done
        raised = trial.errors[0]
        return replace(done, outcome="error", line=raised.line, message=translate_error(raised))

    def nudge(
        self, task: AnyTask, code: str, name: str, entry: str, *, gate: bool = True, seconds: float | None = None
    ) -> Nudge:
        """Measure how the loss changes when one *entry* of the tensor is moved of which *name* is the gradient."""
        task = task.mending if isinstance(task, HuntTask) else task
        if isinstance(task, Checker | FunctionBox):
            return Nudge(outcome="refused", name=name, message="There is no gradient in this box to nudge.")
        code, _ = normalise(code)
        plan, refused = self._admit(task.grad.forbid, code, gate)
        try:
            own = nudging.SubmissionSource(refused or plan, self._time_limited_jail(seconds), patient=seconds is None)
            return nudging.grade_nudge(self._bench(task), self._jail, name, entry, own)
        except nudging.LateError:
            return Nudge(outcome="timeout", name=name)
        except (AuthorError, JailFailedError, UngradableExerciseError) as error:
            return Nudge(outcome="fault", name=name, message=exercise_fault_verdict(error).message)
        except MemoryError:
            raise  # a limit of the reader's, which the text has met
        except Exception:
            # Whatever was overlooked here must not end the process that others wait for.
            _LOG.exception("a nudge of %s failed", task.name)
            return Nudge(outcome="fault", name=name, message=grader_fault().message)

    def line_shapes(self, task: AnyTask, code: str) -> InlayShapes:
        """The shapes that the lines of *code* give, read from the text alone: nothing is run."""
        plain, _ = normalise(code)
        if too_much(plain) is not None:
            return InlayShapes()
        return infer_line_shapes(plain, self._grounds.of(Same(task), lambda: _ground(task)), self._lines.of)

    # Before the run.

    def _spent(self) -> Callable[[], tuple[float, float]]:
        """A clock that begins now: milliseconds so far, and how many of them the jail took."""
        began, before = time.perf_counter(), self._jail.spent_ms
        return lambda: (round((time.perf_counter() - began) * 1e3, 3), round(self._jail.spent_ms - before, 3))

    def _time_limited_jail(self, seconds: float | None) -> JailRunner:
        return self._jail if seconds is None else TimeLimitedRunner(self._jail, seconds)

    def _admit(
        self, forbid: tuple[str, ...], code: str, gate: bool, *, in_part: bool = False
    ) -> tuple[ParsedSubmission, Verdict | None]:
        """*code* as a plan, or why it is not run. *in_part*: lines that are no Python are set aside."""
        refused = find_refusal(code, forbid) if gate else None
        if refused is not None:
            return ParsedSubmission(), refused_by(refused)
        plan = parse_submission(code)
        if plan.fault is None:
            return plan, None
        if not plan.lines or not in_part:
            return plan, syntax_verdict(plan.fault)
        refused = (
            find_refusal(plan.source, forbid) if gate else None
        )  # the gate could not read on where the parser stopped
        return plan, refused_by(refused) if refused is not None else None

    # What is kept between submissions.

    def _declared_results(self, box: FunctionBox) -> Callable[[], function_runs.Declared | None]:
        """Results of the declared mistakes of *box*; computed at the first call, then cached.

        They are kept for all who come later, so that a mistake has all of its time, even within a first try.
        """
        declared = tuple((declared_mistake.code.source, declared_mistake.message) for declared_mistake in box.mistakes)
        key = (box.function, box.cases, declared)
        return lambda: self._declared_answers.of(key, lambda: function_runs.run_declared_mistakes(box, self._jail))

    def _study(self, forward: Forward, scaled: bool = False) -> ForwardReferences:
        sizes = tuple(tuple(item.items()) for item in (forward.dims, forward.related, forward.hidden))
        ends = (forward.output, forward.others)
        content = (sizes, forward.inputs, ends, forward.source, forward.lines)
        key = (content, forward.source_line, scaled)
        study = self._studies.of(key, lambda: self._study_forward(forward, scaled))
        if isinstance(study, AuthorError):
            raise study
        return study

    def _study_forward(self, forward: Forward, scaled: bool) -> ForwardReferences | AuthorError:
        try:
            return ForwardReferences(forward, self._jail, self._cache, scaled, self._seeds)
        except AuthorError as error:
            return error

    def _bench(self, task: GradTask) -> PreparedTask:
        scaled = scales_output(task)
        study, grad = self._study(task.forward, scaled), task.grad
        judged = (grad.require, task.given, grad.solution.source, grad.one_road, grad.atol, grad.rtol, grad.seconds)
        declared = tuple((declared_mistake.code.source, declared_mistake.message) for declared_mistake in grad.mistakes)
        key = (study.seed, task.forward.source_line, scaled, judged, declared)
        return self._benches.of(key, lambda: PreparedTask(task, study, self._jail))


def _run_attempt(bench: PreparedTask, plan: ParsedSubmission, jail: JailRunner) -> AttemptRuns:
    """Run *plan* on the numbers of *bench*, and on those of its others."""
    reply = jail.run(bench.job(plan))
    if reply.ending == "done" or not bench.others:
        return AttemptRuns(plan, reply, True, jail)
    # What is right where it is judged is not refused because more runs of it took too long.
    return AttemptRuns(plan, jail.run(bench.job(plan, alone=True)), False, jail)


def _judge_attempt(bench: PreparedTask, runs: AttemptRuns, unrolled: UnrolledSubmission | None = None) -> JudgedAttempt:
    """Judge *runs* by the first pair of hidden runs that they fail, or by the last one."""

    def again(text: UnrolledSubmission) -> JudgedAttempt:
        return _judge_attempt(bench, _run_attempt(bench, text.plan, runs.jail), text)

    for prepared, trials in _telling(bench, runs):
        judge = prepared.judge(runs.plan, trials, runs.jail, partial(_beside, bench, prepared, runs))
        names = judge.verdicts(explains=False)
        bare = _verdict(prepared, judge, names if unrolled is None else unrolled.told(names), runs.reply)
        if not bare.passed:
            break
    return JudgedAttempt(bench, runs, prepared, trials, judge, bare, again, unrolled)


def _telling(bench: PreparedTask, runs: AttemptRuns) -> Sequence[tuple[PreparedTask, Mapping[str, RunReport]]]:
    """The pairs of hidden runs to judge by: the own one, and those that fail behind it, or before it where it holds."""
    own = (bench, bench.trials(runs.reply, runs.plan))
    others = [(at, bench.trials(runs.reply, runs.plan, at)) for at in (bench.more if runs.with_others else ())]
    failing = [(at, trials) for at, trials in others if not at.holds(trials)]
    return [*failing, own] if failing and bench.holds(own[1]) else [own, *failing]


def _beside(bench: PreparedTask, at: PreparedTask, runs: AttemptRuns) -> Sequence[FurtherRuns]:
    """Reports on the numbers of other pairs of hidden runs than that of *at*; empty if there were none of these."""
    pairs = [each for each in (bench, *(bench.more if runs.with_others else ())) if each is not at]
    return [(each.study, bench.trials(runs.reply, runs.plan, each)) for each in pairs[:FURTHER_PAIRS]]


def _verdict(
    bench: PreparedTask, judge: Judge, names: tuple[NameVerdict, ...], reply: Reply, declared: str = ""
) -> Verdict:
    """The verdict of *judge* on *names*; *declared* is what the author says of the error that stopped the code."""
    fault, printed = judge.plan.fault, reply.texts.get("printed", "")
    verdict = Verdict(outcome="graded", names=names, printed=printed, hidden_sizes=bench.hidden_sizes)
    if fault is not None:
        return replace(syntax_verdict(fault), names=names, printed=printed, hidden_sizes=bench.hidden_sizes)
    if judge.stopped is not None:
        return stopped_by(judge, judge.stopped, declared, replace(verdict, outcome="error"))
    upstream = all(judge.drawn_on.get(name) for name in judge.ruling.required)
    verdict = replace(verdict, any_upstream=upstream)
    return replace(verdict, passed=bool(names) and all(name_verdict.verdict in RIGHT for name_verdict in names))


def _rules(task: GradTask | Checker | FunctionBox) -> tuple[str, ...]:
    if isinstance(task, GradTask):
        return task.grad.forbid
    return (CLASSES,) if isinstance(task, FunctionBox) else ()


def _ground(task: AnyTask) -> ShapeContext:
    """Shape context in which a text for *task* is read."""
    match task:
        case Checker() | FunctionBox():
            return ground_of_calls(task.function, task.arguments, task.cases[0].code.source if task.cases else "")
        case HuntTask(mending=mending):
            return _ground(mending)
        case GradTask(forward=forward, given=given_names):
            return ground_of_program(forward, (*forward.upstreams, *given_names))
