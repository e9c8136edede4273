"""The roads by which a line may be right that is not the rule: past gradients of the box, or by way of others.

Where a line takes another road, the reference is taken along that same road. Where it takes several, or borrows from a
gradient beside it, there is no such reference: it is run on the true gradients, whatever the submission wrote for them,
and its numbers are right there or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from app.grading.forward.statements import ForwardProgram
from app.grading.judge.compare import HIDDEN, DiagnosisSource, Fit, References, is_near, is_right_up_to_rounding
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import RunReport

ROUNDED = 1e-2
"""What rounding to float32 adds up to at most, of the scale, before it is called something else."""
ROUNDING = (
    "On the lesson's own numbers it is off by rounding alone: in float32 each of many additions loses a little. "
    "In float64 it is right there, too."
)


@dataclass(frozen=True, slots=True)
class Road:
    """Another road than the rule: a *remark* on it, and the gradients that it *leaves* out."""

    remark: str
    leaves: frozenset[str]


class Roads:
    """The roads of one submission; *reach* gives the tape, once it has to be asked."""

    def __init__(
        self, program: ForwardProgram, plan: ParsedSubmission, fit: Fit, reach: Callable[[], DiagnosisSource]
    ) -> None:
        self.program = program
        self.plan = plan
        self.fit = fit
        self.ruling = fit.ruling
        self.drawn_on = plan.drawn_on(self.ruling.forced)
        self._reach = reach

    @property
    def laboratory(self) -> DiagnosisSource:
        return self._reach()

    @cached_property
    def substituted(self) -> Mapping[str, RunReport]:
        """By data set: the run in which each finished gradient gave way to its true reference."""
        return self.laboratory.substituted()

    @cached_property
    def true(self) -> References:
        """By data set: the references under the true upstream."""
        return self.laboratory.true()

    def other(self, name: str) -> Road | None:
        """The road by which *name* is right although its line is not the rule; None where its numbers are not right."""
        return self._skipping(name) or self._end_to_end(name)

    def _skipping(self, name: str) -> Road | None:
        """A formula that skips steps, and that holds for any upstream along its own road."""
        drawn_on = self.drawn_on.get(name, frozenset())
        expected = self._expected(name)
        taken = self.program.frontier(name[1:], drawn_on | {f"d{output}" for output in self.ruling.outputs})
        if expected == taken or any(name not in self.fit.trials[run].values for run in HIDDEN):
            return None
        references = self.laboratory.references_via(name, drawn_on)
        if (
            not references
            or any(reference.vacuous for reference in references.values())
            or not self.fit.holds(name, references)
        ):
            return None
        leaves = expected - taken
        return Road(f"Right end to end; your formula skips the step through {_names_text(leaves)}.", leaves)

    def _expected(self, name: str) -> frozenset[str]:
        """The gradients that the rule for *name* starts from."""
        return self.program.frontier(name[1:], self.ruling.forced)

    def _end_to_end(self, name: str) -> Road | None:
        """A formula whose numbers are right on the true gradients, whichever of them it starts from."""
        if not self._may_fit(name) or not self._tells(name) or self._is_read_wrong(name):
            return None
        if not self._fits_substituted(name, HIDDEN):
            return None
        drawn_on, expected = self.drawn_on.get(name, frozenset()), self._expected(name)
        if drawn_on == expected:
            message = (
                f"Right end to end: it holds for the {_names_text(expected)} of this program, though not for every one."
            )
            return Road(message, expected)
        leaves = expected - drawn_on or expected
        starts = self._carrying(name, expected) or expected
        sources = f"takes its numbers from {_names_text(drawn_on)}" if drawn_on else "takes a road of its own"
        message = f"Right end to end; your formula {sources}, and the rule starts from {_names_text(starts)}."
        return Road(message, leaves)

    def _carrying(self, name: str, gradients: frozenset[str]) -> frozenset[str]:
        """Those of *gradients* from which a way of tensors with gradients leads to that of *name*: none is detached."""
        known, carrying = self.true[HIDDEN[0]], set[str]()
        waiting, seen = [name[1:]], {name[1:]}
        while waiting:
            above = {output for path in self.program.paths(waiting.pop()) for output in path.statement.outputs} - seen
            seen |= above
            carrying |= {f"d{output}" for output in above} & gradients
            waiting += [output for output in above if output in known and f"d{output}" not in gradients]
        return frozenset(carrying)

    def _may_fit(self, name: str) -> bool:
        """True if right numbers above could make *name* right: it is, or something above is not."""
        if self.fit.fits(name, "true"):
            return True
        last = self.plan.last.get(name, -1)
        above = [text for text in self.ruling.required if self.plan.last.get(text, -1) < last]
        return not all(self.fit.fits(text, "true") for text in above)

    def _is_read_wrong(self, name: str) -> bool:
        """True if the text of the line, read on the true gradients, is wrong there: that spares a run."""
        run = HIDDEN[0]
        trial = self.fit.trials[run]
        if "substituted" in self.__dict__ or name in trial.later or name not in trial.values:
            return False  # the run is there, or the line alone is not what counts
        read = self.laboratory.read_on_true(name, run, trial.values[name])
        return read is not None and not self.fit.match(read, self.true[run][name[1:]])

    def _tells(self, name: str) -> bool:
        """True if to be right on the true gradients means something: what is zero by nature could be left out.

        That goes for every gradient on the way to what the line reads, and for what it borrows from beside that way.
        One of the hidden runs is enough for each: what is zero by nature is zero in all, and the line fits in all.
        """
        drawn_on = self.drawn_on.get(name, frozenset())
        shown = [*self._passed(name, drawn_on), *(text[1:] for text in drawn_on if not self._on_a_road(text, name))]
        runs = [self.true[run] for run in HIDDEN]
        # What is detached has no gradient that could be zero.
        tested = [text for text in shown if all(text in true for true in runs)]
        return all(not all(true[text[1:]].vacuous for true in runs) for text in drawn_on) and all(
            any(true[text].telling and not true[text].vacuous for true in runs) for text in tested
        )

    def _passed(self, name: str, drawn_on: frozenset[str]) -> set[str]:
        """The tensors from that of *name* on, up to those whose gradients its line reads."""
        passed, waiting = {name[1:]}, [name[1:]]
        while waiting:
            read_by = {output for path in self.program.paths(waiting.pop()) for output in path.statement.outputs}
            fresh = {
                text for text in read_by - passed if f"d{text}" not in drawn_on and text not in self.ruling.outputs
            }
            passed |= fresh
            waiting += fresh
        return passed

    def borrows(self, name: str) -> bool:
        """True if its line, or the author's, reads a gradient on no road to it, where random numbers say nothing."""
        read = self.drawn_on.get(name, frozenset()) | self.ruling.roads.get(name, frozenset())
        return not all(self._on_a_road(text, name) for text in read)

    def _on_a_road(self, gradient: str, name: str) -> bool:
        return bool(self.program.frontier(name[1:], {gradient}))

    # On right numbers.

    def right_on_right_numbers(self, name: str) -> bool:
        """True if *name* is right on the lesson's own numbers where all that is above it is."""
        return self._fits_substituted(name, ("v",))

    def rounded(self, name: str) -> bool:
        """True if *name* differs on the lesson's own numbers by the rounding of float32 and by nothing else."""
        got, reference = self.fit.trials["v"].final(name), self.fit.references["v"][name[1:]]
        return is_near(got, reference, ROUNDED) and self._fits_substituted(name, ("v",))

    def _fits_substituted(self, name: str, runs: tuple[str, ...]) -> bool:
        for run in runs:
            trial, reference = self.substituted[run], self.true[run][name[1:]]
            left = (trial.values.get(name), trial.later.get(name))
            fits = is_right_up_to_rounding if run == "v" else self.fit.match
            if not any(fits(array, reference) for array in left):
                return False
        return True


def _names_text(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
