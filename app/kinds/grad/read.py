"""`{grad}`: a code box with its starter, hints, declared mistakes and solutions."""

import re
from dataclasses import replace

from markupsafe import Markup

from app.bindings import assigned_names
from app.content.blocks import Code, CodeBox, DeclaredMistake, Forward, Grad, NamedStep
from app.content.directives.code_box_options import (
    blank_code,
    code_of,
    need_message,
    needed_gradients,
    parse_exercise_fields,
    parse_gradient_names,
    single_child,
    solutions_in,
)
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.named_steps import parse_named_steps
from app.content.directives.parse_context import CHILD_OPTIONS as KNOWN
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.program.dependence import read_line, sources_of
from app.content.program.programs import check_python, is_python
from app.content.text.errors import did_you_mean, quoted_names
from app.content.text.fences import Directive
from app.content.text.options import Options
from app.content.text.sentences import render_sentence

BLANK_PATTERN = re.compile(r"\b_{2,}\b")
GRAD_CHILDREN = ("starter", "hint", "mistake", "solution")
FORBIDDEN = ("loops",)


def read_grad(directive: Directive, reading: ParseContext) -> Grad:
    options = reading.options(directive)
    forward = reading.forward(options)
    require = needed_gradients(options, forward, reading)
    inside = reading.inside(directive, GRAD_CHILDREN, {**KNOWN, "mistake": ("after",)})
    solutions = _solutions(inside, require, directive, reading)
    after = reading.before(options, forward)
    given_names = parse_gradient_names(options, "given", forward, reading)
    _check_given(given_names, forward, options)
    _check_tolerances(options)
    one_road = _one_road(options)
    shared = parse_exercise_fields(directive, options, inside, reading)
    stretches = parse_named_steps(options, require, reading)
    if one_road:
        shared["prompt"] += Markup("<p>{}</p>\n").format(render_sentence(one_road))
    return Grad(
        **shared,
        forward=forward.name if forward else "",
        require=require,
        starter=_starter(inside, require, stretches, directive, reading),
        solution=solutions[0],
        alternatives=solutions[1:],
        mistakes=tuple(
            _mistake(child, require, solutions[0], reading) for child in inside.children if child.name == "mistake"
        ),
        grade="rule" if options.one_of("grade", ("rule", "value"), "value") == "rule" else "value",
        one_road=one_road,
        given=given_names,
        atol=options.number("atol"),
        rtol=options.number("rtol"),
        forbid=_forbidden(options),
        after=after,
        stretches=stretches,
        past=_left_out(options, reading),
        predict=reading.line(options, "predict"),
    )


def _starter(
    inside: DirectiveBody,
    require: tuple[str, ...],
    stretches: tuple[NamedStep, ...],
    directive: Directive,
    reading: ParseContext,
) -> Code:
    """The starter, or a blank for each gradient, below the name of its step."""
    starter = single_child(inside, "starter", directive, reading)
    if starter:
        check_python(starter.body.text, starter.body.line, "This starter", reading.faults)
    if starter:
        return code_of(starter)
    blocks = [(f"# {step.title}\n", step.names) for step in stretches] or [("", require)]
    blanks = ("".join([title, *(f"{name} = ____\n" for name in names)]) for title, names in blocks)
    return blank_code(directive, "\n".join(blanks))


def _solutions(
    inside: DirectiveBody, require: tuple[str, ...], directive: Directive, reading: ParseContext
) -> tuple[Code, ...]:
    """The solution, and after it the ones that are equally right."""
    children = solutions_in(inside, directive, reading)
    if not children:
        return (blank_code(directive),)
    plain = [child for child in children if "same-as" not in child.options]
    if len(plain) != 1:
        child = plain[1] if len(plain) > 1 else children[0]
        message = f"{reading.title(directive)} has {len(plain)} solutions of its own."
        fix = "One stands alone; give the others ':same-as:' and say what they have in common."
        reading.faults.add(child.place, "solutions", message, fix)
    ordered = [*plain, *(child for child in children if child not in plain)]
    for index, child in enumerate(ordered):
        _check_code(child, require, reading, complete=index == 0)
    return tuple(code_of(child) for child in ordered)


def _check_code(child: Directive, require: tuple[str, ...], reading: ParseContext, *, complete: bool) -> None:
    """Code parses and writes a required gradient; a *complete* solution writes all of them."""
    what = f"This {child.name}"
    tree = check_python(child.body.text, child.body.line, what, reading.faults)
    if tree is None:
        return
    names = set(assigned_names(tree))
    missing = [name for name in require if name not in names]
    if complete and missing:
        message = f"The solution does not write {quoted_names(missing)}."
        reading.faults.add(child.place, "incomplete", message, "It must write every name of ':require:'.")
    elif require and len(missing) == len(require):
        message = f"{what} writes none of {quoted_names(require)}."
        reading.faults.add(child.place, "incomplete", message)


def _mistake(child: Directive, require: tuple[str, ...], solution: Code, reading: ParseContext) -> DeclaredMistake:
    message = "This mistake says nothing to the learner who makes it."
    need_message(child, message, "Sum the rows, do not average them.", reading)
    _check_code(child, require, reading, complete=False)
    if BLANK_PATTERN.search(child.body.text):
        message = "This mistake has a blank, so nothing comes of it."
        reading.faults.add(child.place, "incomplete", message, "Write what a learner would write.")
    code = code_of(child)
    above = _beginning(child, solution, reading)
    code = replace(code, source=above + code.source, line=code.line - above.count("\n"))
    return DeclaredMistake(place=child.place, message=child.argument, html=render_sentence(child.argument), code=code)


def _beginning(child: Directive, solution: Code, reading: ParseContext) -> str:
    """The lines of *solution* up to the last one that writes what `:after:` of a mistake names."""
    options = reading.options(child)
    names = [word for word, _ in options.words("after")]
    if not names or not is_python(solution.source):
        return ""
    lines = sources_of(solution.source)
    ends = {write: index for index, line in enumerate(lines) for write in read_line(line).writes}
    last = max((ends.get(name, -1) for name in names), default=-1)
    if unknown := [name for name in names if name not in ends]:
        message = f"The solution writes no {unknown[0]!r}, so nothing can go on after it."
        options.wrong("after", "unknown-name", message, did_you_mean(unknown[0], ends))
    elif len(names) > 1:
        message = f"':after:' names {len(names)} gradients, and is about one: all lines up to it come before."
        options.wrong("after", "several", message, f"Write ':after: {max(names, key=ends.__getitem__)}'.")
    return "".join(f"{line}\n" for line in lines[: last + 1])


def _check_given(given_names: tuple[str, ...], forward: Forward | None, options: Options) -> None:
    """Refuse to ask for a gradient that is in scope already."""
    upstreams = forward.upstreams if forward else ()
    for name, place in options.words("given"):
        if name in upstreams:
            message = f"{name!r} is in scope anyway: it is the upstream of the output."
            options.faults.add(place, "given-anyway", message, "Remove it from ':given:'.")
    for name, place in options.words("require"):
        if name in upstreams or name in given_names:
            why = "it is the upstream of the output" if name in upstreams else "it stands in ':given:'"
            options.faults.add(place, "given-anyway", f"{name!r} is given: {why}.", "Remove it from ':require:'.")


def _left_out(options: Options, reading: ParseContext) -> tuple[str, ...]:
    """The code boxes above that `:past:` names."""
    boxes = [name for name, exercise in reading.exercises.items() if isinstance(exercise, CodeBox)]
    words = options.words("past")
    for word, place in words:
        if word not in boxes:
            message = f"':past:' names {word!r}, which is no code box above this one."
            reading.faults.add(place, "unknown-exercise", message, did_you_mean(word, boxes))
    return tuple(word for word, _ in words)


def _one_road(options: Options) -> str:
    """Say why only the rule is accepted; learners read it in the prompt, and beside an answer by another road."""
    if "one-road" in options and options.text("grade") != "rule":
        message = "':one-road:' is for boxes that judge rules; in this one any road to the right values will do."
        options.wrong("one-road", "no-rule", message, "Add ':grade: rule', or remove it.")
    return options.text("one-road") or ""


def _check_tolerances(options: Options) -> None:
    for key in ("atol", "rtol"):
        if key in options and "reason" not in options:
            message = f"':{key}:' needs a reason."
            options.wrong(key, "no-reason", message, "Add ':reason:' and say why the usual tolerance is wrong here.")


def _forbidden(options: Options) -> tuple[str, ...]:
    words = options.words("forbid")
    for word, place in words:
        if word not in FORBIDDEN:
            options.faults.add(place, "unknown-value", f"':forbid:' cannot be {word!r}.", "It can be 'loops'.")
    return tuple(word for word, _ in words)


READERS = (
    DirectiveReader(
        name="grad",
        block=Grad,
        options=(
            "forward",
            "require",
            "grade",
            "one-road",
            "given",
            "atol",
            "rtol",
            "reason",
            "forbid",
            "after",
            "predict",
            "steps",
            "past",
        ),
        read=read_grad,
        sized=True,
    ),
)
