"""A tensor of the program too much or too little: the right share times a power of it.

| code | the learner's share divided by the right one |
|---|---|
| `factor-extra:T`, `divisor-missing:T` | T, which the lines read; which not, or what a forward line divides by |
| `divided-by:T` | 1/T: T is missing or divided by |
| `factor-power:T:k` | T^k, k = ±2, ±½; ±3/2, ±3, ±4 for tensors of the statement |
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from app.grading.diagnosis.claims import (
    divides_once_more,
    has_factor,
    is_unmended,
    lacks_division,
    lacks_factor,
    lacks_written_factor,
    reads_all,
)
from app.grading.diagnosis.evidence import Array, Claim, Hypothesis, Observation, Predict
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import name_edits, sign_edits
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.reductions import unreduced_share
from app.grading.diagnosis.shares import lines_of
from app.grading.diagnosis.steps import PathStep
from app.grading.forward.statements import GradientPath
from app.grading.reading.node import is_broadcastable, reduce_to
from app.grading.reading.rules import names_of, rule_of

SAY = sentences_of("powers")

POWERS = {1.0: "", -1.0: "", 2.0: "2", -2.0: "-2", 0.5: "1/2", -0.5: "-1/2"}
RARE = {1.5: "3/2", -1.5: "-3/2", 3.0: "3", -3.0: "-3", 4.0: "4", -4.0: "-4"}
"""Powers that are tried for the tensors of the consumer's own statement only."""
NAMES = {**POWERS, **RARE}

OF_SHARE = {SAY[kind]: SAY[f"{kind}-share"] for kind in ("extra", "lacking", "divided", "either", "undivided")}
Once = tuple[str, str, Callable[[GradientAnalysis, str], bool]]
LARGER: tuple[Once, ...] = (
    ("factor-extra", SAY["extra"], has_factor),
    ("divisor-missing", SAY["undivided"], lacks_division),
)
ONCE_MORE: tuple[Once, ...] = (LARGER[0], ("factor-extra", SAY["extra"], lacks_division))
"""The same of a tensor that no rule on the way reads, so that none divides by it."""
SMALLER: tuple[Once, ...] = (
    ("divided-by", SAY["lacking"], lacks_written_factor),
    ("divided-by", SAY["divided"], divides_once_more),
    ("divided-by", SAY["either"], lacks_factor),
)
"""What is said of a share that is larger or smaller by a tensor, and what has to hold of the lines."""
OTHERWISE = (sign_edits, name_edits)
"""What may be wrong where an identity makes the numbers those of another power."""


def power_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """Powers of a tensor in the share before it was summed, for the tensors of the consumer's own statement first."""
    look = view.first_look
    for path in view.paths:
        wide, near = unreduced_share(look, path).shape, {*path.statement.inputs, *path.statement.outputs}
        for name in sorted(look.forward, key=lambda text: text not in near):
            if _may_scale(look.forward[name], wide):
                powers = NAMES if name in near else POWERS
                predictions = {power: partial(_scaled_share, view, path, name, power) for power in powers}
                yield from _rows(view, path, name, predictions)
    yield from _at_upstream(view)
    if len(view.paths) > 1:
        yield from _of_whole(view)


def _may_scale(tensor: Array, wide: tuple[int, ...]) -> bool:
    return tensor.dtype.kind == "f" and is_broadcastable(wide, tensor.shape)


def _rows(
    view: GradientAnalysis, path: GradientPath, name: str, predictions: Mapping[float, Predict], whole: bool = False
) -> Iterator[Hypothesis]:
    """Hypotheses of powers of the tensor *name*, each with its prediction."""
    is_read = reads_all(view, (name,))
    ways = view.paths if whole else (path,)
    is_in_rule = any(_rule_reads(view, each, name) for each in ways)
    if view.case.lines and not is_read and not is_in_rule:
        return  # by an identity alone
    larger = (LARGER if is_in_rule else ONCE_MORE) if is_read else LARGER[1:]
    for power, predict in predictions.items():
        if abs(power) != 1.0:
            code, say = f"factor-power:{name}:{NAMES[power]}", SAY["power" if is_read else "power-lost"]
            yield _row(view, path, name, power, predict, code, say, partial(is_unmended, view, OTHERWISE))
            continue
        for code, say, holds in SMALLER if power < 0 else larger:
            sentence = OF_SHARE[say] if len(view.paths) > 1 and not whole else say
            yield _row(view, path, name, power, predict, f"{code}:{name}", sentence, partial(holds, view, name))


def _rule_reads(view: GradientAnalysis, path: GradientPath, name: str) -> bool:
    """True if a rule on the way of *path* reads the tensor *name*, or a line that cannot be followed does."""
    steps = view.steps(path, view.first_look)
    followed = {step.statement for step in steps}
    beyond = {read for line in lines_of(view, path) if line not in followed for read in (*line.inputs, *line.outputs)}
    return name in beyond or any(name in _read_at(step) for step in steps)


def _read_at(step: PathStep) -> set[str]:
    """Names of what the rule of *step* reads; that of a curve may be written with its input or its output."""
    words = names_of(rule_of(step.node, step.position) or "x * z")
    words |= {"x", "y"} if len(step.node.operands) == 1 and {"x", "y"} & words else set()
    parts = {"x": step.node.operands[step.position].text}
    parts |= {"z": step.node.operands[1 - step.position].text} if len(step.node.operands) > 1 else {}
    outputs = step.statement.outputs if step.is_root and "y" in words else ()
    return {*outputs, *(text for word, text in parts.items() if word in words)}


def _row(
    view: GradientAnalysis,
    path: GradientPath,
    name: str,
    power: float,
    predict: Predict,
    code: str,
    say: str,
    claim: Claim,
) -> Hypothesis:
    line = _line_of(view, path, name)
    of, in_rule = (SAY[key].format(line) if line else "" for key in ("of", "in-rule"))
    mentions = (name,) if power > 0 and reads_all(view, (name,)) else ()
    return view.hypothesis(code, predict, say, mentions, claim, factor=name, of=of, in_rule=in_rule, power=NAMES[power])


def _line_of(view: GradientAnalysis, path: GradientPath, name: str) -> str:
    """The forward line on the way of *path* that has the tensor *name*; empty where none has."""
    on_the_way = dict.fromkeys(step.statement for step in view.steps(path, view.first_look))
    lines = (
        forward_statement
        for forward_statement in (path.statement, *on_the_way)
        if name in {*forward_statement.inputs, *forward_statement.outputs}
    )
    return next((forward_statement.source for forward_statement in lines), "")


def _scaled_share(
    view: GradientAnalysis, path: GradientPath, name: str, power: float, look: Observation
) -> Array | None:
    full = unreduced_share(look, path) * look.forward[name].astype(np.float64) ** power
    return view.gradient_with_share(path, look, reduce_to(full, look.reference.shape))


def _at_upstream(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """The same at the output of each step, where that is another place than its operand."""
    for path, depth, step in view.places():
        if step.g.shape == step.x.shape and step.node.op not in {"matmul", "index", "softmax", "log_softmax"}:
            continue
        for name, tensor in step.look.forward.items():
            if _may_scale(tensor, step.g.shape):
                scaled = {power: partial(_scaled, name=name, power=power) for power in (1.0, -1.0)}
                slips = {power: view.hypothesis_at_step(path, depth, "", send, "") for power, send in scaled.items()}
                yield from _rows(view, path, name, {power: slip.predict for power, slip in slips.items()})


def _scaled(step: PathStep, name: str, power: float) -> Array:
    return step.sends(step.g * step.look.forward[name] ** power)


def _of_whole(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """Factors that all shares have in common."""
    look, line = view.first_look, view.paths[-1]
    fitting = [name for name in look.forward if _may_scale(look.forward[name], look.reference.shape)]
    small = [name for name in fitting if look.forward[name].size < look.reference.size]
    for name in fitting:
        predictions = {power: partial(_whole, names=(name,), power=power) for power in (1.0, -1.0, 2.0, -2.0)}
        yield from _rows(view, line, name, predictions, whole=True)
    for text, other in combinations(small, 2):
        predict = partial(_whole, names=(text, other), power=-1.0)
        if all(_rule_reads(view, path, name) for path in view.paths for name in (text, other)):
            yield view.hypothesis(f"divided-by:{text}+{other}", predict, SAY["pair"], one=text, other=other)


def divisor_hypotheses(view: GradientAnalysis) -> Iterator[Hypothesis]:
    """Expressions that a forward line divides by, where each share lacks the division."""
    shape, claim = view.first_look.reference.shape, partial(is_unmended, view, OTHERWISE)
    for path, depth, step in view.places():
        if step.node.op == "div" and step.position == 0 and step.z.ndim and _may_scale(step.z, shape):
            text, rule = step.node.operands[1].text, SAY["in-rule"].format(step.statement.source)
            code, predict = f"divisor-missing:{text.replace(' ', '')}", partial(_without_division, view, path, depth)
            yield view.hypothesis(code, predict, SAY["undivided"], (), claim, factor=text, in_rule=rule)


def _without_division(view: GradientAnalysis, path: GradientPath, depth: int, look: Observation) -> Array:
    return np.asarray(look.reference * view.steps(path, look)[depth].z)


def _whole(look: Observation, names: Sequence[str], power: float) -> Array:
    return np.asarray(look.reference * math.prod(look.forward[name] for name in names) ** power)
