"""The way of a share through the forward program: every operation between a known upstream and the tensor.

The way starts at the first gradient in force above the tensor. Where an intermediate on it is read once and has no
gradient of its own (a step that the learner may skip), the way goes on through it. It is used only after it has
reproduced the share that torch gave.
"""

from dataclasses import dataclass, replace

import numpy as np

from app.grading.diagnosis.evidence import Array, Observation, WrongGradient
from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.operations.numerics import magnitude
from app.grading.reading.node import OpNode, UntracedError, reduce_to
from app.grading.reading.rules import backward
from app.grading.reading.tracer import trace_expression
from app.syntax import name_of

CHAIN = 1e-8
Way = tuple[tuple[OpNode, int], ...]
"""Operations from the outermost inwards, each with the position of the operand that leads further."""
Stretch = tuple[ForwardStatement, Way]
"""The part of a way that lies in one statement."""
Leaf = tuple[tuple[int, int], str, Way]
"""Where a tensor is read in the source, its name, and the way to it."""


@dataclass(frozen=True, slots=True, eq=False)
class PathStep:
    """One operation on the way of a path from its consumer's output down to the tensor.

    Args:
        node: The operation.
        position: Which of its operands leads to the tensor.
        g: The gradient at its output, correct under the upstream in force.
        below: The operations further down, with the position of the operand that is followed.
        statement: The forward line that it stands in.
    """

    node: OpNode
    position: int
    g: Array
    below: Way
    look: Observation
    statement: ForwardStatement

    @property
    def is_root(self) -> bool:
        """True if its output is the output of the statement."""
        return self.node.expr is self.statement.node

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

    @property
    def of_ones(self) -> Array:
        """Share that it sends to its operand if the upstream gradient is all ones."""
        return self.sends(np.ones_like(self.g))

    def sends(self, g: Array) -> Array:
        """Share that it sends to its operand for the upstream gradient *g*."""
        return backward(self.node, self.position, g)

    @property
    def row(self) -> str:
        """Direction of the axis along which the operation compares or adds up, in a word."""
        axes, last = self.node.options.get("axes") or (), self.x.ndim - 1
        return "row" if last in axes or not axes else "column" if last == 1 else "slice"

    def same_as(self, other: "PathStep") -> bool:
        """True if *other* is this very place in the program, on the way of another path."""
        return self.node.expr is other.node.expr and (self.position == other.position or self.is_square)

    @property
    def is_square(self) -> bool:
        """True if, as in `x * x`, both places are one to the learner, who writes one rule for the square."""
        return len({operand.text for operand in self.node.operands}) == 1

    def carried(self, full: Array | None) -> Array | None:
        """The share of the tensor, had this step sent *full* to its operand and all steps below been right."""
        if full is None:
            return None
        gradient = full
        if full.shape != self.x.shape:
            try:
                gradient = np.broadcast_to(full, np.broadcast_shapes(full.shape, self.x.shape))
                gradient = reduce_to(gradient, self.x.shape)
            except ValueError:
                return None
        for node, position in self.below:
            gradient = reduce_to(backward(node, position, gradient), node.operands[position].value.shape)
        return gradient


def steps_of(
    case: WrongGradient, path: GradientPath, look: Observation, *, trusted: bool = False
) -> tuple[PathStep, ...]:
    """The operations of *path*, the outermost first; empty where a statement could not be followed.

    Args:
        trusted: Whether to go without the proof that the share of *look* comes out; for a sum of shares that is proved
            as a whole.
    """
    share, upstream = look.shares[path.key], look.upstream[path.key]
    for way in _ways(path.statement, path.position, look):
        if not way:
            continue
        lowest = (path.statement, way)
        above, top = _above(case, path, look, upstream)
        steps = _steps_down([*above, lowest], top, look) if above else ()
        if steps and (trusted or _reproduces(steps[0], share)):
            return steps
        steps = _steps_down([lowest], upstream, look)
        if steps and (trusted or _reproduces(steps[0], share)):
            return steps
    return ()


def _ways(statement: ForwardStatement, position: int, look: Observation) -> list[Way]:
    """The ways to occurrence *position* of *statement*; more than one where occurrences and leaves do not match up."""
    try:
        root = trace_expression(statement.node, look.forward, look.dims)
    except UntracedError:
        return []
    # Torch's own output: where a curve is flat, one unit in the last place of y is many of 1 - y².
    output = look.forward.get(statement.outputs[0])
    if output is not None and output.shape == root.value.shape:
        root = replace(root, value=output)
    name = statement.inputs[position]
    leaves: list[Leaf] = []
    _leaves(root, (), leaves)
    own = [way for place, leaf, way in sorted(leaves, key=lambda leaf: leaf[0]) if leaf == name]
    rank = statement.inputs[:position].count(name)
    return own[rank : rank + 1] + own


def _leaves(node: OpNode, way: Way, leaves: list[Leaf]) -> None:
    if node.op == "tensor" and node.expr is not None and (name := name_of(node.expr)):
        leaves.append(((node.expr.lineno, node.expr.col_offset), name, way))
    for position, operand in enumerate(node.operands):
        _leaves(operand, (*way, (node, position)), leaves)


def _above(case: WrongGradient, path: GradientPath, look: Observation, upstream: Array) -> tuple[list[Stretch], Array]:
    """The statements from the next gradient in force down to the consumer of *path*, and that gradient."""
    stretches: list[Stretch] = []
    name, gradient = path.consumer, upstream
    while f"d{name}" not in look.gradients:
        readers = [(each, at) for each in case.statements for at, read in enumerate(each.inputs) if read == name]
        ways = _ways(*readers[0], look) if len(readers) == 1 else []
        if not ways or not ways[0]:
            return [], upstream
        stretches.insert(0, (readers[0][0], ways[0]))
        name = readers[0][0].outputs[0]
        gradient = look.gradients.get(f"d{name}", upstream)
    return stretches, gradient


def _steps_down(stretches: list[Stretch], upstream: Array, look: Observation) -> tuple[PathStep, ...]:
    way = [(statement, *pair) for statement, pairs in stretches for pair in pairs]
    if not way or upstream.shape != way[0][1].value.shape:
        return ()
    steps, g = [], upstream
    for depth, (statement, node, position) in enumerate(way):
        below = tuple((lower, at) for _, lower, at in way[depth + 1 :])
        steps.append(PathStep(node, position, g, below, look, statement))
        try:
            g = reduce_to(backward(node, position, g), node.operands[position].value.shape)
        except (KeyError, ValueError, IndexError, TypeError):
            return ()
    return tuple(steps)


def _reproduces(step: PathStep, share: Array) -> bool:
    own = step.carried(step.sends(step.g))
    if own is None or own.shape != share.shape or not np.isfinite(own).all():
        return False
    apart = magnitude(own - share)
    return apart <= CHAIN * max(magnitude(share), 1e-300)
