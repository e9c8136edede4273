"""Row of the table of operations: forward line, solution, hints and slips follow from it.

Shapes read `a b, b c -> a c`: a letter is a size, `1` is 1, `...` any axes in front, `*` any shape; a new letter is a
new size. Behind an operand stands what it is if it is no tensor of normal numbers (`a c:ints(b)`, `a b:mask`), behind
`@` the axis of the operation. Backward rules come from `reading.rules`; what has none brings texts in the same words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from app.grading.reading.rules import RULES


@dataclass(frozen=True, kw_only=True, eq=False)
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
        needs, gives: Of numbers: `positive`, `signed`, `wide` (of both signs, and beyond one half), `tame` (of moderate
            size), `free`; `=` gives on what came in.
        points: How hard it is.
        level: The first level that draws it, *weight* times as often as others.
        slips: Rows of the diagnosis that an edit of its line can show.
        undoes: The operation that it takes back, so that one never follows the other.
        settles: Whether its slices end up with the same sum, length or the like whatever comes in: what asks for that
            next (it needs a tensor that is `free`) would have no gradient, or a term of it that is zero by nature.
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
    gives: str = "signed wide"
    level: int = 1
    weight: int = 1
    slips: str = ""
    undoes: str = ""
    settles: bool = False

    @property
    def known_as(self) -> str:
        """Its name in `reading.rules`."""
        return "" if self.back else self.rule or self.name

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """Terms that the upstream gradient sends to each operand, in the words of `reading.rules`."""
        return self.back or RULES[self.known_as]

    @property
    def reduces(self) -> bool:
        """True if one axis of its output has size 1."""
        return any("1" in shape.partition("->")[2].split() for shape in self.shapes)

    @property
    def broadcasts(self) -> bool:
        """True if a shape may be broadcast to that of the output."""
        return self.known_as in {"add", "sub", "mul", "div", "maximum", "where"}

    @cached_property
    def shows(self) -> frozenset[str]:
        return frozenset(self.slips.split())
