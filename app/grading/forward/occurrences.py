"""Rewrite a forward statement so that every occurrence of a tensor, and every broadcast, can be watched.

`x * x` becomes `_occurrence[0] * _occurrence[1]`: two copies of one tensor whose gradients are two shares.
With *spread*, `A + b` becomes `_spread(operator, A, b)`, which copies `b` along the stretched axes openly, so that its
share before the sum over those axes can be asked for.
"""

import ast
from collections.abc import Collection

from app.syntax import name_node, nodes_in

COPIES = "_occurrence"
SPREAD = "_spread"
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
_ELEMENTWISE = ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "atan2", "hypot")
_FUNCTIONS = frozenset((*_ELEMENTWISE, "maximum", "minimum", "fmax", "fmin", "where", "matmul"))


def numbered_expression(node: ast.expr, tensors: Collection[str], spread: bool) -> ast.Expression:
    """*node* with its occurrences of *tensors* numbered in source order.

    The line and column numbers stay the author's own.
    """
    names = [name_node for name_node in nodes_in(node) if isinstance(name_node, ast.Name) and name_node.id in tensors]
    names.sort(key=lambda name_node: (name_node.lineno, name_node.col_offset))
    positions = {(name.lineno, name.col_offset): position for position, name in enumerate(names)}
    rewritten = _Rewrite(positions, spread).visit(node)
    return ast.fix_missing_locations(ast.Expression(rewritten))


class _Rewrite(ast.NodeTransformer):
    def __init__(self, positions: dict[tuple[int, int], int], spread: bool) -> None:
        self._positions = positions
        self._spread = spread

    def visit_Name(self, node: ast.Name) -> ast.expr:
        position = self._positions.get((node.lineno, node.col_offset))
        if position is None:
            return node
        copies = name_node(COPIES)
        return ast.copy_location(ast.Subscript(copies, ast.Constant(position), ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not self._spread or type(node.op) not in _OPERATORS:
            return node
        return self._call(node, ast.Constant(_OPERATORS[type(node.op)]), [node.left, node.right])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        watched = isinstance(function, ast.Attribute) and function.attr in _FUNCTIONS and not node.keywords
        self.generic_visit(node)
        if not self._spread or not watched or not isinstance(function, ast.Attribute):
            return node
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return node
        of_torch = isinstance(function.value, ast.Name) and function.value.id == "torch"
        if function.attr == "where" and not of_torch:
            return node
        operands = node.args if of_torch else [function.value, *node.args]
        return self._call(node, ast.Constant(function.attr), operands)

    @staticmethod
    def _call(node: ast.expr, operation: ast.expr, operands: list[ast.expr]) -> ast.expr:
        return ast.copy_location(ast.Call(name_node(SPREAD), [operation, *operands], []), node)
