"""`:steps:`: names for the stretches of a long backward pass, `{the loss: dlogits, layer 2: dh dW2 db2}`."""

from collections.abc import Sequence

from app.content.blocks import NamedStep
from app.content.directives.parse_context import ParseContext
from app.content.program.dependence import read_line
from app.content.text.errors import did_you_mean
from app.content.text.options import Options, items_of

MAX_TITLE_CHARS = 40
FEWEST = 2
EXAMPLE = "Write ':steps: {the loss: dlogits, layer 2: dh dW2 db2}'."


def parse_named_steps(options: Options, names: Sequence[str], reading: ParseContext) -> tuple[NamedStep, ...]:
    """The steps of `:steps:`; a fault for every name that does not fit. None where there is no such option.

    Args:
        names: The gradients, each of which belongs to one step, in the order of the steps.
    """
    value = options.entries.get("steps")
    items = items_of(value, reading.faults, "':steps:'") if value is not None else None
    if value is None or items is None:
        return ()
    steps = tuple(NamedStep(title.strip(), tuple(entry.text.split())) for title, (entry, _) in items.items())
    fault = _fault(steps, names)
    if fault:
        options.wrong("steps", *fault)
        return ()
    return steps


def _fault(steps: Sequence[NamedStep], names: Sequence[str]) -> tuple[str, str, str] | None:
    """Code, message and advice for the first thing that does not fit; None where all does."""
    named = [name for step in steps for name in step.names]
    if len(steps) < FEWEST:
        return "few-steps", f"':steps:' names {len(steps)} step; a box in one piece needs no names.", EXAMPLE
    for step in steps:
        if not step.title or len(step.title) > MAX_TITLE_CHARS:
            return "step-title", f"The name {step.title!r} of a step has 1 to {MAX_TITLE_CHARS} characters.", EXAMPLE
        if not step.names:
            return "empty-step", f"The step {step.title!r} writes nothing.", f"Name its gradients: {', '.join(names)}."
    for name in named:
        if name not in names:
            return "unknown-name", f"{name!r} is not among what is written here.", did_you_mean(name, names)
        if named.count(name) > 1:
            return "twice", f"{name!r} belongs to two steps.", "Leave it to the one that finishes it."
    missing = [name for name in names if name not in named]
    if missing:
        return "left-out", f"No step writes {', '.join(map(repr, missing))}.", "Name it in the step that writes it."
    if named != list(names):
        first = next(name for name, other in zip(named, names, strict=True) if name != other)
        message = f"The steps are named in another order than what is written: {first!r} comes elsewhere."
        return "step-order", message, f"Keep to the order {' '.join(names)}."
    return None


def stretch_of_lines(steps: Sequence[NamedStep], lines: Sequence[str]) -> tuple[str, ...]:
    """The name of the step that each of *lines* is part of.

    A line belongs to the step of what it writes, one that only prepares to that of the next line that has a step.
    """
    titles = {name: step.title for step in steps for name in step.names}
    parts: list[str] = []
    following = ""
    for line in reversed(lines):
        following = next((titles[name] for name in sorted(read_line(line).writes) if name in titles), following)
        parts.append(following)
    return tuple(reversed(parts))
