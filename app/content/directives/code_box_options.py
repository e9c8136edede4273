"""Options that all code boxes share: gradients, children, time limit, and when the solution opens."""

import re

from app.content.blocks import Code, Forward
from app.content.directives.parse_context import DirectiveBody, ExerciseFields, ParseContext
from app.content.program.programs import check_gradient
from app.content.text.fences import Directive
from app.content.text.options import Options

REVEAL = ("after-hints", "after-success", "after:3", "never")
TIME = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s)?$")
LONGEST_SECONDS = 60.0
USUAL_SECONDS = 2.0


def code_of(child: Directive) -> Code:
    return Code(place=child.place, source=child.body.text.rstrip() + "\n", line=child.body.line)


def blank_code(directive: Directive, source: str = "") -> Code:
    """Code that the author did not write: *source*, at the place of the box."""
    return Code(place=directive.place, source=source, line=directive.place.line)


def solutions_in(inside: DirectiveBody, directive: Directive, reading: ParseContext) -> list[Directive]:
    """The solutions of a box, of which there must be one."""
    directives = [child for child in inside.children if child.name == "solution"]
    if not directives:
        message = f"{reading.title(directive)} has no solution."
        reading.faults.add(directive.place, "no-solution", message, "Add a '```{solution}' block.")
    return directives


def parse_gradient_names(options: Options, key: str, forward: Forward | None, reading: ParseContext) -> tuple[str, ...]:
    """The gradients that option *key* names; a fault for every one that the program does not have."""
    words = options.words(key)
    if forward:
        for word, place in words:
            check_gradient(word, place, forward, reading.faults)
    return tuple(dict.fromkeys(word for word, _ in words))


def needed_gradients(options: Options, forward: Forward | None, reading: ParseContext) -> tuple[str, ...]:
    """The names of `:require:`, which must be there."""
    require = parse_gradient_names(options, "require", forward, reading)
    if "require" not in options:
        options.need("require", "dX dW")
    elif not require:
        options.wrong("require", "empty-option", "':require:' names nothing.", "Write ':require: dX dW'.")
    return require


def single_child(inside: DirectiveBody, name: str, directive: Directive, reading: ParseContext) -> Directive | None:
    """The child *name*; a fault for a second one."""
    directives = [child for child in inside.children if child.name == name]
    for extra in directives[1:]:
        message = f"{reading.title(directive)} has two '{{{name}}}' blocks."
        reading.faults.add(extra.place, "twice", message, "Keep one of them.")
    return directives[0] if directives else None


def required_child(inside: DirectiveBody, name: str, directive: Directive, reading: ParseContext) -> Directive | None:
    """Like `single_child`, with a fault where there is none."""
    child = single_child(inside, name, directive, reading)
    if child is None:
        message = f"{reading.title(directive)} has no '{{{name}}}'."
        reading.faults.add(directive.place, f"no-{name}", message, f"Add a '```{{{name}}}' block.")
    return child


class CodeExerciseFields(ExerciseFields):
    """Fields that all boxes have in common beside their code."""

    seconds: float
    reveal: str


def parse_exercise_fields(
    directive: Directive, options: Options, inside: DirectiveBody, reading: ParseContext
) -> CodeExerciseFields:
    shared = reading.asked(directive, options, inside)
    return CodeExerciseFields(**shared, seconds=_seconds(options), reveal=_reveal(options))


def need_message(child: Directive, message: str, example: str, reading: ParseContext) -> None:
    """A fault for a *child* that says nothing to learners."""
    if not child.argument:
        fix = f"Write '```{{{child.name}}} {example}'"
        reading.faults.add(child.place, "no-message", message, fix)


def _seconds(options: Options) -> float:
    text = options.text("time")
    if text is None:
        return USUAL_SECONDS
    match = TIME.match(text)
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match and len(text) < 12 else 0.0
    if not 0 < seconds <= LONGEST_SECONDS:
        options.wrong("time", "wrong-type", f"':time:' is up to {LONGEST_SECONDS:g}s, such as '2s'; it is {text!r}.")
        return USUAL_SECONDS
    return seconds


def _reveal(options: Options) -> str:
    word = options.text("reveal") or "after-hints"
    if re.fullmatch(r"after:[1-9]\d?", word):
        return word
    return options.one_of("reveal", REVEAL, "after-hints")
