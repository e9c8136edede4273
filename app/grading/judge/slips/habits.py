"""Slips that have a name, found in the text alone: each row gives the program in which one of them is undone.

Whether it is one, a run decides: what is no slip in one program is right in another.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator

from app.grading.judge.slips.slip import Slip, slips_at
from app.grading.judge.slips.trees import (
    Replacement,
    calls,
    expression,
    inner_functions,
    replace_nodes,
    with_body,
)
from app.grading.judge.slips.visits import start, unseen, visited_late, walked
from app.syntax import name_node, name_of, names_stored

Habit = Callable[[ast.Module], Iterator[Slip]]
_GRAD, _DATA = "grad", "data"
_NEW = re.compile(
    r"sum|mean|max|min|reshape|view|t|T|transpose|permute|(?:un)?squeeze|expand|flatten|clone|float|double"
)
"""Methods of tensors that give something new and leave the tensor as it is."""


def _gradient_of(statement: ast.AST) -> ast.Attribute | None:
    """The `.grad` that *statement* writes."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    match targets:
        case [ast.Attribute(attr="grad") as target] if isinstance(statement, ast.Assign | ast.AugAssign):
            return target
    return None


def assigned(tree: ast.Module) -> Iterator[Slip]:
    """`self.grad = …` for `self.grad += …`, and `=+`."""
    plain: list[Replacement] = []
    behind: list[Replacement] = []
    for node in ast.walk(tree):
        target = _gradient_of(node)
        if not isinstance(node, ast.Assign) or target is None or isinstance(node.value, ast.Constant):
            continue
        if ast.unparse(target) in ast.unparse(node.value):
            continue
        (behind if ast.unparse(node.value).startswith("+") else plain).append(
            (node, ast.AugAssign(target, ast.Add(), node.value))
        )
    first = (
        min((old.lineno, ast.unparse(_gradient_of(old) or old)) for old, _ in plain if isinstance(old, ast.stmt))[1]
        if plain
        else ""
    )
    yield from slips_at(tree, "assigned", plain, place=first)
    yield from slips_at(tree, "plus-behind", behind)


def value_for_number(tree: ast.Module) -> Iterator[Slip]:
    """`other` in a sum or a product of numbers, for `other.data`."""
    names_by_id: dict[int, ast.Name] = {}
    for function, _ in inner_functions(tree):
        for statement in (node for node in ast.walk(function) if _gradient_of(node) is not None):
            for name in _operands(statement.value if isinstance(statement, ast.Assign | ast.AugAssign) else statement):
                names_by_id[id(name)] = name
    names = list(names_by_id.values())
    if names:
        first = min(names, key=lambda name: (name.lineno, name.col_offset))
        yield from slips_at(
            tree,
            "value-for-number",
            [(name, ast.Attribute(name, _DATA, ast.Load())) for name in names],
            name=first.id,
        )


def _operands(value: ast.AST) -> Iterator[ast.Name]:
    """The bare names that *value* computes with."""
    for node in ast.walk(value):
        match node:
            case ast.BinOp(left=left, right=right):
                sides: list[ast.expr] = [left, right]
            case ast.UnaryOp(operand=operand):
                sides = [operand]
            case ast.Compare(left=left):
                sides = [left]
            case ast.Call(func=ast.Attribute(), args=args):
                sides = args
            case _:
                sides = []
        yield from (side for side in sides if isinstance(side, ast.Name) and side.id in {"self", "other", "out"})


def bare_grad(tree: ast.Module) -> Iterator[Slip]:
    """`grad` alone, for `out.grad`."""
    for function, outer in inner_functions(tree):
        stored = names_stored(outer)
        taken = {argument.arg for argument in (*function.args.args, *outer.args.args)}
        if _GRAD in stored | taken or "out" not in stored:
            continue
        bare = [node for node in ast.walk(function) if name_of(node) == _GRAD]
        yield from slips_at(tree, "bare-grad", [(node, expression("out.grad")) for node in bare], name="out")


def returned(tree: ast.Module) -> Iterator[Slip]:
    """Shares that are returned, and stored nowhere."""
    for function, outer in inner_functions(tree):
        names = [argument.arg for argument in outer.args.args]
        for node in ast.walk(function):
            if not isinstance(node, ast.Return) or node.value is None or calls(function, function.name):
                continue
            shares = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]
            if len(shares) <= len(names):
                stored: list[ast.stmt] = [
                    ast.AugAssign(ast.Attribute(name_node(name), _GRAD, ast.Store()), ast.Add(), share)
                    for name, share in zip(names, shares, strict=False)
                ]
                yield from slips_at(tree, "returned", [(node, stored)], name=function.name)


def dedented(tree: ast.Module) -> Iterator[Slip]:
    """Lines behind `_backward` that belong into it."""
    for function, outer in inner_functions(tree):
        if function not in outer.body:
            continue
        after = outer.body[outer.body.index(function) + 1 :]
        outside = [statement for statement in after if _gradient_of(statement) is not None]
        inside = [statement for statement in function.body if not isinstance(statement, ast.Pass)]
        if outside:
            moved = with_body(function, [*inside, *copy.deepcopy(outside)])
            kept: list[ast.stmt] = [ast.copy_location(ast.Pass(), outside[0])]
            gone: list[Replacement] = [(statement, kept) for statement in outside]
            yield Slip(
                "dedented",
                outside[0].lineno,
                replace_nodes(tree, [(function, moved), *gone]),
                {"name": function.name},
            )


def called_early(tree: ast.Module) -> Iterator[Slip]:
    """`out._backward = _backward()`."""
    for function, outer in inner_functions(tree):
        for node in ast.walk(outer):
            match node:
                case ast.Assign(targets=[ast.Attribute()], value=ast.Call(func=ast.Name(id=name) as called, args=[])):
                    if name == function.name:
                        yield from slips_at(tree, "called-early", [(node.value, called)], name=name)


def not_called(tree: ast.Module) -> Iterator[Slip]:
    """`node._backward` as a line of its own."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Attribute(attr=name) as place) if not _NEW.fullmatch(name):
                yield from slips_at(tree, "not-called", [(place, ast.Call(place, [], []))], place=ast.unparse(place))


def thrown_away(tree: ast.Module) -> Iterator[Slip]:
    """`g.sum(0)` as a line of its own, or several such lines."""
    found: dict[str, list[tuple[ast.Expr, ast.Assign]]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr):
            continue
        match node.value:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))
                | ast.Attribute(value=ast.Name(id=name), attr=method)
            ) if _NEW.fullmatch(method):
                value = node.value
            case ast.Call(func=ast.Name(id="reversed" | "sorted"), args=[ast.Name(id=name), *_]):
                value = ast.Call(name_node("list"), [node.value], [])
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch")), args=[ast.Name(id=name), *_]):
                value = node.value
            case _:
                continue
        found.setdefault(name, []).append((node, ast.Assign([ast.Name(name, ast.Store())], value)))
    for name, lines in found.items():
        # All at once first: a loop that waits for one of them comes to no end.
        for kept in [lines, *([line] for line in lines)] if len(lines) > 1 else [lines]:
            yield from slips_at(tree, "thrown-away", kept, place=ast.unparse(kept[0][0]), name=name)


def python_sum(tree: ast.Module) -> Iterator[Slip]:
    """Python's `sum` of a tensor."""
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum"]
    yield from slips_at(tree, "python-sum", [(node.func, expression("torch.sum")) for node in called])


def loop_rebinding(tree: ast.Module) -> Iterator[Slip]:
    """`p = p - step` in a loop over parameters, for `p -= step`."""
    for loop in ast.walk(tree):
        taken = names_stored(loop.target) if isinstance(loop, ast.For) else set()
        for node in ast.walk(loop) if taken else ():
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name) as target], value=ast.BinOp(left=ast.Name(id=before), op=op, right=step)
                ) if name == before and name in taken:
                    in_place = ast.AugAssign(target, op, step)
                    yield from slips_at(tree, "rebound", [(node, in_place)], place=ast.unparse(node), name=name)


def missing_brackets(tree: ast.Module) -> Iterator[Slip]:
    """`a / 2 * h`, for `a / (2 * h)`."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(
                left=ast.BinOp(left=above, op=ast.Div(), right=ast.Name() | ast.Constant() as first),
                op=ast.Mult(),
                right=ast.Name() | ast.Constant() as second,
            ):
                divided = ast.BinOp(above, ast.Div(), ast.BinOp(first, ast.Mult(), second))
                words = {"first": ast.unparse(first), "second": ast.unparse(second)}
                yield from slips_at(tree, "unbracketed", [(node, divided)], **words)


def swapped(tree: ast.Module) -> Iterator[Slip]:
    """Two shares, each at the input of the other."""
    for function, _ in inner_functions(tree):
        writes = [node for node in function.body if isinstance(node, ast.AugAssign) and _gradient_of(node) is not None]
        if len(writes) == 2 and ast.dump(writes[0].value) != ast.dump(writes[1].value):
            first, two = writes
            names = [ast.unparse(node.target).removesuffix(".grad") for node in writes]
            turned: list[Replacement] = [(first.value, two.value), (two.value, first.value)]
            yield from slips_at(tree, "swapped", turned, name=names[0], other=names[1])


HABITS: tuple[Habit, ...] = (
    value_for_number,
    bare_grad,
    returned,
    dedented,
    called_early,
    not_called,
    assigned,
    swapped,
    loop_rebinding,
    missing_brackets,
    thrown_away,
    walked,
    unseen,
    visited_late,
    start,
    python_sum,
)
"""The most telling first."""


def habits_in(tree: ast.Module) -> Iterator[Slip]:
    """Every habit that *tree* may show."""
    return (slip for habit in HABITS for slip in habit(tree))
