"""From three runs to one verdict per required name: which line is at fault, which merely follows, which is right.

The isolated run decides. Where a submission takes another road past a gradient that the box asks for, the reference is
taken along that same road: only the gradients that the learner's formula really draws on are forced into the tape.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property

from app.grading.diagnosis import sentences
from app.grading.diagnosis.evidence import Diagnosis
from app.grading.forward.statements import ForwardProgram
from app.grading.judge.compare import (
    HIDDEN,
    DiagnosisSource,
    Fit,
    GradingOptions,
    References,
    closeness,
    dtype_note,
    vacuous_note,
    worst_entries,
)
from app.grading.judge.differences import differences
from app.grading.judge.exchanged import exchanged_once
from app.grading.judge.loop_steps import blame_header, describe_steps
from app.grading.judge.moved_steps import blamed_ahead
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.product_kinds import translate_product
from app.grading.judge.proposals import lines_with
from app.grading.judge.reasons import Reasons
from app.grading.judge.roads import ROUNDING, Roads
from app.grading.judge.run_reports import ReportedError, RunReport
from app.grading.judge.shared_steps import SharedSteps, blamed_elsewhere, steps_of
from app.grading.judge.torch_errors import kind_of
from app.grading.judge.unwritten import missing_name_text
from app.grading.judge.verdict import (
    NOT_BEGUN,
    NOT_FINISHED,
    NOT_JUDGED,
    OTHER_ROAD,
    RIGHT,
    SHARES_MEMORY,
    NameVerdict,
    Standing,
)
from app.syntax import Statement

FAULTS = frozenset({"wrong", "aliased", "mutated", "not-yet"})
"""What a right line may follow from."""


class Judge:
    """Judges one submission; *references* holds the runs `v`, `a`, `b` (isolated) and `true` (hidden, end to end)."""

    def __init__(
        self,
        ruling: GradingOptions,
        program: ForwardProgram,
        plan: ParsedSubmission,
        trials: Mapping[str, RunReport],
        references: References,
        reach: Callable[[], DiagnosisSource],
    ) -> None:
        self.ruling = ruling
        self.program = program
        self.plan = plan
        self.trials = trials
        self.references = references
        self._reach = reach
        self.visible = trials["v"]
        self._translations: dict[tuple[object, ...], str] = {}
        self.fit = Fit(ruling, trials, references)
        self.drawn_on = plan.drawn_on(ruling.forced)
        self.stopped = next(filter(self._by_itself, self.visible.errors), next(iter(self.visible.errors), None))

    @cached_property
    def laboratory(self) -> DiagnosisSource:
        """Queries of the tape, made when the first is needed."""
        return self._reach()

    @cached_property
    def roads(self) -> Roads:
        """Roads by which a line that is not the rule may be right."""
        return Roads(self.program, self.plan, self.fit, lambda: self.laboratory)

    @cached_property
    def reasons(self) -> Reasons:
        return Reasons(self.roads, lambda: self._compared, lambda name: bool(self._culprits(name, self._compared)))

    def verdicts(self, *, explains: bool = True) -> tuple[NameVerdict, ...]:
        """One verdict per required name, in backward order.

        Args:
            explains: Whether to look for the mistakes at all; declared ones are explained by their author.
        """
        compared = tuple(self._compared.values())
        if all(name_verdict.verdict in RIGHT for name_verdict in compared):
            return compared
        told = list[NameVerdict]()
        for name_verdict in compared:
            follows = self.shared.follows(name_verdict, told)
            told.append(follows or self._with_second_name(self.reasons.told(name_verdict, explains)))
        names = blamed_elsewhere(self.shared.wrong_once(told))
        return blame_header(names, self.plan, self.laboratory) if explains else names

    @cached_property
    def shared(self) -> SharedSteps:
        return SharedSteps(self.plan, self.trials, self.ruling, self.laboratory)

    @cached_property
    def _compared(self) -> Mapping[str, NameVerdict]:
        """The verdict on each name with its numbers beside the reference; the reasons are still to be told."""
        order = self.ruling.order
        standing = {name: self._alone(name) for name in order}
        for name in order:  # one after the other: what follows from a line is known when that line is
            standing[name] = self._in_company(name, standing[name], standing)
        if not all(name_verdict.verdict in RIGHT for name_verdict in standing.values()):
            standing = self.shared.blamed_once(exchanged_once(standing, self.fit, self.plan, self.program))
            standing = blamed_ahead(standing, self.fit, self.plan, self._culprits, lambda: self.laboratory)
        return {name: self._beside(name, standing) for name in order}

    # One name on its own.

    def _alone(self, name: str) -> NameVerdict:
        steps = (self._unreadable, self._raised, self._not_yet, self._not_a_tensor, self._mutated, self._aliased)
        for step in (*steps, self._by_rule, self._by_another_road):
            verdict = step(name)
            if verdict is not None:
                return verdict
        return self._named(name, "wrong")

    def _named(self, name: str, verdict: Standing, code: str | None = None, message: str = "") -> NameVerdict:
        code = code and f"{name}:{code}"
        return NameVerdict(name=name, verdict=verdict, code=code, message=message, line=self.plan.line_of(name))

    def _told(self, name: str, verdict: Standing, diagnosis: Diagnosis) -> NameVerdict:
        return replace(self._named(name, verdict), code=diagnosis.code, message=diagnosis.message)

    def _not_yet(self, name: str) -> NameVerdict | None:
        last = self.plan.last.get(name)
        if last is None:
            message = missing_name_text(name, self.plan, self.ruling.forced, self.program.tensors)
            return self._waiting(name, NOT_BEGUN, message)
        blank = next((line.line for line in self.plan.writing(name) if line.blank), None)
        if blank is not None:
            alone = len(self.plan.writing(name)) == 1
            message = "There is still a blank in this line." if alone else f"Line {blank} still holds a blank."
            return replace(self._waiting(name, NOT_BEGUN if alone else NOT_FINISHED, message), line=blank)
        if any(self._left(name, run) for run in self.trials):
            return None
        if self.stopped is not None and self.stopped.statement <= last:
            message = f"Line {self.stopped.line} stopped, and this line was not judged."
            return self._waiting(name, NOT_JUDGED, message)
        if self.reasons.hidden_error(name) is not None:
            return None
        if any(line.blank for line in self.plan.lines):
            return self._waiting(name, NOT_JUDGED, "This line waits for a blank further up.")
        return self._waiting(name, NOT_FINISHED, f"No tensor called `{name}` was left when the code ended.")

    def _waiting(self, name: str, word: str, message: str) -> NameVerdict:
        """Verdict on a gradient that is not there to be judged; *word* says why in the row."""
        return replace(self._named(name, "not-yet", message=message), word=word)

    def _unreadable(self, name: str) -> NameVerdict | None:
        fault = self.plan.fault_of(name)
        if fault is None:
            return None
        return replace(self._named(name, "wrong", "error:syntax", fault.message), line=fault.line)

    def _raised(self, name: str) -> NameVerdict | None:
        """A line that raises on right numbers too; where it would have written several names, the first one's fault."""
        for error, written in self._raising:
            if name not in written:
                continue
            diagnosis = sentences.stopped_line(name, kind_of(error), error.line, self.translated(error))
            if name == next(text for text in self.ruling.required if text in written):
                return replace(self._told(name, "wrong", diagnosis), line=error.line)
            return self._waiting(name, NOT_JUDGED, diagnosis.message)
        return None

    @cached_property
    def _raising(self) -> Sequence[tuple[ReportedError, Collection[str]]]:
        """The errors that no mistake further up explains, each with the names that its line writes."""
        errors = filter(self._by_itself, self.visible.errors)
        return [(error, self.plan.written_at(error.statement, error.line)) for error in errors]

    def translated(self, error: ReportedError) -> str:
        """Sentence for *error*; another text in its line is proposed only where the line with it is right."""
        key = (error.statement, error.line, error.source, error.kind, error.text, error.operands)
        if key not in self._translations:
            self._translations[key] = self._translate(error)
        return self._translations[key]

    def _translate(self, error: ReportedError) -> str:
        written, required = {*self.plan.written_at(error.statement, error.line)}, self.ruling.required
        made_of = ((name, steps_of(self.plan, [name], self.ruling.forced)) for name in required)
        name = next((name for name in required if name in written), None)
        name = name or next((name for name, steps in made_of if steps & written), None)

        def is_right(lines: Sequence[Statement]) -> bool:
            return name is not None and self.laboratory.is_right_with(name, lines)

        @cache
        def mends(text: str, instead: str) -> bool:
            return is_right(lines_with(self.plan, error, text, instead))

        message = translate_product(replace(error, mends=mends), self.program, self.plan)
        return f"{message} {describe_steps(error, self.plan, is_right)}".rstrip()

    @property
    def stopped_by_itself(self) -> bool:
        return self.stopped is not None and self._by_itself(self.stopped)

    def _by_itself(self, error: ReportedError) -> bool:
        """True if the statement that raised fails on right numbers too, so that no mistake further up explains it."""
        at = error.statement
        if all(any(at == item.statement for item in self.trials[run].errors) for run in HIDDEN):
            return True
        done = [name for name in self.ruling.required if self.plan.last.get(name, -1) < at]
        return all(self.fit.fits(name, "v") for name in done)

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
                return self._waiting(name, NOT_FINISHED, f"`{name}` is still None.")
            say = sentences.unfit_value if " " in kind else sentences.not_a_tensor
            return self._told(name, "wrong", say(name, kind))
        return None

    def _mutated(self, name: str) -> NameVerdict | None:
        for changed, at in self.visible.mutated.items():
            if self.plan.blamed_for(at, changed, self.ruling.required) == name:
                kind = "forward tensor" if changed in self.program.tensors else "given gradient"
                line = self.plan.lines[at].line_writing(changed)
                second = self.plan.second_name(at, changed)
                diagnosis = sentences.mutated_tensor(name, changed, line, kind=kind, second=second)
                if second == name and not self.fit.alone(name):
                    diagnosis = sentences.also_wrong(diagnosis, name)
                return replace(self._told(name, "mutated", diagnosis), line=line)
        return None

    def _aliased(self, name: str) -> NameVerdict | None:
        for run in ("true", "v"):
            trial = self.trials[run]
            at = trial.changed_by.get(name)
            if at is None or not 0 <= at < len(self.plan.lines) or not self.fit.kept(name, self.fit.isolated(name)):
                continue
            line = self.plan.lines[at]
            others = sorted(line.writes & set(self.ruling.required)) or sorted(line.writes)
            other = others[0] if others else "another name"
            return self._told(name, "aliased", sentences.aliased_memory(name, other, line.line))
        return None

    def _by_rule(self, name: str) -> NameVerdict | None:
        if not self.fit.alone(name):
            return None
        return replace(self._named(name, "right"), note=dtype_note(self.visible, name))

    def _by_another_road(self, name: str) -> NameVerdict | None:
        road = self.roads.other(name)
        if road is None:
            return None
        if self.drawn_on.get(name) == self.ruling.roads.get(name):
            return replace(
                self._named(name, "right-other-road"), word="right"
            )  # the author's own: it may be the only one
        # Names that one statement finishes together cannot be told apart any further: that is no other road.
        together = all(self.plan.last.get(leave, -1) >= self.plan.last[name] for leave in road.leaves)
        if self.ruling.one_road and not together:
            steps = ", ".join(f"`{leave}`" for leave in sorted(road.leaves))
            why = self.ruling.one_road
            message = f"The values are right, but this box asks for the step from {steps} on its own. {why}"
            return self._named(name, "wrong", OTHER_ROAD, message)
        return self._named(name, "right-other-road", message=road.remark)

    # Names among names.

    def _in_company(self, name: str, verdict: NameVerdict, all_: Mapping[str, NameVerdict]) -> NameVerdict:
        """A right line whose numbers are off because of another line follows from that line.

        Where no other line explains it, it is right where it is judged and wrong on the lesson's own numbers.
        """
        if verdict.verdict == "aliased" and (partner := self._partner(name, all_)):
            message = (
                f"It was right when it was finished. `{partner}` is the same memory, and that line is not right yet."
            )
            return replace(self._named(name, "follows", message=message), word=f"{SHARES_MEMORY} {partner}")
        if verdict.verdict not in RIGHT or (self.fit.fits(name, "v") and self.fit.fits(name, "true")):
            return verdict
        sources = self._culprits(name, all_)
        culprits = sources or self._unseen(name, all_)
        if not culprits:
            return self._unexplained(verdict)
        names = ", ".join(f"`{culprit}`" for culprit in culprits)
        message = f"Right, given your own numbers: it follows from {names}."
        stopped = self.visible.final(name) is None
        if stopped or all(
            all_[culprit].verdict == "not-yet" or ":error:" in (all_[culprit].code or "") for culprit in culprits
        ):
            message = f"Right as it stands; it waits for {names}."
        elif not sources:
            message = f"Right on right numbers. What it reads may be changed by another line: begin at {names}."
        word = f"follows from {culprits[0]}" + (f" and {len(culprits) - 1} more" if len(culprits) > 1 else "")
        return replace(verdict, verdict="follows", message=message, word=word)

    def _unseen(self, name: str, all_: Mapping[str, NameVerdict]) -> tuple[str, ...]:
        """The names at fault above a line that is right on right numbers, though nothing shows that it reads them."""
        if self.fit.fits(name, "v"):
            return ()
        last = self.plan.last.get(name, -1)
        above = tuple(text for text in all_ if all_[text].verdict in FAULTS and self.plan.last.get(text, -1) < last)
        return above if above and self.roads.right_on_right_numbers(name) else ()

    def _unexplained(self, verdict: NameVerdict) -> NameVerdict:
        """*verdict* on a right line whose numbers no other explains: rounded on the lesson's own data, or wrong."""
        if self.fit.fits(verdict.name, "v"):
            return verdict
        if not self.roads.rounded(verdict.name):
            return self._told(verdict.name, "wrong", sentences.wrong_here(verdict.name))
        return replace(verdict, note=" ".join(part for part in (verdict.note, ROUNDING) if part))

    def _with_second_name(self, verdict: NameVerdict) -> NameVerdict:
        """*verdict* on a wrong line, with word that the name is a second one of a gradient that was right."""
        shared = f"{SHARES_MEMORY} {verdict.name}"
        if verdict.verdict != "wrong" or not any(each.word == shared for each in self._compared.values()):
            return verdict
        at = self.plan.last.get(verdict.name, -1)
        tensor = self.plan.renamed_from(at, verdict.name)
        if not tensor:
            return verdict
        edited = sentences.mutated_tensor(verdict.name, tensor, self.plan.lines[at].line, second=verdict.name)
        return replace(verdict, message=f"{verdict.message} Besides, {edited.message}")

    def _partner(self, name: str, all_: Mapping[str, NameVerdict]) -> str | None:
        """The wrong name by whose line *name* was changed in memory that both share."""
        changed = (self.trials[run].changed_by.get(name, -1) for run in ("true", "v"))
        written = {write for at in changed if 0 <= at < len(self.plan.lines) for write in self.plan.lines[at].writes}
        return next((text for text in all_ if text in written and all_[text].verdict == "wrong"), None)

    def _culprits(self, name: str, all_: Mapping[str, NameVerdict]) -> tuple[str, ...]:
        """The names at fault that *name* is computed from, by way of any others; in backward order."""
        sources: set[str] = set()
        waiting, seen = [name], {name}
        while waiting:
            for source in self.drawn_on.get(waiting.pop(), ()):
                if source in seen or source not in all_:
                    continue
                seen.add(source)
                waiting.append(source)
                if all_[source].verdict in FAULTS:
                    sources.add(source)
        return tuple(text for text in all_ if text in sources)

    # What is shown of it.

    def _vacuous_note(self, name: str) -> str:
        """The remark on what the data cannot tell; the second data set is asked where the first cannot."""
        isolated = [self.references[run][name[1:]] for run in HIDDEN]
        judged_by = (self.program, self.ruling.forced)
        if not vacuous_note(name, [self.references["true"][name[1:]]], isolated[:1], *judged_by):
            return ""
        true = self.laboratory.true()
        return vacuous_note(name, [true[run][name[1:]] for run in HIDDEN], isolated, *judged_by)

    def _beside(self, name: str, standing: Mapping[str, NameVerdict]) -> NameVerdict:
        verdict = standing[name]
        shown = self.visible.final(name) if verdict.verdict != "not-yet" else None
        reference = self.references["v"][name[1:]]
        close = closeness(shown, reference)
        if close is not None:
            verdict = replace(verdict, exact=close.exact, approx=close.approx, maxdiff=close.maxdiff)
        if verdict.verdict != "not-yet":  # a remark tells how a line was judged
            remarks = (verdict.note, self._vacuous_note(name))
            verdict = replace(verdict, note=" ".join(part for part in remarks if part))
        if verdict.verdict == "wrong" and close is not None and (close.exact or close.approx):
            verdict = replace(verdict, note=" ".join([verdict.note, self.reasons.by_ones(name)]).strip())
        if verdict.verdict != "wrong" or self._culprits(name, standing):
            return verdict
        return replace(verdict, worst=worst_entries(shown, reference), differences=differences(shown, reference))
