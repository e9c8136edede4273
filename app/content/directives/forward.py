"""`{forward}`: the program that everything else is derived from."""

import ast
import re
from collections.abc import Mapping

import yaml

from app.content.arithmetic import UnreadableError, integer_of
from app.content.blocks import Distribution, Forward, Input, Place
from app.content.errors import did_you_mean
from app.content.fences import Directive
from app.content.literals import literal_sizes
from app.content.options import Options, Value, items_of, texts_of
from app.content.programs import MODULES, check_forward, parsed, read_in
from app.content.reading import Reading, is_variable

OPTIONS = ("dims", "hidden", "inputs", "output", "show")
DISTRIBUTIONS: Mapping[str, Distribution] = {
    "randn": "randn",
    "positive": "positive",
    "onehot": "onehot",
    "ints": "ints",
}
DRAWN = re.compile(r"^\s*\[(?P<sizes>[^\]]*)\]\s*(?:(?P<kind>\w+)\s*(?:\((?P<bound>.*)\))?)?\s*$")
Items = Mapping[str, tuple[Value, yaml.Node]]
LARGEST_SIZE = 100_000
MOST_NUMBERS = 4_000_000


def read(directive: Directive, reading: Reading) -> Forward | None:
    options = reading.options(directive)
    name = reading.name(directive)
    source = directive.body.text.rstrip() + "\n"
    # A fault is told once, not again at every use of what it hides: names that cannot be read are taken as known.
    sizes = _items("dims", options)
    drawn = _items("inputs", options) if options.need("inputs", "{X: [N, D]}") else None
    dims = _dims(sizes, options) if sizes is not None else _guessed(options, drawn or {})
    unread = tuple(Input(name=one, sizes=()) for one in read_in(source))
    inputs = unread if drawn is None else _inputs(drawn, dims, options)
    output = options.needed_text("output", "Y") or ""
    known = list(dict.fromkeys((*dims, *(one.name for one in inputs))))
    written = check_forward(source, directive.body.line, known, reading.faults)
    if output and written and output not in written:
        message = f"The program does not write its output {output!r}."
        options.wrong("output", "unknown-output", message, did_you_mean(output, written))
    related = {name: one.text for name, (one, _) in (sizes or {}).items() if re.search(r"[A-Za-z]", one.text)}
    _check_literals(source, directive.body.line, dims, reading)
    _check_gradient_names([*known, *written], directive.place, reading)
    if not source.strip():
        _check_empty(directive, reading)
    return Forward(
        place=directive.place,
        name=name,
        dims=dims,
        inputs=inputs,
        output=output,
        source=source,
        source_line=directive.body.line,
        show=options.flag("show", default=True),
        related=related,
        hidden=_hidden(dims, related, options),
    )


def _check_empty(directive: Directive, reading: Reading) -> None:
    """Why there is no program: an indented one continues the option above it."""
    swallowed = next((one for one in directive.options.values() if "\n" in one.text), None)
    if swallowed is None:
        reading.faults.add(directive.place, "empty", f"{reading.title(directive)} holds no program.")
        return
    place = reading.faults.at(swallowed.place.line + 1)
    message = "This line is indented, so it continues the option above it."
    reading.faults.add(place, "indented", message, "Begin the lines of the program in the first column.")


def _items(key: str, options: Options) -> Items | None:
    """The mapping in option *key*, or None where it cannot be read."""
    value = options.entries.get(key)
    return items_of(value, options.faults, f"':{key}:'") if value else {}


def _guessed(options: Options, drawn: Items) -> dict[str, int]:
    """Dims for the names in the sizes of the inputs, where those of the author cannot be read."""
    text = options.entries["inputs"].text if "inputs" in options else ""
    return {name: 2 for name in re.findall(r"[A-Za-z_]\w*", text) if name not in drawn}


def _dims(items: Items, options: Options) -> dict[str, int]:
    dims: dict[str, int] = {}
    for name, (entry, _) in items.items():
        _check_name(name, entry.place, options)
        dims[name] = _size(entry, dims, options) or 2
    return dims


def _hidden(dims: Mapping[str, int], related: Mapping[str, str], options: Options) -> dict[str, tuple[int, int]]:
    """The sizes in `:hidden:`: one for both hidden runs, or a list of two."""
    found: dict[str, tuple[int, int]] = {}
    for name, (entry, node) in (_items("hidden", options) or {}).items():
        if name not in dims:
            message = f"':hidden:' names {name!r}, which is no dim."
            options.faults.add(entry.place, "unknown-name", message, did_you_mean(name, dims))
        elif name in related:
            message = f"The size of {name!r} follows from others: it is {related[name]}."
            options.faults.add(entry.place, "related", message, "Remove it from ':hidden:'.")
        texts = texts_of(node) or [entry.text]
        read = [size for text in texts if (size := _size(Value(text, entry.place), {}, options)) is not None]
        if len(texts) > 2:
            message = f"':hidden:' gives {name!r} {len(texts)} sizes."
            options.faults.add(entry.place, "wrong-size", message, "Write one, or two: there are two hidden runs.")
        elif len(read) == len(texts):
            found[name] = (read[0], read[-1])
    return found


def _check_literals(source: str, line: int, dims: Mapping[str, int], reading: Reading) -> None:
    """A number in place of a size would be wrong on other sizes, and no learner could be right there."""
    tree = parsed(source)
    for one in literal_sizes(tree, dims) if isinstance(tree, ast.Module) else ():
        place = reading.faults.at(line + one.line - 1, one.column)
        fix = f"Write '{one.dim}', or give the dim another size if a plain number is meant."
        reading.faults.add(
            place, "literal-size", f"{one.number} stands here where the size of {one.dim} is meant.", fix
        )


def _size(value: Value, dims: Mapping[str, int], options: Options) -> int | None:
    try:
        size = integer_of(value.text, dims)
    except UnreadableError as error:
        place = value.offset(error.column - 1)
        options.faults.add(
            place, "wrong-size", f"{value.text!r} is not a size. {error}", did_you_mean(value.text, dims)
        )
        return None
    if not 1 <= size <= LARGEST_SIZE:
        options.faults.add(value.place, "wrong-size", f"A size is 1 to {LARGEST_SIZE}; {value.text!r} is {size}.")
        return None
    return size


def _inputs(items: Items, dims: Mapping[str, int], options: Options) -> tuple[Input, ...]:
    inputs = []
    for name, (entry, node) in items.items():
        _check_name(name, entry.place, options)
        if name in dims:
            options.faults.add(entry.place, "taken", f"{name!r} is already the name of a dim.", "Rename one of them.")
        inputs.append(_input(name, entry, node, dims, options) or Input(name=name, sizes=()))
    return tuple(inputs)


def _input(name: str, entry: Value, node: yaml.Node, dims: Mapping[str, int], options: Options) -> Input | None:
    sizes = texts_of(node)
    kind, bound = "randn", None
    if sizes is None:
        match = DRAWN.match(entry.text)
        if not match or not isinstance(node, yaml.ScalarNode):
            message = f'The input {name!r} is neither a list of sizes nor a text such as "[N] ints(V)".'
            options.faults.add(entry.place, "wrong-type", message, "A single number is [].")
            return None
        sizes = [size.strip() for size in match["sizes"].split(",") if size.strip()]
        kind, bound = match["kind"] or "randn", match["bound"]
    if kind not in DISTRIBUTIONS:
        fix = did_you_mean(kind, DISTRIBUTIONS)
        options.faults.add(entry.place, "unknown-distribution", f"There is no distribution {kind!r}.", fix)
        return None
    if (kind == "ints") != bool(bound):
        message = f"The input {name!r} needs an upper bound." if kind == "ints" else f"{kind!r} takes no bound."
        options.faults.add(entry.place, "wrong-bound", message, 'Write "[N] ints(V)": whole numbers from 0 to V − 1.')
        return None
    if bound and _size(Value(bound, entry.place), dims, options) is None:
        return None
    read = [_size(Value(size, entry.place), dims, options) for size in sizes]
    known = [size for size in read if size is not None]
    if len(known) < len(read):
        return None
    total = 1
    for size in known:
        total *= size
    if total > MOST_NUMBERS or (kind == "onehot" and not known):
        message = f"The input {name!r} cannot have the shape {tuple(known)}."
        options.faults.add(entry.place, "wrong-size", message, f"Keep it below {MOST_NUMBERS} numbers.")
        return None
    return Input(name=name, sizes=tuple(sizes), distribution=DISTRIBUTIONS[kind], bound=bound)


def _check_name(name: str, place: Place, options: Options) -> None:
    if not is_variable(name) or name in MODULES:
        options.faults.add(
            place, "malformed-name", f"{name!r} cannot name a dim or a tensor.", "Use a plain Python name."
        )


def _check_gradient_names(names: list[str], place: Place, reading: Reading) -> None:
    """With tensors `W` and `dW` in one program, nobody could tell the gradient of the one from the other."""
    for name in names:
        if f"d{name}" in names:
            message = f"The name 'd{name}' is taken, but it must mean the gradient of {name!r}."
            reading.faults.add(place, "ambiguous-name", message, f"Rename 'd{name}'.")
