"""Static values of an author's program: sizes, numbers computed from them, and the items of a loop.

Nothing is run: numbers and sizes are computed here, from a closed list of operations, and stay small.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

MAX_STATIC_NUMBER = 10**9
LARGEST_EXPONENT = 16
MOST_TURNS = 2_000
PLAIN: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


class NotStaticError(Exception):
    """It depends on more than sizes and numbers; the message says on what."""


class StaticValues:
    """The sizes *dims*; *asked* are those that something depends on."""

    def __init__(self, dims: Mapping[str, int]) -> None:
        self.dims = dims
        self.asked: set[str] = set()

    def number(self, node: ast.expr) -> float:
        """Evaluate *node* to a number.

        Raises:
            NotStaticError: It reads a tensor, or is no number of reasonable size.
        """
        match node:
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.Name(id=name) if name in self.dims:
                self.asked.add(name)
                return self.dims[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.number(inner)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in PLAIN:
                return _bounded_value(type(op), self.number(left), self.number(right))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_] as inner):
                return (min if name == "min" else max)(map(self.number, inner))
            case ast.Call(func=ast.Name(id="len"), args=[ast.List() | ast.Tuple() as listed]):
                return len(listed.elts)
        raise NotStaticError(f"'{ast.unparse(node)}' is neither a number nor a size")

    def decided(self, node: ast.expr) -> bool:
        """Evaluate *node* to True or False.

        Raises:
            NotStaticError: See `number`.
        """
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self.decided(inner)
            case ast.BoolOp(op=op, values=values):
                return (all if isinstance(op, ast.And) else any)(self.decided(value) for value in values)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in COMPARED for op in ops):
                numbers = [self.number(item) for item in (left, *others)]
                pairs = zip(ops, numbers, numbers[1:], strict=False)
                return all(COMPARED[type(op)](number, other) for op, number, other in pairs)
        return bool(self.number(node))

    def items(self, node: ast.expr) -> list[ast.expr]:
        """Items that a loop over *node* runs through.

        Raises:
            NotStaticError: It is no list and no range; or it is too long.
        """
        match node:
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                return elts
            case ast.Call(func=ast.Name(id="range"), args=[_, *_] as bounds) if len(bounds) < 4:
                return [ast.Constant(number) for number in self._evaluate_range(bounds)]
            case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
                return self.items(inner)[::-1]
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner]):
                return [_pair(ast.Constant(index), item) for index, item in enumerate(self.items(inner))]
            case ast.Call(func=ast.Name(id="zip"), args=inner):
                return [_pair(*parts) for parts in zip(*map(self.items, inner), strict=False)]
        raise NotStaticError(f"'{ast.unparse(node)}' is neither a range of sizes nor a list")

    def _evaluate_range(self, bounds: list[ast.expr]) -> range:
        numbers = [self.number(bound) for bound in bounds]
        if not all(isinstance(number, int) for number in numbers) or numbers[2:] == [0]:
            raise NotStaticError("a range counts in whole steps")
        turns = range(*map(int, numbers))
        if len(turns) > MOST_TURNS:
            raise NotStaticError(f"more than {MOST_TURNS} turns")
        return turns


def _bounded_value(op: type[ast.operator], left: float, right: float) -> float:
    if op is ast.Pow and (abs(left) > MAX_STATIC_NUMBER or not 0 <= right <= LARGEST_EXPONENT):
        raise NotStaticError("the power is too large")
    try:
        value: float = PLAIN[op](left, right)
    except ZeroDivisionError:
        raise NotStaticError("it divides by zero") from None
    if not abs(value) <= MAX_STATIC_NUMBER:
        raise NotStaticError("the number is too large")
    return value


def _pair(*parts: ast.expr) -> ast.expr:
    return ast.Tuple(list(parts), ast.Load())
