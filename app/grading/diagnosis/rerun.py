"""The learner's lines read in numpy on one look, as they are and with a line edited."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from functools import cached_property

import numpy as np

from app.bindings import LIKE, NEW, nodes_of, writes
from app.grading.diagnosis.edits import Edit
from app.grading.diagnosis.evidence import Array, Observation, WrongGradient, scope_of
from app.grading.diagnosis.gradient_analysis import SAME, GradientAnalysis
from app.grading.operations.numerics import magnitude
from app.grading.reading.budget import EntryBudget
from app.grading.reading.interpreter import Interpreter
from app.grading.reading.node import UntracedError
from app.grading.reading.recall import Recall
from app.syntax import called_name, every_name_in, name_of, tuple_parts

Inside = tuple[Array, ...]
"""A gradient inside of the forward program, on each look."""


class Rerun:
    """The learner's lines read on one look."""

    def __init__(
        self, view: GradientAnalysis, look: Observation, lines: tuple[ast.stmt, ...], start: Interpreter
    ) -> None:
        self.view = view
        self.look = look
        self.lines = lines
        self.name = view.case.name
        self.before: list[Interpreter] = []
        now = start
        self.written = [writes(line) for line in lines]
        self._forced = self._finished()
        self._needed = self._slice()
        if start.recall is not None:
            start.recall.know(line for at, line in enumerate(lines) if self.counts(at))
        for at in range(len(lines)):
            self.before.append(now.copy())
            self._go_on(now, at)
        self.after = now
        self.at = len(lines) - 1
        if now.recall is not None:
            now.recall.learning = False  # an edit's own values come once

    @classmethod
    def of(cls, view: GradientAnalysis, look: Observation, budget: EntryBudget) -> "Rerun | None":
        """None where the reading does not come to what the learner has."""
        name = view.case.name
        last = max((at for at, line in enumerate(view.case.lines) if name in writes(line)), default=-1)
        lines = view.case.lines[: last + 1]
        others = look.gradients.keys() - {name}
        needed = tuple(
            _without(others - names_in(lines[at + 1 :]), line) if isinstance(line, ast.For) else line
            for at, line in enumerate(lines)
        )
        rerun = cls(view, look, needed, Interpreter(*scope_of(look, view.case.name), budget, Recall()))
        return rerun if rerun._is_own(rerun.result(rerun.after)) else None

    def _is_own(self, result: Array | None) -> bool:
        """True if *result* is what the learner has; no number is like another one that is none."""
        got = self.look.got
        if result is None or result.shape != got.shape or got.dtype.kind != "f" or np.isfinite(got).all():
            return self.view.equal(result, self.look)
        finite = np.isfinite(got)
        apart = magnitude(np.where(finite, result - got, 0.0))
        return np.array_equal(finite, np.isfinite(result)) and apart <= SAME * magnitude(got[finite])

    @cached_property
    def unread(self) -> set[str]:
        """The names that the learner's lines write and never read, but for gradients of the box."""
        nodes = [node for line in self.lines for node in nodes_of(line) if isinstance(node, ast.Name)]
        read = {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
        return {name for names in self.written for name in names} - read - {self.name} - self.look.gradients.keys()

    @cached_property
    def _written_inside(self) -> Mapping[ast.stmt, frozenset[str]]:
        """By identity of a statement in a loop: what it writes."""
        return {statement: writes(statement) for line in self.lines for statement in inside_of(line)}

    @property
    def line(self) -> ast.stmt:
        return self.lines[self.at]

    def _go_on(self, now: Interpreter, at: int) -> None:
        """Run the line *at*. What it writes is unknown where it cannot be read: other lines may do without."""
        self._run(now, at, self.lines[at])

    def _run(self, now: Interpreter, at: int, line: ast.stmt) -> None:
        """Run *line* in the place of the one *at*."""
        if self.counts(at):
            try:
                now.run([line])
            except UntracedError:
                now.forget(self.written[at])
        self._force(now, at)

    def counts(self, at: int) -> bool:
        """True if a name that the line *at* writes is not replaced, and may be read on the way to the gradient."""
        return at in self._needed

    def _finished(self) -> Sequence[frozenset[str]]:
        """By line: the other gradients that it finishes."""
        others, finished = self.look.gradients.keys() - {self.name}, list[frozenset[str]]()
        for written in reversed(self.written):
            finished.append(written & others)
            others -= written
        return finished[::-1]

    def _slice(self) -> Set[int]:
        """The lines that may count for the gradient; one that begins another gradient counts if it is read so."""
        others, needed, lines = self.look.gradients.keys() - {self.name}, {self.name}, set[int]()
        for at in reversed(range(len(self.lines))):
            if self.written[at] != self._forced[at] and (self.written[at] & needed or self.written[at] - others):
                lines.add(at)
                needed |= every_name_in(self.lines[at])
        return lines

    def _force(self, now: Interpreter, at: int) -> None:
        """A gradient that another line finished is replaced, as in the isolated run."""
        now.arrays |= {name: self.look.gradients[name] for name in self._forced[at]}

    def result(self, scope: Interpreter) -> Array | None:
        value = scope.arrays.get(self.name)
        if value is None and isinstance(number := scope.others.get(self.name), int | float):
            return np.asarray(float(number))
        return None if value is None or value.dtype.kind == "c" else np.asarray(value, dtype=np.float64)

    def rewritten(self, act: Callable[[ast.stmt], ast.stmt]) -> Array | None:
        """The learner's tensor, had *act* been done to each line."""
        now = self.before[0].copy()
        for at, line in enumerate(self.lines):
            self._run(now, at, act(line))
        return self.result(now)

    def with_lines(self, others: Mapping[int, ast.stmt]) -> Array | None:
        """The learner's tensor, had the lines at these places been *others*."""
        first = min(others)
        now = self.before[first].copy()
        for at in range(first, len(self.lines)):
            self._run(now, at, others.get(at, self.lines[at]))
        return self.result(now)

    def is_right(self, result: Array | None) -> bool:
        """True if *result* is the gradient."""
        if result is None or result.shape != self.look.reference.shape or not np.isfinite(result).all():
            return False
        return not self.view.wrong(result, self.look)

    def candidates(self) -> list[int]:
        """The lines that write the name, and the ones before them that it is made of; the last one first."""
        needed, indices = {self.name}, []
        for at in reversed(range(len(self.lines))):
            written = self.written[at]
            others = (written & self.look.gradients.keys()) - {self.name}
            if written & needed and (self.name in written or not others):
                indices.append(at)
                needed |= set() if others else names_in([self.lines[at]])
        return indices

    def stand(self, at: int) -> None:
        """Try edits of the line *at* from now on."""
        self.at = at

    def is_elsewhere(self, edit: Edit) -> bool:
        """True if *edit* completes what another line made, where the slip is, or a tensor full of one number."""
        if not edit.change.kind.startswith("put-"):
            return False
        if not isinstance(edit.old, ast.Name):
            return called_name(edit.old) in LIKE | NEW
        given = {*self.look.forward, *self.look.gradients} - {self.name}
        return edit.old.id not in given and any(edit.old.id in names for names in self.written[: self.at])

    def made(self, edit: Edit, name: str) -> Array | None:
        """Value of *name* after the edited line."""
        now = self.before[self.at].copy()
        assert isinstance(edit.root, ast.stmt)
        try:
            now.run([edit.root])
        except UntracedError:
            return None
        return now.arrays.get(name)

    def mended(self, edit: Edit) -> bool:
        """True if *edit* makes the gradient right."""
        now = self.before[self.at].copy()
        assert isinstance(edit.root, ast.stmt)
        if self._is_filled(edit.root):
            now.after_turn = self._stop_if_wrong
        try:
            now.run([edit.root])
            now.after_turn = None
            self._force(now, self.at)
            for at in range(self.at + 1, len(self.lines)):
                self._go_on(now, at)
        except UntracedError:
            return False
        return self.is_right(self.result(now))

    def _is_filled(self, loop: ast.stmt) -> bool:
        """True if each turn of *loop* fills a part of the gradient that no other turn, and no line below, writes."""
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            return False
        inside = self._written_inside
        writing = [
            statement
            for statement in loop.body
            if self.name in (inside[statement] if statement in inside else writes(statement))
        ]
        below = any(self.name in later for later in self.written[self.at + 1 :])
        return len(writing) == 1 and not below and _fills(writing[0], loop.target.id)

    def _stop_if_wrong(self, now: Interpreter) -> None:
        """Raise where what a turn filled is not the gradient there."""
        before, after = self.before[self.at].arrays.get(self.name), now.arrays.get(self.name)
        if before is None or after is None or not before.shape == after.shape == self.look.reference.shape:
            return
        so_far = np.where(after == before, self.look.reference, after)
        if not self.is_right(so_far):
            raise UntracedError("a turn is wrong")


@np.errstate(all="ignore")
def read_on(case: WrongGradient, other: Observation) -> Array | None:
    """Values that the lines of *case* leave on *other*; None where reading them on its own gives different ones."""
    view = GradientAnalysis(case)
    if not _is_readable(view) or (rerun := Rerun.of(view, case.first_look, case.budget)) is None:
        return None
    again = Rerun(view, other, rerun.lines, Interpreter(*scope_of(other, case.name), case.budget))
    return again.result(again.after)


def line_replays(view: GradientAnalysis) -> Sequence[Rerun]:
    """The learner's lines read on each look; empty where they cannot be, or do not come to what the learner has."""
    case = view.case
    if not _is_readable(view):
        return ()
    reruns = [rerun for look in case.looks if (rerun := Rerun.of(view, look, case.budget)) is not None]
    return reruns if len(reruns) == len(case.looks) else ()


def _is_readable(view: GradientAnalysis) -> bool:
    lines = view.case.lines
    empty = any(look.got.size == 0 for look in view.case.looks)
    return not empty and bool(lines) and not any(isinstance(line, ast.FunctionDef) for line in lines)


def inside_of(line: ast.stmt) -> list[ast.stmt]:
    """The statements of a loop, a condition or a block."""
    return [*getattr(line, "body", ()), *getattr(line, "orelse", ())]


def names_in(lines: Iterable[ast.AST]) -> set[str]:
    return set[str]().union(*map(every_name_in, lines))


def _without(gradients: Set[str], line: ast.For) -> ast.For:
    """A loop without the statements that only write *gradients* which no other one reads: edits of them are in vain."""
    shorter = copy(line)
    for statement in line.body:
        read = names_in(other for other in line.body if other is not statement)
        if writes(statement) and writes(statement) <= gradients - read:
            shorter.body = [other for other in shorter.body if other is not statement]
    return shorter


def _fills(line: ast.stmt, turn: str) -> bool:
    """True if *line* is `x[:, t] = …`, whose place is another one in each *turn*."""
    match line:
        case ast.Assign(targets=[ast.Subscript(slice=part)]):
            parts = tuple_parts(part)
            return any(name_of(node) == turn for node in parts)
    return False


def steps_made(reruns: Sequence[Rerun]) -> Mapping[int, Inside]:
    """By line that makes one: a step that is no gradient of the box, on each look."""
    known, steps = reruns[0].look.gradients.keys() | {reruns[0].name}, dict[int, Inside]()
    for at in reruns[0].candidates():
        match reruns[0].lines[at]:
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in known:
                values = [rerun.after.arrays[name] for rerun in reruns if name in rerun.after.arrays]
                if len(values) == len(reruns) and values[0].dtype.kind == "f":
                    steps[at] = tuple(values)
    return steps


def gradients_inside(view: GradientAnalysis, looks: Sequence[Observation]) -> list[Inside]:
    """The gradient at each operation on the way to the tensor, and each of several shares, on each of *looks*."""
    ways = ([view.steps(path, look) for look in looks] for path in view.paths)
    shares = [tuple(look.shares[path.key] for look in looks) for path in view.paths] if len(view.paths) > 1 else []
    return [tuple(step.g for step in steps) for way in ways for steps in zip(*way, strict=False)] + shares


def are_equal(first: Inside, other: Inside) -> bool:
    """True if two tensors are the same on each look."""
    pairs = list(zip(first, other, strict=True))
    return all(a.shape == b.shape for a, b in pairs) and all(
        magnitude(a - b) <= SAME * max(magnitude(b), 1e-300) for a, b in pairs
    )


def finished_steps(view: GradientAnalysis, reruns: Sequence[Rerun]) -> frozenset[int]:
    """The lines that make a step which is right: one of the gradients inside of the forward program.

    What is one of the gradients of the box under another name may be that or a step that lacks everything.
    """
    looks = [rerun.look for rerun in reruns]
    named = [tuple(look.gradients[name] for look in looks) for name in looks[0].gradients]
    inside = [each for each in gradients_inside(view, looks) if not any(are_equal(each, known) for known in named)]
    steps = steps_made(reruns).items()
    return frozenset(at for at, arrays in steps if any(are_equal(arrays, each) for each in inside))
