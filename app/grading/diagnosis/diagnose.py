"""Names the mistake behind one wrong gradient, or says that nothing here holds it.

A mistake is named only where its prediction is the learner's tensor in every look, so nothing here is a guess.
Stages go from what is cheap and certain to what is rare: not finite, hard-coded sizes, reductions and shapes, the
shares and their factors, the edits of the rules, other tensors in their places, a wrong upstream, powers of a tensor,
edits of the learner's own line, factors without a name, and last the place of the error. Each family lists its codes in
its docstring, and the edits in `phrases.toml`; a code is the learner's name, a colon, and the row's own.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from app.grading.diagnosis import (
    changed_upstreams,
    elsewhere,
    every_turn,
    forks,
    hard_coded_sizes,
    helper_lines,
    index_slips,
    layout,
    loss_weight,
    off_terms,
    powers,
    products,
    reductions,
    rereading,
    rule_edits,
    scaled_mistakes,
    shares,
    single_edit_search,
    statistics,
    terms,
    two_slips,
    undifferentiated,
    unrecognised,
    upstreams,
)
from app.grading.diagnosis.claims import cannot_be_read
from app.grading.diagnosis.evidence import Diagnosis, Hypothesis, WrongGradient
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.split_outputs import split_outputs

Family = Callable[[GradientAnalysis], Iterator[Hypothesis]]
Reader = Callable[[GradientAnalysis], Diagnosis | None]


def diagnose_fractions(view: GradientAnalysis) -> Diagnosis | None:
    """A fraction that is not what it means on paper, and what is left with it."""
    return two_slips.half_powers(view, diagnose) or two_slips.paper_fractions(view, diagnose)


OPERATIONS: tuple[Family, ...] = (
    rule_edits.rule_edit_hypotheses,
    products.product_hypotheses,
    index_slips.index_hypotheses,
    layout.view_hypotheses,
)
STAGES: tuple[tuple[Family, ...] | Reader, ...] = (
    single_edit_search.diagnose_floor_division,
    hard_coded_sizes.hard_coded,
    rereading.called_again,
    rereading.diagnose_expanded,
    single_edit_search.diagnose_turned,
    single_edit_search.diagnose_copies,
    single_edit_search.diagnose_window,
    single_edit_search.diagnose_erased,
    (reductions.reduction_hypotheses, layout.shape_hypotheses),
    layout.diagnose_permuted,
    (statistics.all_constant_hypotheses,),
    single_edit_search.diagnose_condition,
    every_turn.diagnose_every_turn,
    partial(shares.diagnose_shares, every=False),
    rereading.read_early,
    diagnose_fractions,
    OPERATIONS,
    terms.diagnose_terms,
    index_slips.diagnose_positions,
    reductions.diagnose_unsummed,
    (rule_edits.of_scope, upstreams.upstream_hypotheses),
    single_edit_search.diagnose_exchanged,
    (changed_upstreams.changed_upstream_hypotheses, rule_edits.repeated_edit_hypotheses),
    (statistics.one_constant_hypotheses, statistics.other_axes),
    unrecognised.diagnose_fixed,
    (forks.fork_hypotheses,),
    (undifferentiated.undifferentiated_hypotheses,),
    (powers.power_hypotheses, powers.divisor_hypotheses, upstreams.copy_hypotheses),
    single_edit_search.diagnose_unsummed_term,
    single_edit_search.diagnose_single_edit,
    statistics.diagnose_changed_term,
    (upstreams.added_hypotheses,),
    single_edit_search.diagnose_missing_term,
    lambda view: scaled_mistakes.diagnose_scaled(view, predicted(view, TWOFOLD if len(view.paths) == 1 else OF_ALL)),
    partial(shares.diagnose_shares, every=True),
    layout.diagnose_misplaced,
    unrecognised.diagnose_confined,
    unrecognised.diagnose_ties,
    unrecognised.diagnose_gated,
    unrecognised.without_upstream,
    off_terms.diagnose_off_term,
    shares.diagnose_parts,
    lambda view: off_terms.diagnose_rest(view, partial(predicted, families=(*TWOFOLD, powers.power_hypotheses))),
)
"""Families of predictions, and readers that look at the learner's tensor itself."""

OF_A_TERM = re.compile(":term-(?:sign|factor)")

TWOFOLD: tuple[Family, ...] = (
    reductions.reduction_hypotheses,
    layout.shape_hypotheses,
    *OPERATIONS,
    upstreams.upstream_hypotheses,
)
OF_ALL: tuple[Family, ...] = (powers.divisor_hypotheses,)
"""Those that predict all shares of several alike."""


def predicted(view: GradientAnalysis, families: tuple[Family, ...]) -> Iterator[Hypothesis]:
    return (mistake for family in families for mistake in family(view))


@np.errstate(all="ignore")
def diagnose(case: WrongGradient) -> Diagnosis | None:
    """The mistake behind a wrong gradient; None where nothing holds it.

    A function of its argument alone, of plain data to plain data: it may run anywhere.
    """
    readers = (
        elsewhere.diagnose_elsewhere,
        rereading.not_finite,
        unrecognised.cut_to_integers,
        unrecognised.too_coarse,
        unrecognised.all_zeros,
    )
    broken = next((diagnosis for read in readers if (diagnosis := read(case)) is not None), None)
    view = GradientAnalysis(split_outputs(case if broken is not None else loss_weight.with_loss_weight(case)))
    if broken is not None:
        # A factor that is missing, or a tensor that is taken from itself, says more than that all is zero. A term that
        # is missing does not: whatever is zero, the whole of the gradient mends.
        if broken.code == f"{case.name}:not-finite":
            # What belongs there says more than what the numbers made of it, and both are true.
            slip = single_edit_search.diagnose_exchanged_part(view)
            return broken if slip is None else replace(slip, message=f"{slip.message} {broken.message}")
        edit = single_edit_search.diagnose_single_edit(view) if broken.code == f"{case.name}:zeros" else None
        return broken if edit is None or edit.code == f"{case.name}:term-missing" else edit
    if not view.paths:
        return None
    named = _named_mistake(view)
    if named is None:
        return _in_its_own_shape(case) or unrecognised.another_shape(case)
    diagnosis = helper_lines.with_line(view, named)
    if diagnosis.line is None and OF_A_TERM.search(diagnosis.code):
        line = single_edit_search.line_of_excess(view)
        diagnosis = diagnosis if line is None else helper_lines.placed_at(view, diagnosis, line)
    return diagnosis if diagnosis.line is not None else replace(diagnosis, line=helper_lines.wrong_write(view))


def _named_mistake(view: GradientAnalysis) -> Diagnosis | None:
    doubtful: Hypothesis | None = None
    for stage in STAGES:
        if callable(stage):
            # A reader has no evidence of its own: where no lines speak against it, what was seen before is louder.
            diagnosis = None if doubtful is not None and cannot_be_read(view) else _try_reader(stage, view)
            view.undone_in = None
            if diagnosis is not None:
                return diagnosis
            continue
        hit = view.best_hypothesis(predicted(view, stage))
        if hit is not None and view.evidence(hit) >= 0:
            return view.to_diagnosis(hit)
        doubtful = doubtful or hit
    return view.to_diagnosis(doubtful) if doubtful is not None and cannot_be_read(view) else None


def _try_reader(reader: Reader, view: GradientAnalysis) -> Diagnosis | None:
    try:
        diagnosis = reader(view)
        return diagnosis if diagnosis is None or view.is_of_program(diagnosis.message, view.text.words) else None
    except np.linalg.LinAlgError:
        # Numbers of a size that no fit survives have nothing to tell.
        return None


@np.errstate(all="ignore")
def diagnose_in_sizes(case: WrongGradient, dims: Mapping[str, int]) -> Diagnosis | None:
    """Diagnose the mistake that is left once *dims* replace literal sizes; the tensor of the case is not read."""
    return two_slips.in_sizes(case, dims, diagnose)


@np.errstate(all="ignore")
def describe_unrecognised(case: WrongGradient) -> Diagnosis:
    """True facts about a wrong gradient that `diagnose` has no name for."""
    return unrecognised.describe_difference(case)


@np.errstate(all="ignore")
def place_unrecognised(case: WrongGradient, diagnosis: Diagnosis) -> Diagnosis:
    """*diagnosis*, which names no mistake, with the line of the step that is wrong, where one is known to be."""
    view = GradientAnalysis(split_outputs(loss_weight.with_loss_weight(case)))
    return helper_lines.with_line(view, diagnosis) if view.paths else diagnosis


def _in_its_own_shape(case: WrongGradient) -> Diagnosis | None:
    """The diagnosis of a tensor that lacks or has too many axes of size 1 and whose numbers are wrong as well."""
    looks = case.looks
    same = all(look.got.size == look.reference.size for look in looks)
    if not same or all(look.is_shaped for look in looks):
        return None
    squeezed = [(look.got.squeeze().shape, look.reference.squeeze().shape) for look in looks]
    if any(got != reference for got, reference in squeezed):
        return None
    reshaped = tuple(replace(look, got=look.got.reshape(look.reference.shape)) for look in looks)
    diagnosis = diagnose(replace(case, looks=reshaped))
    if diagnosis is None:
        return None
    return replace(diagnosis, message=f"{diagnosis.message} Besides, {layout.wrong_shape(case)}")
