"""Slips of a backward pass over a whole graph: the order, its walk, and where it begins."""

import ast
import copy
import re
from collections.abc import Iterator

from app.grading.judge.slips.slip import Slip, slips_at
from app.grading.judge.slips.trees import (
    Function,
    Replacement,
    calls,
    expression,
    functions_in,
    replace_nodes,
    statement_of,
    with_body,
)


def walked(tree: ast.Module) -> Iterator[Slip]:
    """An order that is walked from the wrong end."""
    for node in ast.walk(tree):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=order) as walk) if calls_method(node, name):
                yield from slips_at(tree, "forward-walk", [(walk, expression(f"reversed({order})"))], name=order)
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="reversed"), args=[ast.Name(id=order)]) as walk
            ) if calls_method(node, name):
                yield from slips_at(tree, "reversed-twice", [(walk, expression(order))], name=order)


def calls_method(loop: ast.For, name: str) -> bool:
    """True if *loop* has a line that calls a method of its variable *name*."""
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and isinstance(node.value.func.value, ast.Name)
        and node.value.func.value.id == name
        for node in loop.body
    )


def unseen(tree: ast.Module) -> Iterator[Slip]:
    """A recursive visit that meets a node twice."""
    for function, outer in functions_in(tree):
        if not calls(function, function.name) or len(function.args.args) != 1:
            continue
        node, first = function.args.args[0].arg, function.body[0]
        condition = next((inner for inner in ast.walk(function) if _asks(inner, node)), None)
        if condition is None and outer is not None:
            guard = [statement_of(f"if {node} in _seen:\n    return"), statement_of(f"_seen.add({node})")]
            kept = with_body(function, [*guard, *function.body])
            made: list[ast.stmt] = [statement_of("_seen = set()"), kept]
            yield Slip("never-seen", function.lineno, replace_nodes(tree, [(function, made)]), {"name": function.name})
        elif isinstance(condition, ast.Compare) and isinstance(condition.comparators[0], ast.Name):
            seen = condition.comparators[0].id
            if re.search(rf"\b{seen}\.(?:add|append)\(|\b{seen}\s*(?:\|=|\+=)", ast.unparse(function)):
                continue
            for word in ("add", "append"):
                line = statement_of(f"{seen}.{word}({node})")
                negated = isinstance(condition.ops[0], ast.NotIn) and isinstance(first, ast.If)
                mended: list[ast.stmt] = [line, first] if not negated else [first]
                if negated and isinstance(first, ast.If):
                    mended = [ast.If(first.test, [line, *first.body], first.orelse)]
                elif isinstance(first, ast.If):
                    mended = [first, line]
                yield Slip(
                    "never-added",
                    condition.lineno,
                    replace_nodes(tree, [(first, mended)]),
                    {"name": f"`{function.name}`", "seen": seen},
                )


def _asks(node: ast.AST, name: str) -> bool:
    """True if *node* asks if *name* is in something."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id == name
        and isinstance(node.ops[0], ast.In | ast.NotIn)
    )


def visited_late(tree: ast.Module) -> Iterator[Slip]:
    """A node that is appended before what it was made from is visited."""
    for function, _ in functions_in(tree):
        for body in (node.body for node in ast.walk(function) if isinstance(node, Function | ast.If | ast.For)):
            loops = [at for at, node in enumerate(body) if isinstance(node, ast.For) and calls(node, function.name)]
            early = [
                at
                for at, node in enumerate(body)
                if loops and at < loops[0] and re.fullmatch(r"\w+\.append\(\w+\)", ast.unparse(node))
            ]
            if early:
                append, loop = body[early[0]], body[loops[0]]
                moved: list[Replacement] = [(append, [ast.Pass()]), (loop, [loop, copy.deepcopy(append)])]
                yield Slip("visited-late", append.lineno, replace_nodes(tree, moved), {"name": function.name})


def start(tree: ast.Module) -> Iterator[Slip]:
    """The gradient of the result: never set, or cleared again."""
    for function, _ in functions_in(tree):
        loops = [
            node
            for node in function.body
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and calls_method(node, node.target.id)
        ]
        set_to = [node for node in function.body if _sets(node, "self", 1.0)]
        if not loops or function.args.args[:1] == []:
            continue
        begin: list[ast.stmt] = [statement_of("self.grad = 1.0"), loops[0]]
        if not set_to:
            yield Slip("no-start", loops[0].lineno, replace_nodes(tree, [(loops[0], begin)]))
        elif set_to[0].lineno < loops[0].lineno:
            late: list[Replacement] = [(set_to[0], [ast.Pass()]), (loops[0], begin)]
            yield Slip("start-cleared", set_to[0].lineno, replace_nodes(tree, late))


def _sets(node: ast.stmt, name: str, value: float) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner), attr="grad")], value=ast.Constant(value=constant)
        ):
            return owner == name and constant == value
    return False
