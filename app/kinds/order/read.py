"""`{order}`: lines out of order, of a code box or a solution of its own, or steps in words; all that works is right."""

import itertools

from app.content.blocks import Grad, NamedStep, OrderStep
from app.content.directives.answer_lists import take_steps
from app.content.directives.code_box_options import single_child
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.named_steps import parse_named_steps, stretch_of_lines
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.program.dependence import needs_by_rank, needs_of, read_line, shuffled, sources_of
from app.content.program.programs import check_python, is_python
from app.content.text.fences import Directive
from app.content.text.mathml import words_of
from app.content.text.options import Options
from app.kinds.order.block import OrderQuestion

MAX_ORDER_LINES = 40


def read_order(directive: Directive, reading: ParseContext) -> OrderQuestion:
    options = reading.options(directive)
    inside = reading.inside(directive, ("hint", "solution"))
    forward = reading.forward(options, needed=False)
    inside, steps = _steps(options, inside, reading)
    lines = tuple(words_of(order_step.html) for order_step in steps) or sources_of(
        _source(options, inside, directive, reading)
    )
    needs = needs_by_rank([order_step.rank for order_step in steps]) if steps else needs_of(lines)
    order = shuffled(needs, directive.argument)
    if lines and order is None:
        message = f"Every order of these {'steps' if steps else 'lines'} is right."
        fix = "Number them 1., 2., 3." if steps else "Take lines of which one reads what another one writes."
        reading.faults.add(directive.place, "any-order", message, fix)
    if len(lines) > MAX_ORDER_LINES:
        message = f"These are {len(lines)} lines; up to {MAX_ORDER_LINES} can be put in order."
        reading.faults.add(directive.place, "too-long", message)
    if len(set(lines)) < len(lines):
        again = next(line for index, line in enumerate(lines) if line in lines[:index])
        reading.faults.add(directive.place, "twice", f"The line {again!r} stands twice.", "Keep one of them.")
    stretches = _stretches(options, lines, reading) if not steps else ()
    if steps and "steps" in options:
        message = "These steps are sentences, so ':steps:' has no lines to name."
        options.wrong("steps", "disagree", message, "Remove it, or put lines of code in order.")
    return OrderQuestion(
        **reading.asked(directive, options, inside),
        lines=lines,
        shown=order or (),
        steps=steps,
        of=options.text("of"),
        forward=forward.name if forward else None,
        stretches=stretch_of_lines(stretches, lines) if stretches else (),
    )


def _stretches(options: Options, lines: tuple[str, ...], reading: ParseContext) -> tuple[NamedStep, ...]:
    """Names of the steps of *lines*: those of `:steps:`, or of the box that they are the solution of."""
    if "steps" in options:
        written = dict.fromkeys(name for line in lines for name in sorted(read_line(line).writes))
        return parse_named_steps(options, tuple(written), reading)
    box = reading.box(options, "of") if "of" in options else None
    return box.stretches if isinstance(box, Grad) else ()


def _steps(
    options: Options, inside: DirectiveBody, reading: ParseContext
) -> tuple[DirectiveBody, tuple[OrderStep, ...]]:
    """The prompt, and the steps of a numbered list; none where lines of code are put in order."""
    if "of" in options or any(child.name == "solution" for child in inside.children):
        return inside, ()
    inside, steps = take_steps(inside, reading)
    for order_step, other in itertools.pairwise(steps):
        if other.rank < order_step.rank:
            message = f"The steps stand in the right order here, and {other.rank} comes below {order_step.rank}."
            reading.faults.add(
                other.place, "any-order", message, "Give the same number to those that may change places."
            )
    return inside, steps


def _source(options: Options, inside: DirectiveBody, directive: Directive, reading: ParseContext) -> str:
    """The lines in an order that is right; nothing where there was a fault."""
    own = single_child(inside, "solution", directive, reading)
    if own is not None and "of" in options:
        options.wrong("of", "disagree", "The lines stand in ':of:' and in a '{solution}'.", "Keep one of them.")
    if own is not None:
        tree = check_python(own.body.text, own.body.line, "This solution", reading.faults)
        return own.body.text if tree is not None else ""
    if "of" not in options:
        fix = "Write a numbered list of steps, ':of: linear-backward', or lines in a '```{solution}'."
        reading.faults.add(directive.place, "no-lines", f"{reading.title(directive)} has nothing to put in order.", fix)
    box = reading.box(options, "of") if "of" in options else None
    return box.solution.source if box and is_python(box.solution.source) else ""


READERS = (
    DirectiveReader(name="order", block=OrderQuestion, options=("of", "forward", "steps"), read=read_order, turn=2),
)
