"""`:vary:`: a question with other numbers for each learner.

It is read once for each draw, with the numbers put into its text, so that whatever holds of a question holds of every
draw of it; the draws follow from its id and its text, and are the same everywhere.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import yaml

from app.content.blocks import Block, Forward, Lesson, Quiz, Sheet
from app.content.directives.parse_context import Drawn, ParseContext, is_variable
from app.content.text.arithmetic import UnreadableError, Value, integer_of, value_of
from app.content.text.errors import ErrorCollector
from app.content.text.fences import Directive, DirectiveText
from app.content.text.options import Value as Text
from app.content.text.options import items_of, texts_of
from app.content.text.sizes import LARGEST_SIZE

MAX_DRAWS = 50
"""How many draws there are of one question; all of them are proved."""
MAX_DRAW_TRIES = 150
FEWEST = 2
RANGE = re.compile(r"\s*(.*?)\s*\.\.\s*(.*?)\s*", re.DOTALL)
HOLE = re.compile(r"\{\{([^{}]*)\}\}")
CHILD = re.compile(r"^(?::::|```)", re.MULTILINE)
SEEN = re.compile(r"^(?![-*+] `|\s).*$", re.MULTILINE)
"""The lines of a question that everybody sees: what is said to an answer is indented, or stands behind a value."""
EXAMPLE = "Write ':vary: {n: 20..60}', or some numbers of your own, ':vary: {n: [10, 20, 50]}'."

Q = TypeVar("Q", bound=Quiz)


def parse_with_draws(read: Callable[[Directive, ParseContext], Q]) -> Callable[[Directive, ParseContext], Q]:
    """*read* for a question that may have `:vary:`: the first of its draws, with all of them."""

    @wraps(read)
    def reads(directive: Directive, reading: ParseContext) -> Q:
        draws = list(_draws(directive, reading)) if "vary" in directive.options else []
        if not draws:
            return read(directive, reading)
        variants: list[Q] = []
        for numbers in draws:
            faults = ErrorCollector(reading.faults.path)
            names = {} if variants else reading.names
            apart = replace(reading, numbers=numbers, faults=faults, names=names)
            number_words = {name: words(value) for name, value in numbers.items()}
            quiz = read(fill_numbers(directive, number_words, faults), apart)
            variants.append(replace(quiz, draw=len(variants), numbers=number_words))
            for error in faults.found:
                reading.faults.add(
                    error.place, error.code, f"{error.message} (Drawn were {drawn_words(number_words)}.)", error.fix
                )
            if faults.found:  # the others would say the same again
                break
        return replace(variants[0], draws=tuple(variants))

    return reads


def words(value: Value) -> str:
    """A number as a question shows it, which is what counts."""
    return str(int(value)) if value == int(value) else f"{float(value):.6g}"


def drawn_words(numbers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in numbers.items())


def fill_numbers(directive: Directive, numbers: Mapping[str, str], faults: ErrorCollector | None = None) -> Directive:
    """Fill *numbers* into sums such as `{{n - 1}}` in *directive*; those that it does not show are listed above it."""
    names = {name: value_of(text) for name, text in numbers.items()}

    def put(text: str, line: int) -> str:
        def value(hole: re.Match[str]) -> str:
            try:
                return words(value_of(hole[1], names))
            except UnreadableError as error:
                if faults is not None:
                    number = line + text[: hole.start()].count("\n")
                    faults.add(
                        faults.at(number), "wrong-sum", f"'{hole[0]}' has no value. {error}", _known_names_text(names)
                    )
                return "1"

        return HOLE.sub(value, text)

    body = directive.body
    visible = SEEN.findall(CHILD.split(body.text, maxsplit=1)[0])
    shown = set(re.findall(r"[^\W\d]\w*", " ".join(HOLE.findall(" ".join(visible)))))
    hidden = ", ".join(f"`{name} = {text}`" for name, text in numbers.items() if name not in shown)
    # Above the question, on lines that its options have taken, so that what follows keeps its lines.
    head, line = (f"{hidden}\n\n", body.line - 2) if hidden else ("", body.line)
    options = {
        key: replace(option, text=put(option.text, option.place.line))
        for key, option in directive.options.items()
        if key != "vary"
    }
    return replace(directive, options=options, body=DirectiveText(head + put(body.text, body.line), line))


def with_draws(lesson: Lesson, pick: Callable[[Quiz], Quiz]) -> Lesson:
    """*lesson* with the draw of each question that *pick* gives."""

    def picked(block: Block) -> Block:
        if isinstance(block, Sheet):
            return replace(block, rows=tuple(pick(row) for row in block.rows))
        return pick(block) if isinstance(block, Quiz) else block

    return replace(lesson, blocks=tuple(picked(block) for block in lesson.blocks))


def _known_names_text(names: Mapping[str, Value]) -> str:
    return f"It may use {', '.join(names)}."


def _draws(directive: Directive, reading: ParseContext) -> Iterator[Drawn]:
    """Different numbers for the names in `:vary:`; nothing after a fault."""
    faults, value = reading.faults, directive.options["vary"]
    items = items_of(value, faults, "':vary:'")
    if not items:
        if items is not None:
            faults.add(value.place, "empty-option", "':vary:' is empty.", EXAMPLE)
        return
    forward = reading.forwards.get(directive.options["forward"].text) if "forward" in directive.options else None
    sound = [_is_sound(name, text, forward, faults) for name, (text, _) in items.items()]
    if not all(sound):
        return
    read = [directive.body.text, *(option.text for key, option in directive.options.items() if key != "vary")]
    read += [text.text for text, _ in items.values()]
    for name, (text, _) in items.items():
        if not re.search(rf"\b{name}\b", " ".join(read)) and not (forward and name in forward.dims):
            message = f"{name!r} is drawn, and plays no part."
            faults.add(text.place, "unused", message, f"Write '{{{{{name}}}}}' in the question, or remove it.")
    chance = random.Random(f"{directive.argument} {value.text}")
    draws: list[Drawn] = []
    for _ in range(MAX_DRAW_TRIES):
        numbers: dict[str, Value] = {}
        for name, (text, node) in items.items():
            try:
                known = {**(forward.dims if forward else {}), **numbers}
                numbers[name] = value_of(words(_draw_number(text.text, node, known, chance)))
            except UnreadableError as error:
                faults.add(text.offset(error.column - 1), "wrong-range", f"{name!r} cannot be drawn. {error}", EXAMPLE)
                return
            size = numbers[name] if forward and name in forward.dims else 1
            if not 1 <= size <= LARGEST_SIZE or size != int(size):
                message = f"{words(size)} is no size, and {name!r} is a dim of the program."
                faults.add(text.place, "wrong-range", message, f"Draw whole numbers from 1 to {LARGEST_SIZE}.")
                return
        if numbers not in draws:
            draws.append(numbers)
        if len(draws) == MAX_DRAWS:
            break
    if len(draws) < FEWEST:
        faults.add(value.place, "never-varies", "':vary:' always draws the same numbers.", EXAMPLE)
        return
    yield from draws


def _is_sound(name: str, text: Text, forward: Forward | None, faults: ErrorCollector) -> bool:
    """True if *name* may vary."""
    if not is_variable(name):
        faults.add(text.place, "malformed-name", f"{name!r} cannot name a number.")
        return False
    if forward is None or name not in forward.dims:
        return True
    size = forward.dims[name]
    if name in forward.related:
        others = ", ".join(dim for dim in forward.dims if dim not in forward.related)
        message = f"{name!r} follows from other dims of {forward.name!r}: {forward.related[name]}."
        faults.add(text.place, "wrong-range", message, f"Vary one of these: {others}.")
        return False
    if forward.hidden.get(name) == (size, size):
        message = f"{forward.name!r} runs on {name} = {size} alone."
        faults.add(text.place, "wrong-range", message, "Vary another dim.")
        return False
    return True


def _draw_number(text: str, node: yaml.Node, names: Mapping[str, Value], chance: random.Random) -> Value:
    """One number from a range `2..9`, a list, or a sum.

    Raises:
        UnreadableError: It is none of these.
    """
    if isinstance(node, yaml.SequenceNode):
        several = texts_of(node)
        if not several:
            raise UnreadableError("A list holds numbers.")
        return value_of(chance.choice(several), names)
    ends = RANGE.fullmatch(text)
    if ends is None:
        return value_of(text, names)
    first, last = integer_of(ends[1], names), integer_of(ends[2], names)
    if first > last:
        raise UnreadableError(f"The range {text.strip()} is empty: {first} is above {last}.")
    return value_of(str(chance.randint(first, last)))
