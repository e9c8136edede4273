"""The tape within reach of one judgement: references along another road, and the evidence for a diagnosis."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from app.engine.grade.explanation_time import ExplanationTimeBudget, TimeUpError
from app.engine.grade.forward_references import ForwardReferences
from app.engine.grade.hidden_draws import HIDDEN, SETS
from app.engine.grade.jail_runs import JailFailedError
from app.engine.grade.looks import look_beside, observations_of
from app.engine.grade.substitution import StoppedError, Substitution
from app.grading.diagnosis import sentences
from app.grading.diagnosis.diagnose import describe_unrecognised, diagnose, diagnose_in_sizes, place_unrecognised
from app.grading.diagnosis.early_steps import diagnose_early_step
from app.grading.diagnosis.elsewhere import is_right_with
from app.grading.diagnosis.evidence import Diagnosis, Observation, WrongGradient
from app.grading.diagnosis.helper_lines import is_mended_at, is_step_inside, is_wrong_with
from app.grading.diagnosis.rerun import read_on
from app.grading.judge.compare import Array, GradingOptions, Reference, References, hidden_values
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import RunReport, read_trials
from app.grading.judge.value_digest import value_digest
from app.grading.reading.budget import EntryBudget
from app.sandbox.wire import Reply
from app.syntax import Statement

SPENT, OTHERS_FIRST = "The time for explanations ended before the reason was found.", "Mend the other lines first."
_LOG = logging.getLogger(__name__)
NOTHING: Mapping[str, Array] = dict.fromkeys(HIDDEN, np.zeros(()))
"""The tensors of a case in which none is read."""
FURTHER_PAIRS = 4
"""How many pairs of hidden runs a diagnosis looks at beside its own, where a program has them."""
Told = TypeVar("Told")
FurtherRuns = tuple[ForwardReferences, Mapping[str, RunReport]]
Beside = Callable[[], Sequence[FurtherRuns]]
"""A program on further pairs of hidden runs, with what a submission came to there."""


class TapeQueries:
    """Queries of the tape that a `Judge` may make while it judges the submission *plan*.

    Args:
        rerun: Runs the submission with the gradients of *substitution*.
        beside: Pairs of runs that a program of few numbers has besides: on two of them one slip looks like another.
    """

    def __init__(
        self,
        study: ForwardReferences,
        ruling: GradingOptions,
        axes: Mapping[str, tuple[str, ...]],
        plan: ParsedSubmission,
        substitution: Substitution,
        rerun: Callable[[], Reply],
        beside: Beside = tuple,
    ) -> None:
        self._study = study
        self._substitution = substitution
        self._rerun = rerun
        self._beside = beside
        self._ruling = ruling
        self._axes = axes
        self._plan = plan
        self._budget = ExplanationTimeBudget()
        self._reading = EntryBudget()

    def references_via(self, name: str, drawn_on: Collection[str]) -> Mapping[str, Reference]:
        """The reference of *name* by hidden data set when only *drawn_on* is forced."""
        cut = _tensors(drawn_on)
        references = self._study.references({run: (run, cut) for run in HIDDEN}, [name[1:]])
        return {run: item[name[1:]] for run, item in references.items() if name[1:] in item}

    def all_references_via(self, drawn_on: Collection[str]) -> References:
        """The references of all gradients by hidden data set and tensor when only *drawn_on* is forced."""
        return self._study.references({run: (run, _tensors(drawn_on)) for run in HIDDEN}, self._study.gradable)

    def substituted(self) -> Mapping[str, RunReport]:
        """By data set: the submission run with the true gradients in the place of each that it finishes.

        Raises:
            StoppedError: The run did not come to its end.
        """
        reply = self._rerun()
        if reply.ending != "done":
            raise StoppedError(reply)
        return read_trials(reply.arrays, reply.texts, SETS, SETS)

    def read_on_true(self, name: str, run: str, got: Array) -> Array | None:
        """Read, and do not run, the text for its *name* on the true gradients of *run*; on random ones it is *got*."""
        look = look_beside(self._study, run, self.true()[run][name[1:]].gradient, _tensors(self._ruling.forced), got)
        # It has entries of its own to read: those of the diagnoses are not to end any earlier.
        make = partial(self._case_of, name, (look,), budget=EntryBudget())
        return self._within_budget(lambda case: read_on(case, self._with_true(run, look)), name, make)

    def true(self) -> References:
        """By data set: the references under the true upstream, which `substituted` puts in place."""
        return self._substitution.references

    def diagnosis(
        self, name: str, cut: Collection[str], got: Mapping[str, Array], settled: Collection[str] = ()
    ) -> Diagnosis | None:
        """The mistake behind *got*, if a table holds it; with *cut* the gradients that are forced, *settled* right."""
        return self._diagnose_with(lambda case: diagnose(replace(case, settled=frozenset(settled))), name, got, cut)

    def is_step_inside(self, name: str, got: Mapping[str, Array]) -> bool:
        """True if *got* is a gradient inside of the forward program, on the way to the tensor of *name*."""
        case = self._case(name, got, self._ruling.forced, true=False)
        return is_step_inside(replace(case, looks=case.looks[: len(HIDDEN)]))

    def early_step(self, name: str, got: Mapping[str, Array], *, again: bool) -> Diagnosis | None:
        """The operand inside of the line that makes the tensor of *name* whose gradient *got* is, if it is one."""
        return self._diagnose_with(partial(diagnose_early_step, again=again), name, got)

    def is_mended_at(self, name: str, got: Mapping[str, Array], step: str) -> bool:
        """True if *got* is right with a gradient inside of the forward program in the place of *step*."""
        return bool(self._diagnose_with(partial(is_mended_at, step=step), name, got))

    def is_wrong_with(self, name: str, got: Mapping[str, Array], step: str, true: Mapping[str, Array]) -> bool:
        """True if *got*, read again with the *true* gradients for *step* by hidden run, is still wrong."""
        values = tuple(true[run] for run in HIDDEN)

        def is_wrong(case: WrongGradient) -> bool:
            return is_wrong_with(replace(case, looks=case.looks[: len(HIDDEN)]), step, values)

        return bool(self._diagnose_with(is_wrong, name, got))

    def is_right_with(self, name: str, lines: Sequence[Statement]) -> bool:
        """True if *lines*, read in the place of the submission's, give the gradient *name*."""
        return bool(self._diagnose_with(lambda case: is_right_with(case, (*lines,)), name, NOTHING))

    def diagnosis_on_true(self, name: str, got: Mapping[str, Array]) -> Diagnosis | None:
        """The mistake behind *got*, which was computed from true gradients as `substituted` puts them in place."""
        return self._diagnose_with(diagnose, name, got, [f"d{output}" for output in self._ruling.outputs], true=True)

    def diagnosis_in_sizes(self, name: str) -> Diagnosis | None:
        """Diagnose the mistake in *name* that remains once dims replace the literal sizes."""
        return self._diagnose_with(partial(diagnose_in_sizes, dims=self._ruling.dims), name, NOTHING)

    def unrecognised(
        self, name: str, got: Mapping[str, Array], others: bool, settled: Collection[str] = ()
    ) -> Diagnosis:
        """True facts about *got*; with *others*, other lines are wrong as well, and those that write *settled* not."""
        value = self._study.value_key(value_digest({run: got[run] for run in HIDDEN}))
        diagnosis = self._diagnose_with(describe_unrecognised, name, got)
        if diagnosis is not None:
            facts = replace(diagnosis, value=value)

            def place(case: WrongGradient) -> Diagnosis:
                return place_unrecognised(replace(case, settled=frozenset(settled)), facts)

            return self._diagnose_with(place, name, got) or facts
        diagnosis = replace(sentences.plain_difference(name), value=value)
        if self._budget.left > 0:
            return diagnosis
        return replace(diagnosis, message=" ".join((diagnosis.message, SPENT, *([OTHERS_FIRST] if others else []))))

    def _diagnose_with(
        self,
        ask: Callable[[WrongGradient], Told | None],
        name: str,
        got: Mapping[str, Array],
        cut: Collection[str] | None = None,
        true: bool = False,
    ) -> Told | None:
        forced = self._ruling.forced if cut is None else cut
        return self._within_budget(ask, name, partial(self._case, name, got, forced, true))

    def _within_budget(
        self, ask: Callable[[WrongGradient], Told | None], name: str, make: Callable[[], WrongGradient]
    ) -> Told | None:
        if self._budget.left <= 0:
            return None
        try:
            case = make()
            return self._budget.spend(lambda: ask(case))
        except JailFailedError:
            raise
        except TimeUpError:
            return None
        except Exception:
            # A table that stumbles over an odd tensor must not cost the learner the verdict.
            _LOG.exception("the diagnosis of %s failed", name)
            return None

    def _case(self, name: str, got: Mapping[str, Array], cut: Collection[str], true: bool) -> WrongGradient:
        tensor = name[1:]
        observations = observations_of(self._study, tensor, _tensors(cut), _tensors(self._ruling.forced), got)
        if true:
            observations = {run: self._with_true(run, look) for run, look in observations.items()}
        looks = (*(observations[text] for text in HIDDEN), *(() if true else self._further(name, cut)))
        return self._case_of(name, looks, self._reading, observations.get("v"))

    def _case_of(
        self,
        name: str,
        looks: tuple[Observation, ...],
        budget: EntryBudget,
        visible: Observation | None = None,
    ) -> WrongGradient:
        return WrongGradient(
            name=name,
            tensor=name[1:],
            statements=self._study.program.statements,
            paths=self._study.program.paths(name[1:]),
            looks=looks,
            visible=visible,
            axes=self._axes,
            writes=tuple(line.node for line in self._plan.writing(name)),
            lines=tuple(line.node for line in self._plan.lines),
            written_out=self._study.forward.written_out,
            reads_upstream=bool(self._ruling.roads.get(name, True)),
            budget=budget,
        )

    def _further(self, name: str, cut: Collection[str]) -> Iterator[Observation]:
        """Observations of *name* on the other pairs of hidden runs."""
        for study, trials in self._beside():
            got = hidden_values(trials, name)
            if got is not None:
                yield from observations_of(study, name[1:], _tensors(cut), _tensors(self._ruling.forced), got).values()

    def _with_true(self, run: str, look: Observation) -> Observation:
        """*look* with the true gradients where random ones would be forced, as in `substituted`."""
        true = {f"d{name}": reference.gradient for name, reference in self.true().get(run, {}).items()}
        return replace(look, gradients={name: true.get(name, gradient) for name, gradient in look.gradients.items()})


def _tensors(names: Collection[str]) -> list[str]:
    return sorted(name[1:] for name in names)
