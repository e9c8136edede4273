"""Names the mistake behind one wrong gradient, or says that no table holds it.

The order: not finite, shape, regression on shares with its named factors, reductions, the tables of the operations,
tensors from scope, a wrong upstream, products of powers, factors without a name, the place of the error. A mistake is
named only where its prediction is the learner's tensor in every look, so nothing here is a guess.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from app.grading.evidence import Case, Diagnosis, Mistake
from app.grading.mistakes import elementwise, facts, matmul, product, reduction, shape, shares, upstream
from app.grading.mistakes.bench import Bench
from app.grading.mistakes.slips import applied

Stage = Callable[[Bench], Diagnosis | None]


def table(*families: Callable[[Bench], Iterator[Mistake]]) -> Stage:
    """A stage that looks for a prediction of *families* that came true."""
    return lambda bench: bench.first(mistake for family in families for mistake in family(bench))


def _operations(bench: Bench) -> Iterator[Mistake]:
    yield from applied(bench, SLIPS)


SLIPS = {**elementwise.SLIPS, **product.SLIPS}

STAGES: tuple[Stage, ...] = (
    table(reduction.mistakes, shape.mistakes),
    shares.named,
    table(_operations, matmul.mistakes),
    table(product.from_scope, upstream.mistakes),
    shares.unnamed,
)


def diagnose(case: Case) -> Diagnosis | None:
    """The mistake behind a wrong gradient; None where no table holds it."""
    broken = facts.not_finite(case) or facts.all_zeros(case)
    if broken is not None:
        return broken
    bench = Bench(case)
    if not bench.paths:
        return None
    for stage in STAGES:
        found = stage(bench)
        if found is not None:
            return found
    return _in_its_own_shape(case)


def describe_unrecognised(case: Case) -> Diagnosis:
    """True facts about a wrong gradient that `diagnose` has no name for."""
    return facts.unrecognised(case)


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
