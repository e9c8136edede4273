"""Tables of slips at one operation, applied to every operation on every path of the tensor.

A slip predicts what the learner sends to the operand; the steps below and the other paths are taken as right.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

Predict = Callable[[Step], Array | None]


@dataclass(frozen=True, slots=True)
class Slip:
    """One row of a table.

    Args:
        code: The part of the diagnosis code after the name.
        predict: What is sent to the operand, before a broadcast is undone; None where the slip does not apply.
        say: The sentence; the fields are those of `Bench.spot`.
        mentions: Names or fields (such as `{x}`) that stand in the code of a learner who makes it.
    """

    code: str
    predict: Predict
    say: str
    mentions: tuple[str, ...] = ()


def applied(bench: Bench, tables: Mapping[str, tuple[Slip, ...]]) -> Iterator[Mistake]:
    """Every row of *tables* at every step whose operation has one; the table `*` holds for operations without one."""
    for path, depth, step in every_step(bench):
        for slip in tables.get(step.node.op, tables.get("*", ())):
            yield at_step(bench, path, depth, slip)


def every_step(bench: Bench) -> Iterator[tuple[Path, int, Step]]:
    for path in bench.paths:
        for depth, step in enumerate(bench.steps(path, bench.case.looks[0])):
            yield path, depth, step


def at_step(bench: Bench, path: Path, depth: int, slip: Slip) -> Mistake:
    fields = bench.spot(path, depth)
    mentions = tuple(word for word in (mention.format(**fields) for mention in slip.mentions) if word.isidentifier())
    return Mistake(
        code=_code(slip.code, fields),
        predict=partial(_predict, bench, path, depth, slip.predict),
        say=lambda _: slip.say.format(**fields),
        mentions=mentions,
    )


def _code(pattern: str, fields: Mapping[str, str]) -> str:
    """The code with the name of an operand, where the operand is a tensor with a name."""
    row, _, detail = pattern.partition(":")
    detail = detail.format(**fields)
    return f"{row}:{detail}" if detail.replace("+", "").isidentifier() else row


def _predict(bench: Bench, path: Path, depth: int, predict: Predict, _case: Case, look: Look) -> Array | None:
    steps = bench.steps(path, look)
    if depth >= len(steps):
        return None
    return bench.resent(path, depth, look, predict(steps[depth]))


def curve(rule: Callable[[Array, Array], Array]) -> Predict:
    """A slip that multiplies g by another function of x and y."""
    return lambda step: np.asarray(step.g * rule(step.x, step.y))


def right(step: Step) -> Array:
    """What the step should send to its operand."""
    return vjp(step.node, step.position, step.g)


def local(step: Step) -> Array:
    """The local derivative alone: what is sent when the upstream is forgotten."""
    return vjp(step.node, step.position, np.ones_like(step.g))


def throughout(bench: Bench, tables: Mapping[str, tuple[Slip, ...]]) -> Iterator[Mistake]:
    """The same slip on every path of a tensor that feeds several lines, as a loop makes it."""
    if len(bench.paths) < 2:
        return
    seen: set[tuple[str, str, int]] = set()
    for path, depth, step in every_step(bench):
        for rank, slip in enumerate(tables.get(step.node.op, tables.get("*", ()))):
            if (slip.code, step.node.op, rank) in seen:
                continue
            seen.add((slip.code, step.node.op, rank))
            fields = bench.spot(path, depth)
            predict = partial(_together, bench, tables, slip, step.node.op)
            say = f"{slip.say.format(**fields)} The same holds on every way that `{fields['tensor']}` takes."
            yield Mistake(code=_code(slip.code, fields), predict=predict, say=partial(_said, say))


def _said(text: str, _case: Case) -> str:
    return text


def _together(
    bench: Bench, tables: Mapping[str, tuple[Slip, ...]], slip: Slip, op: str, _case: Case, look: Look
) -> Array | None:
    total, changed = np.zeros_like(look.reference), 0
    for path in bench.paths:
        share = _share(bench, tables, slip, op, path, look)
        changed += share is not None
        share = look.shares[path.key] if share is None else share
        if share.shape != total.shape:
            return None
        total = total + share
    return total if changed > 1 else None


def _share(
    bench: Bench, tables: Mapping[str, tuple[Slip, ...]], slip: Slip, op: str, path: Path, look: Look
) -> Array | None:
    """What *path* gives with the slip, or with the one of the same code for the operation that it goes through."""
    steps = bench.steps(path, look)
    tried = [(step, slip) for step in steps if step.node.op == op]
    if not tried and ":" in slip.code:
        tried = [(step, one) for step in steps for one in tables.get(step.node.op, ()) if one.code == slip.code]
    shares = (step.carried(one.predict(step)) for step, one in tried)
    return next((share for share in shares if share is not None), None)
