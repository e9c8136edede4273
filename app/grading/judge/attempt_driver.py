"""The driver that runs a submission in the jail, one top-level statement at a time, once per set of data.

It runs untrusted code and sends back nothing but tensors and a report; it holds no reference and decides nothing.
In an isolated run the finished gradient is kept and then replaced by a random upstream, so that every later line is
judged on its own; in the other runs the learner's numbers flow on. A statement that raises costs what it would have
written, and what reads that; the others are run.
"""

import ast
import json
import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from app.grading.forward.driver_jobs import AttemptHeader, AttemptRun, DriverOutput
from app.grading.judge.fault import FILE, describe_error, is_out_of_memory
from app.grading.judge.own_text import fill_unset_memory
from app.grading.judge.parsed_submission import judged_statements
from app.grading.judge.value_preview import shown_as

Tensor = torch.Tensor
_NUMBERS = (bool, int, float)
_VALUE = "<value>"  # what a statement that is an expression came to; no name that a learner can write
_LARGEST = 2**24  # entries that are copied to be kept; a tensor spread from one number can claim any size
_CASTS = frozenset(["double", "to", "type", "type_as"])
_NARROW = frozenset(["torch.float32", "torch.float", "torch.FloatTensor"])
_WIDER = {"float32": "float64", "float": "float64", "FloatTensor": "DoubleTensor"}


def run(header: AttemptHeader, arrays: dict[str, Tensor], out: DriverOutput) -> None:
    """Run the submission of *header* on every set of data that it names."""
    report: dict[str, Any] = {}
    fill_unset_memory(header["source"])
    plain = _Code(header["source"], wide=False, echoes=header["echoes"])
    codes = {"float32": plain, "float64": _Code(header["source"], wide=True) if "loat" in header["source"] else plain}
    with torch.no_grad():
        for job in header["runs"]:
            torch.set_default_dtype(torch.float32 if job["dtype"] == "float32" else torch.float64)
            torch.default_generator.manual_seed(0)
            trial = _Trial(header, job, arrays, codes[job["dtype"]])
            if job["visible"]:
                with out.capture() as printed:
                    trial.run()
                    out.text("printed", printed.getvalue())
            else:
                trial.run()
            report[job["id"]] = trial.send(out)
    out.text("report", json.dumps(report))


class _Code:
    """The statements, compiled one by one.

    Args:
        wide: Turn float32 into float64, where the hidden data live.
        echoes: Keep what a statement that is an expression comes to.
    """

    def __init__(self, source: str, wide: bool, echoes: bool = False) -> None:
        self.nodes = judged_statements(ast.parse(source).body)
        self._wide = wide
        self._echoes = echoes
        self._codes: dict[int, Any] = {}

    def __getitem__(self, index: int) -> Any:
        if index not in self._codes:
            if self._wide:
                self.nodes[index] = _Widened().visit(self.nodes[index])
            node = self.nodes[index]
            if self._echoes and isinstance(node, ast.Expr):
                name = ast.copy_location(ast.Name(_VALUE, ast.Store()), node)
                node = ast.copy_location(ast.Assign([name], node.value), node)
            self._codes[index] = compile(ast.Module([node], []), FILE, "exec")
        return self._codes[index]


class _Widened(ast.NodeTransformer):
    """A learner who writes `.float()` means the precision of the lesson, which is float64 on hidden data."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "torch":
            node.attr = _WIDER.get(node.attr, node.attr)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS and _narrows(node.func.value):
            return node  # there and back again: that rounds on purpose
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "float":
            node.func.attr = "double"
        return node


def _narrows(node: ast.expr) -> bool:
    """True if *node* is a cast to float32."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "float" or (
        node.func.attr in _CASTS
        and any(ast.unparse(argument) in _NARROW for argument in (*node.args, *map(_value, node.keywords)))
    )


def _value(keyword: ast.keyword) -> ast.expr:
    return keyword.value


class _Kept:
    """A finished gradient: the object the learner left, and its numbers at that moment."""

    def __init__(self, value: object, statement: int) -> None:
        self.value = value
        self.statement = statement
        self.numbers = value.clone() if type(value) is Tensor and value.numel() <= _LARGEST else None
        self.version = value._version if type(value) is Tensor else 0
        self.changed_by: int | None = None

    def look(self, statement: int) -> None:
        if self.changed_by is None and type(self.value) is Tensor and self.value._version != self.version:
            self.version = self.value._version
            if self.numbers is None or not _same(self.value, self.numbers):
                self.changed_by = statement


class _Guarded:
    """A tensor that is not the learner's to change, and what it should hold."""

    def __init__(self, name: str, pristine: Tensor) -> None:
        self.name = name
        self.pristine = pristine
        self.renew()

    def renew(self) -> None:
        self.value = self.pristine.clone()
        self.version = self.value._version


class _Trial:
    """One run of the submission on one set of data."""

    def __init__(self, header: AttemptHeader, job: AttemptRun, arrays: Mapping[str, Tensor], code: _Code) -> None:
        self.id = job["id"]
        self.code = code
        self.lines = header["lines"]
        self.last = header["last"]
        self.required = header["required"]
        self.finished: dict[int, list[str]] = {}
        for name in self.required:
            if name in self.last:
                self.finished.setdefault(self.last[name], []).append(name)
        self.isolated = job["isolated"]
        self.shown = header["shown"]
        self.echoed: list[dict[str, Any]] = []
        self.visible = job["visible"]
        self.arrays = arrays
        self.forced = {name: arrays[key] for name, key in job["forced"].items()}
        self.guarded = {name: _Guarded(name, arrays[key]) for name, key in job["scope"].items()}
        self.scope: dict[str, Any] = {"torch": torch, "F": F, "math": math, **job["dims"]}
        self.scope |= {name: guarded.value for name, guarded in self.guarded.items()}
        self.kept: dict[str, _Kept] = {}
        self.tainted: set[str] = set()
        self.errors: list[dict[str, Any]] = []
        self.mutated: list[dict[str, Any]] = []
        self.rebound: list[dict[str, Any]] = []
        self.bound: dict[str, object] = {}
        for name in self.required:
            if name not in self.last and name in self.forced:
                self._force(name)

    def run(self) -> None:
        for index, line in enumerate(self.lines):
            if line["blank"] or not self.tainted.isdisjoint(line["reads"]) or not self._execute(index):
                self._taint(line["writes"])
            else:
                self.tainted.difference_update(line["writes"])
            self._watch(index)
            self._finish(index)

    def _execute(self, index: int) -> bool:
        try:
            exec(self.code[index], self.scope)
            value = self.scope.pop(_VALUE, None)
            if value is not None:
                self.echoed.append(shown_as(ast.unparse(self.code.nodes[index]), value))
        except MemoryError:
            raise
        except BaseException as error:
            if is_out_of_memory(error):
                raise MemoryError from None
            self.errors.append({"statement": index, **describe_error(error, self.code.nodes[index])})
            return False
        return True

    def _taint(self, names: list[str]) -> None:
        for name in names:
            self.tainted.add(name)
            if name not in self.guarded:
                self.scope.pop(name, None)

    def _watch(self, index: int) -> None:
        """Notice what this statement changed that it should have left alone."""
        for guarded in [guarded for guarded in self.guarded.values() if guarded.value._version != guarded.version]:
            self._restore(guarded, index)
        if self.visible:
            self._rebind(index)
        for name, finished_value in self.kept.items():
            if finished_value.statement != index and self.last.get(name) != index:
                finished_value.look(index)

    def _rebind(self, index: int) -> None:
        """Notice a given name that this statement bound to other values."""
        for name, guarded in self.guarded.items():
            now = self.scope.get(name, guarded.value)
            if now is not guarded.value and now is not self.bound.get(name):
                self.bound[name] = now
                if type(now) is not Tensor or not _alike(now, guarded.pristine):
                    self.rebound.append({"name": name, "statement": index})

    def _restore(self, guarded: _Guarded, index: int) -> None:
        if not _same(guarded.value, guarded.pristine):
            self.mutated.append({"name": guarded.name, "statement": index})
            if self.isolated:
                bound = self.scope.get(guarded.name) is guarded.value
                guarded.renew()
                if bound:
                    self.scope[guarded.name] = guarded.value
                return
        guarded.version = guarded.value._version

    def _finish(self, index: int) -> None:
        for name in self.finished.get(index, ()):
            if name in self.scope and name not in self.tainted:
                self.kept[name] = _Kept(self.scope[name], index)
            if name in self.forced:
                self._force(name)

    def _force(self, name: str) -> None:
        guarded = self.guarded[name] = _Guarded(name, self.forced[name])
        self.scope[name] = guarded.value
        self.tainted.discard(name)

    def send(self, out: DriverOutput) -> dict[str, Any]:
        """Send what was kept; say of everything that is not a tensor what it is."""
        kinds: dict[str, Any] = {}
        changed: dict[str, int] = {}
        for name, finished_value in self.kept.items():
            value = finished_value.value
            if isinstance(value, _NUMBERS):
                kinds[name] = {"kind": type(value).__name__, "number": _float(value)}
            elif not isinstance(value, Tensor):
                kinds[name] = {"kind": _kind_of(value)}
            else:
                out.tensor(f"{self.id}/{name}", value if finished_value.numbers is None else finished_value.numbers)
                if finished_value.changed_by is not None:
                    changed[name] = finished_value.changed_by
                    out.tensor(f"{self.id}/later/{name}", finished_value.value)
        shown = [shown_as(name, self.scope[name], printed=False) for name in self.shown if name in self.scope]
        return {
            "errors": self.errors,
            "mutated": self.mutated,
            "rebound": self.rebound,
            "changed": changed,
            "kinds": kinds,
            "shown": [*self.echoed, *shown],
        }


def _kind_of(value: object) -> str:
    """The name of the type of *value*, as torch writes it where it is one of several tensors together."""
    kind = type(value)
    return f"torch.return_types.{kind.__name__}" if kind.__module__ == "torch.return_types" else kind.__name__


def _same(first: Tensor, other: Tensor) -> bool:
    if first.shape != other.shape:
        return False
    return torch.equal(first, other) or bool(((first == other) | ((first != first) & (other != other))).all())


def _alike(first: Tensor, other: Tensor) -> bool:
    """True if the values are the same, whatever their type of number."""
    try:
        # Shapes first: one number can be spread to any size, which a change of type would fill.
        return first.shape == other.shape and _same(first.to(other.dtype), other)
    except RuntimeError:  # on the device without memory, or of a kind that cannot be compared
        return False


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an int may be larger than any float
        return math.inf if number > 0 else -math.inf
