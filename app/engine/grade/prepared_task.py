"""One task made ready for submissions: references, the job that runs them, and the tape within reach of the judge."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import islice

import numpy as np

from app.bindings import bound_anew, freshly_bound, simple_statements, writes
from app.content.blocks import DeclaredMistake
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import DTYPE, HIDDEN
from app.engine.grade.hidden_pairs import edge_pair, more_pairs
from app.engine.grade.jail_runs import JailRunner
from app.engine.grade.substitution import Substitution
from app.engine.grade.tape_queries import Beside, TapeQueries
from app.engine.task import PATIENCE, GradTask
from app.grading.forward.axis_names import axis_names
from app.grading.forward.driver_jobs import AttemptHeader, AttemptRun
from app.grading.judge.compare import Array, Fit, GradingOptions, Reference
from app.grading.judge.judging import Judge
from app.grading.judge.parsed_submission import ParsedSubmission, parse_submission
from app.grading.judge.run_reports import ReportedError, RunReport, read_trials
from app.grading.judge.unwritten import idle_line_text
from app.grading.judge.verdict import RIGHT, NameVerdict
from app.grading.operations.numerics import magnitude
from app.sandbox.wire import Job, Reply
from app.syntax import Statement

RUNS = {"v": "v", "a": "a", "b": "b", "true": "a"}
_SAME = 1e-9
_STEPS = 32
MOST_KNOWN = 100
_LOSSES = frozenset({"L", "loss"})


class UngradableExerciseError(Exception):
    """The exercise cannot be graded, whatever is submitted: an author's mistake, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMistake:
    """A declared mistake, run and judged like any submission."""

    mistake: DeclaredMistake
    index: int
    trials: Mapping[str, RunReport]
    names: Mapping[str, NameVerdict]


class PreparedTask:
    """Everything that is the same for all submissions to *task*.

    Raises:
        UngradableExerciseError: A required or given name is no gradient of a tensor, or its reference is not finite.
        JailFailedError: The jail did not finish the tape.
    """

    runs = tuple(RUNS)
    hidden = tuple(run for run, name in RUNS.items() if name in HIDDEN)

    def __init__(self, task: GradTask, study: ForwardReferences, jail: JailRunner) -> None:
        self.task = task
        self.study = study
        self._jail = jail
        grad = task.grad
        ruling = GradingOptions(
            required=grad.require,
            order=tuple(f"d{text}" for text in study.program.backward_order(name[1:] for name in grad.require)),
            given=task.given,
            outputs=study.forward.outputs,
            one_road=grad.one_road,
            atol=grad.atol,
            rtol=grad.rtol,
            dims=study.forward.dims,
        )
        self.ruling = replace(ruling, roads=parse_submission(grad.solution.source).drawn_on(ruling.forced))
        self._check_names()
        outputs = list(study.forward.outputs)
        forced = sorted(name[1:] for name in self.ruling.forced)
        cuts = {"v": ("v", outputs), "a": ("a", forced), "b": ("b", forced), "true": ("a", outputs)}
        self.references: Mapping[str, Mapping[str, Reference]] = study.references(cuts, forced)
        self._check_references()
        self._arrays, self._jobs = self._prepare_attempts()
        self._substitution = Substitution(study, self.ruling, self.references["v"])
        self._axes = axis_names(study.forward, {name: study.sets[name].tensors for name in HIDDEN}, self._dims)

    @property
    def hidden_sizes(self) -> int:
        return 0 if self.study.pinned else len(HIDDEN)

    @property
    def _dims(self) -> dict[str, Mapping[str, int]]:
        return {name: self.study.sets[name].dims for name in HIDDEN}

    def _check_names(self) -> None:
        for name in (*self.ruling.required, *self.ruling.given):
            if not name.startswith("d") or name[1:] not in self.study.gradable:
                raise UngradableExerciseError(
                    f"`{name}` is not the gradient of a tensor of `{self.study.forward.name}`."
                )

    def _check_references(self) -> None:
        for run, references in self.references.items():
            for name in self.ruling.required:
                reference = references.get(name[1:])
                if reference is None or not np.isfinite(reference.gradient).all():
                    raise UngradableExerciseError(f"The reference of `{name}` is not finite (run {run}).")

    # The job.

    def _prepare_attempts(self) -> tuple[dict[str, Array], list[AttemptRun]]:
        """The arrays and the runs of every attempt."""
        outputs = self.study.forward.outputs
        known = [*dict.fromkeys([*(name[1:] for name in self.ruling.given), *outputs])]
        arrays: dict[str, Array] = {}
        jobs: list[AttemptRun] = []
        for run, name in RUNS.items():
            data, isolated = self.study.sets[name], run in HIDDEN
            scope = {tensor: f"{name}/{tensor}" for tensor in data.tensors}
            arrays |= {f"{name}/{tensor}": array for tensor, array in data.tensors.items()}
            for tensor in known:
                forced = isolated or tensor in outputs
                key = f"{name}/d{tensor}" if forced else f"{name}/true/d{tensor}"
                upstream = self.study.forced(name, tensor) if forced else self.references[run][tensor].gradient
                arrays[key] = upstream
                scope[f"d{tensor}"] = key
            required = [text for text in self.ruling.required if text[1:] not in known] if isolated else []
            arrays |= {f"{name}/{text}": self.study.forced(name, text[1:]) for text in required}
            jobs.append(
                {
                    "id": run,
                    "dtype": DTYPE[name],
                    "visible": run == "v",
                    "dims": {**data.dims, **data.numbers},
                    "scope": scope,
                    "isolated": isolated,
                    "forced": {text: f"{name}/{text}" for text in required},
                }
            )
        return arrays, jobs

    def job(self, plan: ParsedSubmission, *, visible_only: bool = False, alone: bool = False) -> Job:
        """The attempt to run the submission that *plan* was read from, on the numbers of its `others` as well.

        Args:
            visible_only: Run it on the lesson's own numbers, and show what it left.
            alone: Leave out the others.
        """
        if not visible_only:
            return self._job(plan, *((self._jobs, self._arrays) if alone else self._together))
        runs = self._jobs[:1]
        keys = {key for run in runs for key in (*run["scope"].values(), *run["forced"].values())}
        arrays = {key: array for key, array in self._arrays.items() if key in keys}
        return self._job(plan, runs, arrays, shows=True)

    def _job(
        self, plan: ParsedSubmission, runs: Sequence[AttemptRun], arrays: Mapping[str, Array], *, shows: bool = False
    ) -> Job:
        header: AttemptHeader = {
            "source": plan.source,
            "lines": [
                {"reads": sorted(line.reads), "writes": sorted(line.writes), "blank": line.blank} for line in plan.lines
            ],
            "last": dict(plan.last),
            "required": [*self.ruling.required, *self._optional_steps(plan)],
            "shown": list(plan.last) if shows else [],
            "echoes": shows,
            "runs": runs,
        }
        seconds = self.task.grad.seconds
        return Job(driver="attempt", header=header, arrays=arrays, seconds=PATIENCE * seconds, cpu_seconds=seconds)

    # More hidden runs.

    @cached_property
    def more(self) -> tuple["PreparedTask", ...]:
        """The same task on each of the other pairs of hidden runs."""
        return tuple(PreparedTask(self.task, study, self._jail) for study in more_pairs(self.study))

    @cached_property
    def edge(self) -> "PreparedTask | None":
        """The same task on numbers that lie on the edge of a predicate; None where there is none."""
        study = edge_pair(self.study)
        with suppress(UngradableExerciseError):
            return PreparedTask(self.task, study, self._jail) if study is not None else None
        return None

    @cached_property
    def others(self) -> tuple["PreparedTask", ...]:
        """All of these. They ride along in the jail: a run more in a process is cheaper than a process more."""
        return (*self.more, *([self.edge] if self.edge is not None else []))

    @cached_property
    def _together(self) -> tuple[Sequence[AttemptRun], Mapping[str, Array]]:
        """The own runs and those of the others, with all arrays that they read."""
        jobs = [
            *self._jobs,
            *(_with_pair_number(job, number) for number, bench in enumerate(self.others) for job in bench._jobs[1:]),
        ]
        arrays = {
            f"{number}/{key}": array for number, bench in enumerate(self.others) for key, array in bench._arrays.items()
        }
        keys = {key for job in jobs for key in (*job["scope"].values(), *job["forced"].values())}
        return jobs, self._arrays | {key: array for key, array in arrays.items() if key in keys}

    def differs_on_edge(self, plan: ParsedSubmission, reply: Reply) -> bool:
        """True if *plan*, which is right, parts from torch where a number lies exactly on an edge."""
        edge = self.edge
        return edge is not None and reply.ending == "done" and not edge.holds(self.trials(reply, plan, edge))

    def trials(
        self, reply: Reply, plan: ParsedSubmission, prepared: "PreparedTask | None" = None
    ) -> dict[str, RunReport]:
        """Reports in *reply* of the runs on the numbers of *prepared*: the own ones, or one of the `others`."""
        before = f"{self.others.index(prepared)}/" if prepared in self.others else ""
        names = {run: f"{before}{run}" if run in self.hidden else run for run in self.runs}
        hidden = [names[run] for run in self.hidden]
        read = read_trials(reply.arrays, reply.texts, list(names.values()), hidden)
        placed = self.placed_in(plan)
        return {run: placed(read[name]) for run, name in names.items()}

    def placed_in(self, plan: ParsedSubmission) -> Callable[[RunReport], RunReport]:
        """Function that gives a report, at each of its errors, the names in scope and those that were still to come.

        What stands around a statement is the same in all runs of *plan*, and is found once.
        """
        scope_names = (*self._jobs[0]["scope"], *self.study.forward.dims)

        @cache
        def known(statement: int) -> tuple[str, ...]:
            written = (name for line in plan.lines[:statement] for name in sorted(line.writes))
            return (*scope_names, *islice(written, MOST_KNOWN))

        @cache
        def ahead(statement: int) -> Mapping[str, int]:
            coming = plan.lines[statement : statement + MOST_KNOWN]
            lines = [line for each in reversed(coming) for line in reversed(simple_statements(each.node))]
            written = {name: line.lineno for line in lines for name in writes(line)}
            return written | {name: line.lineno for line in lines for name in freshly_bound(line)}

        @cache
        def fresh(statement: int, number: int | None) -> frozenset[str]:
            below = (line.node for line in plan.lines[statement:])
            statements = (each for line in below for each in simple_statements(line, number))
            return next(map(self._bound_anew, statements), frozenset())

        def placed(error: ReportedError) -> ReportedError:
            at = error.statement
            return replace(error, known=known(at), ahead=ahead(at), fresh=fresh(at, error.line))

        return lambda report: replace(report, errors=[*map(placed, report.errors)])

    def _bound_anew(self, statement: Statement) -> frozenset[str]:
        """Names that *statement* binds anew; a gradient of one share is no sum that an earlier line could begin."""
        alone = {name for name in freshly_bound(statement) if len(self.study.program.paths(name[1:])) == 1}
        return bound_anew(statement) | alone

    def _optional_steps(self, plan: ParsedSubmission) -> list[str]:
        """Optional steps that the learner wrote; they are judged too, so that a mistake in them can be found there."""
        known = {*self.ruling.forced, *(f"d{tensor_input.name}" for tensor_input in self.study.forward.inputs)}
        return [name for name in plan.last if name not in known][:_STEPS]

    # Who judges it.

    def holds(self, trials: Mapping[str, RunReport]) -> bool:
        """True if each required gradient is the rule's on both hidden sets, so that nothing more needs to be judged."""
        fit = Fit(self.ruling, trials, self.references)
        return all(fit.alone(name) for name in self.ruling.required)

    def judge(
        self, plan: ParsedSubmission, trials: Mapping[str, RunReport], jail: JailRunner, beside: Beside = tuple
    ) -> Judge:
        """The judge of *trials*; *beside* gives what came of *plan* on the numbers of other pairs of hidden runs."""

        def rerun() -> Reply:
            return jail.run(self._job(plan, self._substitution.runs, self._substitution.arrays))

        laboratory = partial(TapeQueries, self.study, self.ruling, self._axes, plan, self._substitution, rerun, beside)
        return Judge(self.ruling, self.study.program, plan, trials, self.references, laboratory)

    # What the author declared.

    def with_declared(
        self, names: Sequence[NameVerdict], trials: Mapping[str, RunReport], plan: ParsedSubmission
    ) -> tuple[NameVerdict, ...]:
        """*names* with the author's own message where a declared mistake gave the very same tensor."""
        if all(name_verdict.verdict in RIGHT for name_verdict in names):
            return tuple(names)
        return tuple(self._declared_or(name_verdict, trials, plan) for name_verdict in names)

    def declared_error(self, error: ReportedError) -> str:
        """The author's message where a declared mistake raises the very same error; empty where none does."""
        for tried in self._judged_mistakes:
            errors = tried.trials["v"].errors
            if errors and (errors[0].kind, errors[0].text) == (error.kind, error.text):
                return tried.mistake.message
        return ""

    @cached_property
    def _judged_mistakes(self) -> tuple["JudgedMistake", ...]:
        judged = (self._judge_mistake(index, mistake) for index, mistake in enumerate(self.task.grad.mistakes))
        return tuple(judged_mistake for judged_mistake in judged if judged_mistake is not None)

    def _judge_mistake(self, index: int, mistake: DeclaredMistake) -> "JudgedMistake | None":
        plan = parse_submission(mistake.code.source)
        reply = self._jail.run(self.job(plan, alone=True))
        if reply.ending != "done" or plan.fault is not None:
            return None
        trials = read_trials(reply.arrays, reply.texts, self.runs)
        names = {
            name_verdict.name: name_verdict
            for name_verdict in self.judge(plan, trials, self._jail).verdicts(explains=False)
        }
        return JudgedMistake(mistake=mistake, index=index, trials=trials, names=names)

    def _declared_or(
        self, verdict: NameVerdict, trials: Mapping[str, RunReport], plan: ParsedSubmission
    ) -> NameVerdict:
        # What is rounded down stands there, whatever the numbers are.
        if verdict.verdict not in {"wrong", "aliased", "mutated"} or verdict.code == f"{verdict.name}:floored":
            return verdict
        for tried in self._judged_mistakes:
            if tried.names[verdict.name].verdict == verdict.verdict and _alike(verdict.name, trials, tried.trials):
                code = f"{verdict.name}:declared-{tried.index + 1}"
                # What is said to be left out may stand there, in a line that keeps nothing.
                message = f"{idle_line_text(verdict.name, plan)} {tried.mistake.message}".lstrip()
                return replace(verdict, code=code, key="", message=message)
        return verdict


def _with_pair_number(job: AttemptRun, number: int) -> AttemptRun:
    """*job* as one of the pair *number*."""
    scope, forced = ({name: f"{number}/{key}" for name, key in job[kind].items()} for kind in ("scope", "forced"))
    return {**job, "id": f"{number}/{job['id']}", "scope": scope, "forced": forced}


def scales_output(task: GradTask) -> bool:
    """True if the box treats a scalar output as one more tensor with an upstream, and not as a loss.

    A loss has upstream 1, and `dr = 2 * r` is then the whole truth. Where the author's own solution multiplies by the
    upstream of the output, a learner who forgets it must not pass because it happens to be 1.
    """
    read = re.findall(r"\w+", task.grad.solution.source)
    return any(name not in _LOSSES and f"d{name}" in read for name in (task.forward.output, *task.forward.others))


def _alike(name: str, first: Mapping[str, RunReport], other: Mapping[str, RunReport]) -> bool:
    for run in HIDDEN:
        own_value, other_value = first[run].values.get(name), other[run].values.get(name)
        if own_value is None or other_value is None or own_value.shape != other_value.shape:
            return False
        largest = magnitude(other_value[np.isfinite(other_value)])
        if not np.allclose(own_value, other_value, rtol=_SAME, atol=_SAME * largest, equal_nan=True):
            return False
    return True
