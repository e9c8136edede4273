"""Finds the one small edit that makes the learner's lines right, and so the place of the slip.

The learner's text is read in numpy. Where that reading reproduces the learner's own tensor, every edit of the grammar
is tried; the first that gives the reference in all looks shows where the slip sits. The sentence names that place and
what kind of thing is wrong with it, never what belongs there.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from copy import copy, deepcopy
from functools import partial
from itertools import chain, islice

import numpy as np

from app.bindings import as_written, writes_of
from app.grading.diagnosis.call_kinds import added, turned
from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.edits import KINDS, Edit, edits, replaced
from app.grading.diagnosis.evidence import Array, Diagnosis, Look, scope_of
from app.grading.diagnosis.grammar import Change, Words
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.phrases import LINE, coded
from app.grading.reading.budget import Budget
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import Node, UntracedError

TRIES_MAX = 2500
TRIES_IN_LOOPS = 1000
SHOWN_MAX = 100
FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "sqrt", "square", "relu", "sign", "neg", "reciprocal", "cosh")

_BEFORE = KINDS.index(turned) + 1
KINDS_IN_LOOPS = (*KINDS[:_BEFORE], added, *(kind for kind in KINDS[_BEFORE:] if kind is not added))
"""Each try runs the whole loop, so that what is left out comes before rarer kinds."""


def mended(view: CaseView) -> Diagnosis | None:
    case = view.case
    if any(look.got.size == 0 for look in case.looks):
        return None
    if not case.lines or any(isinstance(line, ast.FunctionDef) for line in case.lines):
        return None
    with case.budget.one() as budget:
        reruns = [one for look in case.looks if (one := Rerun.of(view, look, budget)) is not None]
        if len(reruns) < len(case.looks):
            return None
        edit = next((edit for edit in _tried(reruns) if all(one.mended(edit) for one in reruns[1:])), None)
    return None if edit is None else _said(view, reruns[0].line, edit)


def _said(view: CaseView, line: ast.stmt, edit: Edit) -> Diagnosis:
    assert isinstance(edit.root, ast.stmt)
    text = as_written(_at_fault(line, edit.root))
    shown = text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"
    change = edit.change
    nodes = {"old": edit.old, "new": change.new, "piece": change.piece or edit.old}
    fields = {**{word: as_written(node) for word, node in nodes.items()}, "call": _call(edit.old)}
    code, say = LINE[change.kind]
    message = f"In `{shown}`, {say.format(**fields)}."
    message = message if view.shaped() else f"{message} {wrong_shape(view.case)}"
    return Diagnosis(code=f"{view.case.name}:{coded(code, fields)}", message=message)


def _call(node: ast.AST) -> str:
    """A call of a method without what it is called on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return as_written(ast.Call(ast.Name(node.func.attr), node.args, node.keywords))
    return as_written(node)


def _tried(reruns: Sequence["Rerun"]) -> Iterator[Edit]:
    """The edits of one line after the other that make the first look right."""
    rerun = reruns[0]
    for at in rerun.candidates():
        for one in reruns:
            one.stand(at)
        for edit in rerun.edits():
            if rerun.before[at].budget.is_empty:
                return
            if rerun.mended(edit):
                yield edit


class Rerun:
    """The learner's lines read on one look."""

    def __init__(self, view: CaseView, look: Look, lines: tuple[ast.stmt, ...], start: Interpreter) -> None:
        self.view = view
        self.look = look
        self.lines = lines
        self.name = view.case.name
        self.before: list[Interpreter] = []
        now = start
        self.written = [writes(line) for line in lines]
        for at in range(len(lines)):
            self.before.append(now.copy())
            self._go_on(now, at)
        self.after = now
        self.at = len(lines) - 1
        self.known: dict[int, Node] | None = {}

    @classmethod
    def of(cls, view: CaseView, look: Look, budget: Budget) -> "Rerun | None":
        """None where the reading does not come to what the learner has."""
        name = view.case.name
        last = max((at for at, line in enumerate(view.case.lines) if name in writes(line)), default=-1)
        lines = view.case.lines[: last + 1]
        others = look.gradients.keys() - {name}
        needed = tuple(_without(others - names_in(lines[at + 1 :]), line) for at, line in enumerate(lines))
        rerun = cls(view, look, needed, Interpreter(*scope_of(look, view.case.name), budget))
        return rerun if view.equal(rerun.result(rerun.after), look) else None

    @property
    def line(self) -> ast.stmt:
        return self.lines[self.at]

    def _go_on(self, now: Interpreter, at: int) -> None:
        """Run the line *at*. What it writes is unknown where it cannot be read: other lines may do without."""
        try:
            now.run([self.lines[at]])
        except UntracedError:
            now.forget(self.written[at])
        self._force(now, at)

    def _force(self, now: Interpreter, at: int) -> None:
        """A gradient that another line finished is replaced, as in the isolated run."""
        for name in self.written[at] & self.look.gradients.keys():
            if name != self.name and not any(name in later for later in self.written[at + 1 :]):
                now.arrays[name] = self.look.gradients[name]

    def result(self, scope: Interpreter) -> Array | None:
        value = scope.arrays.get(self.name)
        if value is None and isinstance(number := scope.others.get(self.name), int | float):
            return np.asarray(float(number))
        return None if value is None or value.dtype.kind == "c" else np.asarray(value, dtype=np.float64)

    def candidates(self) -> list[int]:
        """The lines that write the name, and the ones before them that it is made of; the last one first."""
        needed, found = {self.name}, []
        for at in reversed(range(len(self.lines))):
            written = self.written[at]
            others = (written & self.look.gradients.keys()) - {self.name}
            if written & needed and (self.name in written or not others):
                found.append(at)
                needed |= set() if others else names_in([self.lines[at]])
        return found

    def stand(self, at: int) -> None:
        """Try edits of the line *at* from now on."""
        self.at = at
        self.known = {} if isinstance(self.lines[at], ast.Assign) else None

    def edits(self) -> Iterator[Edit]:
        inside = isinstance(self.line, ast.For)
        seen = self.after if inside else self.before[self.at]
        arrays = {name: one for name, one in seen.arrays.items() if name != self.name or not inside}
        sizes = {name: one for name, one in seen.others.items() if isinstance(one, int | float)}
        parts = _parts_of(self.view) if not inside else ()
        words = Words(arrays, self.look.gradients.keys(), sizes, parts, FUNCTIONS, _numbers_of(self.view), inverse=True)
        most = TRIES_IN_LOOPS if inside else TRIES_MAX
        yield from islice(
            chain(edits(self.line, words, KINDS_IN_LOOPS if inside else KINDS), _of_statement(self.line, words)), most
        )

    def mended(self, edit: Edit) -> bool:
        """Whether *edit* makes the gradient right."""
        now = self.before[self.at].copy()
        assert isinstance(edit.root, ast.stmt)
        try:
            # What was read of the learner's own text holds for the parts that the edit left as they are.
            now.run([edit.root], None if self.known is None else dict(self.known))
            if self.known is not None and not self.known:
                self.before[self.at].copy().run([self.line], self.known)
            self._force(now, self.at)
            for at in range(self.at + 1, len(self.lines)):
                self._go_on(now, at)
        except UntracedError:
            return False
        result = self.result(now)
        if result is None or result.shape != self.look.reference.shape or not np.isfinite(result).all():
            return False
        return not self.view.wrong(result, self.look)


def _parts_of(view: CaseView) -> tuple[ast.expr, ...]:
    """What the forward lines that read the tensor are made of."""
    found = {}
    for path in view.paths:
        for node in ast.walk(path.statement.node):
            if isinstance(node, ast.BinOp | ast.Call):
                found[ast.unparse(node)] = node
    return tuple(found.values())


def _numbers_of(view: CaseView) -> tuple[float, ...]:
    """The numbers that stand in the forward lines that read the tensor."""
    nodes = (node for path in view.paths for node in ast.walk(path.statement.node))
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(one for one in values if isinstance(one, float)))


def writes(line: ast.stmt) -> frozenset[str]:
    """The names that *line* binds or changes in place."""
    return writes_of(list(ast.walk(line)))


def names_in(lines: Iterable[ast.AST]) -> set[str]:
    return {node.id for line in lines for node in ast.walk(line) if isinstance(node, ast.Name)}


def _without(gradients: Set[str], line: ast.stmt) -> ast.stmt:
    """A loop without the statements that only write *gradients* which no other one reads: edits of them are in vain."""
    if not isinstance(line, ast.For):
        return line
    shorter = copy(line)
    for one in line.body:
        read = names_in(other for other in line.body if other is not one)
        if writes(one) and writes(one) <= gradients - read:
            shorter.body = [other for other in shorter.body if other is not one]
    return shorter


def _of_statement(statement: ast.stmt, words: Words) -> Iterator[Edit]:
    """Edits of more than one place: all slices at once, a name everywhere, the rows of an index, the assignment."""
    yield from _at_all(statement, _unsliced, Change("unslice-all", ast.Constant(None)))
    read = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in dict.fromkeys(name for name in read if name in words.arrays and read.count(name) > 1):
        kind = "gradient-everywhere" if name in words.gradients else "everywhere"
        for other, array in words.arrays.items():
            if other != name and array.dtype.kind == words.arrays[name].dtype.kind:
                change = Change(kind, ast.Name(other), ast.Name(name))
                yield from _at_all(statement, partial(_renamed, name, other), change)
    for axis in (0, 1, -1):
        yield from _at_all(statement, partial(_along, axis), Change("axis-everywhere", ast.Constant(axis)))
    for inner in ast.walk(statement):
        yield from _of_target(statement, inner, words)


def _at_all(statement: ast.stmt, act: Callable[[ast.AST], ast.AST | None], change: Change) -> Iterator[Edit]:
    everywhere = _Everywhere(act)
    new = everywhere.visit(deepcopy(statement))
    if everywhere.found > 1:
        yield Edit(new, statement, change)


def _of_target(statement: ast.stmt, inner: ast.AST, words: Words) -> Iterator[Edit]:
    match inner:
        case ast.Assign(targets=[ast.Name() as target], value=value) if inner is not statement:
            added = ast.AugAssign(target, ast.Add(), value)
            yield Edit(replaced(statement, inner, added), inner, Change("add-up", value))
        case ast.Assign(
            targets=[ast.Name() | ast.Subscript() as target], value=ast.UnaryOp(op=ast.USub(), operand=value)
        ):
            less = ast.AugAssign(target, ast.Sub(), value)
            yield Edit(replaced(statement, inner, less), inner, Change("set", value))
        case ast.Subscript(value=value, slice=ast.Name(id=index)) if index in words.arrays:
            count = ast.Call(ast.Name("len", ast.Load()), [inner.slice], [])
            rows = ast.Call(ast.Name("range", ast.Load()), [count], [])
            new = ast.Subscript(value, ast.Tuple([rows, inner.slice], ast.Load()), inner.ctx)
            yield Edit(replaced(statement, inner, new), inner, Change("rows", new))


class _Everywhere(ast.NodeTransformer):
    """Makes *change* in each place where it gives something new, the innermost first."""

    def __init__(self, change: Callable[[ast.AST], ast.AST | None]) -> None:
        self.change, self.found = change, 0

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.change(self.generic_visit(node))
        self.found += new is not None
        return new or node


def _unsliced(node: ast.AST) -> ast.AST | None:
    return ast.Slice(None, None, node.step) if isinstance(node, ast.Slice) else None


def _along(axis: int, node: ast.AST) -> ast.AST | None:
    """A sum or a mean of a tensor along *axis*, which is kept."""
    match node:
        case ast.Call(func=ast.Attribute(attr="sum" | "mean") as func, args=[] | [_]):
            return ast.Call(func, [ast.Constant(axis)], [ast.keyword("keepdim", ast.Constant(True))])
    return None


def _renamed(old: str, new: str, node: ast.AST) -> ast.AST | None:
    mine = isinstance(node, ast.Name) and node.id == old and isinstance(node.ctx, ast.Load)
    return ast.Name(new, ast.Load()) if mine else None


def _at_fault(line: ast.stmt, edited: ast.stmt) -> ast.stmt:
    """The innermost statement of *line* that the edit changed."""
    while isinstance(line, ast.For) and isinstance(edited, ast.For):
        pairs = [(old, new) for old, new in zip(line.body, edited.body, strict=True) if old is not new]
        if len(pairs) != 1:
            break
        line, edited = pairs[0]
    return line
