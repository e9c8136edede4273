"""Finds the one small edit that makes the learner's lines right, and so the place of the slip.

The learner's text is read in numpy. Where that reading reproduces the learner's own tensor, every edit of the grammar
is tried; the first that gives the reference in all looks shows where the slip sits. The sentence names that place and
what kind of thing is wrong with it, never what belongs there.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice

import numpy as np

from app.bindings import LIKE, NEW, as_written, called, writes_of
from app.grading.diagnosis.call_kinds import added, forgotten, functioned
from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.edits import KINDS, Edit, edits
from app.grading.diagnosis.evidence import Array, Diagnosis, Look, scope_of
from app.grading.diagnosis.grammar import Kind, Words
from app.grading.diagnosis.layout import wrong_shape
from app.grading.diagnosis.phrases import LINE, coded
from app.grading.diagnosis.statement_edits import statement_edits
from app.grading.reading.budget import Budget
from app.grading.reading.interpreter import COMPOUND, Interpreter
from app.grading.reading.node import Node, UntracedError

TRIES_MAX = 2500
TRIES_IN_LOOPS = 1500
SHOWN_MAX = 100
FUNCTIONS = ("exp", "log", "tanh", "sigmoid", "sqrt", "square", "relu", "sign", "neg", "reciprocal", "cosh")

FUNCTIONS_IN_LOOPS = frozenset({"square", "sqrt"})
"""Those that are tried in a loop although no forward line has them."""

PUT_IN = (functioned, added)
LIKELY = tuple(kind for kind in KINDS if kind not in PUT_IN)
"""What is put in has the most edits, and can make up for a slip in another line."""


def mended(view: CaseView) -> Diagnosis | None:
    with view.case.budget.one():
        found = view.once(reruns)
        edit = next(_mending(found, None), None)
    return None if edit is None else _said(view, found[0].line, edit)


def is_mended(view: CaseView, kinds: Sequence[Kind]) -> bool:
    """Whether an edit of one of *kinds* makes the gradient right; also where the lines cannot be read again."""
    with view.case.budget.one():
        found = view.once(reruns)
        return not found or next(_mending(found, kinds), None) is not None


def reruns(view: CaseView) -> Sequence["Rerun"]:
    """The learner's lines read on each look; empty where they cannot be, or do not come to what the learner has."""
    case = view.case
    if any(look.got.size == 0 for look in case.looks):
        return ()
    if not case.lines or any(isinstance(line, ast.FunctionDef) for line in case.lines):
        return ()
    found = [one for look in case.looks if (one := Rerun.of(view, look, case.budget)) is not None]
    return found if len(found) == len(case.looks) else ()


def _mending(several: Sequence["Rerun"], kinds: Sequence[Kind] | None) -> Iterator[Edit]:
    return (edit for edit in _tried(several, kinds) if all(one.mended(edit) for one in several[1:]))


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


def _tried(several: Sequence["Rerun"], kinds: Sequence[Kind] | None) -> Iterator[Edit]:
    """The edits that make the first look right: of all lines the likely ones, then those that can hide another slip."""
    for likely in ((True, False) if kinds is None else (True,)) if several else ():
        rerun = several[0]
        for at in rerun.candidates():
            for one in several:
                one.stand(at)
            for edit in rerun.edits(likely) if kinds is None else edits(rerun.line, Words(inverse=True), kinds):
                if rerun.before[at].budget.is_empty:
                    return
                if not rerun.is_elsewhere(edit) and rerun.mended(edit):
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

    @cached_property
    def unread(self) -> set[str]:
        """The names that the learner's lines write and never read, but for gradients of the box."""
        nodes = [node for line in self.lines for node in ast.walk(line) if isinstance(node, ast.Name)]
        read = {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
        return {name for names in self.written for name in names} - read - {self.name} - self.look.gradients.keys()

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

    def rewritten(self, act: Callable[[ast.stmt], ast.stmt]) -> Array | None:
        """What the learner would have, had *act* been done to each line."""
        now = self.before[0].copy()
        for at, line in enumerate(self.lines):
            try:
                now.run([act(line)])
            except UntracedError:
                now.forget(self.written[at])
            self._force(now, at)
        return self.result(now)

    def is_right(self, result: Array | None) -> bool:
        """Whether *result* is the gradient."""
        if result is None or result.shape != self.look.reference.shape or not np.isfinite(result).all():
            return False
        return not self.view.wrong(result, self.look)

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

    def edits(self, likely: bool) -> Iterator[Edit]:
        inside = isinstance(self.line, COMPOUND)
        seen = self.after if inside else self.before[self.at]
        arrays = {name: one for name, one in seen.arrays.items() if name != self.name or not inside}
        sizes = {name: one for name, one in seen.others.items() if isinstance(one, int | float)}
        parts = _parts_of(self.view) if not inside else ()
        names = {
            word.attr
            for path in self.view.paths
            for word in ast.walk(path.statement.node)
            if isinstance(word, ast.Attribute)
        }
        functions = tuple(one for one in FUNCTIONS if one in FUNCTIONS_IN_LOOPS | names) if inside else FUNCTIONS
        words = Words(arrays, self.look.gradients.keys(), sizes, parts, functions, _numbers_of(self.view), inverse=True)
        most = TRIES_IN_LOOPS if inside else TRIES_MAX
        if not likely:
            yield from islice(edits(self.line, words, PUT_IN), most)
            return
        # What was computed and is read nowhere was most likely forgotten here.
        unread = {name: one for name, one in arrays.items() if name in self.unread}
        if unread:
            yield from edits(self.line, replace(words, arrays=unread), (forgotten,))
        yield from islice(chain(edits(self.line, words, LIKELY), statement_edits(self.line, words)), most)

    def is_elsewhere(self, edit: Edit) -> bool:
        """Whether *edit* completes what another line made, where the slip is, or a tensor full of one number."""
        if not edit.change.kind.startswith("put-"):
            return False
        if not isinstance(edit.old, ast.Name):
            return called(edit.old) in LIKE | NEW
        given = {*self.look.forward, *self.look.gradients} - {self.name}
        return edit.old.id not in given and any(edit.old.id in names for names in self.written[: self.at])

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
        return self.is_right(self.result(now))


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


def _inside(line: ast.stmt) -> list[ast.stmt]:
    return [*getattr(line, "body", ()), *getattr(line, "orelse", ())]


def _at_fault(line: ast.stmt, edited: ast.stmt) -> ast.stmt:
    """The innermost statement of *line* that the edit changed."""
    while isinstance(line, COMPOUND) and isinstance(edited, COMPOUND):
        pairs = [(old, new) for old, new in zip(_inside(line), _inside(edited), strict=True) if old is not new]
        if len(pairs) != 1:
            break
        line, edited = pairs[0]
    return line
