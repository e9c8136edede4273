"""Slips of a backward pass over a whole graph: the order, its walk, where it begins, and the steps of a training."""

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
from app.syntax import nodes_in


def walked(tree: ast.Module) -> Iterator[Slip]:
    """An order that is walked from the wrong end."""
    for node in nodes_in(tree):
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


_WALK = """\
order, seen = [], set()

def visit(node):
    if node not in seen:
        seen.add(node)
        for before in node.{inputs}:
            visit(before)
        order.append(node)

visit(self)
for node in order:
    if node.{inputs}:
        node.grad = 0.0
self.grad = 1.0
for node in reversed(order):
    node.{share}()
"""


def restart_at_inputs(tree: ast.Module) -> Iterator[Slip]:
    """A pass that is begun anew at each input of a node."""
    for function, _ in functions_in(tree):
        if not any(_sets(node, "self", 1.0) for node in ast.walk(function) if isinstance(node, ast.stmt)):
            continue
        for loop in ast.walk(function):
            match loop:
                case ast.For(
                    target=ast.Name(id=name), iter=ast.Attribute(value=ast.Name(id="self"), attr=inputs), body=body
                ):
                    again = [node for node in body if ast.unparse(node) == f"{name}.{function.name}()"]
                    if again:
                        walk = ast.parse(_WALK.format(inputs=inputs, share=f"_{function.name}")).body
                        mended = replace_nodes(tree, [(function, with_body(function, walk))])
                        yield Slip("restarted", again[0].lineno, mended, {"place": f"{name}.{function.name}()"})


def method_for_share(tree: ast.Module) -> Iterator[Slip]:
    """`node.backward()` in `backward`, for `node._backward()`."""
    for function, _ in functions_in(tree):
        places: list[Replacement] = [
            (node, ast.Attribute(node.value, f"_{function.name}", ast.Load()))
            for loop in ast.walk(function)
            if isinstance(loop, ast.For)
            for node in ast.walk(loop)
            if isinstance(node, ast.Attribute) and node.attr == function.name and isinstance(node.ctx, ast.Load)
        ]
        if places:
            called = ast.unparse(places[0][0])
            owner = called.removesuffix(function.name)
            yield from slips_at(tree, "method-for-share", places, place=called, name=f"{owner}_{function.name}")


def shared_default(tree: ast.Module) -> Iterator[Slip]:
    """`def visit(node, order=[])`: one list for all calls."""
    for function, _ in functions_in(tree):
        arguments, defaults = function.args.args, function.args.defaults
        pairs = [
            (argument.arg, default)
            for argument, default in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
            if ast.unparse(default) in {"[]", "{}", "set()", "list()", "dict()"}
        ]
        if pairs:
            begin = [statement_of(f"if {name} is None:\n    {name} = {ast.unparse(value)}") for name, value in pairs]
            shared = {id(value) for _, value in pairs}
            new_defaults = [ast.Constant(None) if id(value) in shared else value for value in defaults]
            changed = with_body(function, [*begin, *function.body])
            changed.args = copy.copy(function.args)
            changed.args.defaults = new_defaults
            name, value = pairs[0]
            words = {"place": f"{name}={ast.unparse(value)}", "name": name}
            yield Slip("shared-default", function.lineno, replace_nodes(tree, [(function, changed)]), words)


def unseen(tree: ast.Module) -> Iterator[Slip]:
    """A recursive visit that meets a node twice."""
    for function, outer in functions_in(tree):
        if not calls(function, function.name) or len(function.args.args) != 1:
            continue
        node, first = function.args.args[0].arg, function.body[0]
        condition = next((inner for inner in nodes_in(function) if _asks(inner, node)), None)
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
        for body in (node.body for node in nodes_in(function) if isinstance(node, Function | ast.If | ast.For)):
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


def never_backward(tree: ast.Module) -> Iterator[Slip]:
    """Gradients that are read, and no pass that brings them."""
    if any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in ast.walk(tree)):
        return
    for function, _ in functions_in(tree):
        for body in (node.body for node in ast.walk(function) if isinstance(node, Function | ast.For)):
            at = next((at for at, node in enumerate(body) if at and _reads_gradient(node)), 0)
            names = [target.id for node in body[:at] for target in _assigned_names(node)]
            if at and names:
                begin: list[ast.stmt] = [statement_of(f"{names[-1]}.backward()"), body[at]]
                yield Slip("never-backward", body[at].lineno, replace_nodes(tree, [(body[at], begin)]))


def _assigned_names(node: ast.stmt) -> Iterator[ast.Name]:
    if isinstance(node, ast.Assign):
        yield from (target for target in node.targets if isinstance(target, ast.Name))


def _reads_gradient(node: ast.AST) -> bool:
    return any(
        isinstance(inner, ast.Attribute) and inner.attr == "grad" and isinstance(inner.ctx, ast.Load)
        for inner in ast.walk(node)
    )


def cleared_late(tree: ast.Module) -> Iterator[Slip]:
    """Gradients that are cleared after the pass, before the step takes them."""
    for loop in ast.walk(tree):
        body = loop.body if isinstance(loop, ast.For) else []
        passes = [node for node in body if re.fullmatch(r"\w+\.backward\(\)", ast.unparse(node))]
        clears = [node for node in body if isinstance(node, ast.For) and "grad = 0" in ast.unparse(node)]
        if passes and clears and passes[0].lineno < clears[0].lineno:
            moved: list[Replacement] = [
                (passes[0], [ast.Pass()]),
                (clears[0], [clears[0], copy.deepcopy(passes[0])]),
            ]
            place = ast.unparse(passes[0])
            yield Slip("cleared-late", clears[0].lineno, replace_nodes(tree, moved), {"place": place})


def returned_early(tree: ast.Module) -> Iterator[Slip]:
    """A `return` at the end of a loop, which ends it in its first round."""
    for function, _ in functions_in(tree):
        match function.body:
            case [*_, ast.For(body=[_, *_, ast.Return() as back]) as loop]:
                moved: list[Replacement] = [(back, [ast.Pass()]), (loop, [loop, copy.deepcopy(back)])]
                yield Slip("returned-early", back.lineno, replace_nodes(tree, moved))
