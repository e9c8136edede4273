"""The difference between a learner's program and a right one, statement by statement, as slips that can be undone.

Names of the learner's own do not count, nor does the order of factors and terms.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import islice

from app.grading.judge.slips.named_differences import named_difference
from app.grading.judge.slips.slip import VAGUE, Slip
from app.grading.judge.slips.trees import Replacement, flattened, names_in, replace_nodes, sign_of
from app.syntax import is_binary

MOST = 6
"""Differences of two texts that are the same program with slips; with more, they are two programs."""
WHOLE = "whole"
"""The kind of an edit of a whole statement: nothing is said by it, for the slip may be in another line."""
MOST_STEPS = 1_000
"""Pairs of expressions that are compared."""
_UPSTREAM = "grad"


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """One difference: the node that replaces *old* in the right program."""

    kind: str
    replacement: Replacement
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> int:
        return int(getattr(self.replacement[0], "lineno", 1))


def edits_between(tree: ast.Module, solution: ast.Module) -> list[TreeEdit] | None:
    """Edits that turn *tree* into *solution*; None if the two are built in different ways."""
    try:
        edits = list(islice(_Alignment(tree, solution).bodies(tree, solution, ""), MOST + 1))
    except _TooFarError:
        return None
    wholes = set(map(id, _wholes(tree)))
    edits = [
        replace(edit, kind=WHOLE) if edit.kind == VAGUE and id(edit.replacement[0]) in wholes else edit
        for edit in edits
    ]
    return edits if len(edits) <= MOST else None


def _wholes(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements of *tree*, and what they compute, where it is more than a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node
            value = getattr(node, "value", None)
            if isinstance(value, ast.expr) and not isinstance(value, ast.Name | ast.Attribute | ast.Constant):
                yield value


def slip_of(tree: ast.Module, edits: Sequence[TreeEdit]) -> Slip:
    """The first of *edits*, with all of them undone."""
    first = min(edits, key=lambda edit: edit.line)
    return Slip(first.kind, first.line, replace_nodes(tree, [edit.replacement for edit in edits]), first.fields)


class _TooFarError(Exception):
    """The two are so far apart that to compare them takes too long."""


class _Alignment:
    """Alignment of two programs. A name that only one of them has may match one that only the other has."""

    def __init__(self, own: ast.AST, right: ast.AST) -> None:
        names, others = names_in(own), names_in(right)
        self._mine, self._theirs = _own_words(names - others), _own_words(others - names)
        self._meant: dict[str, str] = {}
        self._steps = 0

    def bodies(self, own: ast.AST, right: ast.AST, place: str) -> Iterator[TreeEdit]:
        """The differences of the statements that belong to two compound statements."""
        for name in ("body", "orelse"):
            own_parts, right_parts = list(getattr(own, name, ())), list(getattr(right, name, ()))
            if own_parts or right_parts:
                yield from self._statements(own_parts, right_parts, place)

    def _statements(self, own: list[ast.stmt], right: list[ast.stmt], place: str) -> Iterator[TreeEdit]:
        if (
            all(isinstance(node, ast.Pass) or _is_text(node) for node in own)
            and own
            and ast.dump(own[0]) != ast.dump(right[0] if right else ast.Pass())
        ):
            yield TreeEdit("empty", (own[0], right), {"name": _function_at(place)})
            return
        matcher = SequenceMatcher(
            None, [self._key(node) for node in own], [self._key(node) for node in right], autojunk=False
        )
        for tag, begin, end, start, stop in matcher.get_opcodes():
            own_parts, right_parts = own[begin:end], right[start:stop]
            if tag == "equal" or (tag == "replace" and len(own_parts) == len(right_parts)):
                for one, other in zip(own_parts, right_parts, strict=True):
                    yield from self._statement(one, other, place)
                continue
            yield from (TreeEdit("line-extra", (node, [ast.Pass()])) for node in own_parts)
            if right_parts:
                yield self._missing(right_parts, own, begin, place)

    def _missing(self, lines: list[ast.stmt], own: list[ast.stmt], at: int, place: str) -> TreeEdit:
        before = own[at - 1] if at else None
        replacement: Replacement = (before, [before, *lines]) if before else (own[at], [*lines, own[at]])
        for line in lines:
            match line:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=seen), attr="add"))):
                    return TreeEdit("never-added", replacement, {"name": _function_at(place), "seen": seen})
                case ast.AugAssign(target=ast.Attribute(attr="grad") as target):
                    return TreeEdit(
                        "no-share", replacement, {"name": _function_at(place), "place": ast.unparse(target)}
                    )
        return TreeEdit("line-missing", replacement)

    def _statement(self, own: ast.stmt, right: ast.stmt, place: str) -> Iterator[TreeEdit]:
        match own, right:
            case (
                ast.Assign(targets=[ast.Attribute() as target], value=value),
                ast.AugAssign(target=other, op=ast.Add(), value=wanted),
            ) if _same(target, other):
                kind = "plus-behind" if ast.unparse(value).startswith("+") else "assigned"
                yield TreeEdit(kind, (own, ast.AugAssign(target, ast.Add(), value)), {"place": ast.unparse(target)})
                yield from self.expressions(value, wanted)
                return
            case (
                ast.Assign(targets=[ast.Name(id=name) as target]),
                ast.Assign(targets=[ast.Subscript(value=ast.Name(id=wanted_name)) as part]),
            ) if self._means(name, wanted_name):
                yield TreeEdit("whole-written", (target, part), {"name": name})
                yield from self.expressions(own.value, right.value)
                return
            case (
                ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value),
                ast.AugAssign(target=other, op=ast.Add(), value=wanted),
            ) if self._alike(target, other):
                yield TreeEdit(
                    "replaced", (own, ast.AugAssign(target, ast.Add(), value)), {"place": ast.unparse(target)}
                )
                yield from self.expressions(value, wanted)
                return
        if type(own) is not type(right):
            yield TreeEdit(VAGUE, (own, right), {"place": _line_text(own)})
            return
        named = getattr(own, "name", "")
        inner = f"{place}.{named}".lstrip(".") if named else place
        for name in own._fields:
            if name not in {"body", "orelse"}:
                yield from self._fields(getattr(own, name, None), getattr(right, name, None), own, right)
        yield from self.bodies(own, right, inner)

    def _fields(self, own: object, right: object, above: ast.AST, other: ast.AST) -> Iterator[TreeEdit]:
        """The differences of one field of two nodes of a kind, *above* and *other*."""
        if isinstance(own, list) and isinstance(right, list) and len(own) == len(right):
            for one, two in zip(own, right, strict=True):
                yield from self._fields(one, two, above, other)
        elif isinstance(own, ast.expr) and isinstance(right, ast.expr):
            yield from self.expressions(own, right)
        elif isinstance(own, ast.AST) and isinstance(right, ast.AST) and type(own) is type(right):
            for name in own._fields:
                yield from self._fields(getattr(own, name, None), getattr(right, name, None), above, other)
        elif isinstance(own, str) and isinstance(right, str) and self._means(own, right):
            return
        elif own != right and not (
            isinstance(own, ast.AST) and isinstance(right, ast.AST) and ast.dump(own) == ast.dump(right)
        ):
            sign = sign_of(above) if isinstance(above, ast.AugAssign) else ""
            yield TreeEdit(
                "operator" if sign else VAGUE,
                (above, _replaceable(other)),
                {"place": _line_text(above), "sign": sign},
            )

    def expressions(self, own: ast.expr, right: ast.expr) -> Iterator[TreeEdit]:
        """The differences of two expressions: those of the smallest pieces that hold them all."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _TooFarError
        if _same(own, right):
            return
        match own, right:
            case ast.Name(id=one), ast.Name(id=other) if self._means(one, other):
                return
            case ast.UnaryOp(op=ast.UAdd(), operand=inner), _:
                yield from self.expressions(inner, right)
            case ast.BinOp(op=ast.Mult()), _ if is_binary(right, "*"):
                yield from self._flat(own, right, ast.Mult(), "factor")
            case ast.BinOp(op=ast.Add()), _ if is_binary(right, "+"):
                yield from self._flat(own, right, ast.Add(), "term")
            case _, ast.BinOp(op=ast.Mult()) if self._one_of(own, flattened(right, ast.Mult)):
                yield self._lacking(
                    own, right, "factor", [node for node in flattened(right, ast.Mult) if not _same(node, own)]
                )
            case ast.BinOp(op=ast.Mult()), _ if self._one_of(right, flattened(own, ast.Mult)):
                yield TreeEdit("factor-extra", (own, right), {"place": _others(flattened(own, ast.Mult), right)})
            case _, ast.BinOp(left=left, op=ast.Add() | ast.Sub()) if self._alike(own, left):
                yield self._lacking(own, right, "term", [])
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=term), _ if self._alike(left, right):
                yield TreeEdit("term-extra", (own, right), {"place": ast.unparse(term)})
            case (ast.UnaryOp(op=ast.USub(), operand=inner), _) if self._alike(inner, right):
                yield TreeEdit("sign", (own, right), {"place": ast.unparse(own)})
            case (_, ast.UnaryOp(op=ast.USub(), operand=inner)) if self._alike(own, inner):
                yield TreeEdit("sign", (own, right), {"place": ast.unparse(own)})
            case _, ast.Attribute(value=inner, attr="data") if self._alike(own, inner):
                yield TreeEdit("value-for-number", (own, right), {"name": ast.unparse(own)})
            case (
                ast.Attribute(value=inner, attr=one),
                ast.Attribute(value=other, attr=two),
            ) if one == two and not isinstance(inner, ast.Name):
                yield from self.expressions(inner, other)
            case ast.Name(id="grad"), ast.Attribute(value=ast.Name(id=name), attr="grad"):
                yield TreeEdit("bare-grad", (own, right), {"name": name})
            case _ if type(own) is type(right) and not isinstance(own, ast.Name | ast.Constant | ast.Attribute):
                yield from self._kin(own, right)
            case _:
                number = "number" if isinstance(own, ast.Constant) and not isinstance(own.value, bool) else VAGUE
                yield self._named_edit(own, right) or TreeEdit(number, (own, right), {"place": ast.unparse(own)})

    def _kin(self, own: ast.expr, right: ast.expr) -> Iterator[TreeEdit]:
        """The differences of two expressions of a kind, field by field."""
        if edit := self._named_edit(own, right):
            yield edit
            return
        match own, right:
            case ast.BinOp(left=a, op=one, right=b), ast.BinOp(left=c, op=other, right=d) if type(one) is not type(
                other
            ):
                kind = "operator" if self._alike(a, c) and self._alike(b, d) else VAGUE
                yield TreeEdit(kind, (own, right), {"place": ast.unparse(own), "sign": sign_of(own)})
                return
            case (
                ast.Call(func=ast.Attribute(attr=one)),
                ast.Call(func=ast.Attribute(attr=other)),
            ) if one == other:
                pass  # what it is called on may be another one
            case ast.Call(func=one), ast.Call(func=other) if not self._alike(one, other) and not _same(one, other):
                yield self._other_function(own, right)
                return
        for name in own._fields:
            own_parts, right_parts = getattr(own, name, None), getattr(right, name, None)
            if isinstance(own_parts, list) and isinstance(right_parts, list) and len(own_parts) != len(right_parts):
                yield TreeEdit(VAGUE, (own, right), {"place": ast.unparse(own)})
                return
        for name in own._fields:
            yield from self._fields(getattr(own, name, None), getattr(right, name, None), own, right)

    def _named_edit(self, own: ast.expr, right: ast.expr) -> TreeEdit | None:
        kind, fields = named_difference(own, right, self._alike) or ("", {})
        return TreeEdit(kind, (own, right), dict(fields)) if kind else None

    def _other_function(self, own: ast.Call, right: ast.Call) -> TreeEdit:
        """Another function where all else is alike; else another piece."""
        if isinstance(own.func, ast.Name) and own.func.id == "sum":
            return TreeEdit("python-sum", (own, right), {"place": ast.unparse(own.func)})
        if self._alike(ast.Call(right.func, own.args, own.keywords), right):
            return TreeEdit("function", (own, right), {"place": ast.unparse(own.func)})
        return TreeEdit(VAGUE, (own, right), {"place": ast.unparse(own)})

    def _flat(self, own: ast.BinOp, right: ast.BinOp, op: ast.operator, what: str) -> Iterator[TreeEdit]:
        """The differences of two products, or of two sums, whatever order they are written in."""
        own_parts, right_parts = flattened(own, type(op)), flattened(right, type(op))
        for node in list(own_parts):
            twin = next((one for one in right_parts if self._alike(node, one)), None)
            if twin is not None:
                own_parts.remove(node)
                right_parts.remove(twin)
        if own_parts and not right_parts:
            yield TreeEdit(f"{what}-extra", (own, right), {"place": ast.unparse(own_parts[0])})
        elif right_parts and not own_parts:
            yield self._lacking(own, right, what, right_parts)
        else:
            for one, other in zip(own_parts, right_parts, strict=False):
                yield from self.expressions(one, other)
            if len(own_parts) != len(right_parts):
                yield TreeEdit(VAGUE, (own, right), {"place": ast.unparse(own)})

    def _lacking(self, own: ast.expr, right: ast.expr, what: str, lacks: Sequence[ast.expr]) -> TreeEdit:
        upstream = [node for node in lacks if isinstance(node, ast.Attribute) and node.attr == _UPSTREAM]
        kind = "no-upstream" if upstream and what == "factor" else f"{what}-missing"
        return TreeEdit(kind, (own, right), {"place": ast.unparse(own)})

    def _one_of(self, node: ast.expr, parts: Sequence[ast.expr]) -> bool:
        return len(parts) > 1 and any(self._alike(node, part) for part in parts)

    def _alike(self, own: ast.expr, right: ast.expr) -> bool:
        """True if the two are the same, names that only one side knows aside; nothing is learned about those."""
        before = copy.copy(self._meant)
        alike = next(self.expressions(own, right), None) is None
        if not alike:
            self._meant = before
        return alike

    def _means(self, own: str, right: str) -> bool:
        """True if the learner's name *own* is what the right program calls *right*."""
        if own == right:
            return True
        if own not in self._mine or right not in self._theirs:
            return False
        if own not in self._meant and right in self._meant.values():
            return False
        return self._meant.setdefault(own, right) == right

    def _key(self, node: ast.stmt) -> str:
        """Key that two statements share that are meant to be the same one."""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return f"{type(node).__name__} {'' if node.name in self._mine | self._theirs else node.name}"
        target = _single_target(node)
        if target is None:
            return f"{type(node).__name__}"
        while isinstance(target, ast.Subscript):
            target = target.value
        text = ast.unparse(target)
        return f"= {'' if text in self._mine | self._theirs else text}"


def _own_words(names: set[str]) -> set[str]:
    """Those of *names* that a learner may choose; Python knows `__radd__` by its name."""
    return {name for name in names if not name.startswith("__")}


def _function_at(place: str) -> str:
    """Name of the function at *place*: the method `Value.__mul__` holds several that have the same name."""
    *_, outer, name = ("", *place.split("."))
    return f"`{name}` of `{outer}`" if outer.startswith("__") else f"`{name}`"


def _single_target(node: ast.stmt) -> ast.expr | None:
    match node:
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return target
    return None


def _others(parts: Sequence[ast.expr], kept: ast.expr) -> str:
    return next((ast.unparse(part) for part in parts if not _same(part, kept)), ast.unparse(kept))


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is not ...


def _line_text(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:80]


def _replaceable(node: ast.AST) -> ast.expr | ast.stmt:
    assert isinstance(node, ast.expr | ast.stmt)
    return node
