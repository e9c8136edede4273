"""The reference tape: runs a forward program statement by statement and knows the share of every occurrence.

This module runs in the jail, on the author's program; only `tape` and `attempt` may import it. Each statement is run on
leaf copies of its inputs, one copy per occurrence, so a vector-Jacobian product of the statement gives every share.
Shares are summed in the order in which autograd would sum them, so that the sum is autograd's to the last bit.
"""

import math
import operator
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import torch
import torch.nn.functional as F

from app.grading.forward.occurrences import COPIES, SPREAD, numbered_expression
from app.grading.forward.predicates import Watch
from app.syntax import parse_code, right_side

Tensor = torch.Tensor
_TEXT_CHARS = 2000
Why = Literal["raised", "draws", "several", "complex", "narrow", "no-derivative", "not-finite"]


class StatementError(Exception):
    """A statement of the author's program cannot be used; *index* is its place in the program.

    Args:
        why: It raised *message*; or ran and drew random numbers, or left several tensors under one name or complex
            numbers; or torch cannot differentiate it, or its derivative is no finite number.
    """

    def __init__(self, index: int, message: str, why: Why = "raised") -> None:
        super().__init__(message)
        self.index = index
        self.message = message
        self.why = why


class TapeNode:
    """One evaluated statement: leaf copies in, outputs out."""

    def __init__(self, index: int, outputs: Sequence[str], inputs: Sequence[str]) -> None:
        self.index = index
        self.outputs = tuple(outputs)
        self.inputs = tuple(inputs)
        self.results: dict[str, Tensor] = {}
        self.watched: dict[int, Tensor] = {}
        self.order: dict[int, int] = {}

    def shares(self, upstreams: Mapping[str, Tensor]) -> dict[int, Tensor]:
        """By occurrence: what arrives there when *upstreams* arrive at the outputs. Empty where nothing does."""
        flowing = [name for name, result in self.results.items() if name in upstreams and result.requires_grad]
        if not flowing or not self.watched:
            return {}
        results = [self.results[name] for name in flowing]
        arriving = [upstreams[name] for name in flowing]
        shares = torch.autograd.grad(
            results, list(self.watched.values()), arriving, retain_graph=True, allow_unused=True
        )
        return {position: share for position, share in zip(self.watched, shares, strict=True) if share is not None}


class Tape:
    """A program evaluated on one set of data; *watch* is told which statement is run.

    Raises:
        StatementError: A statement raised or drew random numbers, or left no tensor where one is needed.
    """

    def __init__(
        self,
        statements: Sequence[Mapping[str, Any]],
        data: Mapping[str, Tensor],
        dims: Mapping[str, int],
        watch: Watch | None = None,
    ) -> None:
        self._watch = watch or Watch()
        self.values: dict[str, Any] = dict(data)
        self.statements = statements
        self.scope: dict[str, Any] = {"torch": torch, "F": F, "math": math, **dims}
        self.nodes = [self._evaluate(index, spread=False) for index in range(len(statements))]
        self._spread: dict[int, TapeNode] = {}

    def spread(self, index: int) -> TapeNode:
        """The same statement with its broadcasts made openly."""
        if index not in self._spread:
            self._spread[index] = self._evaluate(index, spread=True)
        return self._spread[index]

    def _evaluate(self, index: int, spread: bool) -> TapeNode:
        statement = self.statements[index]
        self._watch.statement = index
        node = TapeNode(index, statement["outputs"], statement["inputs"])
        copies = [_leaf(self.values[name]) for name in node.inputs]
        watched = {at: copy_ for at, copy_ in enumerate(copies) if isinstance(copy_, Tensor) and copy_.requires_grad}
        places = {id(tensor): at for at, tensor in watched.items()}
        scope = {**self.scope, COPIES: copies, SPREAD: lambda *call: _spread(places, watched, *call)}
        value = self._run(index, statement, scope, spread)
        node.watched = watched
        for name, result in zip(node.outputs, _unpacked(index, value, node.outputs), strict=True):
            if isinstance(result, Tensor):
                if result.is_complex():
                    raise StatementError(index, "leaves complex numbers", "complex")
                if result.dtype in (torch.float16, torch.bfloat16):
                    raise StatementError(index, str(result.dtype), "narrow")
                node.results[name] = result
                result = result.detach()
            elif _carries(result):
                raise StatementError(index, type(result).__name__, "several")
            if not spread:
                self.values[name] = result
        node.order = _order(node)
        return node

    def _run(self, index: int, statement: Mapping[str, Any], scope: dict[str, Any], spread: bool) -> Any:
        code = _compile_line(statement["source"], frozenset(statement["inputs"]), spread)
        state = torch.default_generator.get_state()
        try:
            value = eval(code, scope)
        except MemoryError:
            raise
        except Exception as error:
            text = "".join(traceback.format_exception_only(error)).strip()
            raise StatementError(index, text[:_TEXT_CHARS]) from None
        # A statement is run more than once, so what it draws would be another number each time.
        if not torch.equal(state, torch.default_generator.get_state()):
            raise StatementError(index, "draws random numbers", "draws")
        return value

    def backward(self, forced: Mapping[str, Tensor]) -> "BackwardResult":
        """One backward pass in which the tensors in *forced* have the upstream gradients given there."""
        in_force = dict(forced)
        gradients: dict[str, Tensor] = {}
        shares: dict[tuple[int, int], Tensor] = {}
        for node in reversed(self.nodes):
            in_force.update(
                {name: gradients[name] for name in node.outputs if name in gradients and name not in forced}
            )
            sent = node.shares(in_force)
            for position in sorted(sent, key=lambda at: node.order.get(at, at), reverse=True):
                name, share = node.inputs[position], sent[position]
                shares[node.index, position] = share
                gradients[name] = gradients[name] + share if name in gradients else share
        return BackwardResult(gradients, shares, in_force)

    def refuse_flat(self) -> None:
        """Raise for the first statement that torch cannot differentiate, where there is one."""
        for node in self.nodes:
            try:
                node.shares({name: torch.ones_like(result) for name, result in node.results.items()})
            except RuntimeError as error:
                raise StatementError(node.index, str(error).partition("\n")[0], "no-derivative") from None

    def refuse_infinite(self, outputs: Collection[str]) -> None:
        """Raise for the last statement that makes a gradient that is no finite number, where there is one."""
        sweep = self.backward({name: torch.ones_like(self.values[name]) for name in outputs})
        for node in reversed(self.nodes):
            shares = (sweep.shares.get((node.index, at)) for at in range(len(node.inputs)))
            if any(share is not None and not bool(share.isfinite().all()) for share in shares):
                raise StatementError(node.index, "its derivative is not finite", "not-finite")

    def unreduced(self, sweep: "BackwardResult", tensors: Collection[str]) -> dict[tuple[int, int], Tensor]:
        """The shares of *sweep* that arrive at *tensors*, before the sums over stretched axes."""
        return {
            (node.index, position): share
            for node in self.nodes
            if not set(tensors).isdisjoint(node.inputs)
            for position, share in self.spread(node.index).shares(sweep.in_force).items()
        }


class BackwardResult:
    """Result of one backward pass: gradients by tensor, shares by occurrence, upstreams in force by tensor."""

    def __init__(
        self, gradients: dict[str, Tensor], shares: dict[tuple[int, int], Tensor], in_force: dict[str, Tensor]
    ) -> None:
        self.gradients = gradients
        self.shares = shares
        self.in_force = in_force


def whole_gradients(
    statements: Sequence[Mapping[str, Any]],
    data: Mapping[str, Tensor],
    dims: Mapping[str, int],
    outputs: Sequence[str],
    upstreams: Mapping[str, Tensor] | None,
) -> dict[str, Tensor]:
    """The gradient of every tensor by autograd on the uncut program; *upstreams* of its *outputs* default to ones."""
    scope: dict[str, Any] = {"torch": torch, "F": F, "math": math, **dims}
    values: dict[str, Any] = {name: _leaf(value) for name, value in data.items()}
    for index, statement in enumerate(statements):
        code = _compile_line(statement["source"], frozenset(), False)
        written = statement["outputs"]
        for name, value in zip(written, _unpacked(index, eval(code, {**scope, **values}), written), strict=True):
            same = isinstance(value, Tensor) and any(value is other for other in values.values())
            values[name] = value.view_as(value) if same and isinstance(value, Tensor) else value
    flowing = {name: tensor for name, tensor in values.items() if isinstance(tensor, Tensor) and tensor.requires_grad}
    ends = [name for name in outputs if name in flowing]
    if not ends:
        return {}
    arriving = [torch.ones_like(flowing[name]) if upstreams is None else upstreams[name] for name in ends]
    gradients = torch.autograd.grad(
        [flowing[name] for name in ends], list(flowing.values()), arriving, allow_unused=True
    )
    return {name: gradient for name, gradient in zip(flowing, gradients, strict=True) if gradient is not None}


@lru_cache(maxsize=1024)
def _compile_line(source: str, tensors: frozenset[str], spread: bool) -> Any:
    value = right_side(parse_code(source).body[0])
    assert value is not None, "the program was read before it came here"
    return compile(numbered_expression(value, tensors, spread), "<forward>", "eval")


def _leaf(value: object) -> object:
    if not isinstance(value, Tensor):
        return value
    copy = value.detach().clone()
    return copy.requires_grad_() if copy.is_floating_point() else copy


def _carries(value: object) -> bool:
    """True if *value* hides gradients: a function, or a collection of tensors that have one."""
    if isinstance(value, tuple | list):
        return any(_carries(tensor) or (isinstance(tensor, Tensor) and tensor.requires_grad) for tensor in value)
    return callable(value)


def _unpacked(index: int, value: object, outputs: Sequence[str]) -> Iterable[object]:
    if len(outputs) == 1:
        return (value,)
    if isinstance(value, Sequence | Tensor):
        parts = tuple(value)
        if len(parts) == len(outputs):
            return parts
    raise StatementError(index, f"ValueError: {len(outputs)} names on the left, another number of values on the right")


def _order(node: TapeNode) -> dict[int, int]:
    """By occurrence, when the function that reads it was recorded; autograd visits later ones first."""
    at = {id(tensor): position for position, tensor in node.watched.items()}
    order: dict[int, int] = {}
    seen: set[Any] = set()
    waiting: list[Any] = [result.grad_fn for result in node.results.values() if result.grad_fn is not None]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for following, _ in function.next_functions:
            if following is None:
                continue
            position = at.get(id(getattr(following, "variable", None)))
            if position is None:
                waiting.append(following)
            else:
                order[position] = max(order.get(position, -1), function._sequence_nr())
    return order


def _spread(places: dict[int, int], watched: dict[int, Tensor], name: str, *operands: Any) -> Any:
    """Apply an operation after copying its operands along the axes in which they are stretched."""
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    if len(tensors) > 1:
        product = name == "matmul"
        if not product:
            shape = _common([tensor.shape for tensor in tensors])
            operands = tuple(_stretched(places, watched, operand, shape) for operand in operands)
        elif all(tensor.ndim > 1 for tensor in tensors):
            batch = _common([tensor.shape[:-2] for tensor in tensors])
            operands = tuple(
                _stretched(places, watched, operand, (*batch, *operand.shape[-2:])) for operand in operands
            )
    function: Callable[..., Any] = getattr(operator, name, None) or getattr(torch, name)
    return function(*operands)


def _stretched(places: dict[int, int], watched: dict[int, Tensor], argument: Any, shape: Sequence[int]) -> Any:
    if not isinstance(argument, Tensor) or argument.shape == tuple(shape):
        return argument
    stretched = argument.expand(*shape)
    position = places.get(id(argument))
    if position is not None:
        watched[position] = stretched
    return stretched


def _common(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape that broadcasting gives; sizes that do not fit are left for the operation itself to refuse."""
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded, strict=True))
