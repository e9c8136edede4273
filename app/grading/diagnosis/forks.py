"""Slips where a tensor feeds several lines, other than a factor on a share.

| code | what the learner has |
|---|---|
| `crossed:A+B` | the gradients of the consumers A and B exchanged |
| `overwritten:C` | the share through C written over the others at the entries that C reads, not added to them |
| `steps-shifted` | used in step after step: each gradient met the factor of a neighbouring step, or all the same one |
| `steps-mixed` | used in step after step: the sum of the factors times the sum of the gradients |
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.claims import writes_parts
from app.grading.diagnosis.evidence import Array, Hypothesis, Observation, Predict
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.index_slips import is_pick, last_shares
from app.grading.diagnosis.naming import in_code, join_words
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.reading.rules import backward, with_operand

SAY = sentences_of("forks")

MEETINGS = frozenset({"matmul", "mul"})
Pairs = Sequence[tuple[int, Array]]


def fork_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    if len(view.paths) < 2:
        return
    for item, other in combinations(view.paths, 2):
        if item.consumer != other.consumer:
            code, pair = f"crossed:{item.consumer}+{other.consumer}", {"one": item.consumer, "other": other.consumer}
            say = SAY["crossed" if _multiplies(view, item) and _multiplies(view, other) else "exchanged"]
            yield view.hypothesis(code, partial(_gradient_if_crossed, view, item, other), say, **pair)
    for path in view.paths:
        copied = [partial(_copied_over, view, path, turned) for turned in (False, True)]
        ways: list[Predict] = [partial(_written_over, path), *copied]
        for predict in ways:
            claim = partial(writes_parts, view)
            yield view.hypothesis(f"overwritten:{path.consumer}", predict, SAY["over"], (), claim, one=path.consumer)
    yield from _in_steps(view)


def _multiplies(view: GradientAnalysis, path: GradientPath) -> bool:
    """True if the way of *path* goes through a product."""
    return any(step.node.op in MEETINGS for step in view.steps(path, view.first_look))


def _gradient_if_crossed(
    view: GradientAnalysis, path: GradientPath, other: GradientPath, look: Observation
) -> Array | None:
    a, b = view.steps(path, look)[-1], view.steps(other, look)[-1]
    if a.g.shape != b.g.shape:
        return None
    sent = [step.carried(step.sends(g)) for step, g in ((a, b.g), (b, a.g))]
    if sent[0] is None or sent[1] is None:
        return None
    return np.asarray(look.reference - look.shares[path.key] - look.shares[other.key] + sent[0] + sent[1])


def _written_over(path: GradientPath, look: Observation) -> Array:
    share = look.shares[path.key]
    return np.where(share == 0, look.reference, share)


def _copied_over(view: GradientAnalysis, path: GradientPath, turned: bool, look: Observation) -> Array | None:
    """The rows that an index picked hold one share of theirs, and nothing of what the other lines had sent."""
    step = view.steps(path, look)[-1]
    if not is_pick(step):
        return None
    picked = step.of_ones != 0
    return np.where(picked, last_shares(step, turned), look.reference - look.shares[path.key])


# A tensor that is used in step after step.


def _in_steps(view: GradientAnalysis) -> Iterator[Hypothesis]:
    steps = _meetings(view, view.first_look)
    if all(np.array_equal(step.z, steps[0].z) for step in steps):
        return  # none of the factors is another one's
    lines = join_words([in_code(name) for name in dict.fromkeys(step.statement.outputs[0] for step in steps)])
    factors = join_words([in_code(step.node.operands[1 - step.position].text) for step in steps])
    for at, (code, pairs, say) in enumerate(_patterns(steps)):
        steps_say = SAY["steps" if view.is_of_program(f"{lines} {factors}") else "turns"]
        how = say
        if len({id(step.statement) for step in steps}) == 1:
            if len(pairs) < len(steps):
                continue  # where no steps end, none of the places is left over
            steps_say, how = SAY["places"], say.replace("step", "place")
        yield view.hypothesis(
            code, partial(_gradient_if_joined, view, at), steps_say, lines=lines, factors=factors, how=how
        )


def _meetings(view: GradientAnalysis, look: Observation) -> list[PathStep]:
    """By path, the step in which what arrives meets the other factor; empty where the paths are not alike."""
    met = ([step for step in view.steps(path, look) if step.node.op in MEETINGS] for path in view.paths)
    path_steps = [steps[-1] for steps in met if steps]
    kinds = {(step.node.op, step.position, step.z.shape, step.g.shape) for step in path_steps}
    return path_steps if len(path_steps) == len(view.paths) and len(kinds) == 1 else []


def _patterns(steps: Sequence[PathStep]) -> Iterator[tuple[str, Pairs, str]]:
    """Which factor each gradient may have met."""
    beside = "each gradient meets the factor of a neighbouring step"
    factors, places = [step.z for step in steps], range(len(steps))
    states = [
        tensor
        for tensor in steps[0].look.forward.values()
        if tensor.shape == factors[0].shape and not any(np.array_equal(tensor, each) for each in factors)
    ]
    for by in (1, -1):
        yield "steps-shifted", [(at, factors[at + by]) for at in places if 0 <= at + by < len(factors)], beside
        for more in ([], *([state] for state in states)):
            longer = [*factors, *more]
            yield "steps-shifted", [(at, longer[(at + by) % len(longer)]) for at in places], beside
    for same in factors:
        yield "steps-shifted", [(at, same) for at in places], "every gradient meets the factor of one and the same step"
    reverse = "the factors are met in the reverse order of the steps"
    yield "steps-shifted", [(at, factors[-1 - at]) for at in places], reverse
    total = np.asarray(sum(factors))
    yield "steps-mixed", [(at, total) for at in places], "the factors are added up first, and so are the gradients"


def _gradient_if_joined(view: GradientAnalysis, rank: int, look: Observation) -> Array | None:
    steps = _meetings(view, look)
    patterns = list(_patterns(steps)) if steps else []
    pairs = patterns[rank][1] if rank < len(patterns) else ()
    shares = [share for at, factor in pairs if (share := _meeting(steps[at], factor)) is not None]
    return np.asarray(sum(shares)) if shares and len(shares) == len(pairs) else None


def _meeting(step: PathStep, factor: Array) -> Array | None:
    return step.carried(backward(with_operand(step.node, 1 - step.position, factor), step.position, step.g))
