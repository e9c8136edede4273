"""Programs as trees: their functions, pieces made of text, and copies in which some nodes are replaced."""

import ast
import copy
from collections.abc import Iterator, Sequence

from app.syntax import nodes_in, parse_expression

New = ast.expr | ast.stmt | list[ast.stmt]
Replacement = tuple[ast.AST, New]
Function = ast.FunctionDef


SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
}


def replace_nodes(tree: ast.Module, replacements: Sequence[Replacement]) -> ast.Module:
    """A copy of *tree* with other nodes in the place of some; what is new gets the line of what it replaces.

    What is new may hold nodes of *tree*, and those may be replaced as well; what moves has to be a copy.
    """
    memo: dict[int, ast.AST] = {}
    twin = copy.deepcopy(tree, memo)
    news = {id(memo[id(old)]): _at_line_of(old, copy.deepcopy(new, memo)) for old, new in replacements}
    changed = _Replacer(news).visit(twin)
    assert isinstance(changed, ast.Module)
    return changed


def _at_line_of(old: ast.AST, new: New) -> New:
    for top in new if isinstance(new, list) else [new]:
        if not hasattr(top, "lineno"):
            ast.copy_location(top, old)
        ast.fix_missing_locations(top)
    return new


class _Replacer(ast.NodeTransformer):
    """Puts `news[id(node)]` in the place of a node, once."""

    def __init__(self, news: dict[int, New]) -> None:
        self._news = news

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        new = self._news.pop(id(node), None)
        if isinstance(new, list):
            return [inner for one in new for inner in _listed(self.visit(one))]
        self.generic_visit(new or node)
        return new or node


def _listed(node: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    if isinstance(node, list):
        return node
    assert isinstance(node, ast.stmt)
    return [node]


def functions_in(tree: ast.AST) -> Iterator[tuple[Function, Function | None]]:
    """Functions of *tree*, each with its enclosing function."""

    def walk(node: ast.AST, outer: Function | None) -> Iterator[tuple[Function, Function | None]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield child, outer
            yield from walk(child, child if isinstance(child, Function) else outer)

    return walk(tree, None)


def inner_functions(tree: ast.AST) -> Iterator[tuple[Function, Function]]:
    """Functions inside another one, each with that."""
    return ((function, outer) for function, outer in functions_in(tree) if outer is not None)


def calls(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name
        for inner in nodes_in(node)
    )


def expression(text: str) -> ast.expr:
    return parse_expression(text)


def statement_of(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def with_body(function: Function, body: Sequence[ast.stmt]) -> Function:
    """*function* with other statements."""
    changed = copy.copy(function)
    changed.body = list(body)
    return changed


def names_in(tree: ast.AST) -> set[str]:
    """The names of variables, arguments and functions in *tree*."""
    names: set[str] = set()
    for node in nodes_in(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                names.add(name)
    return names


def flattened(node: ast.expr, op: type[ast.operator]) -> list[ast.expr]:
    """The factors of a product, or the terms of a sum; *node* alone where it is neither."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, op):
        return [*flattened(node.left, op), *flattened(node.right, op)]
    return [node]


def sign_of(node: ast.AST) -> str:
    """The sign of an operation, such as `*`, or `+=` of a statement; empty where *node* is none."""
    operator = getattr(node, "op", None)
    equals = "=" if isinstance(node, ast.AugAssign) else ""
    return SIGNS.get(type(operator), "sign") + equals if isinstance(operator, ast.operator) else ""
