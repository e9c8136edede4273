"""The operations that exercises are drawn from, one row each: forward line, solution, hints and slips follow from it.

Shapes read `a b, b c -> a c`: a letter is a size, `1` is 1, `...` any axes in front, `*` any shape; a new letter is a
new size. Behind an operand stands what it is if it is no tensor of normal numbers (`a c:ints(b)`, `a b:mask`), behind
`@` the axis of the operation. Backward rules come from `reading.rules`; what has none brings texts in the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from app.grading.reading.rules import RULES


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One row.

    Args:
        family: What a card of practice is about, together with a slip.
        forward: `{0}` and `{1}` are the operands, letters the sizes of their axes, `{axis}` the axis.
        shapes: Forms that fit, each `operands -> output @axis`.
        rule: Its name in `reading.rules`, where that is not *name*.
        back: Instead: one text for each operand that has a gradient.
        words: What further words of the rule stand for, in torch.
        walk: The operand that the program comes from; with *other* the second one comes from there as well.
        needs, gives: Of numbers: `positive`, `signed`, `tame` (of moderate size); `=` gives on what came in.
        points: How hard it is.
        level: The first level that draws it, *weight* times as often as others.
        slips: Rows of the diagnosis that an edit of its line can show.
    """

    name: str
    family: str
    points: int
    forward: str
    shapes: tuple[str, ...]
    principle: str
    rule: str = ""
    back: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    walk: int = 0
    other: bool = False
    needs: str = ""
    gives: str = "signed"
    level: int = 1
    weight: int = 1
    slips: str = ""

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """What the upstream gradient sends to each operand, in the words of `reading.rules`."""
        return self.back or RULES[self.rule or self.name]

    @cached_property
    def shows(self) -> frozenset[str]:
        return frozenset(self.slips.split())


SAME = ("* -> *",)
PAIR = ("*, * -> *",)
MATRIX = (
    "In a matrix product each factor gets the product of what arrives with the other factor, transposed: "
    "the axis that both do not share with it is summed away."
)
COPIED = "What was copied along an axis gets the sum of what arrives at its copies."
SCALED = COPIED + " In a product each copy is scaled by the other factor first."
CURVE = "A function that acts entry by entry multiplies what arrives by its local derivative"

TABLE: tuple[Operation, ...] = (
    Operation(
        name="matmul", family="matmul", points=2, weight=4, forward="{0} @ {1}",
        shapes=("... a, a b -> ... b",), principle=MATRIX, slips="matmul-order transposed",
    ),
    Operation(
        name="matmul-left", family="matmul", points=3, level=2, forward="{0} @ {1}", rule="matmul", walk=1,
        shapes=("c a, a b -> c b",), principle=MATRIX, slips="matmul-order transposed",
    ),
    Operation(
        name="bias", family="broadcast", points=1, weight=2, forward="{0} + {1}", rule="add", gives="signed tame",
        shapes=("... a, a -> ... a",), principle=COPIED, slips="mean wrong-axis",
    ),
    Operation(
        name="gain", family="broadcast", points=2, level=2, weight=2, forward="{0} * {1}", rule="mul",
        shapes=("... a, a -> ... a",), slips="mean wrong-axis own-factor",
        principle=SCALED,
    ),
    Operation(
        name="column", family="broadcast", points=2, level=2, forward="{0} * {1}", rule="mul",
        shapes=("a b, a 1 -> a b",), slips="mean wrong-axis keepdim-lost own-factor",
        principle=SCALED + " An axis of size 1 stays.",
    ),
    Operation(
        name="tanh", family="activation", points=1, weight=2, forward="torch.tanh({0})", shapes=SAME,
        gives="signed tame", slips="input-for-output square-missing",
        principle=CURVE + ": for tanh, one minus the square of the output.",
    ),
    Operation(
        name="sigmoid", family="activation", points=1, forward="torch.sigmoid({0})", shapes=SAME, gives="positive tame",
        principle=CURVE + ": for sigmoid, the output times what it lacks to one.", slips="input-for-output half-rule",
    ),
    Operation(
        name="relu", family="activation", points=1, forward="torch.relu({0})", shapes=SAME, needs="signed",
        gives="tame",
        principle="A gate lets through what arrives where it was open, and nothing where it was closed.",
        slips="gate-flipped gate-value",
    ),
    Operation(
        name="exp", family="exponential", points=1, level=2, forward="{0}.exp()", shapes=SAME, needs="tame",
        gives="positive", principle=CURVE + ": exp is its own derivative.", slips="input-for-output",
    ),
    Operation(
        name="log", family="exponential", points=1, weight=3, forward="{0}.log()", shapes=SAME, needs="positive",
        gives="signed tame", principle=CURVE + ": a logarithm divides by its input.", slips="multiplied:log",
    ),
    Operation(
        name="square", family="power", points=1, level=2, forward="{0} ** 2", rule="pow", words={"p": "2"}, shapes=SAME,
        gives="", principle=CURVE + ": the exponent comes down in front, and the power is lowered by one.",
        slips="power-raised power-kept",
    ),
    Operation(
        name="power", family="power", points=3, level=3, weight=2, forward="({0} + 0.1) ** -0.5", rule="pow",
        shapes=SAME, words={"p": "-0.5", "x": "{0} + 0.1"}, needs="positive", gives="positive",
        slips="power-raised power-kept",
        principle="The exponent comes down in front, the power is lowered by one; the constant is raised as well.",
    ),
    Operation(
        name="sum", family="reduction", points=2, level=2, forward="{0}.sum({axis}, keepdim=True)", gives="=",
        shapes=("a b -> 1 b @0", "a b -> a 1 @1"), principle="Each entry that was summed gets what arrives at the sum.",
    ),
    Operation(
        name="mean", family="reduction", points=3, level=2, forward="{0}.mean({axis}, keepdim=True)", gives="=",
        shapes=("a b -> 1 b @0", "a b -> a 1 @1"), slips="mean-missing",
        principle="Each entry that was averaged gets what arrives at the average, divided by how many there were.",
    ),
    Operation(
        name="softmax", family="softmax", points=5, level=3, weight=2, forward="torch.softmax({0}, {axis})",
        shapes=("a b -> a b @1",), needs="tame", gives="positive tame", slips="average-missing diagonal",
        principle="Raising one score lowers the other shares: take the weighted average away, then weigh.",
    ),
    Operation(
        name="transpose", family="layout", points=1, forward="{0}.T", back=("g.T",), shapes=("a b -> b a",), gives="=",
        principle="What was moved is moved back.", slips="transposed",
    ),
    Operation(
        name="add", family="fork", points=3, level=2, weight=3, forward="{0} + {1}", shapes=PAIR, other=True,
        principle="A sum passes on to each of its terms what arrives.",
    ),
    Operation(
        name="sub", family="fork", points=3, level=2, weight=2, forward="{0} - {1}", shapes=PAIR, other=True,
        principle="A difference passes on what arrives, and to what is subtracted with the opposite sign.",
    ),
    Operation(
        name="mul", family="fork", points=4, level=2, weight=3, forward="{0} * {1}", shapes=PAIR, other=True,
        principle="In a product each side is scaled by the other side.", slips="own-factor",
    ),
    Operation(
        name="div", family="fork", points=5, level=3, weight=3, forward="{0} / {1}", shapes=PAIR, other=True,
        principle="A quotient divides what arrives; what divides gets the numerator over its own square, with a minus.",
    ),
    Operation(
        name="embedding", family="index", points=4, level=2, forward="{0}[{1}]",
        back=("torch.zeros_like(x).index_add_(0, z, g)",), shapes=("a b, c:ints(a) -> c b",), gives="=",
        slips="scatter-overwrite",
        principle="A row that was looked up several times gets the sum of what arrives at each of the places.",
    ),
)  # fmt: skip
"""Every operation."""
OPERATIONS: Mapping[str, Operation] = {one.name: one for one in TABLE}
FORKS = frozenset({"overwritten", "share-missing"})
"""Slips that any tensor with several readers can show."""
