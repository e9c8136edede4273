"""Context for parsing a directive: the file, its errors, the prose, and the blocks before it."""

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypedDict, TypeVar

from markdown_it.token import Token
from markupsafe import Markup

from app.content.blocks import Exercise, Forward, FunctionBox, Grad, Hint, SourceFile, SourceLocation
from app.content.program.programs import check_gradient, tensor_of, tensors_of
from app.content.text.arithmetic import UnreadableError, Value, integer_of
from app.content.text.errors import ErrorCollector, did_you_mean
from app.content.text.fences import Directive, split_at_directives
from app.content.text.options import NAME_PATTERN, Options
from app.content.text.prose import ProseRenderer
from app.content.text.sentences import written_out

B = TypeVar("B", Grad, FunctionBox)
Drawn = Mapping[str, Value]

# The options of every directive that stands inside of another one.
CHILD_OPTIONS: Mapping[str, Sequence[str]] = {
    "hint": (),
    "starter": (),
    "solution": ("same-as",),
    "mistake": (),
    "given": (),
    "correct": (),
    "case": (),
}
TITLED = frozenset({"mistake", "correct", "case"})

# Bodies of code stand in backticks, bodies of prose in colons.
CODE = frozenset({"forward", "starter", "solution", "mistake", "given", "correct", "case"})


def check_fence(directive: Directive, faults: ErrorCollector) -> None:
    """Check that code is in backticks and prose in colons."""
    if directive.code == (directive.name in CODE):
        return
    fence = "```" if directive.name in CODE else ":::"
    what = "code" if directive.name in CODE else "prose"
    message = f"The body of '{{{directive.name}}}' is {what}."
    faults.add(directive.place, "wrong-fence", message, f"Write '{fence}{{{directive.name}}}'.")


@dataclass(slots=True)
class DirectiveBody:
    """The body of a directive: markdown tokens of its own, and its children."""

    tokens: list[Token]
    line: int
    children: list[Directive]


class ExerciseFields(TypedDict):
    """The fields that every `Exercise` has."""

    place: SourceLocation
    name: str
    was: tuple[str, ...]
    prompt: Markup
    right: Markup
    hints: tuple[Hint, ...]


@dataclass(slots=True)
class ParseContext:
    """The state of reading one lesson file."""

    file: SourceFile
    faults: ErrorCollector
    prose: ProseRenderer
    forwards: dict[str, Forward] = field(default_factory=dict)
    exercises: dict[str, Exercise] = field(default_factory=dict)
    sheets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: dict[str, SourceLocation] = field(default_factory=dict)
    numbers: Drawn = field(default_factory=dict)
    """What was drawn for the question that is read, by name."""
    resized: dict[str, Forward] = field(default_factory=dict)
    """Forward programs with sizes that were drawn, by names that no author can write."""
    beside: "Callable[[str], str | None]" = lambda _: None
    """The text of another file, by its name as in a link; None where there is no such file."""
    elsewhere: "Callable[[str], Mapping[str, Forward] | None]" = lambda _: None
    """The forward programs of another lesson file, by its name as in a link; None where there is no such file."""

    def options(self, directive: Directive) -> Options:
        return Options(directive.options, self.title(directive), directive.place, self.faults)

    @contextmanager
    def prose_language(self, directive: Directive) -> Iterator[None]:
        """While *directive* is read, what it shows is in its own language, or else in that around it."""
        around = self.prose.lang
        self.prose.lang = self.options(directive).language() or around
        yield
        self.prose.lang = around

    def title(self, directive: Directive) -> str:
        return f"{directive.name} {directive.argument!r}" if directive.argument else f"'{{{directive.name}}}'"

    def name(self, directive: Directive) -> str:
        """The id of *directive*; faults where it is missing, malformed or taken."""
        name, place = directive.argument, directive.argument_place
        fence = "```" if directive.code else ":::"
        if not name:
            fix = f"Write '{fence}{{{directive.name}}} some-id'."
            self.faults.add(place, "missing-id", f"'{{{directive.name}}}' needs an id.", fix)
        elif not NAME_PATTERN.fullmatch(name):
            fix = "Use letters, digits, hyphens and underscores, starting with a letter."
            self.faults.add(place, "malformed-id", f"{name!r} cannot be an id.", fix)
        elif name in self.names:
            message = f"The id {name!r} is already taken on line {self.names[name].line}."
            self.faults.add(place, "duplicate-id", message, "Every id is unique in its lesson.")
        self.names.setdefault(name, place)
        return name

    def parse_former_ids(self, options: Options) -> tuple[str, ...]:
        """Former ids, and `lesson-id#id` of exercises that came from there; each must be free, for it has one heir."""
        words = options.words("was")
        for word, place in words:
            if not all(NAME_PATTERN.fullmatch(part) for part in word.split("#", 1)):
                fix = "Write the former id, or 'lesson-id#id' for an exercise of another lesson."
                self.faults.add(place, "malformed-id", f"{word!r} cannot have been an id.", fix)
            if word in self.names:
                message = f"The former id {word!r} is in use on line {self.names[word].line}."
                self.faults.add(place, "duplicate-id", message)
            self.names.setdefault(word, place)
        return tuple(word for word, _ in words)

    def asked(self, directive: Directive, options: Options, inside: DirectiveBody) -> ExerciseFields:
        """Parse the fields that all exercises have in common; the tokens of *inside* are the question."""
        return ExerciseFields(
            place=directive.place,
            name=self.name(directive),
            was=self.parse_former_ids(options),
            prompt=self.prompt(directive, inside.tokens, inside.line),
            right=self.line(options, "right"),
            hints=self.hints(inside),
        )

    def inside(
        self,
        directive: Directive,
        children: Sequence[str] = ("hint",),
        options: Mapping[str, Sequence[str]] = CHILD_OPTIONS,
    ) -> DirectiveBody:
        """Parse the body of a prose directive, which may contain *children* with these *options*."""
        tokens = self.prose.tokens(directive.body.text, directive.body.line)
        known = {name: options[name] for name in children}
        where = f"inside of '{{{directive.name}}}'"
        parts = list(split_at_directives(tokens, directive.body.line, self.file, known, self.faults, where))
        own = [token for part in parts if not isinstance(part, Directive) for token in part.tokens]
        directives = [part for part in parts if isinstance(part, Directive)]
        for index, child in enumerate(directives):
            check_fence(child, self.faults)
            if child.name in TITLED:
                self.prose.check_message(child.argument, child.argument_place.line)
                directives[index] = replace(child, argument=written_out(child.argument, self.prose.course.macros))
            elif child.argument and child.name in CHILD_OPTIONS:
                message = f"Nothing stands behind '{{{child.name}}}'."
                self.faults.add(child.argument_place, "unexpected", message, f"Remove {child.argument!r}.")
        return DirectiveBody(own, directive.body.line, directives)

    def hints(self, inside: DirectiveBody) -> tuple[Hint, ...]:
        hints = []
        for child in inside.children:
            if child.name == "hint":
                html = self.rendered(child)
                hints.append(Hint(place=child.place, html=html))
        return tuple(hints)

    def rendered(self, directive: Directive) -> Markup:
        """The body of a directive that holds nothing but prose, which must not be empty."""
        inside = self.inside(directive, ())
        if not directive.body.text.strip():
            self.faults.add(directive.place, "empty", f"This '{{{directive.name}}}' is empty.")
        return self.prose.render(inside.tokens, inside.line)

    def prompt(self, directive: Directive, tokens: Sequence[Token], line: int) -> Markup:
        if not tokens:
            self.faults.add(directive.place, "empty", f"{self.title(directive)} asks nothing.", "Write the question.")
        return self.prose.render(tokens, line)

    def line(self, options: Options, key: str) -> Markup:
        """The markdown in option *key*; nothing where it is not given, and a fault where it is empty."""
        text = options.needed_text(key, "What it shows.") if key in options else None
        return self.prose.inline(text, options.place_of(key).line) if text else Markup()

    def forward(self, options: Options, *, needed: bool = True) -> Forward | None:
        """The forward program that `:forward:` names."""
        if not needed and "forward" not in options:
            return None
        name = options.needed_text("forward", next(iter(self.forwards), "linear"))
        if name is None:
            return None
        forward = self.forwards.get(name)
        if forward is None and not self.faults.has_code("unclosed"):
            fix = did_you_mean(name, self.forwards) or "Write a '```{forward} name' block in this lesson."
            options.wrong("forward", "unknown-forward", f"There is no forward program {name!r} in this lesson.", fix)
        return forward and self._with_drawn_sizes(forward, options)

    def _with_drawn_sizes(self, forward: Forward, options: Options) -> Forward:
        """*forward* with those sizes that were drawn, and what follows from them."""
        drawn = {name: int(value) for name, value in self.numbers.items() if name in forward.dims}
        if not drawn:
            return forward
        dims = dict(forward.dims) | drawn
        for name, text in forward.related.items():
            try:
                dims[name] = integer_of(text, dims)
            except UnreadableError as error:
                options.wrong("forward", "wrong-size", f"{name!r} of {forward.name!r} has no size. {error}")
        name = f"{forward.name} {' '.join(f'{item}={size}' for item, size in drawn.items())}"
        return self.resized.setdefault(name, replace(forward, name=name, dims=dims))

    def gradient(self, options: Options, key: str, forward: Forward | None, *, tensors: bool = False) -> str | None:
        """The name in option *key*: `dW` of a tensor of *forward* (with *tensors*, `W` itself is fine too)."""
        name = options.needed_text(key, "dW")
        if name is None or forward is None:
            return name
        others = tensors_of(forward) if tensors else ()
        if name not in others:
            check_gradient(name, options.place_of(key), forward, self.faults, others)
        return name

    def box(self, options: Options, key: str) -> Grad | None:
        """The code box above that option *key* names."""
        return self._above(options, key, Grad, "code box of gradients")

    def program(self, options: Options) -> FunctionBox | None:
        """The function or class above that `:after:` names."""
        return self._above(options, "after", FunctionBox, "'{program}'")

    def _above(self, options: Options, key: str, kind: type[B], what: str) -> B | None:
        name = options.text(key) or ""
        box = self.exercises.get(name)
        if isinstance(box, kind):
            return box
        if name:
            boxes = [grad.name for grad in self.exercises.values() if isinstance(grad, kind)]
            message = f"':{key}:' names {name!r}, which is no {what} above this one."
            options.wrong(key, "unknown-exercise", message, did_you_mean(name, boxes))
        return None

    def before(self, options: Options, forward: Forward | None) -> str | None:
        """Find the code box that `:after:` names: it is above, and its gradients are those of *forward*."""
        box = self.box(options, "after")
        if box is None:
            return None
        for gradient in box.require if forward else ():
            if forward and not tensor_of(gradient, forward):
                message = f"{box.name!r} asks for {gradient!r}, which is no gradient of the program {forward.name!r}."
                options.wrong("after", "unknown-gradient", message, "Continue a box of the same program.")
        return box.name


def is_variable(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
