"""Evidence for a diagnosis: one wrong gradient, everything the tape knows about its tensor, two seeds.

All arrays are float64 on hidden sizes unless said otherwise. A path is one occurrence of the tensor as an operand
of a forward statement: the key `3.0` is the first occurrence in the fourth statement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from app.grading.forward.statements import ForwardStatement, GradientPath
from app.grading.operations.numerics import Array as Array
from app.grading.operations.numerics import magnitude
from app.grading.reading.budget import EntryBudget
from app.syntax import Statement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observation:
    """The quantities of one seed.

    Args:
        got: The learner's tensor, as it was after its last write. Any shape, any dtype.
        reference: The gradient under the upstreams in force, in the tensor's shape.
        shares: By path key; they sum to *reference*.
        unreduced: By path key: the share before it was summed over the axes that a broadcast stretched
            (the same array as the share where nothing was stretched).
        upstream: By path key: the gradient in force for the consumer's output.
        forward: Every forward tensor by name.
        gradients: Every gradient in force by the learner's name (`dY`), the forced and given ones.
        blocked: By name of an intermediate z that is not required: the reference with z held constant;
            the key `*` holds all of them constant at once.
        others: By (path key, name of another gradient of the same shape as the upstream): the share that the path would
            give under that upstream. Empty where it was not computed.
        dims: The sizes in force.
    """

    got: Array
    reference: Array
    shares: Mapping[str, Array]
    unreduced: Mapping[str, Array]
    upstream: Mapping[str, Array]
    forward: Mapping[str, Array]
    gradients: Mapping[str, Array]
    blocked: Mapping[str, Array] = field(default_factory=dict)
    others: Mapping[tuple[str, str], Array] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_shaped(self) -> bool:
        """True if the learner's tensor has the shape of the reference."""
        return self.got.shape == self.reference.shape

    def under(self, weight: float) -> "Observation":
        """Observation, but for *got*, with *weight* times the upstream gradient."""
        return replace(
            self,
            reference=np.asarray(weight * self.reference),
            shares=_times(weight, self.shares),
            unreduced=_times(weight, self.unreduced),
            upstream=_times(weight, self.upstream),
            gradients=_times(weight, self.gradients),
            blocked=_times(weight, self.blocked),
            others=_times(weight, self.others),
        )


Key = TypeVar("Key")


def _times(weight: float, arrays: Mapping[Key, Array]) -> dict[Key, Array]:
    return {key: np.asarray(weight * array) for key, array in arrays.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongGradient:
    """One wrong gradient.

    Args:
        name: As the learner writes it, such as `dW`.
        tensor: The forward tensor it is the gradient of, such as `W`.
        statements: The whole forward program.
        paths: The paths of *tensor*, in program order.
        looks: One per hidden seed; a diagnosis must hold in all of them.
        visible: The same on the lesson's own sizes (float32), where it was computed.
        axes: Names of the tensor's axes in words, such as `("N", "H")`, by tensor name (forward names only).
        writes: The learner's statements that write the name, in order.
        lines: All of the learner's statements.
        settled: Other gradients, and steps on the way to them, that are known to be right: no line writes into them
            what belongs elsewhere.
        written_out: Names of tensors that the text of the program lacks, because they are the steps of a loop.
        reads_upstream: Whether the author's own lines read a gradient on the way to it; a fused loss reads none.
        budget: What reading them may cost, for all diagnoses of one check together.
    """

    name: str
    tensor: str
    statements: tuple[ForwardStatement, ...]
    paths: tuple[GradientPath, ...]
    looks: tuple[Observation, ...]
    visible: Observation | None
    axes: Mapping[str, tuple[str, ...]]
    writes: tuple[Statement, ...]
    lines: tuple[Statement, ...] = ()
    settled: frozenset[str] = frozenset()
    written_out: frozenset[str] = frozenset()
    reads_upstream: bool = True
    budget: EntryBudget = field(default_factory=EntryBudget)

    @property
    def first_look(self) -> Observation:
        """The look that names and shapes are read from."""
        return self.looks[0]

    @property
    def other_gradients(self) -> set[str]:
        """Names of all gradients but this one."""
        return self.first_look.gradients.keys() - {self.name}

    def told(self, code: str, say: str, **fields: object) -> "Diagnosis":
        """*say* is a format string, which may speak of the `name` and the `tensor` and of *fields*."""
        return Diagnosis.of(self.name, code, say, tensor=self.tensor, **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Named cause of a wrong gradient: a stable *code* (`dW:transposed`) and a sentence in the learner's names.

    Args:
        line: The learner's own line that is at fault, where it is not the last that writes the gradient.
        step: The tensor on the way to the gradient that this line makes, where it does not write the gradient itself.
        also: Further lines that are at fault.
        value: Key of its numbers, where nothing else is known of them: the same for all who came to these.
    """

    code: str
    message: str
    line: int | None = None
    step: str = ""
    also: tuple[int, ...] = ()
    value: str = ""

    @classmethod
    def of(cls, name: str, code: str, say: str, **fields: object) -> "Diagnosis":
        """Of the gradient *name*, with the row's own part of the code and a format string."""
        return cls(code=f"{name}:{code}", message=say.format(name=name, **fields))


Predict = Callable[[Observation], Array | None]
"""From a look (whose `got` it must not read) to the wrong tensor; None where it does not apply."""


Claim = Callable[[], bool]


def always() -> bool:
    """The claim of a sentence that says no more than the prediction."""
    return True


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way to be wrong: it predicts the tensor that a learner who makes it would have.

    Args:
        code: The part of the diagnosis code after the name, such as `transposed`.
        say: The feedback sentence, once the prediction came true.
        mentions: Names that stand in the code of a learner who makes it; they decide where several mistakes predict
            the same tensor.
        claim: Whether the sentence holds of the learner's lines. Another text may come to the same numbers, so what it
            says of the text, or of the program, is tried by its opposite before it is said.
    """

    code: str
    predict: Predict
    say: Callable[[], str]
    mentions: tuple[str, ...] = ()
    claim: Claim = always


def scale_of(look: Observation) -> float:
    """The size that tolerances are relative to: the largest entry of the reference and of every share."""
    sizes = [magnitude(look.reference)]
    sizes += [magnitude(share) for share in look.shares.values()]
    return float(max(sizes))


def scope_of(look: Observation, name: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Scope before the first line, without *name* itself: arrays, and other values."""
    arrays = {**look.forward, **look.gradients}
    arrays.pop(name, None)
    wide = {
        text: np.asarray(array, dtype=np.float64 if array.dtype.kind == "f" else None) for text, array in arrays.items()
    }
    return wide, dict(look.dims)
