"""One case as all families look at it: what is computed once, and when a prediction counts.

A prediction counts only if it comes true in every look; see `GradientAnalysis.confirms`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

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
from app.grading.diagnosis.gradient_text import GradientText
from app.grading.diagnosis.phrases import format_code, without_others
from app.grading.diagnosis.regression import solve_coefficients
from app.grading.diagnosis.share_words import of_share
from app.grading.diagnosis.steps import PathStep, steps_of
from app.grading.forward.statements import GradientPath
from app.grading.operations.numerics import magnitude
from app.grading.operations.table import OPERATIONS
from app.grading.reading.rules import words_of
from app.syntax import Expression, Statement

SAME = 1e-7
"""Arrays are equal when they differ by less, relative to their size: far above noise, far below `DIFFERENT`."""
DIFFERENT = 1e-6
"""The tolerance of the verdict: a prediction is told from the reference when it differs by more of the scale."""
NOISE = 1e-13
WEIGHTY = 1e-9
SIGNS: Mapping[str, str] = {row.name: row.sign for row in OPERATIONS.values() if row.sign}
"""Operations as a forward line writes them."""

T = TypeVar("T")
Send = Callable[[PathStep], Array | None]
"""What a step sends to its operand, before a broadcast is undone; None where that is not defined."""


class GradientAnalysis:
    """A case with everything that several tables need, computed once."""

    def __init__(self, case: WrongGradient) -> None:
        self.case, self.first_look = case, case.first_look
        self.text = GradientText(case)
        # A name that is read only for its shape is an occurrence without a share.
        self.paths = tuple(path for path in case.paths if all(path.key in look.shares for look in case.looks))
        self.got = {look: np.asarray(look.got, dtype=np.float64) for look in case.looks}
        self.scale = {look: scale_of(look) or 1.0 for look in case.looks}
        self.steps, self.spot = cache(self._steps), cache(self._step_fields)
        # What the words of a rule stand for at a step.
        self.meanings = cache(lambda step: words_of(step.node, step.position, step.g))
        self.undone_in: Statement | None = None
        """The line in which the claim of a sentence was seen to hold."""
        self._made: dict[Callable[[GradientAnalysis], Any], Any] = {}

    def is_of_program(self, text: str, also: Collection[str] = ()) -> bool:
        """True if *text* names no step that the program's own text lacks, but for those in *also*."""
        lacking = self.case.written_out - {*also}
        return not lacking.intersection(name.removeprefix("d") for name in re.findall(r"\w+", text))

    def shaped(self) -> bool:
        """True if the learner's tensor has the shape of the reference."""
        return all(look.is_shaped for look in self.case.looks)

    def _steps(self, path: GradientPath, look: Observation) -> tuple[PathStep, ...]:
        """The operations of *path*, the outermost first; empty where the statement could not be followed."""
        with np.errstate(all="ignore"):
            return steps_of(self.case, path, look)

    def _step_fields(self, path: GradientPath, depth: int) -> dict[str, str]:
        """Fields of one step for a format string of a sentence.

        `name` the learner's gradient, `tensor` its tensor, `x` the operand that is followed, `z` the other one, `y` the
        output, `part` what makes it, `op` the operation as it is written and `kind` its name here, `up` what arrives at
        the output, `statement` the forward line and `arriving` the gradient of what it makes, `row` what stands along
        its axis, `here` the line or the part of it, `inner` by what it is derived, where that has no name.
        """
        step = self.steps(path, self.first_look)[depth]
        operands, output = step.node.operands, step.statement.outputs[0]
        return {
            "name": self.case.name,
            "tensor": self.case.tensor,
            "x": operands[step.position].text,
            "z": operands[1 - step.position].text if len(operands) > 1 else "",
            "y": output if step.is_root else step.node.text,
            "part": step.node.text,
            "op": SIGNS.get(step.node.op, step.node.op),
            "kind": step.node.op,
            "up": f"`d{output}`" if self.arrives_whole(step) else f"the gradient at `{step.node.text}`",
            "statement": step.statement.source,
            "arriving": f"`d{output}`",
            "row": step.row,
            "inner": ""
            if operands[step.position].text.isidentifier()
            else f" with respect to `{operands[step.position].text}`",
            "here": self._operation_text(step) if step.is_root else step.node.text,
        }

    @staticmethod
    def arrives_whole(step: PathStep) -> bool:
        """True if what arrives at *step* is the gradient of its line's output: what lies between changes nothing."""
        arriving = step.look.gradients.get(f"d{step.statement.outputs[0]}")
        return step.is_root or (arriving is not None and np.array_equal(arriving, step.g))

    @staticmethod
    def _operation_text(step: PathStep) -> str:
        """Line of *step* that makes its output; the function alone if more is inside of it."""
        whole = step.node.operands[step.position].text.isidentifier() or step.node.op in SIGNS
        return step.statement.source if whole else f"{step.node.op}` in `{step.statement.source}"

    def every_step(self) -> Iterator[tuple[GradientPath, int, PathStep]]:
        """Every operation on every path of the tensor, in the first look."""
        for path in self.paths:
            for depth, step in enumerate(self.steps(path, self.first_look)):
                yield path, depth, step

    def places(self) -> Iterator[tuple[GradientPath, int, PathStep]]:
        """Like `every_step`, but a step shared by several paths only once: a hypothesis replaces them together."""
        seen: set[tuple[Expression | None, int]] = set()
        for path, depth, step in self.every_step():
            key = (step.node.expr, 0 if step.is_square else step.position)
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
        predict = partial(self._sent, path, depth, send)
        said = partial(self._said, path, depth, say, fields)  # most never come true: their sentences are not made
        return Hypothesis(format_code(code, fields), predict, said, tuple(words), claim)

    def _said(self, path: GradientPath, depth: int, say: str, fields: Mapping[str, str]) -> str:
        return self.said_of_share(path, depth, say).format(**fields)

    def said_of_share(self, path: GradientPath, depth: int, say: str) -> str:
        """*say* of the shares that a step is part of, where the tensor has others."""
        look = self.first_look
        step = self.steps(path, look)[depth]
        sharing = [other for other in self.paths if any(each.same_as(step) for each in self.steps(other, look))]
        return say if len(sharing) == len(self.paths) else of_share(say, path, sharing, self.paths)

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
        """True if *tensor* is what the learner has."""
        got = self.got[look]
        return tensor is not None and tensor.shape == got.shape and _apart(tensor, got) <= self.slack(tensor, look)

    def slack(self, tensor: Array, look: Observation) -> float:
        """Largest difference from *tensor* that still counts as equal."""
        return max(SAME * magnitude(tensor), NOISE * self.scale[look])

    def solved(self, parts: Sequence[Array], target: Array, look: Observation) -> Array | None:
        """Multiplicities of each of *parts* in *target*; None if they do not add up to it, or in more than one way."""
        columns, wanted = np.stack([part.ravel() for part in parts], 1), target.ravel()
        return solve_coefficients(columns, wanted, self.slack(wanted, look)) if len(columns) > len(parts) else None

    def wrong(self, tensor: Array, look: Observation) -> bool:
        """True if *tensor* differs from the reference by more than the verdict forgives."""
        reference = look.reference
        return tensor.shape != reference.shape or _apart(tensor, reference) > DIFFERENT * self.scale[look]

    def weighty(self, tensor: Array, look: Observation) -> bool:
        """True if *tensor* is more than rounding noise, which any tiny prediction would equal."""
        return magnitude(tensor) > WEIGHTY * self.scale[look]

    def confirms(self, mistake: Hypothesis) -> bool:
        """True if *mistake* predicts the learner's tensor in every look, and a wrong one in at least one."""
        told_apart = False
        for look in self.case.looks:
            tensor = self.predicted(mistake, look)
            if tensor is None or not self.equal(tensor, look):
                return False
            told_apart = told_apart or (self.wrong(tensor, look) and self.weighty(tensor, look))
        return told_apart

    def predicted(self, mistake: Hypothesis, look: Observation) -> Array | None:
        """Prediction of *mistake*; None if it does not apply or is not finite."""
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
        """Evidence in the learner's own lines for *mistake*, if several predict the same tensor."""
        if not mistake.mentions:
            return 0
        return len(mistake.mentions) if self.text.names.issuperset(mistake.mentions) else -1

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
        self.undone_in = self.undone_in or self.text.reader_of(mistake.mentions)
        return Diagnosis(code=f"{self.case.name}:{mistake.code}", message=without_others(mistake.say()))

    def once(self, make: Callable[["GradientAnalysis"], T]) -> T:
        """Result of *make* for this case, cached."""
        if make not in self._made:
            self._made[make] = make(self)
        value: T = self._made[make]
        return value


def _apart(first: Array, other: Array) -> float:
    return magnitude(first - other)
