"""Slips where a tensor feeds several lines, other than a factor on a share.

| code | what the learner has |
|---|---|
| `crossed:A+B` | the gradients of the consumers A and B exchanged |
| `overwritten:C` | the share through C written over the others at the entries that C reads, not added to them |
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.gather import overwritten
from app.grading.diagnosis.slips import local
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path


def mistakes(bench: Bench) -> Iterator[Mistake]:
    if len(bench.paths) < 2:
        return
    for one, other in combinations(bench.paths, 2):
        if one.consumer != other.consumer:
            code = f"crossed:{one.consumer}+{other.consumer}"
            say = partial(_say_crossed, one=one.consumer, other=other.consumer)
            yield Mistake(code=code, predict=partial(_crossed, bench, one, other), say=say)
    for path in bench.paths:
        predict = partial(_written_over, path)
        yield Mistake(code=f"overwritten:{path.consumer}", predict=predict, say=partial(_say_over, path=path))
        for turned in (False, True):
            copied = partial(_copied_over, bench, path, turned)
            yield Mistake(code=f"overwritten:{path.consumer}", predict=copied, say=partial(_say_over, path=path))


def _crossed(bench: Bench, one: Path, other: Path, _case: Case, look: Look) -> Array | None:
    first, second = bench.steps(one, look), bench.steps(other, look)
    if not first or not second:
        return None
    a, b = first[-1], second[-1]
    sent = (_sent(a, b.g), _sent(b, a.g)) if a.g.shape == b.g.shape else (None, None)
    if sent[0] is None or sent[1] is None:
        return None
    return np.asarray(look.reference - look.shares[one.key] - look.shares[other.key] + sent[0] + sent[1])


def _sent(step: Step, g: Array) -> Array | None:
    return step.carried(vjp(step.node, step.position, g))


def _written_over(path: Path, _case: Case, look: Look) -> Array:
    share = look.shares[path.key]
    return np.where(share == 0, look.reference, share)


def _copied_over(bench: Bench, path: Path, turned: bool, _case: Case, look: Look) -> Array | None:
    """The rows that an index picked hold one share of theirs, and nothing of what the other lines had sent."""
    steps = bench.steps(path, look)
    if not steps or steps[-1].node.op != "index":
        return None
    rows = overwritten(steps[-1], turned)
    picked = local(steps[-1]) != 0
    return None if rows is None else np.where(picked, rows, look.reference - look.shares[path.key])


def _say_crossed(case: Case, one: str, other: str) -> str:
    return (
        f"`{case.tensor}` feeds `{one}` and `{other}`. In `{case.name}` what arrives from one of them is joined with "
        "what belongs to the other: each product takes its two factors from the same line."
    )


def _say_over(case: Case, path: Path) -> str:
    return (
        f"In `{case.name}` the share through `{path.consumer}` stands in the place of what the other lines had sent to "
        "the same entries. Add it to what is there."
    )
