"""Shapes of a forward program's tensors, read from its source alone: quizzes need no jail and no torch.

A small abstract interpreter over shapes. What it does not know it leaves out; it never guesses, never raises and never
runs a line of the program. Sizes remember the dim they came from, so feedback can say `N` instead of 32.
"""

import ast
from collections.abc import Mapping, Sequence

from app.content.arithmetic import UnreadableError, integer_of
from app.content.blocks import Forward
from app.content.programs import parsed, targets
from app.grading.forward.facts import Shape
from app.grading.shapes.shape_rules import FUNCTIONS, METHODS
from app.grading.shapes.shape_values import Size, Tensor, UnknownShapeError, Value, broadcast, index, whole

__all__ = ["Size", "infer"]

MODULES = frozenset({"torch", "F", "math"})
CONSTANTS: Mapping[str, Value] = {"inf": float("inf"), "pi": 3.141592653589793, "e": 2.718281828459045}
DTYPES: Mapping[str, str] = {"float": "float", "float32": "float", "float64": "float", "double": "float"} | {
    "long": "int",
    "int": "int",
    "int64": "int",
    "int32": "int",
    "bool": "bool",
}
DEEPEST = 60
LARGEST_NUMBER = 10**12


def infer(forward: Forward) -> dict[str, Shape]:
    """Shapes by name of the inputs and of every intermediate that can be told from the source."""
    scope: dict[str, Value] = {name: Size.of(size, name) for name, size in forward.dims.items()}
    shapes: dict[str, Shape] = {}
    for one in forward.inputs:
        try:
            shape = tuple(_size(text, forward.dims) for text in one.sizes)
        except UnreadableError:
            continue
        scope[one.name] = Tensor(shape, "int" if one.distribution == "ints" else "float")
        shapes[one.name] = shape
    tree = parsed(forward.source)
    for statement in tree.body if isinstance(tree, ast.Module) else ():
        names = targets(statement) if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or names is None:
            continue
        for name, value in _assigned(names, statement, scope):
            scope[name] = value
            if isinstance(value, Tensor):
                shapes[name] = value.shape
    return shapes


def _size(text: str, dims: Mapping[str, int]) -> int:
    """A size of an input: named where the text is a dim's name, a plain number where it is a sum."""
    size = integer_of(text, dims)
    return Size.of(size, text) if text in dims else size


def _assigned(names: Sequence[str], statement: ast.Assign, scope: Mapping[str, Value]) -> list[tuple[str, Value]]:
    try:
        value = _Reader(scope).value(statement.value)
    except (
        UnknownShapeError,
        ArithmeticError,
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        AttributeError,
        RecursionError,
    ):
        return []
    if not isinstance(statement.targets[0], ast.Tuple | ast.List):
        return [(names[0], value)]
    if isinstance(value, tuple | list) and len(value) == len(names):
        return list(zip(names, value, strict=True))
    return []


READS: Mapping[type[ast.expr], str] = {
    ast.Constant: "_constant",
    ast.Name: "_name",
    ast.Tuple: "_tuple",
    ast.List: "_list",
    ast.Slice: "_slice",
    ast.UnaryOp: "_unary",
    ast.BinOp: "_binary",
    ast.Compare: "_compare",
    ast.Attribute: "_attribute",
    ast.Subscript: "_subscript",
    ast.Call: "_call",
}


class _Reader:
    """Evaluates one expression over shapes."""

    def __init__(self, scope: Mapping[str, Value]) -> None:
        self.scope = scope
        self.depth = 0

    def value(self, node: ast.expr) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnknownShapeError
        if type(node) not in READS:
            raise UnknownShapeError
        value: Value = getattr(self, READS[type(node)])(node)
        self.depth -= 1
        return value

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if value is None or value is Ellipsis or isinstance(value, bool | int | float | str):
            return value
        raise UnknownShapeError

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.scope:
            return self.scope[node.id]
        if node.id in DTYPES:
            return DTYPES[node.id]
        raise UnknownShapeError

    def _tuple(self, node: ast.Tuple) -> Value:
        return tuple(self._items(node.elts))

    def _list(self, node: ast.List) -> Value:
        return self._items(node.elts)

    def _items(self, nodes: Sequence[ast.expr]) -> list[Value]:
        items: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.value(node.value)
                if not isinstance(value, tuple | list):
                    raise UnknownShapeError
                items += value
            else:
                items.append(self.value(node))
        return items

    def _slice(self, node: ast.Slice) -> Value:
        parts = [self.value(part) if part else None for part in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(value, Tensor):
            return value
        if isinstance(value, int | float):
            return -value if isinstance(node.op, ast.USub) else value if isinstance(node.op, ast.UAdd) else not value
        raise UnknownShapeError

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.MatMult):
            return FUNCTIONS["matmul"](left, right)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return broadcast(left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.op, ast.Add):
            return left + right
        if isinstance(left, int | float) and isinstance(right, int | float):
            return _number(node.op, left, right)
        raise UnknownShapeError

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.value(node.left), *(self.value(one) for one in node.comparators)]
        if any(isinstance(value, Tensor) for value in values) and len(values) == 2:
            return Tensor(broadcast(*values).shape, "bool")
        raise UnknownShapeError

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in MODULES and node.value.id not in self.scope:
            if node.attr in DTYPES:
                return DTYPES[node.attr]
            return CONSTANTS[node.attr]
        owner = self.value(node.value)
        if isinstance(owner, tuple) and node.attr in ("values", "indices"):
            return owner[0 if node.attr == "values" else 1]
        if not isinstance(owner, Tensor):
            raise UnknownShapeError
        if node.attr == "shape":
            return owner.shape
        if node.attr == "ndim":
            return len(owner.shape)
        if node.attr == "dtype":
            return owner.kind
        return METHODS[node.attr](owner)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner, at = self.value(node.value), self.value(node.slice)
        if isinstance(owner, Tensor):
            return index(owner, at)
        if isinstance(owner, tuple | list) and isinstance(at, slice):
            return owner[at]
        if isinstance(owner, tuple | list):
            return owner[whole(at)]
        raise UnknownShapeError

    def _call(self, node: ast.Call) -> Value:
        arguments = self._items(node.args)
        options = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        if len(options) != len(node.keywords):
            raise UnknownShapeError
        if isinstance(node.func, ast.Name):
            return _builtin(node.func.id, arguments)
        if not isinstance(node.func, ast.Attribute):
            raise UnknownShapeError
        name = node.func.attr
        module = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if module in MODULES and module not in self.scope:
            return _math(name, arguments) if module == "math" else FUNCTIONS[name](*arguments, **options)
        owner = self.value(node.func.value)
        if not isinstance(owner, Tensor):
            raise UnknownShapeError
        return FUNCTIONS[name](owner, *arguments, **options)


def _number(operator: ast.operator, left: float, right: float) -> Value:
    """Arithmetic on plain numbers, bounded."""
    if isinstance(operator, ast.Pow) and (abs(right) > 16 or abs(left) > 10**6):
        raise UnknownShapeError
    if isinstance(operator, ast.Add):
        value = left + right
    elif isinstance(operator, ast.Sub):
        value = left - right
    elif isinstance(operator, ast.Mult):
        value = left * right
    elif isinstance(operator, ast.Div):
        value = left / right
    elif isinstance(operator, ast.FloorDiv):
        value = left // right
    elif isinstance(operator, ast.Mod):
        value = left % right
    elif isinstance(operator, ast.Pow):
        value = left**right
    else:
        raise UnknownShapeError
    if isinstance(value, complex) or abs(value) > LARGEST_NUMBER:
        raise UnknownShapeError
    return value


def _builtin(name: str, arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if name == "len" and isinstance(value, Tensor):
        return value.shape[0]
    if name == "len" and isinstance(value, tuple | list):
        return len(value)
    if name in ("int", "float") and isinstance(value, int | float):
        return int(value) if name == "int" else float(value)
    if name in ("tuple", "list") and isinstance(value, tuple | list):
        return tuple(value) if name == "tuple" else list(value)
    raise UnknownShapeError


def _math(name: str, arguments: Sequence[Value]) -> Value:
    """A number whose value no shape depends on."""
    if name in ("sqrt", "exp", "log", "tanh", "log2") and all(isinstance(one, int | float) for one in arguments):
        return 1.0
    if name == "prod" and len(arguments) == 1 and isinstance(arguments[0], tuple | list):
        total = 1
        for size in arguments[0]:
            total *= whole(size)
        return total
    raise UnknownShapeError
