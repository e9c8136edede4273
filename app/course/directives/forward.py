"""`{forward}`: the program that everything else is derived from."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

import yaml

from app.content.blocks import MASKS, Distribution, Forward, Input, SourceLocation
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.input_values import shape_of_lists
from app.content.directives.parse_context import ParseContext, is_variable
from app.content.program.programs import BOX_MODULES, check_forward, read_in, straight_line_program
from app.content.text.arithmetic import UnreadableError, integer_of, number_of
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive
from app.content.text.options import Options, Value, items_of, plain_of, texts_of
from app.content.text.sizes import LARGEST_SIZE

OPTIONS = ("dims", "hidden", "inputs", "output", "constants", "from", "show")
DISTRIBUTIONS: Mapping[Distribution, str] = {
    "randn": "",
    "normal": "mean, deviation",
    "uniform": "from, to",
    "positive": "",
    "onehot": "",
    "mask": "",
    "ints": "V",
    "sorted": "V",
    "unique": "V",
    "permutation": "",
    "bool": "",
    "causal": "",
}
"""By distribution: what stands in its brackets."""
FEWEST: Mapping[str, int] = {"onehot": 1, "unique": 1, "permutation": 1, "sorted": 1, "causal": 2}
"""How many axes an input has at least."""
DRAWN = re.compile(r"^\s*\[(?P<sizes>[^\]]*)\]\s*(?:(?P<kind>\w+)\s*(?:\((?P<bound>.*)\))?)?\s*$")
Items = Mapping[str, tuple[Value, yaml.Node]]
MOST_NUMBERS = 4_000_000


def parse(directive: Directive, reading: ParseContext) -> Forward | None:
    options = reading.options(directive)
    name = reading.name(directive)
    if "from" in options:
        return _borrowed_program(name, directive, options, reading)
    source, line = directive.body.text.rstrip() + "\n", directive.body.line
    # A fault is told once, not again at every use of what it hides: names that cannot be read are taken as known.
    sizes = _items("dims", options)
    drawn = _parse_inputs(options)
    dims = _dims(sizes, options) if sizes is not None else _guess_dims(options, drawn or {})
    unread = tuple(Input(name=text, sizes=()) for text in read_in(source))
    inputs = unread if drawn is None else _inputs(drawn, dims, options)
    ends = _outputs(options)
    outputs = tuple(word for word, _ in ends)
    known = list(dict.fromkeys((*dims, *(tensor_input.name for tensor_input in inputs))))
    program = straight_line_program(
        source, line, dims, [tensor_input.name for tensor_input in inputs], outputs, reading.faults
    )
    constants = _constants(_items("constants", options) or {}, known, options)
    if program and constants:
        program = program.below([(text, number - line + 1) for text, number in constants])
    truths = [tensor_input.name for tensor_input in inputs if tensor_input.distribution in MASKS]
    written = check_forward(program, line, known, reading.faults, truths) if program else ()
    for output, place in ends if written else ():
        if output not in written:
            message = f"The program does not write its output {output!r}."
            reading.faults.add(place, "unknown-output", message, did_you_mean(output, written))
    related = {name: value.text for name, (value, _) in (sizes or {}).items() if re.search(r"[A-Za-z]", value.text)}
    asked_names = _with_parts(program.fixed, related) if program else set()
    _check_gradient_names([*known, *written], directive.place, reading)
    if not source.strip():
        _check_empty(directive, reading)
    return Forward(
        place=directive.place,
        name=name,
        dims=dims,
        inputs=inputs,
        output=outputs[0] if outputs else "",
        others=outputs[1:],
        source=program.source if program else source,
        source_line=line,
        lines=program.lines if program else (),
        show=options.flag("show", default=True),
        related={name: text for name, text in related.items() if name not in asked_names},
        hidden=_parse_hidden_sizes(dims, related, asked_names, options),
    )


def _borrowed_program(name: str, directive: Directive, options: Options, reading: ParseContext) -> Forward | None:
    """The program of another lesson, `file.md#name`, under a name of this one."""
    target, _, other = (options.needed_text("from", "03-cells.md#lstm") or "").partition("#")
    for key in OPTIONS:
        if key in options and key not in ("from", "show"):
            options.wrong(
                key, "unexpected", f"':{key}:' stands in the lesson that the program comes from.", "Remove it."
            )
    if directive.body.text.strip():
        message = "A program that comes from another lesson is written there."
        reading.faults.add(reading.faults.at(directive.body.line), "unexpected", message, "Remove these lines.")
    forwards = reading.elsewhere(target)
    if forwards is None:
        fix = "Name it as in a link, with the program: '../2-tensors/03-cells.md#lstm'."
        options.wrong("from", "broken-link", f"There is no lesson file {target!r}.", fix)
        return None
    forward = forwards.get(other)
    if forward is None:
        fix = did_you_mean(other, forwards)
        options.wrong("from", "unknown-forward", f"{target!r} has no sound forward program {other!r}.", fix)
        return None
    return replace(forward, name=name, show=options.flag("show", default=True))


def _check_empty(directive: Directive, reading: ParseContext) -> None:
    """Add an error for an empty program; an indented one continues the option above it."""
    swallowed = next((value for value in directive.options.values() if "\n" in value.text), None)
    if swallowed is None:
        reading.faults.add(directive.place, "empty", f"{reading.title(directive)} holds no program.")
        return
    place = reading.faults.at(swallowed.place.line + 1)
    message = "This line is indented, so it continues the option above it."
    reading.faults.add(place, "indented", message, "Begin the lines of the program in the first column.")


def _outputs(options: Options) -> tuple[tuple[str, SourceLocation], ...]:
    """The tensors that the program ends in; none where an indented program was taken for more of the option."""
    value = options.need("output", "Y")
    return options.words("output") if value and "\n" not in value.text.strip() else ()


def _items(key: str, options: Options) -> Items | None:
    """The mapping in option *key*, or None where it cannot be read."""
    value = options.entries.get(key)
    return items_of(value, options.faults, f"':{key}:'") if value else {}


def _parse_inputs(options: Options) -> Items | None:
    """The inputs as they are written, or None where they cannot be read."""
    value = options.need("inputs", "{X: [N, D]}")
    if value and (shape := re.search(r":\s*\(([^()]*)\)", value.text)):
        message = f"The shape ({shape[1]}) stands in round brackets."
        options.faults.add(value.offset(shape.start(1) - 1), "wrong-type", message, f"Write [{shape[1]}].")
        return None
    return _items("inputs", options) if value else None


def _guess_dims(options: Options, drawn: Items) -> dict[str, int]:
    """Dims for the names in the sizes of the inputs, where those of the author cannot be read."""
    text = options.entries["inputs"].text if "inputs" in options else ""
    return {name: 2 for name in re.findall(r"[A-Za-z_]\w*", text) if name not in drawn}


def _dims(items: Items, options: Options) -> dict[str, int]:
    dims: dict[str, int] = {}
    for name, (entry, _) in items.items():
        _check_name(name, entry.place, options)
        later = [text for text in items if text not in dims and re.search(rf"\b{re.escape(text)}\b", entry.text)]
        if later:
            message = f"The size of {name!r} follows from {later[0]!r}, which stands below it."
            fix = "No size follows from itself." if later[0] == name else f"Write {later[0]!r} first."
            options.faults.add(entry.place, "wrong-size", message, fix)
        dims[name] = 2 if later else _size(entry, dims, options) or 2
    return dims


def _parse_hidden_sizes(
    dims: Mapping[str, int], related: Mapping[str, str], asked_names: Collection[str], options: Options
) -> dict[str, tuple[int, int]]:
    """The sizes in `:hidden:`, one for both hidden runs or a list of two; dims that were *asked* for keep their own."""
    hidden = {name: (dims[name], dims[name]) for name in asked_names if name in dims}
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
        elif name in asked_names:
            message = f"A loop or a branch of the program asks for {name!r}, so it has one size."
            options.faults.add(entry.place, "related", message, "Remove it from ':hidden:'.")
        elif len(read) == len(texts):
            hidden[name] = (read[0], read[-1])
    return hidden


def _with_parts(names: Collection[str], related: Mapping[str, str]) -> set[str]:
    """*names*, and those that their sizes follow from."""
    inner = {part for name in names if name in related for part in re.findall(r"[A-Za-z_]\w*", related[name])}
    return {*names, *_with_parts(inner - {*names}, related)} if inner - {*names} else {*names, *inner}


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
    drawn = next((distribution for distribution in DISTRIBUTIONS if distribution == kind), None)
    if drawn is None:
        fix = did_you_mean(kind, DISTRIBUTIONS)
        options.faults.add(entry.place, "unknown-distribution", f"There is no distribution {kind!r}.", fix)
        return None
    wanted = DISTRIBUTIONS[drawn]
    parameters: tuple[float, ...] = ()
    if drawn == "randn" and bound:
        drawn, wanted, bound = "normal", "deviation", f"0, {bound}"
    if bool(wanted) != bool(bound):
        message = f"The input {name!r} needs an upper bound." if wanted == "V" else f"{kind!r} takes no bound."
        if "," in wanted:
            message = f"The input {name!r} needs two numbers: {wanted}."
        fix = f'Write "[N] {kind}({wanted})".'
        if wanted in ("", "V"):
            fix = 'Write "[N] ints(V)": whole numbers from 0 to V − 1.'
        options.faults.add(entry.place, "wrong-bound", message, fix)
        return None
    if drawn in ("normal", "uniform"):
        parameters = _parameters(drawn, bound or "", entry, options)
        if not parameters:
            return None
        bound = None
    if bound and _size(Value(bound, entry.place), dims, options) is None:
        return None
    read = [_size(Value(size, entry.place), dims, options) for size in sizes]
    known = [size for size in read if size is not None]
    if len(known) < len(read):
        return None
    total = 1
    for size in known:
        total *= size
    if total > MOST_NUMBERS or len(known) < FEWEST.get(kind, 0):
        message = f"The input {name!r} cannot have the shape {tuple(known)}."
        fix = f"Keep it below {MOST_NUMBERS} numbers." if total > MOST_NUMBERS else f"{kind!r} needs more axes."
        options.faults.add(entry.place, "wrong-size", message, fix)
        return None
    if kind == "unique" and bound and known[-1] > integer_of(bound, dims):
        message = f"There are no {known[-1]} different numbers below {integer_of(bound, dims)}."
        options.faults.add(entry.place, "wrong-bound", message)
        return None
    return Input(name=name, sizes=tuple(sizes), distribution=drawn, bound=bound, parameters=parameters)


def _parameters(kind: str, text: str, entry: Value, options: Options) -> tuple[float, ...]:
    """The two numbers of a distribution; none after a fault was added."""
    try:
        numbers = tuple(number_of(part) for part in text.split(","))
    except UnreadableError as error:
        options.faults.add(entry.place, "wrong-bound", f"{text!r} is not two numbers. {error}")
        return ()
    if len(numbers) != 2 or (numbers[1] <= 0 if kind == "normal" else numbers[1] <= numbers[0]):
        message = f"{kind!r} takes two numbers: {DISTRIBUTIONS['normal' if kind == 'normal' else 'uniform']}."
        options.faults.add(entry.place, "wrong-bound", message, "The deviation is above 0, and 'to' above 'from'.")
        return ()
    return numbers


def _constants(items: Items, names: Collection[str], options: Options) -> tuple[tuple[str, int], ...]:
    """Parse `:constants:` into assignments, each with its line in the file."""
    lines = []
    for name, (entry, node) in items.items():
        _check_name(name, entry.place, options)
        value = plain_of(node)
        shape = shape_of_lists(value)
        if name in names:
            message = f"{name!r} is already the name of a dim or an input."
            options.faults.add(entry.place, "taken", message, "Rename one of them.")
        if shape is None:
            message = f"The constant {name!r} is a number, or a list of rows of one length."
            options.faults.add(entry.place, "wrong-type", message)
            continue
        text = repr(value) if shape == () else f"torch.tensor({_real(value)!r})"
        lines.append((f"{name} = {text}", entry.place.line))
    return tuple(lines)


def _real(value: object) -> object:
    return [_real(item) for item in value] if isinstance(value, list) else float(str(value))


def _check_name(name: str, place: SourceLocation, options: Options) -> None:
    if not is_variable(name) or name in BOX_MODULES:
        options.faults.add(
            place, "malformed-name", f"{name!r} cannot name a dim or a tensor.", "Use a plain Python name."
        )


def _check_gradient_names(names: list[str], place: SourceLocation, reading: ParseContext) -> None:
    """Refuse tensors `W` and `dW` in one program: the gradient of the first would have the name of the second."""
    for name in names:
        if f"d{name}" in names:
            message = f"The name 'd{name}' is taken, but it must mean the gradient of {name!r}."
            reading.faults.add(place, "ambiguous-name", message, f"Rename 'd{name}'.")


READER = DirectiveReader(name="forward", block=Forward, options=OPTIONS, read=parse, turn=0)
