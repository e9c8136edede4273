"""Blocks of a lesson: frozen values, one class per directive, no behaviour.

Everything here is plain data between parse and render. Prose fields hold HTML that only `prose` may make.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from markupsafe import Markup

from app.content.blocks.code_exercises import Bug as Bug
from app.content.blocks.code_exercises import Checker as Checker
from app.content.blocks.code_exercises import CheckerCase as CheckerCase
from app.content.blocks.code_exercises import Code as Code
from app.content.blocks.code_exercises import CodeBox as CodeBox
from app.content.blocks.code_exercises import CorrectLine as CorrectLine
from app.content.blocks.code_exercises import DeclaredMistake as DeclaredMistake
from app.content.blocks.code_exercises import FunctionBox as FunctionBox
from app.content.blocks.code_exercises import FunctionCase as FunctionCase
from app.content.blocks.code_exercises import Grad as Grad
from app.content.blocks.exercises import Distractor as Distractor
from app.content.blocks.exercises import Exercise as Exercise
from app.content.blocks.exercises import Hint as Hint
from app.content.blocks.exercises import NamedStep as NamedStep
from app.content.blocks.exercises import Option as Option
from app.content.blocks.exercises import OrderStep as OrderStep
from app.content.blocks.exercises import Preset as Preset
from app.content.blocks.exercises import Quiz as Quiz
from app.content.blocks.exercises import Table as Table
from app.content.blocks.exercises import Train as Train
from app.content.blocks.places import SourceFile as SourceFile
from app.content.blocks.places import SourceLocation as SourceLocation

NOWHERE = SourceLocation("", 1)

Distribution = Literal[
    "randn", "normal", "uniform", "positive", "onehot", "mask",
    "ints", "sorted", "unique", "permutation",
    "bool", "causal",
]  # fmt: skip
INDICES = frozenset({"ints", "sorted", "unique", "permutation"})
"""Distributions of whole numbers."""
MASKS = frozenset({"bool", "causal"})
"""Distributions of truths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A run of rendered markdown between directives."""

    place: SourceLocation
    html: Markup


CalloutKind = Literal["note", "aside", "plan", "card"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callout:
    """Prose set apart: `note`, `aside` or `plan`; a `card` is closed until it is wanted."""

    place: SourceLocation
    kind: CalloutKind
    title: str
    html: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One tensor that a forward program starts from.

    Args:
        sizes: One expression per axis over the dims, such as `N`, `block*n_embd` or `5`.
        bound: For `ints(V)`, the expression `V`: entries are drawn from 0 .. V-1.
        parameters: For `normal(m, s)` and `uniform(a, b)`, the two numbers.
    """

    name: str
    sizes: tuple[str, ...]
    distribution: Distribution = "randn"
    bound: str | None = None
    parameters: tuple[float, ...] = ()

    @property
    def real(self) -> bool:
        """True if the entries are real numbers, so that there is a gradient."""
        return self.distribution not in INDICES | MASKS

    @property
    def is_mask(self) -> bool:
        """True if the entries are truths."""
        return self.distribution in MASKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """A straight-line torch program: the only source of every answer about it.

    Args:
        name: The id that exercises refer to by `:forward:`.
        output: The first of the tensors that it ends in; *others* are the rest, each with an upstream of its own.
        source: A straight line: loops and helpers of the author's are written out.
        source_line: Line of the file on which the author's program starts.
        related: Dims whose size is an expression over earlier ones, such as `heads * d`.
        hidden: Sizes of dims in the first and the second hidden run, where the author gives them, or where a loop or a
            branch asks for them, so that they have one size.
        lines: Where it was written out: for each line of *source* the author's line, from 1.
    """

    place: SourceLocation
    name: str
    dims: Mapping[str, int]
    inputs: tuple[Input, ...]
    output: str
    source: str
    source_line: int
    show: bool = True
    related: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.output, *self.others)

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The gradients that are given, such as `dY`."""
        return tuple(f"d{name}" for name in self.outputs)

    def line_of(self, line: int) -> int:
        """The line of the file that line *line* of the source, from 1, comes from."""
        written = self.lines[min(line, len(self.lines)) - 1] if self.lines else line
        return self.source_line + written - 1

    @property
    def written_out(self) -> frozenset[str]:
        """Names that the author's text lacks: of the steps of a loop, or of a helper that is called more than once.

        What the program ends in has the name that the author gave it, also where its line is written out as two.
        """
        texts = zip(self.lines, self.source.splitlines(), strict=False)
        names = {text.partition(" = ")[0] for line, text in texts if self.lines.count(line) > 1}
        return frozenset(names.difference(self.outputs))

    @property
    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The dims, in the order in which the axes of the inputs name them."""
        named = re.findall(r"\w+", " ".join(size for tensor_input in self.inputs for size in tensor_input.sizes))
        order = [name for name in dict.fromkeys(named) if name in self.dims]
        return tuple((name, self.dims[name]) for name in dict.fromkeys((*order, *self.dims)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Visual:
    """A picture, drawn from the numbers in *given*, or from a program, which some kinds walk from the numbers *at*."""

    place: SourceLocation
    name: str
    kind: str
    forward: str | None
    of: str | None
    given: Mapping[str, object]
    caption: Markup
    at: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Questions that are answered in one form, row by row; each row stores its own answer."""

    place: SourceLocation
    name: str
    prompt: Markup
    rows: tuple[Quiz, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """Blocks that stay closed until all of the exercises *after* which they come were answered, rightly or wrongly."""

    place: SourceLocation
    name: str
    title: Markup
    after: tuple[str, ...]
    blocks: tuple[Prose | Callout | Visual, ...]


Block = Prose | Callout | Forward | Exercise | Visual | Sheet | Reveal
B = TypeVar("B")


def held_by(block: Block) -> tuple[Block, ...]:
    """Blocks inside *block*."""
    return block.rows if isinstance(block, Sheet) else block.blocks if isinstance(block, Reveal) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link to another lesson file: *target* as it is written, relative to this file, without the *anchor*."""

    place: SourceLocation
    target: str
    anchor: str = ""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One page. *path* is relative to the course folder; *slug* comes from the file name.

    Args:
        goals: Rendered (they may hold `code` and math), so `Markup`.
        anchors: Every name that a link may point at with `#`: headings, exercises, forward programs, pictures.
        links: Links to other lesson files, which the course checks.
        pictures: Image files that it shows, by their paths in the folder of the course.
        lang: The language of its prose; empty for that of the pages.
        macros: TeX macros of its course, which its formulas use.
        source: The text of the file, for those who take the lesson away.
        was: Former ids, which are former addresses as well.
        address: The path of its page.
        drawn: Whether it is no lesson of the course but an item of practice.
        resized: Its forward programs with other sizes, which were drawn for questions about them.
    """

    path: str
    slug: str
    unit: str
    title: str
    name: str
    estimate: str
    requires: tuple[str, ...]
    goals: tuple[str, ...]
    draft: bool
    blocks: tuple[Block, ...]
    place: SourceLocation = NOWHERE
    requires_places: tuple[SourceLocation, ...] = ()
    anchors: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    pictures: tuple[Link, ...] = ()
    lang: str = ""
    macros: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = field(default="", repr=False)
    was: tuple[str, ...] = ()
    address: str = ""
    drawn: bool = False
    resized: tuple[Forward, ...] = ()

    def __post_init__(self) -> None:
        if not self.address:
            object.__setattr__(self, "address", f"/lessons/{self.slug}")

    @cached_property
    def every(self) -> tuple[Block, ...]:
        """All blocks in file order; those inside another one follow it."""
        return tuple(item for block in self.blocks for item in (block, *held_by(block)))

    def all_of(self, kind: type[B]) -> tuple[B, ...]:
        """The blocks of one kind, in file order."""
        return tuple(block for block in self.every if isinstance(block, kind))

    @cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        return self.all_of(Exercise)

    @cached_property
    def boxes(self) -> tuple[CodeBox, ...]:
        return self.all_of(CodeBox)

    @cached_property
    def tasks(self) -> tuple[tuple[str, ...], ...]:
        """Units that are counted as one task: the names of an exercise, or of all rows of a sheet."""
        groups = (held_by(block) or (block,) for block in self.blocks)
        named = (tuple(block.name for block in group if isinstance(block, Exercise)) for group in groups)
        return tuple(names for names in named if names)

    @cached_property
    def reveals(self) -> Mapping[str, Reveal]:
        return {reveal.name: reveal for reveal in self.all_of(Reveal)}

    @cached_property
    def sheets(self) -> Mapping[str, Sheet]:
        """The sheets by their own names and by those of their rows."""
        sheets = self.all_of(Sheet)
        return {name: sheet for sheet in reversed(sheets) for name in (sheet.name, *(row.name for row in sheet.rows))}

    @cached_property
    def named(self) -> Mapping[str, Exercise]:
        """The exercises by every name that they have or had."""
        return {name: exercise for exercise in reversed(self.exercises) for name in (exercise.name, *exercise.was)}

    @cached_property
    def forwards(self) -> Mapping[str, Forward]:
        return {program.name: program for program in reversed((*self.all_of(Forward), *self.resized))}

    def exercise(self, name: str) -> Exercise | None:
        return self.named.get(name)

    def forward(self, name: str | None) -> Forward | None:
        return self.forwards.get(name or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliverable:
    """Something that a learner has in hand after a unit, in a sentence with links to where it is made.

    Args:
        made_in: The links in it: the path of a lesson file in the course, and an exercise of it or nothing.
    """

    html: Markup
    made_in: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A folder of lessons. *summary* is the body of its `unit.md`. A *private* one is for classes alone.

    *measure* is `before` for the unit before which a form of six items is offered, and `after` for the one after which
    its parallel is.
    """

    slug: str
    number: int
    title: str
    summary: Markup
    lessons: tuple[Lesson, ...]
    deliverables: tuple[Deliverable, ...] = ()
    private: bool = False
    measure: str = ""


@dataclass(frozen=True, kw_only=True)
class Course:
    units: tuple[Unit, ...]

    @cached_property
    def lessons(self) -> tuple[Lesson, ...]:
        return tuple(lesson for unit in self.units for lesson in unit.lessons)

    @cached_property
    def at(self) -> Mapping[str, Lesson]:
        """The lessons by slug."""
        return {lesson.slug: lesson for lesson in reversed(self.lessons)}

    @cached_property
    def named(self) -> Mapping[str, Lesson]:
        """The lessons by their ids."""
        return {lesson.name: lesson for lesson in reversed(self.lessons)}

    def lesson(self, slug: str) -> Lesson | None:
        return self.at.get(slug)
