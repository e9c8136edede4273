"""Rows of the tables of operations, of the exercises that practise one, and of the families of these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Cost = tuple[int, int]
"""Entries of an array, and steps on the way to them."""


@dataclass(frozen=True, slots=True)
class OperationFamily:
    """A family of exercises.

    Args:
        title: Its name on pages.
        principles: Keys of the principles behind its backward lines, see `practice.principles`.
    """

    title: str
    principles: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, eq=False)
class OperationExercise:
    """Exercise of an operation: forward line, solution, hints and slips follow from it.

    Shapes read `a b, b c -> a c`: a letter is a size, `1` is 1, `...` any axes in front, `*` any shape; a new letter is
    a new size. Behind an operand stands what it is if it is no tensor of normal numbers (`a c:ints(b)`, `a b:mask`),
    behind `@` the axis of the operation.

    Args:
        name: Where it is not that of the operation.
        family: What a card of practice is about, together with a slip.
        forward: `{0}` and `{1}` are the operands, letters the sizes of their axes, `{axis}` the axis.
        shapes: Forms that fit, each `operands -> output @axis`.
        rule: The operation whose rule it follows, where that is another one.
        back: Instead: one text for each operand that has a gradient, in the words of rules.
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

    family: str
    points: int
    forward: str
    shapes: tuple[str, ...]
    principle: str
    name: str = ""
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
    def reduces(self) -> bool:
        """True if one axis of its output has size 1."""
        return any("1" in shape.partition("->")[2].split() for shape in self.shapes)

    @property
    def broadcasts(self) -> bool:
        """True if a shape may be broadcast to that of the output."""
        return self.rule in {"add", "sub", "mul", "div", "maximum", "where"}

    @cached_property
    def shows(self) -> frozenset[str]:
        return frozenset(self.slips.split())


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation.

    Args:
        name: As torch calls it; methods in place stand under their name without the underscore.
        form: How a call is read: `curve` acts entry by entry, `binary` has two sides, `move` puts entries elsewhere,
            `value` is read for its value alone, `several` gives more than one tensor; else a reader of
            `reading.calls`.
        value: The function in numpy; it takes what torch's takes, with arrays for tensors.
        also: Further names of torch's for the same, with spaces between.
        sign: As a forward line writes it, where that is not its name.
        back: The rule: what the upstream gradient sends to each operand. One text each, in the words of `rules`.
        alike: Other right forms of the rule, whose edits are slips as well.
        terms: What the terms of the rule are called, in its order.
        takes: What torch calls its arguments, where the form needs them by name.
        known_as: Another one, which it is a way to write: what nodes of it are called.
        cost: Of its arguments: entries that it makes, where they are not as many as these have when spread over each
            other; with the steps on the way to them, where those are more.
        sizes: Which of its arguments decide how many entries there are, with their numbers.
        group: Among which operations a class sees the slips that are made at it.
        exercises: How it is practised.
    """

    name: str
    form: str
    value: Callable[..., Any] | None = None
    also: str = ""
    sign: str = ""
    back: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    terms: str = ""
    takes: str = ""
    known_as: str = ""
    cost: Callable[..., int | Cost] | None = None
    sizes: slice | None = None
    group: str = ""
    exercises: tuple[OperationExercise, ...] = ()

    @property
    def kind(self) -> str:
        """Name of its nodes."""
        return self.known_as or self.name

    def apply(self, *arguments: Any, **words: Any) -> Any:
        """The value of a call with *arguments* in numpy."""
        assert self.value is not None
        return self.value(*arguments, **words)
