"""Kinds of edits that change calls and subscripts: transposes, reductions, indices, functions, what is put in."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice, permutations

from app.grading.diagnosis.grammar import (
    EditVocabulary,
    Kind,
    Replacement,
    attribute,
    is_module,
    keeping_axis,
    turned_over,
)
from app.grading.operations.table import NAMES, OPERATIONS
from app.syntax import called_name, is_binary, name_node, name_of, nodes_in, tuple_parts

REDUCTIONS = frozenset(
    name
    for name, op in NAMES.items()
    if OPERATIONS[op].form in {"reduction", "spread", "along axes", "cumulated"} or op == "flip"
)
"""Calls with an axis that may be the wrong one."""
CURABLE = (ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.UnaryOp)
"""What a factor or a term may be missing at."""
RAISING = frozenset({"square", "sqrt", "reciprocal"})
"""Functions that are powers by another name."""
AXES_MAX = 4
LISTS_MAX = 100
"""Lists that are tried for each place that is right."""
LETTERS_MAX = 30
"""Characters of a text of `einsum` that is edited."""
LEFT_OUT_MAX = 4
"""How many entries a slice may leave out that is looked for elsewhere."""
AVERAGED: Mapping[str, str] = {"sum": "mean", "mean": "sum", "S": "M", "M": "S"}


def transpose_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A transpose put in; two exchanged axes of a tensor with more of them."""
    match node:
        case ast.Name(id=name) if name in words.arrays and words.arrays[name].ndim > 1:
            yield Replacement("turn", turned_over(node), node)
            for first in range(words.arrays[name].ndim - 2):
                call = ast.Call(attribute(node, "transpose"), [ast.Constant(first), ast.Constant(first + 1)], [])
                yield Replacement("turn-axes", call, node)


def reduction_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Sum for mean and mean for sum, another axis, a kept dimension."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="max" | "min" as attr), args=[], keywords=[]) if (
            words.inverse
        ):
            for axis in (0, 1, -1):
                yield Replacement(
                    "one-axis", ast.Call(attribute(value, f"a{attr}"), [ast.Constant(axis)], keeping_axis())
                )
        case ast.Call(func=ast.Name(id=name)) if name in AVERAGED:
            yield Replacement("average" if name == "S" else "sum", _call_of(node, name_node(AVERAGED[name])))
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in REDUCTIONS:
            if attr in AVERAGED:
                yield Replacement(
                    "average" if attr == "sum" else "sum", _call_of(node, attribute(value, AVERAGED[attr]))
                )
            yield from _axes(node, value, attr)


def _call_of(node: ast.Call, func: ast.expr) -> ast.Call:
    return ast.Call(func, node.args, node.keywords)


def _axes(node: ast.Call, value: ast.expr, attr: str) -> Iterator[Replacement]:
    first = int(is_module(value))
    keep = ast.keyword("keepdim", ast.Constant(True))
    given = [word.value for word in node.keywords if word.arg == "dim"] or node.args[first : first + 1]
    if given and isinstance(given[0], ast.Tuple):
        for kept in range(len(given[0].elts)) if len(given[0].elts) > 1 else ():
            fewer = ast.Tuple([elt for at, elt in enumerate(given[0].elts) if at != kept], ast.Load())
            yield Replacement("fewer-axes", _with_axis(node, first, fewer))
    if given:
        for axis in (0, 1, 2, 3, -1, -2):
            yield Replacement("axis", _with_axis(node, first, ast.Constant(axis)))
        known = given[0].elts if isinstance(given[0], ast.Tuple) else given[:1]
        for axis in range(AXES_MAX) if attr in AVERAGED else ():
            yield Replacement("more-axes", _with_axis(node, first, ast.Tuple([*known, ast.Constant(axis)], ast.Load())))
    elif attr in AVERAGED:
        for axis in (0, 1, -1):
            yield Replacement("one-axis", ast.Call(node.func, [*node.args, ast.Constant(axis)], [*node.keywords, keep]))
            yield Replacement("one-axis", ast.Call(node.func, [*node.args, ast.Constant(axis)], node.keywords))
    without = [word for word in node.keywords if word.arg != "keepdim"]
    if len(without) < len(node.keywords):
        yield Replacement("unkeep", ast.Call(node.func, node.args, without))
    elif attr in AVERAGED and given:
        yield Replacement("keep", ast.Call(node.func, node.args, [*node.keywords, keep]))


def _with_axis(node: ast.Call, first: int, axis: ast.expr) -> ast.Call:
    if any(word.arg == "dim" for word in node.keywords):
        words = [ast.keyword("dim", axis) if word.arg == "dim" else word for word in node.keywords]
        return ast.Call(node.func, node.args, words)
    return ast.Call(node.func, [*node.args[:first], axis, *node.args[first + 1 :]], node.keywords)


def repeat_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Copies of the whole for copies of each entry, and the inverse."""
    if not words.inverse:
        return
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="repeat"), args=[_, *_] as counts, keywords=[]):
            several = [
                axis for axis, count in enumerate(counts) if not (isinstance(count, ast.Constant) and count.value == 1)
            ]
            if len(several) == 1:
                new = attribute(value, "repeat_interleave")
                yield Replacement("copies", ast.Call(new, [counts[several[0]], ast.Constant(several[0])], []))
        case ast.Call(
            func=ast.Attribute(value=value, attr="repeat_interleave"), args=[count, ast.Constant(value=int(axis))]
        ) if 0 <= axis < AXES_MAX:
            for behind in range(AXES_MAX - axis):
                ones = [ast.Constant(1) for _ in range(axis + behind)]
                yield Replacement(
                    "entries", ast.Call(attribute(value, "repeat"), [*ones[:axis], count, *ones[axis:]], [])
                )


def layout_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A transpose for a reshape that pours, and another axis along which parts are joined."""
    if not words.inverse or not isinstance(node, ast.Call):
        return
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="reshape" | "view"), args=[rows, columns], keywords=[]):
            poured = ast.Call(attribute(value, "reshape"), [columns, rows], [])
            yield Replacement("poured", attribute(poured, "T"))
        case ast.Call(func=func, args=[parts, *_]) if called_name(node) == "cat":
            for axis in (0, 1, 2, -1):
                yield Replacement("joined", ast.Call(func, [parts, ast.Constant(axis)], []), func)


def einsum_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Another letter in what says how tensors meet in `einsum`, or its result with its letters in another order."""
    match node:
        case ast.Constant(value=str(text)) if words.inverse and "->" in text and len(text) <= LETTERS_MAX:
            inner, _, out = text.partition("->")
            for order in permutations(out) if 1 < len(out) <= AXES_MAX else ():
                if "".join(order) != out:
                    yield Replacement("letters", ast.Constant(f"{inner}->{''.join(order)}"), node)
            letters = dict.fromkeys(letter for letter in text if letter.isalpha())
            for at, letter in enumerate(text):
                kind = "letter" if at < len(inner) else "letter-behind"
                kind = kind if text.count(letter) > 1 else "letter-alone"
                for other in letters if letter.isalpha() else ():
                    if other != letter:
                        yield Replacement(kind, ast.Constant(f"{text[:at]}{other}{text[at + 1 :]}"), ast.Name(letter))


def index_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A slice or a step that is left out, or another one."""
    if not isinstance(node, ast.Subscript):
        return
    parts = tuple_parts(node.slice)
    if any(isinstance(part, ast.Slice) and (part.lower or part.upper) for part in parts):
        yield Replacement("unslice", node.value)
    elif all(isinstance(part, ast.Constant | ast.UnaryOp | ast.Slice) for part in parts):
        yield Replacement("unpick", node.value)
        for at, part in enumerate(parts if words.inverse else ()):
            if isinstance(part, ast.Constant | ast.UnaryOp):
                yield Replacement("unpick", ast.Call(attribute(node.value, "sum"), [ast.Constant(at)], []))
    if words.inverse:
        yield from (Replacement("part", part) for part in other_parts(node))
    for at, part in enumerate(parts):
        if isinstance(part, ast.Slice):
            if (part.lower is None) != (part.upper is None) and part.step is None:
                yield Replacement("part", _with_part(node, at, ast.Slice(part.upper, part.lower, None)))
            continue
        fixed = isinstance(part, ast.Constant)
        if isinstance(part, ast.Constant) and not isinstance(part.value, int):
            continue
        for by in (1, -1, 2, -2):
            new = _with_part(node, at, ast.BinOp(part, ast.Add(), ast.Constant(by)))
            yield Replacement("part" if fixed else "neighbour", new)
        for name, size in words.sizes.items() if fixed else ():
            if isinstance(size, int) and not isinstance(size, bool):
                yield Replacement("step", _with_part(node, at, name_node(name)))


def other_parts(node: ast.Subscript) -> Iterator[ast.Subscript]:
    """*node* with a slice that leaves as many entries out, at other ends: `x[1:]` and `x[:-1]`."""
    parts = tuple_parts(node.slice)
    for at, part in enumerate(parts):
        match part:
            case ast.Slice(lower=ast.Constant(value=int(first)), upper=None, step=None):
                last = 0
            case ast.Slice(lower=None, upper=ast.UnaryOp(ast.USub(), ast.Constant(value=int(last))), step=None):
                first = 0
            case ast.Slice(
                lower=ast.Constant(value=int(first)),
                upper=ast.UnaryOp(ast.USub(), ast.Constant(value=int(last))),
                step=None,
            ):
                pass
            case _:
                continue
        for before in range(first + last + 1) if 0 < first + last <= LEFT_OUT_MAX else ():
            after = first + last - before
            upper = ast.UnaryOp(ast.USub(), ast.Constant(after)) if after else None
            if before != first:
                yield _with_part(node, at, ast.Slice(ast.Constant(before) if before else None, upper, None))


def list_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """Others of its shape for a tensor that stands in a list several times, but for one of its places."""
    names = [name_of(element) for element in node.elts] if isinstance(node, ast.List) else []
    several = next((name for name in names if name in words.arrays and names.count(name) > 1), None)
    if several is None or not all(names):
        return
    shape = words.arrays[several].shape
    others = [name for name, array in words.arrays.items() if array.shape == shape and name not in names]
    places = [at for at, name in enumerate(names) if name == several]
    for own in places:
        changed = [at for at in places if at != own]
        for meant in islice(permutations(others, len(changed)), LISTS_MAX):
            parts = {**dict(enumerate(names)), **dict(zip(changed, meant, strict=True))}
            yield Replacement("parts", ast.List([ast.Name(parts[at]) for at in parts], ast.Load()), ast.Name(several))


def window_edits(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """A slice between two places, moved along: `x[0:M]` and `x[1:M + 1]`; one that ends at a length."""
    match node:
        case ast.Slice(lower=ast.expr() as lower, upper=ast.expr() as upper, step=None):
            for by in map(ast.Constant, (1, -1, 2, -2)):
                moved = ast.Slice(ast.BinOp(lower, ast.Add(), by), ast.BinOp(upper, ast.Add(), by))
                yield Replacement("part", moved, node)
            yield Replacement("length", ast.Slice(lower, ast.BinOp(lower, ast.Add(), upper)), upper)


def _with_part(node: ast.Subscript, at: int, part: ast.expr) -> ast.Subscript:
    if not isinstance(node.slice, ast.Tuple):
        return ast.Subscript(node.value, part, node.ctx)
    elts = [part if rank == at else each for rank, each in enumerate(node.slice.elts)]
    return ast.Subscript(node.value, ast.Tuple(elts, ast.Load()), node.ctx)


def insertion_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A factor, a division, a function or a sum that is put in."""
    floats = [name_node(name) for name, array in words.arrays.items() if array.dtype.kind == "f"]
    if words.inverse and isinstance(node, ast.Constant) and isinstance(node.value, float):
        others = (*floats, *words.parts)
        yield from (Replacement("put-factor", ast.BinOp(node, ast.Mult(), other)) for other in others)
    if not words.inverse or not isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        return
    for other in (*floats, *words.parts, *map(ast.Constant, words.numbers)):
        yield Replacement("put-factor", ast.BinOp(node, ast.Mult(), other))
        yield Replacement("put-division", ast.BinOp(node, ast.Div(), other))
    for name in words.sizes:
        yield Replacement("put-size", ast.BinOp(node, ast.Div(), name_node(name)))
        yield Replacement("put-size", ast.BinOp(node, ast.Mult(), name_node(name)))
    if is_binary(node, "**"):
        for by in (1, -1):
            base = ast.BinOp(node.left, ast.Add(), ast.Constant(by))
            yield Replacement("put-number", ast.BinOp(base, ast.Pow(), node.right), node.left)
    one_less = ast.BinOp(ast.Constant(1), ast.Sub(), node)
    cubed, positive = ast.BinOp(node, ast.Pow(), ast.Constant(3)), ast.Compare(node, [ast.Gt()], [ast.Constant(0)])
    for kind, new in (("put-function", one_less), ("put-power", cubed), ("put-function", positive)):
        yield Replacement(kind, new)
    yield from _sums(node, keeping_axis())


def sum_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A sum that is put in, and that leaves one axis less."""
    if words.inverse and isinstance(node, ast.Name | ast.BinOp | ast.Call):
        yield from _sums(node, [])


def _sums(node: ast.expr, options: list[ast.keyword]) -> Iterator[Replacement]:
    for axis in (0, 1, -1):
        yield Replacement("put-sum", ast.Call(attribute(node, "sum"), [ast.Constant(axis)], options))


def average_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """An average along an axis that is put in."""
    if isinstance(node, ast.Name) and node.id in words.arrays and words.inverse:
        for axis in (0, 1, -1):
            yield Replacement("put-mean", ast.Call(attribute(node, "mean"), [ast.Constant(axis)], keeping_axis()))


def term_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A term that is put in: a gradient, or what the forward lines read."""
    if not words.inverse or not isinstance(node, CURABLE):
        return
    read = {inner.id for part in words.parts for inner in nodes_in(part) if isinstance(inner, ast.Name)}
    names = [name for name in words.arrays if name in read or name in words.gradients]
    for term in (*(name_node(name) for name in names), *words.parts):
        for operator in (ast.Add(), ast.Sub()):
            yield Replacement("put-addend", ast.BinOp(node, operator, term))


def whole_edits(lines: Iterable[ast.stmt], gradients: Collection[str]) -> Kind:
    """Edits that put one of *gradients* in the place of a term of what the *lines* add up to it."""
    wholes: dict[str, str] = {}
    for line in lines:
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in gradients:
                wholes |= {ast.dump(term): name for term in _terms(value)}
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name in gradients:
                wholes |= {ast.dump(term): name for term in (value, *_terms(value))}
    return partial(_whole, wholes)


def _terms(expr: ast.expr) -> Iterator[ast.expr]:
    if is_binary(expr, "+"):
        for term in (expr.left, expr.right):
            yield from (term, *_terms(term))


def _whole(wholes: Mapping[str, str], node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if name := wholes.get(ast.dump(node)):
        yield Replacement("put-addend", name_node(name))


def size_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A size put into a product of sizes."""
    read = [inner for inner in nodes_in(node) if isinstance(inner, ast.Name | ast.Attribute | ast.Call)]
    if isinstance(node, ast.BinOp) and all(name_of(each) in words.sizes for each in read):
        for name in words.sizes:
            yield Replacement("put-size", ast.BinOp(node, ast.Mult(), name_node(name)))


def unread_tensor_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A term or a factor that is put in, of tensors that were computed and are read nowhere."""
    if isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        for name in words.arrays:
            tensor = name_node(name)
            yield Replacement("put-term", ast.BinOp(node, ast.Add(), tensor))
            yield Replacement("put-term", ast.BinOp(node, ast.Sub(), tensor))
            yield Replacement("put-factor", ast.BinOp(node, ast.Mult(), tensor))


def function_edits(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    """A function put in, or in the place of another one."""
    for function in words.functions:
        name: ast.expr = name_node(function)
        if words.inverse:
            name = attribute(name_node("torch"), function)
            yield Replacement("put-power" if function in RAISING else "put-function", ast.Call(name, [node], []), node)
        elif isinstance(node, ast.Name):
            yield Replacement("apply", ast.Call(name, [node], []), node)
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr=attr), args=arguments) if len(arguments) == is_module(base):
            for function in words.functions:
                if function != attr:
                    yield Replacement("function", _call_of(node, attribute(base, function)))
        case ast.Call(func=ast.Name(id=attr), args=[_]):
            for function in words.functions:
                if function != attr:
                    yield Replacement("function", _call_of(node, name_node(function)))
