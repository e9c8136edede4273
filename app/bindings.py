"""Names that one statement of a submission reads, writes and leaves blank; nothing is run."""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from app.syntax import attribute_of, called_name, nodes_in, sign_of

_BLANK = re.compile(r"_{2,}")
MODULES = frozenset({"torch", "F", "math"})
"""Modules that are in scope in every box."""
FACTS = frozenset({"shape", "ndim", "dtype", "device", "layout", "size", "numel", "dim", "is_floating_point"})
LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "len"})
NEW = frozenset({"new_zeros", "new_ones", "new_full"})
SHAPED_BY = frozenset({"expand_as", "view_as", "reshape_as", "type_as"}) | NEW
_FILLED = frozenset(["append", "extend", "insert", "update", "setdefault", "pop", "popitem", "remove", "clear"])
"""Methods of lists and dictionaries that change them; no tensor has one of these."""
_VIEWS = frozenset(
    ["view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "t", "transpose", "permute", "narrow", "select"]
)


@lru_cache(maxsize=128)
def nodes_of(line: ast.stmt) -> list[ast.AST]:
    """All nodes of *line*; those of the same text are walked for one gradient after another."""
    return nodes_in(line)


def is_blank(node: ast.stmt, nodes: list[ast.AST]) -> bool:
    """True if the statement still holds `____`, or is `dX = ...`."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is ...:
        return True
    return any(
        (isinstance(inner, ast.Name) and _BLANK.fullmatch(inner.id) is not None)
        or (isinstance(inner, ast.Attribute) and _BLANK.fullmatch(inner.attr) is not None)
        for inner in nodes
    )


def reads_of(nodes: list[ast.AST]) -> tuple[frozenset[str], frozenset[str]]:
    """Names read anywhere in *nodes*, and the ones read for more than their shape."""
    aside = {inner for node in nodes for inner in shape_only(node)}
    loads = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    targets = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    changed = {target.id for target in targets if isinstance(target, ast.Name)}
    reads = frozenset(load.id for load in loads) | changed
    uses = frozenset(load.id for load in loads if load not in aside) | changed
    return reads, uses


def shape_only(node: ast.AST) -> Sequence[ast.expr]:
    """The expressions in *node* of which nothing but the shape is read, as `x` in `x.shape` and `zeros_like(x)`."""
    match node:
        case ast.Attribute(value=owner, attr=fact) if fact in FACTS | NEW:
            return [owner]
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=arguments):
            return arguments[:1] if name in LIKE else arguments if name in SHAPED_BY else []
    return []


def writes_of(nodes: list[ast.AST]) -> frozenset[str]:
    """Names that *nodes* bind, or write into by index, in place, by a method of lists, or as `out=`."""
    names: set[str] = set()
    bare = {node.target for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None}
    for node in nodes:
        if node in bare:  # `name: value` binds nothing
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            names |= root_of(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and _in_place(node.func.attr):
                names |= root_of(node.func.value)
            for keyword in node.keywords:
                if keyword.arg == "out":
                    names |= root_of(keyword.value)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return frozenset(names)


@lru_cache(maxsize=128)
def writes(line: ast.stmt) -> frozenset[str]:
    """The names that *line* binds or changes in place."""
    return writes_of(nodes_of(line))


def _in_place(name: str) -> bool:
    return name in _FILLED or (name.endswith("_") and not name.startswith("_"))


def simple_statements(node: ast.stmt, line: int | None = None) -> list[ast.stmt]:
    """*node* itself, or the statements without a body inside of it, in the order of the text; those of *line* alone."""
    inside = [each for each in nodes_in(node) if isinstance(each, ast.stmt) and not hasattr(each, "body")]
    wanted = [each for each in inside if line is None or each.lineno <= line <= (each.end_lineno or each.lineno)]
    return sorted(wanted, key=lambda each: each.lineno)


def assigned_names(tree: ast.AST) -> tuple[str, ...]:
    """Every name that is assigned anywhere in *tree*, in order of first appearance."""
    names = [node.id for node in nodes_in(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return tuple(dict.fromkeys(names))


def freshly_bound(node: ast.stmt) -> frozenset[str]:
    """Names that a plain assignment binds anew."""
    if not isinstance(node, ast.Assign):
        return frozenset()
    return frozenset(name for target in node.targets for name in assigned_names(target))


def bound_anew(node: ast.stmt) -> frozenset[str]:
    """Names that a plain assignment binds anew; not those that are a term of its own right side, as in `x = x + y`."""
    terms, assigned = list[ast.expr](), set[str]()
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        terms.append(node.value)
    for term in terms:
        match term:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                terms += [left, right]
            case ast.Name(id=name):
                assigned.add(name)
    return freshly_bound(node) - assigned


def root_of(node: ast.expr) -> set[str]:
    """The name at the bottom of `dC.view(-1)[0]`: a view of it is written; none for what a function of torch makes."""
    while True:
        match node:
            case ast.Name(id=name):
                return {name}
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in MODULES:
                return set()
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return set()


def viewed_name(node: ast.expr) -> str:
    """The name whose memory *node* shows; empty where it has its own."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="T" | "mT" | "data"):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS:
                node = inner
            case _:
                return ""


def first_use(tree: ast.AST, name: str) -> str | None:
    """The first use that *tree* makes of *name*: the sign of arithmetic, the name of a function, `[]` or `=`.

    Empty for any other; None where *name* is not read.
    """
    parents = {child: node for node in nodes_in(tree) for child in ast.iter_child_nodes(node)}
    for node in nodes_in(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            user = parents[node]
            while isinstance(user, ast.List | ast.Tuple | ast.keyword | ast.Starred):
                user = parents[user]
            picks, copies = "[]" * isinstance(user, ast.Subscript), "=" * isinstance(user, ast.Assign)
            sign = sign_of(user) if isinstance(user, ast.BinOp) else ""
            return sign or called_name(user) or attribute_of(user) or picks or copies
    return None


def idle_comparisons(node: ast.AST) -> list[tuple[str, ast.Compare | ast.AnnAssign]]:
    """The statements in *node* that do nothing, where `name = value` was meant.

    They read `name == value`, `name[…] == value`, `name <- value` or `name: value`.
    """
    comparisons: list[tuple[str, ast.Compare | ast.AnnAssign]] = []
    for inner in nodes_in(node) if hasattr(node, "body") else (node,):  # expressions hold no statements
        match inner:
            case ast.Expr(value=ast.Compare(left=left, ops=[ast.Eq() | ast.Lt()]) as compared):
                comparisons += [(name, compared) for name in root_of(left)]
            case ast.AnnAssign(target=ast.Name(id=name), value=None):
                comparisons.append((name, inner))
    return comparisons
