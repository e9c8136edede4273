"""Names the mistake behind one wrong gradient, or says that no table holds it.

A mistake is named only where its prediction is the learner's tensor in every look, so nothing here is a guess.
Stages go from what is cheap and certain to what is rare: not finite, hard-coded sizes, reductions and shapes, the
shares and their factors, the tables of the operations, other tensors in their places, a wrong upstream, powers of a
tensor, factors without a name, and last the place of the error. Each family lists its codes in its docstring; a code
is the learner's name, a colon, and the row's own.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from app.grading.diagnosis import (
    elementwise,
    entropy,
    finite,
    forks,
    fused,
    gather,
    layer,
    locality,
    matmul,
    mend,
    moves,
    norm,
    order,
    pairing,
    product,
    reduction,
    router,
    scope,
    shape,
    shares,
    size,
    slices,
    softmax,
    twofold,
    unrecognised,
    upstream,
    views,
)
from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Case, Diagnosis, Mistake
from app.grading.diagnosis.slips import applied, throughout
from app.grading.diagnosis.unpacked import unpacked

Family = Callable[[Bench], Iterator[Mistake]]
Reader = Callable[[Bench], Diagnosis | None]


def operations(bench: Bench) -> Iterator[Mistake]:
    yield from applied(bench, SLIPS)


def on_every_path(bench: Bench) -> Iterator[Mistake]:
    yield from throughout(bench, SLIPS)


SLIPS = {**elementwise.SLIPS, **product.SLIPS, **softmax.SLIPS, **layer.SLIPS, **entropy.SLIPS, **moves.SLIPS}

OPERATIONS: tuple[Family, ...] = (
    operations,
    matmul.mistakes,
    router.mistakes,
    gather.mistakes,
    views.mistakes,
)
STAGES: tuple[tuple[Family, ...] | Reader, ...] = (
    size.hard_coded,
    order.called_again,
    (reduction.mistakes, shape.mistakes),
    (norm.constants,),
    shares.named,
    (norm.mistakes,),
    norm.terms,
    order.read_early,
    OPERATIONS,
    (product.of_operands,),
    fused.terms,
    fused.average,
    gather.positions,
    (product.from_scope, upstream.mistakes),
    (slices.mistakes, on_every_path),
    (norm.other_axes,),
    (forks.mistakes, pairing.mistakes),
    (scope.mistakes, upstream.copies),
    norm.changed,
    mend.repaired,
    lambda bench: twofold.scaled(bench, predicted(bench, TWOFOLD)),
    shares.unnamed,
    views.misplaced,
    locality.confined,
)
"""Families of predictions, and readers that look at the learner's tensor itself."""

TWOFOLD: tuple[Family, ...] = (reduction.mistakes, shape.mistakes, *OPERATIONS, product.of_operands, upstream.mistakes)


def predicted(bench: Bench, families: tuple[Family, ...]) -> Iterator[Mistake]:
    return (mistake for family in families for mistake in family(bench))


@np.errstate(all="ignore")
def diagnose(case: Case) -> Diagnosis | None:
    """The mistake behind a wrong gradient; None where no table holds it."""
    asked = (finite.not_finite, unrecognised.cut_to_integers, unrecognised.too_coarse, unrecognised.all_zeros)
    broken = next((found for ask in asked if (found := ask(case)) is not None), None)
    if broken is not None:
        return broken
    bench = Bench(unpacked(case))
    if not bench.paths:
        return None
    return _named(bench) or _in_its_own_shape(case) or unrecognised.another_shape(case)


def _named(bench: Bench) -> Diagnosis | None:
    doubtful: Mistake | None = None
    for stage in STAGES:
        if callable(stage):
            # A reader has no evidence of its own; what was seen before speaks louder.
            found = None if doubtful is not None else _read(stage, bench)
            if found is not None:
                return found
            continue
        hit = bench.first(predicted(bench, stage))
        if hit is not None and bench.evidence(hit) >= 0:
            return bench.said(hit)
        doubtful = doubtful or hit
    return None if doubtful is None else bench.said(doubtful)


def _read(reader: Reader, bench: Bench) -> Diagnosis | None:
    try:
        return reader(bench)
    except np.linalg.LinAlgError:
        # Numbers of a size that no fit survives have nothing to tell.
        return None


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
    return replace(found, message=f"{found.message} Besides, {shape.wrong_shape(case)}")
