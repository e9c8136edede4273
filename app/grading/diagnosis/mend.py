"""Finds the one small change that makes the learner's lines right, and so the place of the slip.

The learner's text is read in numpy. Where that reading reproduces the learner's own tensor, every small edit is tried;
the first that gives the reference in all looks shows where the mistake sits. The sentence names that place and what
kind of thing is wrong with it, never what belongs there.

| code | what stands in the learner's line |
|---|---|
| `wrong-operand:T`, `wrong-upstream:G` | a tensor T or gradient G in the place of another |
| `slice-missing`, `one-slice`, `steps-shifted` | a part of a tensor, or a neighbouring position |
| `wrong-axis`, `mean`, `mean-missing`, `summed-all`, `keepdim-added`, `keepdim-lost` | another reduction |
| `term-sign` | a sign |
| `multiplied`, `divided`, `product-for-sum`, `sum-for-product` | another operator |
| `elementwise-not-matmul`, `matmul-not-elementwise`, `matmul-order` | another product |
| `transpose-extra:T`, `transpose-missing:T` | a transpose too much or too little |
| `factor-extra:T`, `term-extra:T`, `power-extra`, `function-extra:F` | something that does not belong there |
| `factor-missing`, `function-missing`, `sum-missing` | a place that lacks something |
| `power-changed`, `constant-changed`, `wrong-size:N` | another number |
| `overwritten` | in a loop, an assignment in the place of an addition |
"""

import ast
from collections.abc import Iterator

import numpy as np

from app.grading.diagnosis.case_view import Bench
from app.grading.diagnosis.edit_kinds import Scope
from app.grading.diagnosis.edits import Edit, edits
from app.grading.diagnosis.evidence import Array, Diagnosis, Look
from app.grading.diagnosis.interpreter import Interpreter, scope_of
from app.grading.diagnosis.read_budget import Purse
from app.grading.diagnosis.rules import Node
from app.grading.diagnosis.shape import wrong_shape
from app.grading.diagnosis.trace_constants import UntracedError

TRIES_MAX = 2500
TRIES_IN_LOOPS = 400
SHOWN_MAX = 100


def repaired(bench: Bench) -> Diagnosis | None:
    case = bench.case
    if any(look.got.size == 0 for look in case.looks):
        return None
    if not case.lines or any(isinstance(line, ast.FunctionDef) for line in case.lines):
        return None
    purse = Purse()
    benches = [Rerun.of(bench, look, purse) for look in case.looks]
    reruns = [one for one in benches if one is not None]
    if len(reruns) < len(case.looks):
        return None
    edit = next((edit for edit in _tried(reruns[0]) if all(one.mended(edit) for one in reruns[1:])), None)
    if edit is None:
        return None
    line = " ".join(ast.unparse(_at_fault(reruns[0].lines[reruns[0].at], edit.statement)).split())
    shown = line if len(line) <= SHOWN_MAX else f"{line[: SHOWN_MAX - 1]}…"
    message = f"In `{shown}`, {edit.say}."
    if not bench.shaped():
        message = f"{message} {wrong_shape(case)}"
    return Diagnosis(code=f"{case.name}:{edit.code}", message=message)


def _tried(rerun: "Rerun") -> Iterator[Edit]:
    """The edits of one line after the other that make the first look right."""
    for at in reversed(rerun.candidates()):
        rerun.stand(at)
        for edit in rerun.edits():
            if rerun.before[at].purse.is_empty:
                return
            if rerun.mended(edit):
                yield edit


class Rerun:
    """The learner's lines read on one look."""

    def __init__(self, bench: Bench, look: Look, lines: tuple[ast.stmt, ...], start: Interpreter) -> None:
        self.bench = bench
        self.look = look
        self.lines = lines
        self.name = bench.case.name
        self.before: list[Interpreter] = []
        now = start
        for at, line in enumerate(lines):
            self.before.append(now.copy())
            now.run([line])
            self._force(now, at)
        self.after = now
        self.at = len(lines) - 1
        self.known: dict[int, Node] | None = {}

    @classmethod
    def of(cls, bench: Bench, look: Look, purse: Purse) -> "Rerun | None":
        """None where the reading does not come to what the learner has."""
        last = max((at for at, line in enumerate(bench.case.lines) if bench.case.name in _written(line)), default=-1)
        try:
            rerun = cls(bench, look, bench.case.lines[: last + 1], Interpreter(*scope_of(look, bench.case.name), purse))
        except UntracedError:
            return None
        return rerun if bench.equal(rerun.result(rerun.after), look) else None

    def _force(self, now: Interpreter, at: int) -> None:
        """A gradient that another line finished is replaced, as in the isolated run."""
        for name in _written(self.lines[at]):
            later = any(name in _written(line) for line in self.lines[at + 1 :])
            if name != self.name and not later and name in self.look.gradients:
                now.arrays[name] = self.look.gradients[name]

    def result(self, scope: Interpreter) -> Array | None:
        value = scope.arrays.get(self.name)
        if value is None and isinstance(number := scope.others.get(self.name), int | float):
            return np.asarray(float(number))
        return None if value is None else np.asarray(value, dtype=np.float64)

    def candidates(self) -> list[int]:
        """The lines that write the name, and the ones before them that it is made of."""
        needed, found = {self.name}, []
        for at in reversed(range(len(self.lines))):
            written = _written(self.lines[at])
            if written & needed:
                found.append(at)
                finished = {name for name in written if name in self.look.gradients and name != self.name}
                if not finished:
                    needed |= {node.id for node in ast.walk(self.lines[at]) if isinstance(node, ast.Name)}
        return sorted(at for at in found if self.name in _written(self.lines[at]) or not self._is_gradient(at))

    def _is_gradient(self, at: int) -> bool:
        return any(name in self.look.gradients for name in _written(self.lines[at]))

    def stand(self, at: int) -> None:
        """Try edits of the line *at* from now on."""
        self.at = at
        self.known = {} if isinstance(self.lines[at], ast.Assign) else None

    def edits(self) -> Iterator[Edit]:
        line, scope = self.lines[self.at], self.before[self.at]
        inside = isinstance(line, ast.For)
        seen = self.after if inside else scope
        arrays = {name: one for name, one in seen.arrays.items() if name != self.name or not inside}
        sizes = {name: one for name, one in seen.others.items() if isinstance(one, int | float)}
        parts = _parts_of(self.bench) if not inside else ()
        for tries, edit in enumerate(edits(line, Scope(arrays, self.look.gradients.keys(), sizes, parts))):
            if tries >= (TRIES_IN_LOOPS if inside else TRIES_MAX):
                return
            yield edit

    def mended(self, edit: Edit) -> bool:
        """Whether *edit* makes the gradient right."""
        now = self.before[self.at].copy()
        known = self.known
        try:
            # What was read of the learner's own text holds for the parts that the edit left as they are.
            now.run([edit.statement], None if known is None else dict(known))
            if known is not None and not known:
                self._learn(now)
            self._force(now, self.at)
            for at in range(self.at + 1, len(self.lines)):
                now.run([self.lines[at]])
                self._force(now, at)
        except UntracedError:
            return False
        result = self.result(now)
        if result is None or result.shape != self.look.reference.shape or not np.isfinite(result).all():
            return False
        return not self.bench.wrong(result, self.look)

    def _learn(self, _now: Interpreter) -> None:
        assert self.known is not None
        self.before[self.at].copy().run([self.lines[self.at]], self.known)


def _parts_of(bench: Bench) -> tuple[ast.expr, ...]:
    """What the forward lines that read the tensor are made of."""
    found = {}
    for path in bench.paths:
        for node in ast.walk(path.statement.node):
            if isinstance(node, ast.BinOp | ast.Call):
                found[ast.unparse(node)] = node
    return tuple(found.values())


def _written(line: ast.stmt) -> set[str]:
    found = {node.id for node in ast.walk(line) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(line):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            inner: ast.expr = node.value
            while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                inner = inner.func.value
            found |= {inner.id} if isinstance(inner, ast.Name) else set()
    return found


def _at_fault(line: ast.stmt, edited: ast.stmt) -> ast.stmt:
    """The innermost statement of *line* that the edit changed."""
    while isinstance(line, ast.For) and isinstance(edited, ast.For):
        pairs = [(old, new) for old, new in zip(line.body, edited.body, strict=True) if old is not new]
        if len(pairs) != 1:
            break
        line, edited = pairs[0]
    return line
