"""A tensor of the program too much or too little: the right share times a power of it.

| code | the learner's share divided by the right one |
|---|---|
| `factor-extra:T` | T |
| `divided-by:T` | 1/T: T is missing or divided by |
| `factor-power:T:k` | T^k, k = ±2, ±½; ±3/2, ±3, ±4 for tensors of the statement |
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.evidence import Array, Case, Look, Mistake
from app.grading.diagnosis.reduction import unreduced
from app.grading.diagnosis.rules import reduce_to
from app.grading.diagnosis.slips import Slip, at_step, every_step
from app.grading.diagnosis.steps import Step
from app.grading.diagnosis.vjp import vjp
from app.grading.forward.program import Path

POWERS = {1.0: "", -1.0: "", 2.0: "2", -2.0: "-2", 0.5: "1/2", -0.5: "-1/2"}
RARE = {1.5: "3/2", -1.5: "-3/2", 3.0: "3", -3.0: "-3", 4.0: "4", -4.0: "-4"}
"""Powers that are tried for the tensors of the consumer's own statement only."""
NAMES = {**POWERS, **RARE}


def mistakes(bench: Bench) -> Iterator[Mistake]:
    """Powers of a tensor in the share before it was summed, for the tensors of the consumer's own statement first."""
    look = bench.case.looks[0]
    for path in bench.paths:
        wide = unreduced(look, path).shape
        for name in _by_nearness(look, path):
            if _fits(look.forward[name], wide):
                near = name in (*path.statement.inputs, *path.statement.outputs)
                for power in NAMES if near else POWERS:
                    yield _row(bench, path, name, power)
    yield from _at_upstream(bench)
    if len(bench.paths) > 1:
        yield from _of_whole(bench)


def _by_nearness(look: Look, path: Path) -> list[str]:
    near = list(
        dict.fromkeys(name for name in (*path.statement.inputs, *path.statement.outputs) if name in look.forward)
    )
    return near + [name for name in look.forward if name not in near]


def _fits(tensor: Array, wide: tuple[int, ...]) -> bool:
    if tensor.dtype.kind != "f":
        return False
    try:
        return np.broadcast_shapes(tensor.shape, wide) == wide
    except ValueError:
        return False


def _row(bench: Bench, path: Path, name: str, power: float) -> Mistake:
    return Mistake(
        code=_code(name, power),
        predict=partial(_predict, bench, path, name, power),
        say=partial(_say, path=path, name=name, power=power),
        mentions=(name,) if power > 0 else (),
    )


def _code(name: str, power: float) -> str:
    if abs(power) == 1.0:
        return f"factor-extra:{name}" if power > 0 else f"divided-by:{name}"
    return f"factor-power:{name}:{NAMES[power]}"


def _predict(bench: Bench, path: Path, name: str, power: float, _case: Case, look: Look) -> Array | None:
    full = unreduced(look, path) * look.forward[name].astype(np.float64) ** power
    return bench.exchanged(path, look, reduce_to(full, look.reference.shape))


def _at_upstream(bench: Bench) -> Iterator[Mistake]:
    """The same at the output of each step, where that is another place than its operand."""
    for path, depth, step in every_step(bench):
        if step.g.shape == step.x.shape and step.node.op not in {"matmul", "index", "softmax", "log_softmax"}:
            continue
        for name in _by_nearness(step.look, path):
            if _fits(step.look.forward[name], step.g.shape):
                for power in (1.0, -1.0):
                    slip = Slip(_code(name, power), partial(_scaled, name=name, power=power), "", (name,))
                    mistake = at_step(bench, path, depth, slip)
                    say = partial(_say, path=path, name=name, power=power)
                    yield Mistake(code=mistake.code, predict=mistake.predict, say=say, mentions=mistake.mentions)


def _of_whole(bench: Bench) -> Iterator[Mistake]:
    """Factors that all shares have in common."""
    look, line = bench.case.looks[0], bench.paths[-1]
    fitting = [name for name in look.forward if _fits(look.forward[name], look.reference.shape)]
    small = [name for name in fitting if look.forward[name].size < look.reference.size]
    for name in fitting:
        for power in (1.0, -1.0, 2.0, -2.0):
            predict = partial(_whole, names=(name,), power=power)
            say = partial(_say, path=line, name=name, power=power)
            yield Mistake(code=_code(name, power), predict=predict, say=say)
    for one, other in combinations(small, 2):
        predict = partial(_whole, names=(one, other), power=-1.0)
        say = partial(_say_pair, one=one, other=other)
        yield Mistake(code=f"divided-by:{one}+{other}", predict=predict, say=say)


def _whole(_case: Case, look: Look, names: Sequence[str], power: float) -> Array | None:
    return np.asarray(look.reference * math.prod(look.forward[name] for name in names) ** power)


def _say_pair(case: Case, one: str, other: str) -> str:
    return f"`{case.name}` lacks the factors `{one}` and `{other}`, which every share has."


def _scaled(step: Step, name: str, power: float) -> Array:
    return vjp(step.node, step.position, step.g * step.look.forward[name] ** power)


def _say(case: Case, path: Path, name: str, power: float) -> str:
    line = path.statement.source
    if power == 1.0:
        return f"`{case.name}` is scaled by `{name}` once more than the rule for `{line}` asks for."
    if power == -1.0:
        return f"`{case.name}` lacks the factor `{name}`, or divides by it once too often, in the rule for `{line}`."
    return f"`{name}` stands in `{case.name}` with another power than in the rule for `{line}`: off by {NAMES[power]}."
