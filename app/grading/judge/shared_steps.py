"""Optional steps that several lines read, such as `g = dY * (1 - h ** 2)`.

A slip in one of them makes every line wrong that reads it. They may be right as they stand, so one is red.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from app.bindings import reads_of, writes_of
from app.grading.diagnosis.helper_lines import message_at_line
from app.grading.judge.compare import (
    HIDDEN,
    DiagnosisSource,
    GradingOptions,
    References,
    hidden_values,
    is_within_tolerance,
)
from app.grading.judge.parsed_submission import ParsedSubmission, SubmissionStatement
from app.grading.judge.product_kinds import names_gate
from app.grading.judge.run_reports import RunReport
from app.grading.judge.verdict import OTHER_ROAD, NameVerdict
from app.syntax import expression_in, is_assignment, is_simple, is_update, nodes_in

MADE_BY = "which line {line} makes; begin there."
BESIDES = "`{name}` in line {line} is not right either."


class SharedSteps:
    """The steps of one submission, and which of them are wrong."""

    def __init__(
        self,
        plan: ParsedSubmission,
        trials: Mapping[str, RunReport],
        ruling: GradingOptions,
        laboratory: DiagnosisSource,
    ) -> None:
        self.plan = plan
        self.trials = trials
        self.ruling = ruling
        self.laboratory = laboratory

    def blamed_once(self, standing: Mapping[str, NameVerdict]) -> dict[str, NameVerdict]:
        """Blame a shared wrong step once: of *standing*, by name in backward order, only the first stays at fault."""
        blamed: dict[str, str] = {}
        verdicts = dict(standing)
        for name, verdict in standing.items():
            if verdict.verdict not in {"wrong", "aliased", "mutated"}:
                continue
            steps = self._doubtful_steps(name, verdict)
            read = self._reads(name)
            shared = next((step for step in sorted(steps, key=lambda text: text not in read) if step in blamed), None)
            if shared is None or verdict.verdict != "wrong":
                blamed.update(dict.fromkeys(steps, name))
                continue
            # Not known is whether the step is wrong: the line that reads it may be.
            reads, first = "reads" if shared in read else "is made by way of", blamed[shared]
            message = f"It {reads} `{shared}`, as `{first}` does, which is not right yet; begin at `{first}`."
            word = f"shares {shared} with {first}"
            verdicts[name] = replace(verdict, verdict="follows", code=None, message=message, word=word, step=shared)
        return verdicts

    def follows(self, verdict: NameVerdict, told: Sequence[NameVerdict]) -> NameVerdict | None:
        """*verdict*, wrong for no known reason, as what follows from a step that one of *told* is wrong by."""
        if verdict.code is not None or not (
            verdict.verdict == "wrong" or (verdict.verdict == "follows" and verdict.step)
        ):
            return None
        faults = [each for each in told if each.verdict == "wrong" and each.step]
        steps = self._steps(verdict.name) if faults else frozenset()
        fault = next((each for each in faults if each.step in steps), None)
        return None if fault is None else self._by_step(verdict, fault.step, fault.line)

    def _by_step(self, verdict: NameVerdict, step: str, line: int | None) -> NameVerdict:
        reads = "reads" if step in self._reads(verdict.name) else "is made by way of"
        message, also = f"It {reads} `{step}`, {MADE_BY.format(line=line)}", list[int]()
        if (besides := self._wrong_besides(verdict.name, step)) is not None:
            also.append(self.plan.lines[self.plan.last[besides]].line)
            message += f" {BESIDES.format(name=besides, line=also[0])}"
        follows = replace(verdict, verdict="follows", code=None, key="", message=message, step=step, also=(*also,))
        return replace(follows, word=f"follows from {step}", worst=(), differences=None)

    def _wrong_besides(self, name: str, step: str) -> str | None:
        """The first step on the way to *name*, or else *name*, that is wrong on the true gradients for *step* as well.

        What comes after it may be wrong by it.
        """
        every = self._every
        if any(step[1:] not in every[run] for run in HIDDEN):
            return None
        true = {run: every[run][step[1:]].gradient for run in HIDDEN}
        reading = {other for other in self._steps(name) if step in self._steps(other)}
        for other in sorted((*reading, name), key=lambda text: self.plan.last[text]):
            got = hidden_values(self.trials, other)
            known = got is not None and other[1:] in every[HIDDEN[0]] and self._doubtful(other)
            if known and self.laboratory.is_wrong_with(other, got or {}, step, true):
                return other
        return None

    def wrong_once(self, told: Sequence[NameVerdict]) -> tuple[NameVerdict, ...]:
        """*told*, of which those that have one slip by one step that all are made of follow from that step.

        So do those that are wrong by way of a step of the first one, where that step mends both.
        """
        alike: dict[str, list[int]] = {}
        for at, verdict in enumerate(told):
            if slip := _slip(verdict):
                alike.setdefault(slip, []).append(at)
        verdicts = list(told)
        for first, *alike_too in alike.values():
            others = [*alike_too, *self._followers(told, told[first].name)]
            step = self._common_step([told[at].name for at in (first, *others)]) if others else None
            if step is None:
                continue
            line = self.plan.lines[self.plan.last[step]].line
            verdicts[first] = replace(
                told[first], line=line, step=step, message=message_at_line(told[first].message, step, line)
            )
            for at in others:
                if step in self._steps(told[at].name):
                    verdicts[at] = self._by_step(told[at], step, line)
        return tuple(verdicts)

    def _followers(self, told: Sequence[NameVerdict], name: str) -> list[int]:
        """Places in *told* of the gradients that follow from a step by way of which *name* is made too."""
        steps = self._steps(name)
        return [at for at, verdict in enumerate(told) if verdict.verdict == "follows" and verdict.step in steps]

    def _common_step(self, names: Sequence[str]) -> str | None:
        """The step that mends the first of *names* and another one, and that is not the gradient it is named for."""
        ways = [self._steps(name) for name in names]
        known = self._every[HIDDEN[0]]
        shared = {step for step in ways[0] if len(self.plan.writing(step)) == 1 and step[1:] not in known}
        for step in sorted(shared, key=lambda text: -self.plan.last[text]):
            reading = (name for name, way in zip(names[1:], ways[1:], strict=True) if step in way)
            if self._is_mended_at(names[0], step) and any(self._is_mended_at(name, step) for name in reading):
                return step
        return None

    def _is_mended_at(self, name: str, step: str) -> bool:
        got = hidden_values(self.trials, name)
        return got is not None and self.laboratory.is_mended_at(name, got, step)

    def _steps(self, name: str) -> frozenset[str]:
        """The names by way of which *name* is computed, no gradient that the box asks for."""
        return steps_of(self.plan, [name], self.ruling.forced)

    def _reads(self, name: str) -> frozenset[str]:
        """Names read by the statements that write *name*, also those inside of a loop."""
        lines = [line for line in self.plan.lines if name in line.writes]
        inner = [node for line in lines for node in nodes_in(line.node) if is_assignment(node) or is_update(node)]
        written = [nodes_in(item) for item in inner]
        return frozenset(use for nodes in written if name in writes_of(nodes) for use in reads_of(nodes)[1])

    def _doubtful_steps(self, name: str, verdict: NameVerdict) -> list[str]:
        """The steps by way of which *name* may be wrong without a slip of its own; and what shares memory with it."""
        steps = self._steps(name)
        if verdict.verdict != "wrong":
            written = (self.plan.lines[at].writes for run in ("true", "v") for at in self._changing(name, run))
            return sorted({*steps, *(write for writes in written for write in writes)} - self.ruling.forced)
        if verdict.code is not None:  # it may have stopped by itself: only what is known to be wrong explains that
            gates = {step for step in steps if names_gate(verdict.message, step)}
            steps = frozenset(step for step in steps if step[1:] in self._every[HIDDEN[0]])
            return [*sorted(gates), *(step for step in sorted(steps) if self._doubtful(step))]
        return [step for step in sorted(steps) if self._doubtful(step) and not self._is_inside(name, step)]

    def _is_inside(self, name: str, step: str) -> bool:
        """True if a step under a name of the learner's is a gradient inside of a forward line, and so is right."""
        got = hidden_values(self.trials, step)
        if step[1:] in self._every[HIDDEN[0]] or got is None:
            return False
        return self.laboratory.is_step_inside(name, got)

    def _changing(self, name: str, run: str) -> list[int]:
        """The statements that changed *name* after it was finished, or a tensor that is not the learner's to change."""
        trial = self.trials[run]
        indices = [*trial.mutated.values(), trial.changed_by.get(name, -1)]
        return [at for at in indices if 0 <= at < len(self.plan.lines)]

    def _doubtful(self, step: str) -> bool:
        """True if a step that was not required may be wrong: it is a tensor, and not the gradient that it is named for.

        Under any other name it may be any of the program's gradients.
        """
        got = {run: self.trials[run].values.get(step) for run in HIDDEN}
        if any(step in self.trials[run].kinds or (array is not None and array.size < 2) for run, array in got.items()):
            return False
        every = self._every
        meant = [step[1:]] if step[:1] == "d" and step[1:] in every[HIDDEN[0]] else every[HIDDEN[0]]
        atol, rtol = self.ruling.atol, self.ruling.rtol
        return not any(
            all(
                tensor in every[run] and is_within_tolerance(got[run], every[run][tensor], atol, rtol) for run in HIDDEN
            )
            for tensor in meant
        )

    @cached_property
    def _every(self) -> References:
        return self.laboratory.all_references_via(self.ruling.forced)


def blamed_elsewhere(verdicts: Sequence[NameVerdict]) -> tuple[NameVerdict, ...]:
    """*verdicts*, of which what is wrong by a line that belongs to another gradient follows from that gradient."""
    moved = [
        name_verdict
        for name_verdict in verdicts
        if (name_verdict.code or "").startswith(f"{name_verdict.name}:written-elsewhere:")
    ]
    name_verdicts = list(verdicts)
    for fault in moved:
        into = (fault.code or "").rpartition(":")[2]
        message = f"Line {fault.line} writes into `{into}` what belongs into `{fault.name}`; begin there."
        for at, name_verdict in enumerate(verdicts):
            by_it = name_verdict.name == into or name_verdict.line == fault.line
            if by_it and name_verdict not in moved and name_verdict.verdict in {"wrong", "mutated"}:
                word = f"follows from {fault.name}"
                name_verdicts[at] = replace(
                    name_verdict, verdict="follows", code=None, key="", message=message, word=word
                )
    return tuple(name_verdicts)


def _slip(verdict: NameVerdict) -> str:
    """The mistake in a wrong line without the name of the gradient, nor of the step that it came through."""
    if verdict.verdict != "wrong" or (verdict.step and ":through:" not in (verdict.code or "")):
        return ""
    slip = (verdict.code or "").partition(":")[2]
    slip = slip.split(":", 2)[2] if slip.startswith("through:") else slip
    return "" if slip.startswith(("error", "unrecognised", OTHER_ROAD)) else slip


def steps_of(plan: ParsedSubmission, names: Iterable[str], forced: Collection[str]) -> frozenset[str]:
    """The names by way of which any of *names* is computed, none of them *forced*."""
    steps = plan.last.keys() - set(forced)
    used = plan.drawn_on({*steps, *forced})
    steps_found: set[str] = set()
    waiting = [*names]
    while waiting:
        text = waiting.pop()
        inside = _inside(plan.lines[plan.last[text]], text) if text in plan.last else set()
        fresh = {*used.get(text, ()), *inside} & steps - steps_found
        steps_found |= fresh
        waiting += fresh
    return frozenset(steps_found)


def _inside(line: SubmissionStatement, name: str) -> set[str]:
    """Names by way of which *name* is computed within one statement, such as the body of a loop."""
    if is_simple(line.node):
        return set()
    inner = [node for node in nodes_in(line.node) if is_assignment(node) or is_update(node) or expression_in(node)]
    if inner == [line.node]:
        return set()
    pairs = [(writes_of(nodes), reads_of(nodes)[1]) for nodes in map(nodes_in, inner)]
    names_inside, waiting = {name}, [name]
    while waiting:
        wanted = waiting.pop()
        fresh = {use for writes, uses in pairs if wanted in writes for use in uses if use in line.writes} - names_inside
        names_inside |= fresh
        waiting += fresh
    return names_inside - {name}
