"""From three runs to one verdict per required name: which line is at fault, which merely follows, which is right.

The isolated run decides. Where a submission takes another road past a gradient that the box asks for, the reference is
taken along that same road: only the gradients that the learner's formula really draws on are forced into the tape.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.forward.statements import Program
from app.grading.judge.compare import (
    Array,
    Laboratory,
    Reference,
    References,
    Ruling,
    agrees,
    closeness,
    dtype_note,
    matches,
    vacuous_note,
    worst_entries,
)
from app.grading.judge.differences import differences
from app.grading.judge.nearly import TABLES, nearly, rounded
from app.grading.judge.overwritten import explained
from app.grading.judge.plan import Plan
from app.grading.judge.product_kinds import translated
from app.grading.judge.shared_steps import HIDDEN, Steps
from app.grading.judge.torch_errors import kind_of
from app.grading.judge.trials import Raised, Trial
from app.grading.judge.unwritten import unwritten
from app.grading.judge.verdict import RIGHT, NameVerdict, Standing

SMALLEST = 2
"""What is written most often, and seldom as a size."""


class Judge:
    """Judges one submission; *references* holds the runs `v`, `a`, `b` (isolated) and `true` (hidden, end to end)."""

    def __init__(
        self,
        ruling: Ruling,
        program: Program,
        plan: Plan,
        trials: Mapping[str, Trial],
        references: References,
        reach: Callable[[], Laboratory],
    ) -> None:
        self.ruling = ruling
        self.program = program
        self.plan = plan
        self.trials = trials
        self.references = references
        self._reach = reach
        self.visible = trials["v"]
        self.drawn_on = plan.drawn_on(ruling.forced)
        self.stopped = next(filter(self._by_itself, self.visible.errors), next(iter(self.visible.errors), None))

    @cached_property
    def laboratory(self) -> Laboratory:
        """What may be asked of the tape, once something has to be."""
        return self._reach()

    def verdicts(self, *, explains: bool = True) -> tuple[NameVerdict, ...]:
        """One verdict per required name, in backward order.

        Args:
            explains: Whether to look for the mistakes at all; declared ones are explained by their author.
        """
        return tuple(self._explained(one, explains) for one in self._compared.values())

    @cached_property
    def _compared(self) -> Mapping[str, NameVerdict]:
        """The verdict on each name with its numbers beside the reference; the reasons are still to be told."""
        order = self.ruling.order
        standing = {name: self._alone(name) for name in order}
        for name in order:  # one after the other: what follows from a line is known when that line is
            standing[name] = self._in_company(name, standing[name], standing)
        if not all(one.verdict in RIGHT for one in standing.values()):
            standing = Steps(self.plan, self.trials, self.ruling, self.laboratory).blamed_once(standing)
        return {name: self._beside(name, standing) for name in order}

    # One name on its own.

    def _alone(self, name: str) -> NameVerdict:
        steps = (self._unreadable, self._raised, self._not_yet, self._not_a_tensor, self._mutated, self._aliased)
        for step in (*steps, self._by_rule, self._by_another_road, self._by_a_borrowed_value):
            verdict = step(name)
            if verdict is not None:
                return verdict
        return self._named(name, "wrong")

    def _named(self, name: str, verdict: Standing, code: str | None = None, message: str = "") -> NameVerdict:
        at = self.plan.last.get(name)
        line = None if at is None else self.plan.lines[at].line
        return NameVerdict(name=name, verdict=verdict, code=code and f"{name}:{code}", message=message, line=line)

    def _told(self, name: str, verdict: Standing, found: Diagnosis) -> NameVerdict:
        return replace(self._named(name, verdict), code=found.code, message=found.message)

    def _not_yet(self, name: str) -> NameVerdict | None:
        last = self.plan.last.get(name)
        if last is None:
            return self._named(name, "not-yet", message=self._unwritten(name))
        blank = next((line.line for line in self.plan.writing(name) if line.blank), None)
        if blank is not None:
            alone = len(self.plan.writing(name)) == 1
            message = "There is still a blank in this line." if alone else f"Line {blank} still holds a blank."
            return replace(self._named(name, "not-yet", message=message), line=blank)
        if any(self._left(name, run) for run in self.trials):
            return None
        if self.stopped is not None and self.stopped.statement <= last:
            return self._named(name, "not-yet", message=f"This line waits for line {self.stopped.line}, which stopped.")
        if self._hidden_error(name) is not None:
            return None
        if any(line.blank for line in self.plan.lines):
            return self._named(name, "not-yet", message="This line waits for a blank further up.")
        return self._named(name, "not-yet", message=f"No tensor called `{name}` was left when the code ended.")

    def _unwritten(self, name: str) -> str:
        return unwritten(name, self.plan, self.ruling.forced, self.program.tensors)

    def _unreadable(self, name: str) -> NameVerdict | None:
        fault = self.plan.fault_of(name)
        if fault is None:
            return None
        return replace(self._named(name, "wrong", "error:syntax", fault.message), line=fault.line)

    def _raised(self, name: str) -> NameVerdict | None:
        """A line that raises on right numbers too; where it would have written several names, the first one's fault."""
        for error in filter(self._by_itself, self.visible.errors):
            written = self.plan.written_at(error.statement, error.line)
            if name not in written:
                continue
            found = sentences.stopped(name, kind_of(error), error.line, translated(error, self.program, self.plan))
            if name == next(one for one in self.ruling.required if one in written):
                return replace(self._told(name, "wrong", found), line=error.line)
            return self._named(name, "not-yet", message=found.message)
        return None

    @property
    def stopped_by_itself(self) -> bool:
        return self.stopped is not None and self._by_itself(self.stopped)

    def _by_itself(self, error: Raised) -> bool:
        """Whether the statement that raised fails on right numbers too, so that no mistake further up explains it."""
        at = error.statement
        if all(any(at == one.statement for one in self.trials[run].errors) for run in HIDDEN):
            return True
        done = [name for name in self.ruling.required if self.plan.last.get(name, -1) < at]
        return all(self._fits(name, "v") for name in done)

    def _left(self, name: str, run: str) -> bool:
        trial = self.trials[run]
        return name in trial.values or name in trial.kinds

    def _not_a_tensor(self, name: str) -> NameVerdict | None:
        sound = {run for run, trial in self.trials.items() if name in trial.values and name not in trial.kinds}
        if sound.issuperset(HIDDEN):
            return None  # what it is elsewhere, it is because of another line
        for run in self.trials:
            kind = self.trials[run].kinds.get(name)
            if kind is None:
                continue
            reference = self.references["v"][name[1:]].gradient
            if name in self.trials[run].values and reference.shape == ():
                continue
            if "v" in sound:  # of what type it is on hidden data is for the text to say, and not for us
                return self._told(name, "wrong", sentences.only_here(name))
            if kind == "NoneType":
                return self._named(name, "not-yet", message=f"`{name}` is still None.")
            say = sentences.unfit if " " in kind else sentences.not_a_tensor
            return self._told(name, "wrong", say(name, kind))
        return None

    def _mutated(self, name: str) -> NameVerdict | None:
        for changed, at in self.visible.mutated.items():
            if self.plan.blamed_for(at, self.ruling.required) == name:
                kind = "forward tensor" if changed in self.program.tensors else "given gradient"
                found = sentences.mutated(name, changed, self.plan.lines[at].line, kind=kind)
                return replace(self._told(name, "mutated", found), line=self.plan.lines[at].line)
        return None

    def _aliased(self, name: str) -> NameVerdict | None:
        for run in ("true", "v"):
            trial = self.trials[run]
            at = trial.changed_by.get(name)
            if at is None or not 0 <= at < len(self.plan.lines) or not self._kept(name, self._isolated(name)):
                continue
            line = self.plan.lines[at]
            others = sorted(line.writes & set(self.ruling.required)) or sorted(line.writes)
            other = others[0] if others else "another name"
            return self._told(name, "aliased", sentences.aliased(name, other, line.line))
        return None

    def _isolated(self, name: str) -> Mapping[str, Reference]:
        return {run: self.references[run][name[1:]] for run in HIDDEN}

    def _holds(self, name: str, references: Mapping[str, Reference]) -> bool:
        """Whether the learner's tensors are the references on both hidden sets, at their last write or at the end."""
        return self._kept(name, references) or all(
            self._match(self.trials[run].later.get(name), references[run]) for run in HIDDEN
        )

    def _kept(self, name: str, references: Mapping[str, Reference]) -> bool:
        return all(self._match(self.trials[run].values.get(name), references[run]) for run in HIDDEN)

    def _match(self, got: Array | None, reference: Reference) -> bool:
        return matches(got, reference, self.ruling.atol, self.ruling.rtol)

    def _by_rule(self, name: str) -> NameVerdict | None:
        if not self._holds(name, self._isolated(name)):
            return None
        return replace(self._named(name, "right"), note=dtype_note(self.visible, name))

    def _by_another_road(self, name: str) -> NameVerdict | None:
        drawn_on = self.drawn_on.get(name, frozenset())
        expected = self.program.frontier(name[1:], self.ruling.forced)
        taken = self.program.frontier(name[1:], drawn_on | {f"d{one}" for one in self.ruling.outputs})
        if expected == taken or any(name not in self.trials[run].values for run in HIDDEN):
            return None
        references = self.laboratory.along(name, drawn_on)
        if not references or any(one.vacuous for one in references.values()) or not self._holds(name, references):
            return None
        skipped = sorted(expected - taken)
        steps = ", ".join(f"`{one}`" for one in skipped)
        # Names that one statement finishes together cannot be told apart any further: that is no other road.
        together = all(self.plan.last.get(one, -1) >= self.plan.last[name] for one in skipped)
        if self.ruling.rule_only and not together:
            message = f"The values are right, but this box asks for the step from {steps} on its own."
            return self._named(name, "wrong", "other-road", message)
        message = f"Right end to end; your formula skips the step through {steps}."
        return self._named(name, "right-other-road", message=message)

    def _by_a_borrowed_value(self, name: str) -> NameVerdict | None:
        """Right by way of gradients that lie on no road to it, such as `dz = dq` below a sum of the two."""
        drawn_on = self.drawn_on.get(name, frozenset()) - {name}
        borrowed = sorted(one for one in drawn_on if not self.program.frontier(name[1:], {one}))
        known = [self.references["true"][one[1:]] for one in (*borrowed, name)]
        if not borrowed or self.ruling.rule_only or not all(one.telling and not one.vacuous for one in known):
            return None
        if not all(self._match(self.trials[run].final(name), self.references[run][name[1:]]) for run in ("true", "v")):
            return None
        expected = sorted(self.program.frontier(name[1:], self.ruling.forced))
        shown, steps = (", ".join(f"`{one}`" for one in names) for names in (borrowed, expected))
        message = f"Right end to end; your formula takes its numbers from {shown}, not from the step through {steps}."
        return self._named(name, "right-other-road", message=message)

    # Names among names.

    def _in_company(self, name: str, verdict: NameVerdict, all_: Mapping[str, NameVerdict]) -> NameVerdict:
        """A right line whose numbers are off because of another line follows from that line.

        Where no other line explains it, it is right where it is judged and wrong on the lesson's own numbers.
        """
        if verdict.verdict == "aliased" and (partner := self._partner(name, all_)):
            message = (
                f"It was right when it was finished. `{partner}` is the same memory, and that line is not right yet."
            )
            return replace(self._named(name, "follows", message=message), word=f"follows from {partner}")
        if verdict.verdict not in RIGHT or (self._fits(name, "v") and self._fits(name, "true")):
            return verdict
        culprits = self._culprits(name, all_)
        if not culprits:
            return verdict if self._fits(name, "v") else self._told(name, "wrong", sentences.wrong_here(name))
        names = ", ".join(f"`{one}`" for one in culprits)
        message = f"Right, given your own numbers: it follows from {names}."
        if all(all_[one].verdict == "not-yet" for one in culprits):
            message = f"Right as it stands; it waits for {names}."
        word = f"follows from {culprits[0]}" + (f" and {len(culprits) - 1} more" if len(culprits) > 1 else "")
        return replace(verdict, verdict="follows", message=message, word=word)

    def _partner(self, name: str, all_: Mapping[str, NameVerdict]) -> str | None:
        """The wrong name by whose line *name* was changed in memory that both share."""
        changed = (self.trials[run].changed_by.get(name, -1) for run in ("true", "v"))
        written = {one for at in changed if 0 <= at < len(self.plan.lines) for one in self.plan.lines[at].writes}
        return next((one for one in all_ if one in written and all_[one].verdict == "wrong"), None)

    def _fits(self, name: str, run: str) -> bool:
        got, reference = self.trials[run].final(name), self.references[run][name[1:]]
        return got is not None and (agrees(got, reference) or self._match(got, reference))

    def _culprits(self, name: str, all_: Mapping[str, NameVerdict]) -> tuple[str, ...]:
        """The names at fault that *name* is computed from, by way of any others; in backward order."""
        found: set[str] = set()
        waiting, seen = [name], {name}
        while waiting:
            for source in self.drawn_on.get(waiting.pop(), ()):
                if source in seen or source not in all_:
                    continue
                seen.add(source)
                waiting.append(source)
                if all_[source].verdict in {"wrong", "aliased", "mutated", "not-yet"}:
                    found.add(source)
        return tuple(one for one in all_ if one in found)

    # What is shown of it.

    def _beside(self, name: str, standing: Mapping[str, NameVerdict]) -> NameVerdict:
        verdict = standing[name]
        shown = self.visible.final(name) if verdict.verdict != "not-yet" else None
        reference = self.references["v"][name[1:]]
        close = closeness(shown, reference)
        if close is not None:
            verdict = replace(verdict, exact=close.exact, approx=close.approx, maxdiff=close.maxdiff)
        if verdict.verdict != "not-yet":  # a remark tells how a line was judged
            real, isolated = (self.references[run][name[1:]] for run in ("true", "a"))
            remarks = (verdict.note, vacuous_note(name, real, isolated, self.program, self.ruling.forced))
            verdict = replace(verdict, note=" ".join(part for part in remarks if part))
        if verdict.verdict != "wrong" or self._culprits(name, standing):
            return verdict
        return replace(verdict, worst=worst_entries(shown, reference), differences=differences(shown, reference))

    def _explained(self, verdict: NameVerdict, explains: bool) -> NameVerdict:
        if verdict.verdict != "wrong" or verdict.code is not None:
            return verdict
        name, plan = verdict.name, self.plan
        found = explained(self._diagnosed(name, explains), name, plan, self.visible.rebound, self.ruling.required)
        return replace(verdict, code=found.code, message=found.message)

    def _diagnosed(self, name: str, explains: bool) -> Diagnosis:
        error = self._hidden_error(name)
        if error is not None:
            return error
        got = {run: array for run in HIDDEN if (array := self.trials[run].values.get(name)) is not None}
        if len(got) < len(HIDDEN):
            return sentences.only_here(name)
        pairs = {run: (got[run], one) for run, one in self._isolated(name).items()}
        found = rounded(name, pairs) or nearly(name, pairs, TABLES)
        if not explains:
            return found or nearly(name, pairs) or sentences.differs(name)
        found = found or self._started(name)
        if found is not None:
            return found
        clean = not self._culprits(name, self._compared)
        if clean and self.references["v"][name[1:]].telling and (shown := self.visible.final(name)) is not None:
            got["v"] = shown
        for cut in dict.fromkeys((self.ruling.forced, self.drawn_on.get(name, frozenset()))):
            found = self.laboratory.diagnosis(name, cut, got)
            if found is not None:
                return found
        return nearly(name, pairs) or self.laboratory.unrecognised(name, self.ruling.forced, got)

    def _started(self, name: str) -> Diagnosis | None:
        """The mistake in a gradient that nobody asked for but that *name* is computed from."""
        steps = [
            one
            for one in self.trials["a"].values
            if one not in self.ruling.forced and one[:1] == "d" and one in self.trials["b"].values
        ]
        used = self.plan.drawn_on({*steps, *self.ruling.forced})
        waiting, found = [name], set[str]()
        while waiting:
            fresh = {one for one in used.get(waiting.pop(), ()) if one in steps} - found
            found |= fresh
            waiting += fresh
        for step in sorted(found, key=lambda one: self.plan.last[one]):
            got = {run: self.trials[run].values[step] for run in HIDDEN}
            references = self.laboratory.along(step, self.ruling.forced)
            if not references or all(self._match(got[run], references[run]) for run in HIDDEN):
                continue
            mistake = self.laboratory.diagnosis(step, self.ruling.forced, got)
            if mistake is None:
                return None
            line = self.plan.lines[self.plan.last[step]].line
            message = f"It starts at `{step}` in line {line}. {mistake.message}"
            return Diagnosis(code=f"{name}:through:{mistake.code}", message=message)
        return None

    def _hidden_error(self, name: str) -> Diagnosis | None:
        """The error that kept *name* from being computed on hidden sizes although the visible run went well."""
        for run in HIDDEN:
            if name in self.trials[run].values:
                continue
            last = self.plan.last.get(name, -1)
            for error in self.trials[run].errors:
                if error.statement <= last:
                    sizes = self._written_sizes(error.statement)
                    return sentences.stops_elsewhere(name, error.line, error.kind, sizes)
        return None

    def _written_sizes(self, last: int) -> dict[int, str]:
        """The numbers written in the lines down to *last* that are a dim's size here, with the dim."""
        nodes = [node for line in self.plan.lines[: last + 1] for node in ast.walk(line.node)]
        numbers = [node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is int]
        named = {size: name for name, size in self.ruling.dims.items() if size > SMALLEST}
        return {number: named[number] for number in numbers if number in named}
