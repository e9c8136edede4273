"""Fault of a learner's exception: the line, the text, and the operands of the operation that raised.

Runs in the jail, after the learner's code has failed; whatever it meets, it must not fail itself.
"""

import ast
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import torch

from app.bindings import idle_comparisons
from app.syntax import as_written, is_binary, name_of, nodes_in, parse_expression, tuple_parts

FILE = "<submission>"
_TEXT_CHARS = 2000
_SOURCE_CHARS = 120
_OPERANDS = 6


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and "allocate memory" in _text(error)


def describe_error(error: BaseException, node: ast.AST) -> dict[str, Any]:
    """The learner's own line and the operands on it, as JSON values."""
    frame, line, place = _innermost(error.__traceback__)
    operation = _operation(node, place) if place is not None else None
    if operation is None and isinstance(error, NameError):
        operation = next(
            (inner for name, inner in idle_comparisons(node) if name == error.name and inner.lineno == line), None
        )
    quoted = operation
    if operation is None and isinstance(error, NameError):
        quoted = _around(node, error.name, line)
    return {
        "line": line or getattr(error, "lineno", None) or getattr(node, "lineno", None),
        "type": type(error).__name__[:80],
        "text": _text(error)[:_TEXT_CHARS],
        "source": _source(quoted) if quoted is not None else "",
        "operands": _operands(operation, frame) if operation is not None and frame is not None else [],
    }


def raised_by(act: Callable[[], object], tree: ast.Module) -> list[dict[str, Any]]:
    """Run *act* and report what it raised, as all drivers do; empty if it went through.

    Raises:
        MemoryError: Memory ran out, however it was told.
    """
    try:
        act()
    except MemoryError:
        raise
    except BaseException as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        return [{"statement": 0, **describe_error(error, tree)}]
    return []


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def _innermost(trail: TracebackType | None) -> tuple[FrameType | None, int | None, tuple[int | None, ...] | None]:
    """The deepest frame in the learner's own code, its line, and the exact place of what it was doing."""
    frame, line, place = None, None, None
    while trail is not None:
        if trail.tb_frame.f_code.co_filename == FILE:
            frame, line = trail.tb_frame, trail.tb_lineno
            positions = list(trail.tb_frame.f_code.co_positions())
            at = trail.tb_lasti // 2
            place = positions[at] if at < len(positions) else None
        trail = trail.tb_next
    return frame, line, place


def _operation(node: ast.AST, place: tuple[int | None, ...]) -> ast.AST | None:
    """Find the expression or statement exactly at *place*."""
    for inner in nodes_in(node):
        here = tuple(getattr(inner, key, None) for key in ("lineno", "end_lineno", "col_offset", "end_col_offset"))
        if here == place and not isinstance(inner, ast.Name | ast.Constant | ast.Expr):
            return inner
    return None


def _around(node: ast.AST, name: str | None, line: int | None) -> ast.AST | None:
    """Find the node that begins with *name* on *line*: the call of a missing library, or a quotient."""
    node_there: ast.expr | None = None
    for inner in nodes_in(node):
        first = inner
        while isinstance(first, ast.Call | ast.Attribute):
            first = first.func if isinstance(first, ast.Call) else first.value
        if is_binary(first, "/"):
            first = first.left
        begins = name_of(first) == name and first is not inner
        if node_there is None and begins and isinstance(inner, ast.expr) and inner.lineno == line:
            node_there = inner
    return node_there


def _parts(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=target, value=value):
            return [_loaded(target), value]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            bound = [function.value] if isinstance(function, ast.Attribute) else []
            return [*bound, *arguments, *(keyword.value for keyword in keywords)]
        case ast.Subscript(value=value, slice=index):
            return [value, *tuple_parts(index)]
        case ast.Attribute(value=value):
            return [value]
        case ast.Assign(value=value):
            return [value]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case _:
            return []


def _loaded(node: ast.expr) -> ast.expr:
    return parse_expression(ast.unparse(node))


def _operands(node: ast.AST, frame: FrameType) -> list[dict[str, Any]]:
    operands = []
    for part in _parts(node)[:_OPERANDS]:
        if not _harmless(part):
            continue
        try:
            code = compile(ast.fix_missing_locations(ast.Expression(part)), "<operand>", "eval")
            value = eval(code, frame.f_globals, dict(frame.f_locals))
        except BaseException:
            continue
        if type(value) is torch.Tensor:
            dtype = str(value.dtype).removeprefix("torch.")
            operands.append({"source": _source(part), "shape": list(value.shape), "dtype": dtype})
    return operands


def _harmless(node: ast.expr) -> bool:
    """True if evaluating *node* once more changes nothing."""
    for inner in nodes_in(node):
        if isinstance(inner, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Lambda):
            return False
        if isinstance(inner, ast.Call):
            if not isinstance(inner.func, ast.Attribute) or inner.func.attr.endswith("_"):
                return False
            if any(keyword.arg == "out" for keyword in inner.keywords):
                return False
    return True


def _source(node: ast.AST) -> str:
    try:
        return as_written(node)[:_SOURCE_CHARS]
    except BaseException:
        return ""
