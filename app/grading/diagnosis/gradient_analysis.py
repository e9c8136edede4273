"""One case as all families look at it: what is computed once, and when a prediction counts.

A prediction counts only if it comes true in every look; see `GradientAnalysis.confirms`.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from app.bindings import as_written, reads_of, shape_only, writes_of
from app.grading.diagnosis.evidence import (
    Array,
    Claim,
    Diagnosis,
    Hypothesis,
    Observation,
    Predict,
    WrongGradient,
    always,
    scale_of,
)
from app.grading.diagnosis.phrases import format_code, without_others
from app.grading.diagnosis.steps import PathStep, steps_of
from app.grading.forward.statements import GradientPath
from app.grading.reading.rules import words_of

SAME = 1e-7
"""Arrays are equal when they differ by less, relative to their size: far above noise, far below `DIFFERENT`."""
DIFFERENT = 1e-6
"""The tolerance of the verdict: a prediction is told from the reference when it differs by more of the scale."""
NOISE = 1e-13
WEIGHTY = 1e-9
CONDITION_MAX = 1e6
SIGNS: Mapping[str, str] = {
    "mul": "*", "div": "/", "add": "+", "sub": "-", "pow": "**", "neg": "-", "matmul": "@", "gelu_tanh": "gelu",
}  # fmt: skip
"""Operations as a forward line writes them."""
FACTORS = (ast.Mult, ast.Div)
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)

T = TypeVar("T")
Send = Callable[[PathStep], Array | None]
"""What a step sends to its operand, before a broadcast is undone; None where that is not defined."""


class GradientAnalysis:
    """A case with everything that several tables need, computed once."""

    def __init__(self, case: WrongGradient) -> None:
        self.case = case
        # A name that is read only for its shape is an occurrence without a share.
        self.paths = tuple(path for path in case.paths if all(path.key in look.shares for look in case.looks))
        self.got = {look: np.asarray(look.got, dtype=np.float64) for look in case.looks}
        self.scale = {look: scale_of(look) or 1.0 for look in case.looks}
        self.steps, self.spot = cache(self._steps), cache(self._step_fields)
        # What the words of a rule stand for at a step.
        self.meanings = cache(lambda step: words_of(step.node, step.position, step.g))
        nodes = [node for write in case.writes for node in ast.walk(write)]
        self.words = _names_in(nodes) | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        values = (node.value for node in nodes if isinstance(node, ast.Constant))
        # What a sentence says of the text, it says of the lines that the gradient is made of.
        self.lines = _feeding(case) or case.lines or case.writes
        self.names = self.words | _names_in([node for line in self.lines for node in ast.walk(line)])
        self.undone_in: ast.stmt | None = None
        """The line in which the claim of a sentence was seen to hold."""
        self._made: dict[Callable[[GradientAnalysis], Any], Any] = {}
        self.numbers = frozenset(
            value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
        )

    def is_written(self, text: str) -> bool:
        """Whether *text*, an expression, stands in the learner's lines."""
        return not self.lines or any(text in as_written(line) for line in self.lines)

    def is_of_program(self, text: str) -> bool:
        """Whether *text* names no step that the program's own text lacks."""
        return not self.case.written_out.intersection(name.removeprefix("d") for name in re.findall(r"\w+", text))

    def multiplies(self, name: str) -> bool:
        """Whether *name* itself is a factor in the learner's lines, or is divided."""
        nodes = [node for line in self.lines for node in ast.walk(line) if isinstance(node, ast.BinOp)]
        factors = (side for node in nodes if isinstance(node.op, FACTORS) for side in (node.left, node.right))
        return any(isinstance(side, ast.Name) and side.id == name for side in factors)

    def shaped(self) -> bool:
        """Whether the learner's tensor has the shape of the reference."""
        return all(look.got.shape == look.reference.shape for look in self.case.looks)

    def _steps(self, path: GradientPath, look: Observation) -> tuple[PathStep, ...]:
        """The operations of *path*, the outermost first; empty where the statement could not be followed."""
        with np.errstate(all="ignore"):
            return steps_of(self.case, path, look)

    def _step_fields(self, path: GradientPath, depth: int) -> dict[str, str]:
        """What a sentence may speak of at one step, as fields of a format string.

        `name` the learner's gradient, `tensor` its tensor, `x` the operand that is followed, `z` the other one, `y` the
        output, `op` the operation as it is written and `kind` its name here, `up` what arrives at the output,
        `statement` the forward line, `row` what stands along its axis,
        `here` the line or the part of it, `inner` by what it is derived, where that has no name.
        """
        step = self.steps(path, self.case.looks[0])[depth]
        operands, output = step.node.operands, step.statement.outputs[0]
        return {
            "name": self.case.name,
            "tensor": self.case.tensor,
            "x": operands[step.position].text,
            "z": operands[1 - step.position].text if len(operands) > 1 else "",
            "y": output if step.is_root else step.node.text,
            "op": SIGNS.get(step.node.op, step.node.op),
            "kind": step.node.op,
            "up": f"`d{output}`" if step.is_root else f"the gradient at `{step.node.text}`",
            "statement": step.statement.source,
            "row": row_word(step),
            "inner": ""
            if operands[step.position].text.isidentifier()
            else f" with respect to `{operands[step.position].text}`",
            "here": step.statement.source if step.is_root else step.node.text,
        }

    def every_step(self) -> Iterator[tuple[GradientPath, int, PathStep]]:
        """Every operation on every path of the tensor, in the first look."""
        for path in self.paths:
            for depth, step in enumerate(self.steps(path, self.case.looks[0])):
                yield path, depth, step

    def places(self) -> Iterator[tuple[GradientPath, int, PathStep]]:
        """Like `every_step`, but a step shared by several paths only once: a hypothesis replaces them together."""
        seen: set[tuple[int, int]] = set()
        for path, depth, step in self.every_step():
            key = (id(step.node.expr), 0 if step.is_square else step.position)
            if key not in seen:
                seen.add(key)
                yield path, depth, step

    def hypothesis_at_step(
        self,
        path: GradientPath,
        depth: int,
        code: str,
        send: Send,
        say: str,
        mentions: Iterable[str] = (),
        claim: Claim = always,
        **more: str,
    ) -> Hypothesis:
        """A slip at one step, which sends what *send* gives to its operand; *say* may use the fields of `spot`."""
        fields = {**self.spot(path, depth), **more}
        words = [word for word in (mention.format(**fields) for mention in mentions) if word.isidentifier()]
        return self.hypothesis(
            format_code(code, fields), partial(self._sent, path, depth, send), say, words, claim, **fields
        )

    def hypothesis(
        self,
        code: str,
        predict: Predict,
        say: str,
        mentions: Sequence[str] = (),
        claim: Claim = always,
        /,
        **more: str,
    ) -> Hypothesis:
        """Any other mistake; *say* may speak of the `name`, the `tensor` and of *more*."""
        fields = {"name": self.case.name, "tensor": self.case.tensor, **more}
        return Hypothesis(code, predict, partial(say.format, **fields), tuple(mentions), claim)

    def _sent(self, path: GradientPath, depth: int, send: Send, look: Observation) -> Array | None:
        steps = self.steps(path, look)
        return self.gradient_if_sent(path, depth, look, send(steps[depth])) if depth < len(steps) else None

    def of_share(self, path: GradientPath, step: PathStep, say: str) -> str:
        """*say* of the share that comes through *step*, unless all do: by its consumer, where that has no other."""
        sharing = sum(any(each.same_as(step) for each in self.steps(other, step.look)) for other in self.paths)
        if sharing == len(self.paths):
            return say
        apart = sum(other.statement == path.statement for other in self.paths) == sharing
        return say.replace("`{name}`", "The share of `{name}` through `{way}`" if apart else "One share of `{name}`", 1)

    def everywhere(self, alike: Callable[[PathStep], bool], send: Send, look: Observation) -> Array | None:
        """The gradient, had the first step that is *alike* on each path sent so; None where fewer than two have one."""
        total, changed = np.zeros_like(look.reference), 0
        for path in self.paths:
            share: Array | None = look.shares[path.key]
            path_step = next((step for step in self.steps(path, look) if alike(step)), None)
            if path_step is not None:
                share, changed = path_step.carried(send(path_step)), changed + 1
            if share is None or share.shape != total.shape:
                return None
            total = total + share
        return total if changed > 1 else None

    def gradient_with_share(self, path: GradientPath, look: Observation, share: Array | None) -> Array | None:
        """The gradient, had *path* contributed *share*; all other paths as they should be."""
        if share is None or len(self.paths) == 1:
            return share
        try:
            return np.asarray(look.reference - look.shares[path.key] + share)
        except ValueError:
            return None

    def gradient_if_sent(self, path: GradientPath, depth: int, look: Observation, full: Array | None) -> Array | None:
        """The gradient, had this step sent *full* to its operand, on every path that shares the step."""
        steps = self.steps(path, look)
        if full is None or depth >= len(steps):
            return None
        if len(self.paths) == 1:
            return steps[depth].carried(full)
        total: Array | None = look.reference
        for other, step in self._sharing(path, steps[depth], look):
            share = step.carried(full)
            if share is None or total is None or share.shape != look.shares[other.key].shape:
                return self.gradient_with_share(path, look, steps[depth].carried(full))
            total = total - look.shares[other.key] + share
        return total

    def _sharing(self, path: GradientPath, step: PathStep, look: Observation) -> list[tuple[GradientPath, PathStep]]:
        others = [(other, each) for other in self.paths if other is not path for each in self.steps(other, look)]
        return [(path, step), *((other, each) for other, each in others if each.same_as(step))]

    def equal(self, tensor: Array | None, look: Observation) -> bool:
        """Whether *tensor* is what the learner has."""
        got = self.got[look]
        return tensor is not None and tensor.shape == got.shape and _apart(tensor, got) <= self.slack(tensor, look)

    def slack(self, tensor: Array, look: Observation) -> float:
        """How far from *tensor* another may be and still count as equal."""
        return max(SAME * float(np.abs(tensor).max(initial=0.0)), NOISE * self.scale[look])

    def solved(self, parts: Sequence[Array], target: Array, look: Observation) -> Array | None:
        """How often *target* holds each of *parts*; None where they do not add up to it, or in more than one way."""
        columns, wanted = np.stack([part.ravel() for part in parts], 1), target.ravel()
        return solve_coefficients(columns, wanted, self.slack(wanted, look)) if len(columns) > len(parts) else None

    def wrong(self, tensor: Array, look: Observation) -> bool:
        """Whether *tensor* differs from the reference by more than the verdict forgives."""
        reference = look.reference
        return tensor.shape != reference.shape or _apart(tensor, reference) > DIFFERENT * self.scale[look]

    def weighty(self, tensor: Array, look: Observation) -> bool:
        """Whether *tensor* is more than rounding noise, which any tiny prediction would equal."""
        return float(np.abs(tensor).max(initial=0.0)) > WEIGHTY * self.scale[look]

    def confirms(self, mistake: Hypothesis) -> bool:
        """Whether *mistake* predicts the learner's tensor in every look, and a wrong one in at least one."""
        told_apart = False
        for look in self.case.looks:
            tensor = self.predicted(mistake, look)
            if tensor is None or not self.equal(tensor, look):
                return False
            told_apart = told_apart or (self.wrong(tensor, look) and self.weighty(tensor, look))
        return told_apart

    def predicted(self, mistake: Hypothesis, look: Observation) -> Array | None:
        """What *mistake* predicts; None where it does not apply or is not finite."""
        try:
            with np.errstate(all="ignore"):
                tensor = mistake.predict(look)
        except (ValueError, IndexError, KeyError):
            # Shapes that do not go together, or a name that this look lacks: the row does not apply.
            return None
        if tensor is None:
            return None
        tensor = np.asarray(tensor, dtype=np.float64)
        return tensor if np.isfinite(tensor).all() else None

    def evidence(self, mistake: Hypothesis) -> int:
        """How much the learner's own lines speak for *mistake*, where several predict the same tensor."""
        if not mistake.mentions:
            return 0
        return len(mistake.mentions) if self.names.issuperset(mistake.mentions) else -1

    def best_hypothesis(self, mistakes: Iterable[Hypothesis]) -> Hypothesis | None:
        """The mistake that came true; among several the one that the learner's lines speak for, then the first."""
        by_evidence: dict[int, list[Hypothesis]] = {}
        for mistake in mistakes:
            by_evidence.setdefault(self.evidence(mistake), []).append(mistake)
        ranked = (hypothesis for evidence in sorted(by_evidence, reverse=True) for hypothesis in by_evidence[evidence])
        return next((mistake for mistake in ranked if self.confirms(mistake) and self._claimed(mistake)), None)

    def _claimed(self, mistake: Hypothesis) -> bool:
        self.undone_in = None
        return (not self.case.written_out or self.is_of_program(mistake.say())) and mistake.claim()

    def to_diagnosis(self, mistake: Hypothesis) -> Diagnosis:
        self.undone_in = self.undone_in or self._reading(mistake.mentions)
        return Diagnosis(code=f"{self.case.name}:{mistake.code}", message=without_others(mistake.say()))

    def _reading(self, mentions: Sequence[str]) -> ast.stmt | None:
        """The one line that reads what is mentioned, if that is none which writes the gradient."""
        found = [line for line in self.lines if mentions and _names_in([*ast.walk(line)]).issuperset(mentions)]
        return found[0] if len(found) == 1 and found[0] not in self.case.writes else None

    def once(self, make: Callable[["GradientAnalysis"], T]) -> T:
        """What *make* gives of this case; it is asked once."""
        if make not in self._made:
            self._made[make] = make(self)
        found: T = self._made[make]
        return found


def row_word(step: PathStep) -> str:
    """What the axis along which the operation of *step* compares or adds up runs along."""
    axes, last = step.node.options.get("axes") or (), step.x.ndim - 1
    return "row" if last in axes or not axes else "column" if last == 1 else "slice"


def _names_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that *nodes* read for more than their shape."""
    aside = {id(inner) for node in nodes for inner in shape_only(node)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in aside}


def _feeding(case: WrongGradient) -> tuple[ast.stmt, ...]:
    """The statements, also those inside of loops, that the gradient is made of; not those of the other gradients."""
    others = case.looks[0].gradients.keys() - {case.name}
    nodes = [node for line in case.lines for node in ast.walk(line)]
    if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in nodes):
        return ()
    simple = [node for node in nodes if isinstance(node, SIMPLE)]
    written = [(item, writes_of(list(ast.walk(item)))) for item in simple]
    wanted, found = {case.name}, set[int]()
    fresh = simple
    while fresh:
        fresh = [item for item, names in written if id(item) not in found and names & (wanted - others)]
        found |= {id(item) for item in fresh}
        wanted |= {name for item in fresh for name in reads_of(list(ast.walk(item)))[0]}
    return tuple(item for item in simple if id(item) in found)


def solve_coefficients(columns: Array, wanted: Array, slack: float) -> Array | None:
    """The coefficients with which *columns* add up to *wanted*; None where none do, or many."""
    lengths = np.linalg.norm(columns, axis=0)
    if len(columns) < len(lengths) or not lengths.all():
        return None
    unit = columns / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    if values[0] <= values[-1] / CONDITION_MAX**2 or values[0] <= 0:
        return None
    found = vectors @ ((vectors.T @ (unit.T @ wanted)) / values)
    # One step of refinement: the normal equations alone lose half of the digits.
    found += vectors @ ((vectors.T @ (unit.T @ (wanted - unit @ found))) / values)
    return None if np.abs(unit @ found - wanted).max(initial=0.0) > slack else np.asarray(found / lengths)


def _apart(one: Array, other: Array) -> float:
    return float(np.abs(one - other).max(initial=0.0))
