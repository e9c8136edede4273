"""Slips that have a name, found in the text alone: each row gives the program in which one of them is undone.

Whether it is one, a run decides: what is no slip in one program is right in another.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from functools import reduce

from app.grading.judge.slips.slip import Slip, slips_at
from app.grading.judge.slips.trees import (
    Function,
    Replacement,
    calls,
    expression,
    flattened,
    inner_functions,
    replace_nodes,
    sign_of,
    with_body,
)
from app.grading.judge.slips.visits import (
    cleared_late,
    method_for_share,
    never_backward,
    restart_at_inputs,
    returned_early,
    shared_default,
    start,
    unseen,
    visited_late,
    walked,
)
from app.syntax import name_node, name_of, names_stored, nodes_in

Habit = Callable[[ast.Module], Iterator[Slip]]
_GRAD, _DATA, _UPSTREAM = "grad", "data", "out.grad"
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
    for node in nodes_in(tree):
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
        for statement in (node for node in nodes_in(function) if _gradient_of(node) is not None):
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
    for node in nodes_in(value):
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
        bare = [node for node in nodes_in(function) if name_of(node) == _GRAD]
        yield from slips_at(tree, "bare-grad", [(node, expression("out.grad")) for node in bare], name="out")


def _share_writes(tree: ast.Module) -> Iterator[tuple[Function, ast.AugAssign | ast.Assign]]:
    """The lines of a `_backward` that write one gradient, each with the method that makes the result."""
    for function, outer in inner_functions(tree):
        for node in nodes_in(function) if "out" in names_stored(outer) else ():
            if isinstance(node, ast.AugAssign | ast.Assign) and _gradient_of(node) is not None:
                yield outer, node


def other_upstream(tree: ast.Module) -> Iterator[Slip]:
    """The gradient of an input, or the value of the result, for `out.grad`."""
    for taken in ("self.grad", "other.grad"), ("out.data",):
        places: list[Replacement] = []
        for _, statement in _share_writes(tree):
            factors = flattened(statement.value, ast.Mult)
            if not any(ast.unparse(factor) == _UPSTREAM for factor in factors):
                places += [(factor, expression(_UPSTREAM)) for factor in factors if ast.unparse(factor) in taken]
        if places:
            yield from slips_at(tree, "other-upstream", places, place=ast.unparse(places[0][0]))


def gradient_for_number(tree: ast.Module) -> Iterator[Slip]:
    """`other.grad` as a local derivative, for `other.data`."""
    places = [
        (node, ast.Attribute(node.value, _DATA, ast.Load()))
        for _, statement in _share_writes(tree)
        for node in flattened(statement.value, ast.Mult)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"self.grad", "other.grad"}
    ]
    if places:
        first = places[0][0]
        words = {"place": ast.unparse(first), "name": ast.unparse(first.value)}
        yield from slips_at(tree, "gradient-for-number", list[Replacement](places), **words)


def division_for_factor(tree: ast.Module) -> Iterator[Slip]:
    """`out.data / self.data`, for the other side of the product."""
    places: list[Replacement] = []
    for outer, statement in _share_writes(tree):
        sides = [argument.arg for argument in outer.args.args]
        for node in nodes_in(statement.value):
            match node:
                case ast.BinOp(
                    left=ast.Attribute(value=ast.Name(id="out"), attr="data"),
                    op=ast.Div(),
                    right=ast.Attribute(value=ast.Name(id=name), attr="data"),
                ) if len(sides) == 2 and name in sides:
                    places.append((node, expression(f"{sides[1 - sides.index(name)]}.data")))
    if places:
        divisor = ast.unparse(places[0][0]).partition(" / ")[2]
        yield from slips_at(tree, "divided", places, place=ast.unparse(places[0][0]), name=divisor)


def stored_together(tree: ast.Module) -> Iterator[Slip]:
    """Two shares in one line: both sums are made before either of them is stored."""
    for function, _ in inner_functions(tree):
        for node in nodes_in(function):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if all(
                    isinstance(target, ast.Attribute) and target.attr == _GRAD for target in targets
                ):
                    pairs = zip(targets, values, strict=False)
                    lines: list[ast.stmt] = [ast.Assign([target], value) for target, value in pairs]
                    yield from slips_at(tree, "stored-together", [(node, lines)])


def local_alone(tree: ast.Module) -> Iterator[Slip]:
    """Shares without what comes back."""
    places: list[Replacement] = [
        (statement.value, ast.BinOp(statement.value, ast.Mult(), expression(_UPSTREAM)))
        for _, statement in _share_writes(tree)
        if isinstance(statement, ast.AugAssign) and _UPSTREAM not in ast.unparse(statement.value)
    ]
    for group in [places, *([place] for place in places)] if len(places) > 1 else [places]:
        if group:
            yield from slips_at(tree, "no-upstream", group, place=ast.unparse(group[0][0]))


def product_first(tree: ast.Module) -> Iterator[Slip]:
    """`1 - t * g` for `(1 - t) * g`, and `x ** n - 1 * g` for `x ** (n - 1) * g`."""
    for _, statement in _share_writes(tree):
        match statement.value:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=ast.BinOp(op=ast.Mult()) as product):
                *inner, upstream = flattened(product, ast.Mult)
                if ast.unparse(upstream) != _UPSTREAM:
                    continue
                last = reduce(lambda first, second: ast.BinOp(first, ast.Mult(), second), inner)
                bracketed: list[ast.expr] = [ast.BinOp(left, op, last)]
                *factors, power = flattened(left, ast.Mult)
                if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
                    exponent = ast.BinOp(power.right, op, last)
                    parts = [*factors, ast.BinOp(power.left, ast.Pow(), exponent)]
                    bracketed.append(reduce(lambda first, second: ast.BinOp(first, ast.Mult(), second), parts))
                for whole in bracketed:
                    mended: Replacement = (statement.value, ast.BinOp(whole, ast.Mult(), upstream))
                    words = {"place": ast.unparse(product), "sign": sign_of(statement.value)}
                    yield from slips_at(tree, "product-first", [mended], **words)


def returned(tree: ast.Module) -> Iterator[Slip]:
    """Shares that are returned, and stored nowhere."""
    for function, outer in inner_functions(tree):
        names = [argument.arg for argument in outer.args.args]
        for node in nodes_in(function):
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
        for node in nodes_in(outer):
            match node:
                case ast.Assign(targets=[ast.Attribute()], value=ast.Call(func=ast.Name(id=name) as called, args=[])):
                    if name == function.name:
                        yield from slips_at(tree, "called-early", [(node.value, called)], name=name)


def not_called(tree: ast.Module) -> Iterator[Slip]:
    """`node._backward` as a line of its own."""
    for node in nodes_in(tree):
        match node:
            case ast.Expr(value=ast.Attribute(attr=name) as place) if not _NEW.fullmatch(name):
                yield from slips_at(tree, "not-called", [(place, ast.Call(place, [], []))], place=ast.unparse(place))


def thrown_away(tree: ast.Module) -> Iterator[Slip]:
    """`g.sum(0)` as a line of its own, or several such lines."""
    found: dict[str, list[tuple[ast.Expr, ast.Assign]]] = {}
    for node in nodes_in(tree):
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
    called = [node for node in nodes_in(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum"]
    yield from slips_at(tree, "python-sum", [(node.func, expression("torch.sum")) for node in called])


def math_for_method(tree: ast.Module) -> Iterator[Slip]:
    """`math.exp(x)`, for `x.exp()`."""
    called = [
        (node, node.func, node.args[0])
        for node in nodes_in(tree)
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Attribute)
        if ast.unparse(node.func.value) == "math" and not ast.unparse(node.args[0]).endswith(f".{_DATA}")
    ]
    if called:
        places: list[Replacement] = [
            (node, ast.Call(ast.Attribute(argument, function.attr, ast.Load()), [], []))
            for node, function, argument in called
        ]
        function = called[0][1]
        yield from slips_at(tree, "math-for-method", places, place=ast.unparse(function), name=function.attr)


def loop_rebinding(tree: ast.Module) -> Iterator[Slip]:
    """`p = p - step` in a loop over parameters, for `p -= step`."""
    for loop in nodes_in(tree):
        taken = names_stored(loop.target) if isinstance(loop, ast.For) else set()
        for node in nodes_in(loop) if taken else ():
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name) as target], value=ast.BinOp(left=ast.Name(id=before), op=op, right=step)
                ) if name == before and name in taken:
                    in_place = ast.AugAssign(target, op, step)
                    yield from slips_at(tree, "rebound", [(node, in_place)], place=ast.unparse(node), name=name)


def missing_brackets(tree: ast.Module) -> Iterator[Slip]:
    """`a / 2 * h`, for `a / (2 * h)`."""
    for node in nodes_in(tree):
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


def other_total(tree: ast.Module) -> Iterator[Slip]:
    """`.sum()` of all for `.mean()`, and the other way about."""
    others = {"sum": "mean", "mean": "sum"}
    for node in nodes_in(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=whole, attr="sum" | "mean" as attr) as function, args=[], keywords=[]
            ):
                other = ast.Attribute(whole, others[attr], ast.Load())
                yield from slips_at(tree, f"{attr}-of-all", [(function, other)], place=_short(node))


def every_row(tree: ast.Module) -> Iterator[Slip]:
    """`p[:, Y]` for `p[range(len(Y)), Y]`."""
    counted = {name for loop in nodes_in(tree) if isinstance(loop, ast.For) for name in names_stored(loop.target)}
    for node in nodes_in(tree):
        match node:
            case ast.Subscript(
                slice=ast.Tuple(
                    elts=[ast.Slice(lower=None, upper=None, step=None) as rows, ast.Name(id=name) as picked]
                )
            ) if name not in counted:
                each = expression(f"range(len({name}))")
                yield from slips_at(tree, "every-row", [(rows, each)], place=_short(node), name=picked.id)


def _short(node: ast.AST) -> str:
    return ast.unparse(node)[:80]


HABITS: tuple[Habit, ...] = (
    method_for_share,
    restart_at_inputs,
    value_for_number,
    bare_grad,
    other_upstream,
    gradient_for_number,
    division_for_factor,
    stored_together,
    product_first,
    local_alone,
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
    shared_default,
    unseen,
    visited_late,
    start,
    never_backward,
    cleared_late,
    returned_early,
    math_for_method,
    python_sum,
    every_row,
    other_total,
)
"""The most telling first."""


def habits_in(tree: ast.Module) -> Iterator[Slip]:
    """Every habit that *tree* may show."""
    return (slip for habit in HABITS for slip in habit(tree))
