"""The workbench of a diagnosis: what was computed once for a case and is looked at by many tables.

A prediction counts only if it comes true in every look; see `Bench.came_true`.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.grading.evidence import Array, Case, Diagnosis, Look, Mistake, Path, scale_of
from app.grading.mistakes.plain import UntracedError
from app.grading.mistakes.rules import Node, reduce_to, vjp
from app.grading.mistakes.trace import traced
from app.grading.mistakes.words import upstream_name

SAME = 1e-7
"""Arrays are equal when they differ by less, relative to their size: far above noise, far below `DIFFERENT`."""
DIFFERENT = 1e-6
"""The tolerance of the verdict: a prediction is told from the reference when it differs by more of the scale."""
NOISE = 1e-13
WEIGHTY = 1e-9
CHAIN = 1e-8

Way = tuple[tuple[Node, int], ...]
"""Operations from the outermost inwards, each with the position of the operand that leads further."""
Leaf = tuple[tuple[int, int], str, Way]
"""Where a tensor is read in the source, its name, and the way to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One operation on the way of a path from its consumer's output down to the tensor.

    Args:
        node: The operation.
        position: Which of its operands leads to the tensor.
        g: The gradient at its output, correct under the upstream in force.
        below: The operations further down, with the position of the operand that is followed.
    """

    node: Node
    position: int
    g: Array
    below: Way
    look: Look

    @property
    def x(self) -> Array:
        """The operand that is followed."""
        return self.node.operands[self.position].value

    @property
    def z(self) -> Array:
        """The other operand of a binary operation."""
        return self.node.operands[1 - self.position].value

    @property
    def y(self) -> Array:
        return self.node.value

    def carried(self, full: Array | None) -> Array | None:
        """The share of the tensor, had this step sent *full* to its operand and all steps below been right."""
        if full is None:
            return None
        try:
            full = np.broadcast_to(full, np.broadcast_shapes(full.shape, self.x.shape))
            gradient = reduce_to(full, self.x.shape)
        except ValueError:
            return None
        for node, position in self.below:
            gradient = reduce_to(vjp(node, position, gradient), node.operands[position].value.shape)
        return gradient


class Bench:
    """A case with everything that several tables need, computed once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        # A name that is read only for its shape is an occurrence without a share.
        self.paths = tuple(path for path in case.paths if all(path.key in look.shares for look in case.looks))
        self.got = {id(look): np.asarray(look.got, dtype=np.float64) for look in case.looks}
        self.scale = {id(look): scale_of(look) or 1.0 for look in case.looks}
        self._steps: dict[tuple[str, int], tuple[Step, ...]] = {}
        self._spots: dict[tuple[str, int], dict[str, str]] = {}
        nodes = [node for write in case.writes for node in ast.walk(write)]
        aside = {id(inner) for node in nodes for inner in _asked_for_shape(node)}
        names = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in aside}
        self.words = names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self.numbers = frozenset(
            node.value
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
        )

    def shaped(self) -> bool:
        """Whether the learner's tensor has the shape of the reference."""
        return all(look.got.shape == look.reference.shape for look in self.case.looks)

    def steps(self, path: Path, look: Look) -> tuple[Step, ...]:
        """The operations of *path*, the outermost first; empty where the statement could not be followed."""
        key = (path.key, id(look))
        if key not in self._steps:
            with np.errstate(all="ignore"):
                self._steps[key] = _steps(self.case, path, look)
        return self._steps[key]

    def spot(self, path: Path, depth: int) -> dict[str, str]:
        """What a sentence may speak of at one step, as fields of a format string.

        `name` the learner's gradient, `tensor` its tensor, `x` the operand that is followed, `z` the other one, `y` the
        output, `op` the operation, `up` what arrives at the output, `statement` the forward line.
        """
        key = (path.key, depth)
        if key not in self._spots:
            node = self.steps(path, self.case.looks[0])[depth]
            self._spots[key] = _spot(self.case, path, node, is_root=depth == 0)
        return self._spots[key]

    def exchanged(self, path: Path, look: Look, share: Array | None) -> Array | None:
        """The gradient, had *path* contributed *share*; all other paths as they should be."""
        if share is None or len(self.paths) == 1:
            return share
        try:
            return np.asarray(look.reference - look.shares[path.key] + share)
        except ValueError:
            return None

    def equal(self, tensor: Array | None, look: Look) -> bool:
        """Whether *tensor* is what the learner has."""
        got = self.got[id(look)]
        return tensor is not None and tensor.shape == got.shape and _apart(tensor, got) <= self.slack(tensor, look)

    def slack(self, tensor: Array, look: Look) -> float:
        """How far from *tensor* another may be and still count as equal."""
        return max(SAME * float(np.abs(tensor).max(initial=0.0)), NOISE * self.scale[id(look)])

    def wrong(self, tensor: Array, look: Look) -> bool:
        """Whether *tensor* differs from the reference by more than the verdict forgives."""
        reference = look.reference
        return tensor.shape != reference.shape or _apart(tensor, reference) > DIFFERENT * self.scale[id(look)]

    def weighty(self, tensor: Array, look: Look) -> bool:
        """Whether *tensor* is more than rounding noise, which any tiny prediction would equal."""
        return float(np.abs(tensor).max(initial=0.0)) > WEIGHTY * self.scale[id(look)]

    def came_true(self, mistake: Mistake) -> bool:
        """Whether *mistake* predicts the learner's tensor in every look, and a wrong one in at least one."""
        told_apart = False
        for look in self.case.looks:
            tensor = self.predicted(mistake, look)
            if tensor is None or not self.equal(tensor, look):
                return False
            told_apart = told_apart or (self.wrong(tensor, look) and self.weighty(tensor, look))
        return told_apart

    def predicted(self, mistake: Mistake, look: Look) -> Array | None:
        """What *mistake* predicts; None where it does not apply or is not finite."""
        with np.errstate(all="ignore"):
            tensor = mistake.predict(self.case, look)
        if tensor is None:
            return None
        tensor = np.asarray(tensor, dtype=np.float64)
        return tensor if np.isfinite(tensor).all() else None

    def evidence(self, mistake: Mistake) -> int:
        """How much the learner's own lines speak for *mistake*, where several predict the same tensor."""
        if not mistake.mentions:
            return 0
        return len(mistake.mentions) if self.words.issuperset(mistake.mentions) else -1

    def first(self, mistakes: Iterable[Mistake]) -> Mistake | None:
        """The mistake that came true; among several the one that the learner's lines speak for, then the first."""
        ranked = [(self.evidence(mistake), mistake) for mistake in mistakes]
        for least in (1, -1):
            hits = [pair for pair in ranked if (pair[0] >= least) and self.came_true(pair[1])]
            if hits:
                return max(hits, key=lambda pair: pair[0])[1]
        return None

    def said(self, mistake: Mistake) -> Diagnosis:
        return Diagnosis(code=f"{self.case.name}:{mistake.code}", message=mistake.say(self.case))


def _asked_for_shape(node: ast.AST) -> list[ast.expr]:
    """Names that are read for their shape only, as in `torch.zeros_like(C)` and `x.shape`."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="zeros_like" | "ones_like" | "full_like" | "empty_like"), args=[first, *_]
        ):
            return [first]
        case ast.Call(func=ast.Attribute(attr="expand_as" | "view_as" | "reshape_as"), args=[first]):
            return [first]
        case ast.Attribute(value=value, attr="shape" | "dtype" | "ndim"):
            return [value]
    return []


def _apart(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max(initial=0.0))


def _steps(case: Case, path: Path, look: Look) -> tuple[Step, ...]:
    try:
        root = traced(path.statement.node, look.forward, look.dims)
    except UntracedError:
        return ()
    leaves: list[Leaf] = []
    _leaves(root, (), leaves)
    mine = [way for place, name, way in sorted(leaves, key=lambda leaf: leaf[0]) if name == case.tensor]
    rank = path.statement.inputs[: path.position].count(case.tensor)
    share, upstream = look.shares[path.key], look.upstream[path.key]
    for way in mine[rank : rank + 1] + mine:
        steps = _descended(way, upstream, look)
        if steps and _reproduces(steps[0], share):
            return steps
    return ()


def _leaves(node: Node, way: Way, found: list[Leaf]) -> None:
    if node.op == "tensor" and isinstance(node.expr, ast.Name):
        found.append(((node.expr.lineno, node.expr.col_offset), node.expr.id, way))
    for position, operand in enumerate(node.operands):
        _leaves(operand, (*way, (node, position)), found)


def _descended(way: Way, upstream: Array, look: Look) -> tuple[Step, ...]:
    if not way or upstream.shape != way[0][0].value.shape:
        return ()
    steps, g = [], upstream
    for depth, (node, position) in enumerate(way):
        steps.append(Step(node, position, g, way[depth + 1 :], look))
        try:
            g = reduce_to(vjp(node, position, g), node.operands[position].value.shape)
        except (KeyError, ValueError, IndexError, TypeError):
            return ()
    return tuple(steps)


def _reproduces(step: Step, share: Array) -> bool:
    mine = step.carried(vjp(step.node, step.position, step.g))
    if mine is None or mine.shape != share.shape or not np.isfinite(mine).all():
        return False
    return _apart(mine, share) <= CHAIN * max(float(np.abs(share).max(initial=0.0)), 1e-300)


def _spot(case: Case, path: Path, step: Step, is_root: bool) -> dict[str, str]:
    operands = step.node.operands
    return {
        "name": case.name,
        "tensor": case.tensor,
        "x": operands[step.position].text,
        "z": operands[1 - step.position].text if len(operands) > 1 else "",
        "y": path.consumer if is_root else step.node.text,
        "op": step.node.op,
        "up": f"`{upstream_name(path)}`" if is_root else f"what arrives at `{step.node.text}`",
        "statement": path.statement.source,
    }
