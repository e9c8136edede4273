"""`{train}`: a training run of a forward program with the gradients that the learner's own code box gives."""

from collections.abc import Mapping

import yaml

from app.content.blocks import Forward, Input, Preset, Train
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.parse_context import ParseContext
from app.content.directives.tables import table_of
from app.content.program.programs import tensors_of
from app.content.program.training_sources import missing_gradients, parameters_of
from app.content.text.arithmetic import UnreadableError, integer_of, number_of
from app.content.text.errors import did_you_mean
from app.content.text.fences import Directive
from app.content.text.options import NAME_PATTERN, Options, Value, items_of, texts_of

DATA_SPLITS = ("train", "validation", "test")
SYMBOLS = 27
MOST_STEPS = 200_000
LARGEST_DIM = 1024
HIDDEN = "n_hidden"
USUAL = (("short", 2_000, 64), ("medium", 20_000, 200), ("long", 200_000, 200))


def read_train(directive: Directive, reading: ParseContext) -> Train:
    options = reading.options(directive)
    forward = reading.forward(options)
    own = "data" in options or "reads" in options
    context, target = _batch(forward, options) if own else _data(forward, options)
    table = table_of(forward, (context, target), options, reading) if own and forward and context else None
    parameters = parameters_of(forward, (context, target)) if forward else ()
    uses = _uses(options, parameters, reading)
    inside = reading.inside(directive)
    mean, variance = _tensor(options, "mean", forward), _tensor(options, "variance", forward)
    if (mean is None) != (variance is None):
        key = "mean" if mean is None else "variance"
        options.need(key, "bnmeani" if key == "mean" else "bnvar")
    return Train(
        **reading.asked(directive, options, inside),
        forward=forward.name if forward else "",
        uses=uses,
        context=context,
        target=target,
        presets=_presets(options, forward),
        logits="" if own else _tensor(options, "logits", forward) or _logits(forward),
        scale=_numbers_by_name(options, "scale", forward, parameters),
        shift=_numbers_by_name(options, "shift", forward, parameters),
        rates=_rates(options),
        mean=mean,
        variance=variance,
        table=table,
    )


def _batch(forward: Forward | None, options: Options) -> tuple[str, str]:
    """The two inputs in `:reads:`, examples and targets, which count a batch by the same dim."""
    words = options.words("reads") if options.need("reads", "X y") else ()
    if forward is None or not words:
        return "", ""
    inputs = {tensor_input.name: tensor_input for tensor_input in forward.inputs}
    for word, place in words:
        if word not in inputs:
            message = f"{word!r} is no input of {forward.name!r}."
            options.faults.add(place, "unknown-tensor", message, did_you_mean(word, inputs))
            return "", ""
    tensor_inputs = [inputs[word] for word, _ in words]
    ranks = [len(tensor_input.sizes) for tensor_input in tensor_inputs]
    if (
        ranks != [2, 1]
        or tensor_inputs[0].sizes[0] != tensor_inputs[1].sizes[0]
        or tensor_inputs[0].sizes[0] not in forward.dims
    ):
        message = "':reads:' names the input with a row for each example, and the one with a number for each."
        options.wrong("reads", "wrong-inputs", message, "Write ':reads: X y', with X of [n, k], y of [n], n a dim.")
        return "", ""
    return tensor_inputs[0].name, tensor_inputs[1].name


def _data(forward: Forward | None, options: Options) -> tuple[str, str]:
    """The inputs that hold the characters before and the one that follows."""
    if forward is None:
        return "", ""
    whole = [tensor_input for tensor_input in forward.inputs if not tensor_input.real]
    contexts = [tensor_input for tensor_input in whole if len(tensor_input.sizes) == 2]
    targets = [tensor_input for tensor_input in whole if len(tensor_input.sizes) == 1]
    fits = len(whole) == 2 and len(contexts) == len(targets) == 1
    if not fits or contexts[0].sizes[0] != targets[0].sizes[0] or contexts[0].sizes[0] not in forward.dims:
        message = (
            f"{forward.name!r} does not read names: it needs one input with the characters before, one with the next."
        )
        fix = 'Write ":inputs: {Xb: "[n, block] ints(vocab)", Yb: "[n] ints(vocab)", …}" with n among the dims.'
        options.wrong("forward", "wrong-inputs", message, fix)
        return "", ""
    for tensor_input in whole:
        _check_symbols(tensor_input, forward, options)
    return contexts[0].name, targets[0].name


def _check_symbols(input_: Input, forward: Forward, options: Options) -> None:
    symbols = integer_of(input_.bound or "0", forward.dims)
    if symbols != SYMBOLS:
        message = f"{input_.name!r} holds numbers below {symbols}; names are written with {SYMBOLS} symbols."
        options.wrong("forward", "wrong-inputs", message)


def _uses(options: Options, parameters: tuple[str, ...], reading: ParseContext) -> str:
    """The box of this lesson, or `lesson-id#box`, which the course looks for."""
    name = options.needed_text("uses", "exam") or ""
    lesson, hash_, box = name.partition("#")
    if hash_:
        if not NAME_PATTERN.fullmatch(lesson) or not NAME_PATTERN.fullmatch(box):
            options.wrong("uses", "malformed-id", f"{name!r} names no code box.", "Write 'box' or 'lesson-id#box'.")
        return name
    grad = reading.box(options, "uses")
    if missing := missing_gradients(grad, parameters, reading.exercises) if grad else ():
        options.wrong("uses", "missing-gradient", f"The box {name!r} does not ask for {', '.join(missing)}.")
    return name


def _tensor(options: Options, key: str, forward: Forward | None) -> str | None:
    name = options.text(key)
    if name is None or forward is None:
        return None
    tensors = tensors_of(forward)
    if name not in tensors:
        message = f"{name!r} is no tensor of the forward program {forward.name!r}."
        options.wrong(key, "unknown-tensor", message, did_you_mean(name, tensors))
    return name


def _logits(forward: Forward | None) -> str:
    """Tensor that names are sampled from; empty if none is called so."""
    return "logits" if forward and "logits" in tensors_of(forward) else ""


def _numbers_by_name(
    options: Options, key: str, forward: Forward | None, parameters: tuple[str, ...]
) -> dict[str, str]:
    """A mapping of parameters to expressions over the dims."""
    value = options.entries.get(key)
    items = items_of(value, options.faults, f"':{key}:'") if value else {}
    texts: dict[str, str] = {}
    for name, (entry, _) in (items or {}).items():
        if forward is None:
            continue
        if name not in parameters:
            fix = did_you_mean(name, parameters)
            options.faults.add(entry.place, "unknown-tensor", f"{name!r} is no parameter of {forward.name!r}.", fix)
        elif _number(entry, forward.dims, options) is not None:
            texts[name] = entry.text
    return texts


def _number(value: Value, dims: Mapping[str, int], options: Options) -> float | None:
    try:
        return number_of(value.text, dims)
    except UnreadableError as error:
        fix = did_you_mean(value.text, dims)
        options.faults.add(
            value.offset(error.column - 1), "wrong-type", f"{value.text!r} is not a number. {error}", fix
        )
        return None


def _rates(options: Options) -> tuple[float, float]:
    words = options.words("rates", once=False)
    if not words:
        return 0.1, 0.01
    numbers = [_number(Value(word, place), {}, options) for word, place in words]
    if len(numbers) != 2 or any(number is not None and not 0 < number <= 10 for number in numbers):
        message = "':rates:' is two numbers above 0, and 10 at most: before and after half of the steps."
        options.wrong("rates", "wrong-value", message)
        return 0.1, 0.01
    return numbers[0] or 0.1, numbers[1] or 0.01


def _presets(options: Options, forward: Forward | None) -> tuple[Preset, ...]:
    value = options.entries.get("presets")
    if value is None:
        dims = forward.dims if forward else {}
        sized = [Preset(name=name, steps=steps, dims={HIDDEN: hidden}) for name, steps, hidden in USUAL]
        return tuple(sized) if HIDDEN in dims else (Preset(name="short", steps=2_000),)
    items = items_of(value, options.faults, "':presets:'")
    presets = [_preset(name, entry, forward, options) for name, (entry, _) in (items or {}).items()]
    if items == {}:
        options.wrong("presets", "empty-option", "':presets:' names no run.", "Write '{short: {steps: 2000}}'.")
    return tuple(presets)


def _preset(name: str, value: Value, forward: Forward | None, options: Options) -> Preset:
    if not NAME_PATTERN.fullmatch(name):
        options.faults.add(value.place, "malformed-id", f"{name!r} cannot name a run.", "Use letters, digits, hyphens.")
    read = items_of(Value(value.text, value.place), options.faults, f"The run {name!r}")
    entries = read or {}
    dims: dict[str, int] = {}
    bands: dict[str, tuple[float, float]] = {}
    steps = 0
    known = dict(forward.dims) if forward else {}
    for key, (entry, node) in entries.items():
        if key == "steps":
            steps = _whole(entry, MOST_STEPS, options)
        elif key in DATA_SPLITS:
            bands |= _band(key, entry, node, options)
        elif key in known:
            dims[key] = _whole(entry, LARGEST_DIM, options)
        elif forward:
            fix = did_you_mean(key, ("steps", *DATA_SPLITS, *known))
            options.faults.add(entry.place, "unknown-option", f"A run has no {key!r}.", fix)
    if read is not None and "steps" not in entries:
        message = f"The run {name!r} does not say how many steps it takes."
        options.faults.add(value.place, "missing-option", message, "Write 'steps: 2000' in its braces.")
    return Preset(name=name, steps=steps or 1, dims=dims, bands=bands)


def _whole(value: Value, largest: int, options: Options) -> int:
    number = _number(value, {}, options)
    if number is None:
        return 1
    if number != int(number) or not 1 <= number <= largest:
        options.faults.add(value.place, "wrong-value", f"{value.text!r} is not a whole number from 1 to {largest:,}.")
        return 1
    return int(number)


def _band(part: str, value: Value, node: yaml.Node, options: Options) -> dict[str, tuple[float, float]]:
    texts = texts_of(node) or []
    numbers = [_number(Value(text, value.place), {}, options) for text in texts]
    ends = [number for number in numbers if number is not None]
    if len(ends) != len(numbers):
        return {}
    if len(ends) != 2 or ends[0] >= ends[1]:
        message = f"{part!r} is the loss to expect, from and to, such as [2.3, 2.5]."
        options.faults.add(value.place, "wrong-type", message)
        return {}
    return {part: (ends[0], ends[1])}


READERS = (
    DirectiveReader(
        name="train",
        block=Train,
        options=(
            "forward",
            "uses",
            "presets",
            "scale",
            "shift",
            "rates",
            "mean",
            "variance",
            "logits",
            "data",
            "reads",
        ),
        read=read_train,
    ),
)
