"""A tensor that is used in step after step: what arrives at one step, joined with the factor of another.

| code | what the learner has |
|---|---|
| `steps-shifted` | each gradient met the factor of the step before or after its own, or all of them the same one |
| `steps-mixed` | the sum of the factors times the sum of the gradients |
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.naming import in_code, listed
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp

MEETINGS = frozenset({"matmul", "mul"})
Pairs = Sequence[tuple[int, Array]]
Pattern = Callable[[Sequence[Step]], Pairs]


def mistakes(bench: Bench) -> Iterator[Mistake]:
    steps = _meetings(bench, bench.case.looks[0])
    if steps is None:
        return
    for code, pattern, say in _patterns(steps):
        predict = partial(_predict, bench, pattern)
        yield Mistake(code=code, predict=predict, say=partial(_say, steps=steps, say=say))


def _meetings(bench: Bench, look: Look) -> list[Step] | None:
    """By path, the step in which what arrives meets the other factor; None where the paths are not alike."""
    found = []
    for path in bench.paths:
        step = next((step for step in reversed(bench.steps(path, look)) if step.node.op in MEETINGS), None)
        if step is None:
            return None
        found.append(step)
    kinds = {(step.node.op, step.position, step.z.shape, step.g.shape) for step in found}
    return found if len(found) > 1 and len(kinds) == 1 else None


def _patterns(steps: Sequence[Step]) -> Iterator[tuple[str, Pattern, str]]:
    beside = "each gradient meets the factor of a neighbouring step"
    factors = [step.z for step in steps]
    more = [
        name
        for name, tensor in steps[0].look.forward.items()
        if tensor.shape == factors[0].shape
        and not any(tensor is each or np.array_equal(tensor, each) for each in factors)
    ]
    for by in (1, -1):
        yield "steps-shifted", partial(_shifted, by=by, wrap=False, more=None), beside
        for name in (None, *more):
            yield "steps-shifted", partial(_shifted, by=by, wrap=True, more=name), beside
    for at in range(len(steps)):
        yield "steps-shifted", partial(_all_one, at=at), "every gradient meets the factor of one and the same step"
    yield "steps-shifted", _backwards, "the factors are met in the reverse order of the steps"
    yield "steps-mixed", _mixed, "the factors are added up first, and so are the gradients"


def _shifted(steps: Sequence[Step], by: int, wrap: bool, more: str | None) -> Pairs:
    """Factors one step further; with *more* at the end of them, such as the state that the last step leaves."""
    factors = [step.z for step in steps] + ([] if more is None else [steps[0].look.forward[more]])
    places = range(len(steps))
    if wrap:
        return [(at, factors[(at + by) % len(factors)]) for at in places]
    return [(at, factors[at + by]) for at in places if 0 <= at + by < len(factors)]


def _all_one(steps: Sequence[Step], at: int) -> Pairs:
    return [(place, steps[at].z) for place in range(len(steps))]


def _backwards(steps: Sequence[Step]) -> Pairs:
    return [(place, steps[-1 - place].z) for place in range(len(steps))]


def _mixed(steps: Sequence[Step]) -> Pairs:
    total = np.asarray(sum(step.z for step in steps))
    return [(place, total) for place in range(len(steps))]


def _predict(bench: Bench, pattern: Pattern, _case: Case, look: Look) -> Array | None:
    steps = _meetings(bench, look)
    pairs = pattern(steps) if steps is not None and len(steps) == len(bench.paths) else ()
    if steps is None or not pairs:
        return None
    total: Array | None = None
    for at, factor in pairs:
        share = _sent(steps[at], factor)
        if share is None:
            return None
        total = share if total is None else total + share
    return total


def _sent(step: Step, factor: Array) -> Array | None:
    operands = list(step.node.operands)
    other = 1 - step.position
    operands[other] = replace(operands[other], value=factor)
    return step.carried(vjp(replace(step.node, operands=tuple(operands)), step.position, step.g))


def _say(case: Case, steps: Sequence[Step], say: str) -> str:
    lines = listed([in_code(name) for name in dict.fromkeys(step.statement.outputs[0] for step in steps)])
    factors = listed([in_code(step.node.operands[1 - step.position].text) for step in steps])
    return (
        f"`{case.tensor}` is used in the steps {lines}, each time with a factor of its own: {factors}. "
        f"In `{case.name}` {say}."
    )
