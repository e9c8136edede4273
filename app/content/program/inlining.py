"""Expressions of an author's program with tensors in the place of names: helpers called, lists picked from."""

import ast
from collections.abc import Collection, Iterator
from copy import deepcopy
from typing import Protocol

from app.content.program.static_values import NotStaticError, StaticValues
from app.syntax import every_name_in, names_stored


class TensorList:
    """A list that the program collects tensors in."""

    def __init__(self, elts: list[ast.expr]) -> None:
        self.elts = elts


Scope = dict[str, "ast.expr | TensorList | ast.FunctionDef"]


class UnrollContext(Protocol):
    """The part of an unrolling that is needed here."""

    def stop(self, node: ast.AST, code: str, message: str, fix: str = "") -> Exception: ...
    def called(self, call: ast.Call, function: ast.FunctionDef, scope: Scope, suffix: str) -> ast.expr: ...
    def turned(self, node: ast.AST, over: ast.expr, scope: Scope, suffix: str) -> Iterator[tuple[int, ast.expr]]: ...
    def bind(self, target: ast.expr, item: ast.expr, scope: Scope) -> None: ...
    def read(self, node: ast.expr, scope: Scope, suffix: str) -> ast.expr: ...


class Inliner(ast.NodeTransformer):
    """Reads one expression."""

    def __init__(self, work: UnrollContext, scope: Scope, suffix: str) -> None:
        self.work, self.scope, self.suffix = work, scope, suffix

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.scope.get(node.id)
        if isinstance(value, ast.FunctionDef):
            fix = "Call it where it is needed."
            raise self.work.stop(node, "not-straight-line", f"The function {node.id!r} stands for a value here.", fix)
        if value is None or not isinstance(node.ctx, ast.Load):
            return node
        return (
            ast.List([deepcopy(elt) for elt in value.elts], ast.Load())
            if isinstance(value, TensorList)
            else deepcopy(value)
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = self.scope.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(function, ast.FunctionDef):
            return self.work.called(node, function, self.scope, self.suffix)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        listed = isinstance(node.value, ast.Name) and isinstance(self.scope.get(node.value.id), TensorList)
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.List(elts=elts), slice=place) if listed:
                try:
                    return elts[int(StaticValues({}).number(place))]
                except NotStaticError:
                    return node
                except IndexError:
                    message = f"The list has {len(elts)} entries here, and no [{ast.unparse(place)}]."
                    raise self.work.stop(node, "not-straight-line", message) from None
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        try:
            holds = StaticValues({}).decided(self.visit(deepcopy(node.test)))
        except NotStaticError:
            return self.generic_visit(node)
        branch: ast.AST = self.visit(node.body if holds else node.orelse)
        return branch

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        before = ast.unparse(node)
        self.generic_visit(node)
        match node:
            case ast.BinOp(left=ast.Constant(value=0), op=ast.Add(), right=right) if ast.unparse(node) != before:
                return right  # what a sum over turns begins with
            case ast.BinOp(left=ast.Constant(value=int()), right=ast.Constant(value=int())) if (
                ast.unparse(node) != before
            ):
                try:
                    return ast.copy_location(ast.Constant(StaticValues({}).number(node)), node)
                except NotStaticError:
                    return node
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.listed(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self.listed(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._without({argument.arg for argument in node.args.args}).generic_visit(node)

    def listed(self, node: ast.ListComp | ast.GeneratorExp, *, apart: bool = False) -> ast.expr:
        """A list of what each turn gives, where a turn calls a helper or picks from a list; else as it is.

        Args:
            apart: Whether it is to be a list of turns in any case.
        """
        names = every_name_in(node)
        apart |= any(isinstance(self.scope.get(name), ast.FunctionDef | TensorList) for name in names)
        if not apart or len(node.generators) > 1 or node.generators[0].ifs:
            self._without(names_stored(node)).generic_visit(node)
            return node
        (loop,), nodes = node.generators, list[ast.expr]()
        for mark, item in self.work.turned(node, loop.iter, self.scope, self.suffix):
            scope = dict(self.scope)
            self.work.bind(loop.target, item, scope)
            nodes.append(self.work.read(node.elt, scope, f"{self.suffix}_{mark}"))
        return ast.copy_location(ast.List(nodes, ast.Load()), node)

    def _without(self, names: Collection[str]) -> "Inliner":
        return Inliner(self.work, {name: item for name, item in self.scope.items() if name not in names}, self.suffix)
