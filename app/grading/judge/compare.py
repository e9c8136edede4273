"""Comparison of tensors: shape first, then finiteness, then the numbers; nothing ever broadcasts."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.grading.diagnosis.evidence import Diagnosis
from app.grading.forward.statements import ForwardProgram
from app.grading.judge.run_reports import RunReport
from app.grading.judge.verdict import Worst
from app.grading.operations.numerics import magnitude
from app.syntax import Statement

Array = NDArray[Any]
HIDDEN = ("a", "b")
"""The runs on hidden data in which each line is judged on its own."""
HIDDEN_TOLERANCE = 1e-9
"""Of the scale, in float64. Right ways of writing a line differ by 1e-14 (docs/tolerance.md); a rounding to float32, a
forgotten epsilon and a constant of seven digits are off by more."""
VISIBLE_TOLERANCE = 1e-5
LESSON_TOLERANCE = 1e-4
"""The same on the lesson's own numbers, where float32 has gone through every line above."""
VACUOUS = 1e-9
ROUNDING = 1e-11
AUDIBLE = 1e-3
WORST = 5


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The gradient torch gives, with the sizes that tolerances are relative to.

    Args:
        shares: The largest entry of each share, by path key.
        noise: The largest single term of the sums that make the gradient up: what rounding is relative to.
    """

    gradient: Array
    shares: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.0

    @cached_property
    def scale(self) -> float:
        return max([_largest(self.gradient), *self.shares.values()])

    @property
    def tolerance(self) -> float:
        """Tolerance, relative to the scale: as much as the numbers of torch's own gradient leave open."""
        return VISIBLE_TOLERANCE if self.gradient.dtype == np.float32 else HIDDEN_TOLERANCE

    @cached_property
    def vacuous(self) -> bool:
        """True if the gradient itself is nothing but rounding: any rule that gives zero would look right."""
        return _largest(self.gradient) <= VACUOUS * max(self.scale, self.noise)

    @property
    def silent_shares(self) -> tuple[str, ...]:
        """Paths whose share is nothing but rounding beside the others."""
        return tuple(key for key, size in self.shares.items() if size <= VACUOUS * max(self.scale, self.noise))

    @property
    def telling(self) -> bool:
        """True if every share is large enough that being right on these data means something."""
        return all(size > AUDIBLE * self.scale for size in self.shares.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """Numbers of a lecture's `cmp` line; None if shapes differ."""

    exact: bool
    approx: bool
    maxdiff: float | None


def is_within_tolerance(
    got: Array | None, reference: Reference, atol: float | None = None, rtol: float | None = None
) -> bool:
    """True if *got* is the reference within tolerance, on hidden data."""
    if got is None or got.shape != reference.gradient.shape:
        return False
    values = got.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        return False
    if atol is not None or rtol is not None:
        allowed = (atol or 0.0) + (rtol or 0.0) * np.abs(reference.gradient)
    else:
        # Nobody is held to more digits than torch has, nor to the rounding of a sum that cancels.
        allowed = np.asarray(max(reference.tolerance * reference.scale, ROUNDING * reference.noise))
    return not bool((np.abs(values - reference.gradient) > allowed).any())


def is_right_up_to_rounding(got: Array | None, reference: Reference) -> bool:
    """True if *got*, computed from the learner's own numbers, is the reference up to the rounding of all its terms."""
    return is_near(got, reference, LESSON_TOLERANCE if reference.gradient.dtype == np.float32 else HIDDEN_TOLERANCE)


def is_near(got: Array | None, reference: Reference, tolerance: float) -> bool:
    """True if *got* is the reference within *tolerance* of its scale, or of the largest term of its sums."""
    if got is None or got.shape != reference.gradient.shape:
        return False
    difference = np.abs(got.astype(np.float64) - reference.gradient)
    return bool((difference <= tolerance * max(reference.scale, reference.noise)).all())


def closeness(got: Array | None, reference: Reference) -> Closeness | None:
    """Closeness of *got* on the lesson's own sizes."""
    if got is None:
        return None
    gradient = reference.gradient
    if got.shape != gradient.shape:
        return Closeness(exact=False, approx=False, maxdiff=None)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(got.astype(np.float64) - gradient.astype(np.float64))
    largest = float(difference.max(initial=0.0))
    return Closeness(
        exact=bool((got == gradient).all()),
        approx=bool((difference <= allowed_on_view(reference)).all()),
        maxdiff=largest if math.isfinite(largest) else None,
    )


def allowed_on_view(reference: Reference) -> float:
    """Largest difference of an entry on the lesson's own sizes, which are computed in float32."""
    return VISIBLE_TOLERANCE * max(reference.scale, reference.noise)


def worst_entries(got: Array | None, reference: Reference) -> tuple[Worst, ...]:
    """The entries that differ most: the learner's number, how far it is off, and its ratio to the reference."""
    if got is None or got.shape != reference.gradient.shape or got.size == 0:
        return ()
    yours, gradient = got.astype(np.float64), reference.gradient.astype(np.float64)
    with np.errstate(all="ignore"):
        off = yours - gradient
    difference = np.abs(off)
    difference = np.where(np.isfinite(difference), difference, np.inf)
    order = np.argsort(-difference, axis=None, kind="stable")[:WORST]
    places = [tuple(int(item) for item in np.unravel_index(at, got.shape)) for at in order]
    return tuple(
        Worst(
            index=place,
            yours=float(yours[place]),
            off=float(off[place]),
            ratio=_ratio(yours[place], gradient[place]),
        )
        for place in places
        if difference[place] > allowed_on_view(reference) and math.isfinite(yours[place])
    )


def _ratio(yours: Any, gradient: Any) -> float | None:
    if not float(gradient):
        return 1.0 if not float(yours) else None
    return _plain(float(yours) / float(gradient))


def _plain(number: Any) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _largest(value: Array) -> float:
    return magnitude(value)


References = Mapping[str, Mapping[str, Reference]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingOptions:
    """Options of the author for how the box is judged.

    Args:
        order: What is *required*, in the order of the backward pass.
        roads: By name: the gradients that the author's own line for it starts from.
        one_road: Why nothing but the rule will do, in a sentence; empty where any road to the right numbers will.
        dims: The sizes of the lesson's own data, which a learner may write as numbers.
    """

    required: tuple[str, ...]
    order: tuple[str, ...]
    given: tuple[str, ...]
    outputs: tuple[str, ...]
    one_road: str = ""
    roads: Mapping[str, frozenset[str]] = field(default_factory=dict)
    atol: float | None = None
    rtol: float | None = None
    dims: Mapping[str, int] = field(default_factory=dict)

    @property
    def forced(self) -> frozenset[str]:
        """The gradients that every line is isolated by, as the learner writes them."""
        return frozenset((*self.required, *self.given, *(f"d{name}" for name in self.outputs)))


def hidden_values(trials: Mapping[str, RunReport], name: str) -> dict[str, Array] | None:
    """By hidden run, the tensor *name* at its last write; None where a run left none."""
    got = {run: array for run in HIDDEN if (array := trials[run].values.get(name)) is not None}
    return got if len(got) == len(HIDDEN) else None


@dataclass(frozen=True, slots=True)
class Fit:
    """Tensors that a submission left in its runs, beside the *references* of each run."""

    ruling: GradingOptions
    trials: Mapping[str, RunReport]
    references: References
    _compared: dict[tuple[str, str], bool] = field(default_factory=dict)

    def alone(self, name: str) -> bool:
        """True if *name* is right under random upstreams."""
        return self._once(name, "", lambda: self.holds(name, self.isolated(name)))

    def isolated(self, name: str) -> Mapping[str, Reference]:
        """By hidden run: the reference under random upstreams."""
        return {run: self.references[run][name[1:]] for run in HIDDEN}

    def holds(self, name: str, references: Mapping[str, Reference]) -> bool:
        """True if the learner's tensors are the references on both hidden sets, at their last write or at the end."""
        return self.kept(name, references) or all(
            self.match(self.trials[run].later.get(name), references[run]) for run in HIDDEN
        )

    def kept(self, name: str, references: Mapping[str, Reference]) -> bool:
        """The same at their last write alone."""
        return all(self.match(self.trials[run].values.get(name), references[run]) for run in HIDDEN)

    def match(self, got: Array | None, reference: Reference) -> bool:
        return is_within_tolerance(got, reference, self.ruling.atol, self.ruling.rtol)

    def fits(self, name: str, run: str) -> bool:
        """True if *name* is right in a *run* in which the learner's own numbers flow on."""
        return self._once(name, run, lambda: self._fits(self.trials[run].final(name), self.references[run][name[1:]]))

    def fits_as(self, name: str, other: str, run: str) -> bool:
        """True if *name* holds the gradient that *other* is to be, in a *run* in which the numbers flow on."""
        reference = self.references[run][other[1:]]
        return not reference.vacuous and self._fits(self.trials[run].final(name), reference)

    def _fits(self, got: Array | None, reference: Reference) -> bool:
        return got is not None and (is_right_up_to_rounding(got, reference) or self.match(got, reference))

    def _once(self, name: str, run: str, compare: Callable[[], bool]) -> bool:
        """The answer of *compare*, kept: which lines are right is asked again for each wrong one."""
        if (name, run) not in self._compared:
            self._compared[name, run] = compare()
        return self._compared[name, run]


class DiagnosisSource(Protocol):
    """Queries of the tape that judging may make."""

    def references_via(self, name: str, drawn_on: Collection[str]) -> Mapping[str, Reference]:
        """The reference of *name* by hidden data set when only *drawn_on* is forced."""
        ...

    def all_references_via(self, drawn_on: Collection[str]) -> References:
        """The references of all gradients by hidden data set and tensor when only *drawn_on* is forced."""
        ...

    def substituted(self) -> Mapping[str, RunReport]:
        """By data set: the submission run with the true gradients in the place of each that it finishes."""
        ...

    def read_on_true(self, name: str, run: str, got: Array) -> Array | None:
        """Read the text, without running it, for its *name* on the true gradients of *run*.

        Args:
            got: What it left on the random ones; None is returned where the reading does not come to that.
        """
        ...

    def true(self) -> References:
        """By data set: the references under the true upstream, which `substituted` puts in place."""
        ...

    def diagnosis(
        self, name: str, cut: Collection[str], got: Mapping[str, Array], settled: Collection[str] = ()
    ) -> Diagnosis | None:
        """The mistake behind *got*, if a table holds it; with *cut* the gradients that are forced, *settled* right."""
        ...

    def is_step_inside(self, name: str, got: Mapping[str, Array]) -> bool:
        """True if *got* is a gradient inside of the forward program, on the way to the tensor of *name*."""
        ...

    def early_step(self, name: str, got: Mapping[str, Array], *, again: bool) -> Diagnosis | None:
        """The operand inside of the line that makes the tensor of *name* whose gradient *got* is, if it is one.

        Args:
            again: Whether the gradient was there before its last line, which then overwrites it.
        """
        ...

    def is_right_with(self, name: str, lines: Sequence[Statement]) -> bool:
        """True if *lines*, read in the place of the submission's, give the gradient *name*."""
        ...

    def diagnosis_on_true(self, name: str, got: Mapping[str, Array]) -> Diagnosis | None:
        """The mistake behind *got*, which was computed from true gradients as `substituted` puts them in place."""
        ...

    def diagnosis_in_sizes(self, name: str) -> Diagnosis | None:
        """Diagnose the mistake in *name* that is left once dims replace the literal sizes."""
        ...

    def is_mended_at(self, name: str, got: Mapping[str, Array], step: str) -> bool:
        """True if *got* is right with a gradient inside of the forward program in the place of *step*."""
        ...

    def is_wrong_with(self, name: str, got: Mapping[str, Array], step: str, true: Mapping[str, Array]) -> bool:
        """True if *got*, read again with the *true* gradients for *step* by hidden run, is still wrong."""
        ...

    def unrecognised(
        self, name: str, got: Mapping[str, Array], others: bool, settled: Collection[str] = ()
    ) -> Diagnosis:
        """True facts about *got*; with *others*, other lines are wrong as well, and those that write *settled* not."""
        ...


def silent_consumers(references: Sequence[Reference], program: ForwardProgram) -> tuple[str, ...]:
    """Consumers of a tensor that send back nothing but rounding in each data set of *references*."""
    statements = {key: int(key.split(".")[0]) for key in references[0].shares}
    sounding = {statements[key] for item in references for key in item.shares.keys() - set(item.silent_shares)}
    silent = [index for index in statements.values() if index not in sounding]
    return tuple(dict.fromkeys(program.statements[index].outputs[0] for index in silent))


def vacuous_note(
    name: str,
    references: Sequence[Reference],
    isolated: Sequence[Reference],
    program: ForwardProgram,
    forced: Collection[str],
) -> str:
    """Say why no hidden data set can tell a right rule for *name* from zeros; empty if one can.

    Args:
        references: By data set, under the true upstream.
        isolated: By data set, under random upstreams; where all vanish as well, zeros are as right as any rule.
        forced: Gradients that are written or given: a share through another one is no line of the text.
    """
    if all(reference.vacuous for reference in isolated):
        return f"`{name}` is zero up to rounding for every upstream there can be here; any rule for zero is right."
    if all(reference.vacuous for reference in references):
        return (
            f"For this loss `{name}` is zero up to rounding, whatever the data; it was judged with a random upstream, "
            "where the rule shows."
        )
    consumers = [text for text in silent_consumers(references, program) if f"d{text}" in forced]
    if not consumers:
        return ""
    names = ", ".join(f"`{consumer}`" for consumer in consumers)
    return f"For this loss the share of `{name}` through {names} is zero up to rounding; the rule still has it."


def dtype_note(trial: RunReport, name: str) -> str:
    """A right gradient of the wrong number type."""
    got = trial.values.get(name)
    if got is None or got.dtype.kind == "f" or name in trial.kinds:
        return ""
    return f"The values are right, but this is a tensor of {got.dtype} numbers; dividing it in place would fail."
