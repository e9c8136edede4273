"""A small program with numbers in it, walked forward and back: each share that is handed on, and the sums so far.

The program is read and never executed, by the same reading and the same rules that name mistakes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.grading.forward.sources import ForwardSource, SourceInput
from app.grading.operations.numerics import Array
from app.grading.reading.node import OpNode, UntracedError, reduce_to
from app.grading.reading.plain_tracer import READING_ERRORS
from app.grading.reading.rules import backward
from app.grading.reading.tracer import Tracer
from app.syntax import Expression, elements_of, is_assignment, name_of, parse_code, part_of, right_side, targets_of

Nodes = list[tuple[str, OpNode]]
Numbers = Mapping[str, Array]
STEP = 1e-5
"""How far an entry is nudged."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share that one statement sends back to one occurrence of a tensor.

    Args:
        line: Which statement it is, from 0.
        output, upstream: What it made, and what has come back to that.
        tensor, value: Who is handed how much.
        local: The local derivative where everything is a single number.
        total: What *tensor* has now; its gradient once *finished*.
    """

    line: int
    output: str
    upstream: Array
    tensor: str
    value: Array
    local: float | None
    total: Array
    finished: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The *values* of all tensors in the order in which they come to be, and the *shares* in backward order."""

    values: Mapping[str, Array]
    shares: tuple[Share, ...]
    gradients: Mapping[str, Array]


def trace_program(forward: ForwardSource, point: Mapping[str, object]) -> Walk:
    """Walk *forward* from the inputs in *point*, and back from its outputs, whose gradients are there too or are 1.

    Raises:
        UntracedError: A statement is not on the list of those that can be read, or the numbers do not fit it.
    """
    try:
        with np.errstate(all="ignore"):
            return _walk(forward, point)
    except (*READING_ERRORS, SyntaxError) as error:
        raise UntracedError(str(error)) from error


def values_of(forward: ForwardSource, point: Mapping[str, object]) -> Mapping[str, Array]:
    """The tensors of *forward* from the inputs in *point*.

    Raises:
        UntracedError: See `trace_program`.
    """
    try:
        with np.errstate(all="ignore"):
            return _forward(forward, point)[0]
    except (*READING_ERRORS, SyntaxError) as error:
        raise UntracedError(str(error)) from error


def pull_back(
    forward: ForwardSource, point: Mapping[str, object], start: str, upstreams: Sequence[Array]
) -> list[Numbers]:
    """Gradients of all tensors before *start*, with each of *upstreams* as its gradient.

    Raises:
        UntracedError: See `trace_program`.
    """
    try:
        with np.errstate(all="ignore"):
            _, nodes = _forward(forward, point)
            gradients: list[Numbers] = []
            for upstream in upstreams:
                totals = {start: upstream}
                for _ in _shares(nodes, totals):
                    pass
                gradients.append(totals)
            return gradients
    except (*READING_ERRORS, SyntaxError) as error:
        raise UntracedError(str(error)) from error


def difference_quotients(forward: ForwardSource, point: Mapping[str, object], name: str) -> Array:
    """Difference quotients of the input *name*, by nudging: nothing is differentiated."""
    start = np.asarray(point[name], dtype=np.float64)
    array = np.zeros(start.shape)
    for index in np.ndindex(start.shape):
        ends = []
        for sign in (1, -1):
            moved = start.copy()
            moved[index] += sign * STEP
            values = values_of(forward, {**point, name: moved})
            ends.append(sum((values[output] * _upstream(point, output)).sum() for output in forward.outputs))
        array[index] = (ends[0] - ends[1]) / (2 * STEP)
    return array


def _forward(forward: ForwardSource, point: Mapping[str, object]) -> tuple[dict[str, Array], Nodes]:
    """The values of all tensors, and the operations of each statement by what it makes."""
    values = {tensor_input.name: _array(point[tensor_input.name], tensor_input) for tensor_input in forward.inputs}
    nodes: Nodes = []
    for statement in parse_code(forward.source).body:
        targets, value = targets_of(statement), right_side(statement)
        if value is None or len(targets) != 1 or not is_assignment(statement):
            raise UntracedError(statement)
        parts = [(name, Tracer(values, forward.dims).node(part)) for name, part in _parts(targets[0], value)]
        nodes += parts
        values |= {name: node.value for name, node in parts}
    return values, nodes


def _parts(target: Expression, expr: Expression) -> list[tuple[str, Expression]]:
    """By name: what is assigned to each name of *target*."""
    if name := name_of(target):
        return [(name, expr)]
    targets, parts = elements_of(target), elements_of(expr)
    if targets is None:
        raise UntracedError(target)
    if parts is None or len(parts) != len(targets):
        parts = [part_of(expr, rank) for rank in range(len(targets))]
    return [part for pair in zip(targets, parts, strict=True) for part in _parts(*pair)]


def _walk(forward: ForwardSource, point: Mapping[str, object]) -> Walk:
    values, nodes = _forward(forward, point)
    starts = {name: _upstream(point, name) for name in forward.outputs}
    for name, start in starts.items():
        if start.shape != values[name].shape:
            raise UntracedError(f"the gradient of {name} has the shape {start.shape}")
    shares = tuple(_shares(nodes, dict(starts)))
    gradients = {**starts, **{share.tensor: share.total for share in shares}}
    return Walk(values, shares, gradients)


def _upstream(point: Mapping[str, object], output: str) -> Array:
    return np.asarray(point.get(f"d{output}", 1.0), dtype=np.float64)


def _array(value: object, input_: SourceInput) -> Array:
    # Of truths, `~` is the other truth; of the whole numbers that they are drawn as, it would be none.
    dtype = bool if input_.is_mask else np.float64 if input_.real else np.int64
    return np.asarray(value, dtype=dtype)


def _shares(nodes: Nodes, totals: dict[str, Array]) -> Iterator[Share]:
    waiting = [name for _, node in nodes for name, _ in sent_gradients(node, np.zeros(node.value.shape))]
    for line in range(len(nodes) - 1, -1, -1):
        output, node = nodes[line]
        if output not in totals:
            continue
        upstream = totals[output]
        ones = [value for _, value in sent_gradients(node, np.ones(node.value.shape))]
        for (tensor, value), local in zip(sent_gradients(node, upstream), ones, strict=True):
            waiting.remove(tensor)
            totals[tensor] = totals[tensor] + value if tensor in totals else value
            single = value.size == node.value.size == 1
            yield Share(
                line,
                output,
                upstream,
                tensor,
                value,
                float(local.sum()) if single else None,
                totals[tensor],
                tensor not in waiting,
            )


def sent_gradients(node: OpNode, g: Array) -> Iterator[tuple[str, Array]]:
    """Gradients that *g* at *node* sends to each tensor that it reads, place by place."""
    if node.op == "tensor" and (name := name_of(node.expr)):
        yield name, g
    if node.op == "library":
        raise UntracedError(node.text)
    for position, operand in enumerate(node.operands):
        if operand.op != "number" and operand.value.dtype.kind == "f":
            yield from sent_gradients(operand, reduce_to(np.asarray(backward(node, position, g)), operand.value.shape))
