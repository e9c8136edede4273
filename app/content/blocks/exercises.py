"""Exercises: one frozen class per kind, and the values they are made of.

Plain data, made by the parser. Prose fields hold HTML that only `prose` may make.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from markupsafe import Markup
from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from app.content.blocks.places import SourceLocation

Html = Annotated[
    Markup,
    GetPydanticSchema(lambda *_: core_schema.no_info_after_validator_function(Markup, core_schema.str_schema())),
]
"""Markup that comes back as markup where it crosses to a grader as text."""

USUAL_TOLERANCE, ROUNDING = 1e-3, 1e-12
"""Relative tolerance of a number whose author gave none; what sums of floats are off by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distractor:
    """A wrong answer that learners give, with what to say about it."""

    place: SourceLocation
    value: str
    html: Html


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    place: SourceLocation
    html: Html


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """Fields of everything that stores an answer.

    Args:
        was: Former names, so that progress stays after a rename.
        forward: The program that it is about, by name.
        right: Sentence for a right answer, besides the explanation.
        numbers: Those that were drawn, by name, as they are shown; *draw* counts the draws.
        draws: The same question with other numbers, itself the first; empty where nothing varies.
    """

    place: SourceLocation
    name: str
    was: tuple[str, ...] = ()
    prompt: Html = field(default_factory=Markup)
    right: Html = field(default_factory=Markup)
    hints: tuple[Hint, ...] = ()
    forward: str | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    draw: int = 0
    draws: tuple["Exercise", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiz(Exercise):
    """A question, whose kind stands in a folder of `kinds`.

    Args:
        tempting: Wrong answers that learners give.
        parts: The questions that it is made of, where it asks several at once.
    """

    tempting: tuple[Distractor, ...] = ()
    parts: "tuple[Quiz, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    place: SourceLocation
    html: Html
    right: bool
    feedback: Html | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStep:
    """One of the sentences that are put in order. Those of one *rank* may change places.

    Args:
        said: Sentence for an answer that has it too early.
    """

    place: SourceLocation
    rank: int
    html: Html
    said: Html | None = None


@dataclass(frozen=True, slots=True)
class NamedStep:
    """A stretch of a backward pass that has a name, such as *softmax*, and the gradients that it writes."""

    title: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One length of a training run.

    Args:
        dims: The dims of the forward program that this run changes, such as `n_hidden`.
        bands: By part of the data (`train`, `validation`, `test`): the loss to expect, from and to.
    """

    name: str
    steps: int
    dims: Mapping[str, int] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Data of a lesson's own, an example a row; *whole* says that examples are indices, *classes* that targets are."""

    source: str
    contexts: tuple[tuple[float, ...], ...]
    targets: tuple[float, ...]
    whole: bool
    classes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Train(Exercise):
    """A training run of *forward* on names or on a *table*, with the gradients of the learner's own code.

    Args:
        forward: The program whose output is the loss; every other input that holds real numbers is a parameter.
        uses: The code box whose gradients are used; in another lesson, as `lesson-id#box`.
        context, target: The inputs that hold a batch: characters and the one that follows, or parts of a table.
        scale, shift: By parameter, expressions over the dims: it starts as shift + scale * standard normal.
        rates: The learning rates before and after half of the steps.
        mean, variance: Tensors of the program that are measured on the whole training set before it is judged.
        logits: The tensor of scores from which names are sampled; empty where nothing is.
    """

    forward: str
    uses: str
    context: str
    target: str
    presets: tuple[Preset, ...]
    logits: str
    scale: Mapping[str, str] = field(default_factory=dict)
    shift: Mapping[str, str] = field(default_factory=dict)
    rates: tuple[float, float] = (0.1, 0.01)
    mean: str | None = None
    variance: str | None = None
    table: Table | None = None
