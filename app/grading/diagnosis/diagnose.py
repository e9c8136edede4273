"""Names the mistake behind one wrong gradient, or says that nothing here holds it.

A mistake is named only where its prediction is the learner's tensor in every look, so nothing here is a guess.
Stages go from what is cheap and certain to what is rare: not finite, hard-coded sizes, reductions and shapes, the
shares and their factors, the edits of the rules, other tensors in their places, a wrong upstream, powers of a tensor,
edits of the learner's own line, factors without a name, and last the place of the error. Each family lists its codes in
its docstring, and the edits in `phrases.toml`; a code is the learner's name, a colon, and the row's own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from app.grading.diagnosis import (
    elsewhere,
    factors,
    forks,
    layout,
    mend,
    picks,
    powers,
    products,
    reductions,
    rereading,
    shares,
    size,
    slips,
    statistics,
    two_slips,
    unrecognised,
    upstreams,
)
from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.evidence import Case, Diagnosis, Mistake
from app.grading.diagnosis.grammar import operated
from app.grading.diagnosis.unpacked import unpacked

Family = Callable[[CaseView], Iterator[Mistake]]
Reader = Callable[[CaseView], Diagnosis | None]


def open_fractions(view: CaseView) -> Diagnosis | None:
    """A fraction behind `**` without its brackets, and what is left with them."""
    return two_slips.half_powers(view, diagnose)


OPERATIONS: tuple[Family, ...] = (slips.edited, products.mistakes, picks.mistakes, layout.views)
STAGES: tuple[tuple[Family, ...] | Reader, ...] = (
    size.hard_coded,
    rereading.called_again,
    rereading.expanded,
    (reductions.mistakes, layout.shapes),
    (statistics.constants,),
    partial(shares.read, every=False),
    rereading.read_early,
    open_fractions,
    OPERATIONS,
    shares.terms,
    picks.positions,
    (slips.of_scope, upstreams.mistakes),
    (upstreams.changed, slips.throughout),
    (statistics.constant, statistics.other_axes),
    unrecognised.fixed,
    (forks.mistakes,),
    (powers.mistakes, upstreams.copies),
    mend.mended,
    statistics.changed,
    (upstreams.added,),
    lambda view: factors.scaled(view, predicted(view, TWOFOLD)),
    partial(shares.read, every=True),
    layout.misplaced,
    unrecognised.confined,
    unrecognised.gated,
)
"""Families of predictions, and readers that look at the learner's tensor itself."""

TWOFOLD: tuple[Family, ...] = (reductions.mistakes, layout.shapes, *OPERATIONS, upstreams.mistakes)


def predicted(view: CaseView, families: tuple[Family, ...]) -> Iterator[Mistake]:
    return (mistake for family in families for mistake in family(view))


@np.errstate(all="ignore")
def diagnose(case: Case) -> Diagnosis | None:
    """The mistake behind a wrong gradient; None where nothing holds it.

    A function of its argument alone, of plain data to plain data: it may run anywhere.
    """
    asked = (
        elsewhere.written,
        rereading.not_finite,
        unrecognised.cut_to_integers,
        unrecognised.too_coarse,
        unrecognised.all_zeros,
    )
    broken = next((found for ask in asked if (found := ask(case)) is not None), None)
    view = CaseView(unpacked(case))
    if broken is not None:
        # A product with what is zero at first: another operator says more than that all is zero.
        operator = mend.mended_by(view, [operated]) if broken.code == f"{case.name}:zeros" else None
        return operator or broken
    if not view.paths:
        return None
    return _named(view) or _in_its_own_shape(case) or unrecognised.another_shape(case)


def _named(view: CaseView) -> Diagnosis | None:
    doubtful: Mistake | None = None
    for stage in STAGES:
        if callable(stage):
            # A reader has no evidence of its own; what was seen before speaks louder.
            found = None if doubtful is not None else _read(stage, view)
            if found is not None:
                return found
            continue
        hit = view.first(predicted(view, stage))
        if hit is not None and view.evidence(hit) >= 0:
            return view.said(hit)
        doubtful = doubtful or hit
    return None if doubtful is None else view.said(doubtful)


def _read(reader: Reader, view: CaseView) -> Diagnosis | None:
    try:
        return reader(view)
    except np.linalg.LinAlgError:
        # Numbers of a size that no fit survives have nothing to tell.
        return None


@np.errstate(all="ignore")
def diagnose_in_sizes(case: Case, dims: Mapping[str, int]) -> Diagnosis | None:
    """The mistake that is left once *dims* stand where the learner wrote their sizes; what the case has is not read."""
    return two_slips.in_sizes(case, dims, diagnose)


@np.errstate(all="ignore")
def describe_unrecognised(case: Case) -> Diagnosis:
    """True facts about a wrong gradient that `diagnose` has no name for."""
    return unrecognised.unrecognised(case)


def _in_its_own_shape(case: Case) -> Diagnosis | None:
    """The diagnosis of a tensor that lacks or has too many axes of size 1 and whose numbers are wrong as well."""
    looks = case.looks
    same = all(look.got.size == look.reference.size for look in looks)
    if not same or all(look.got.shape == look.reference.shape for look in looks):
        return None
    squeezed = [(look.got.squeeze().shape, look.reference.squeeze().shape) for look in looks]
    if any(got != reference for got, reference in squeezed):
        return None
    reshaped = tuple(replace(look, got=look.got.reshape(look.reference.shape)) for look in looks)
    found = diagnose(replace(case, looks=reshaped))
    if found is None:
        return None
    return replace(found, message=f"{found.message} Besides, {layout.wrong_shape(case)}")
