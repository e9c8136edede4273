"""`{program}`: the learner writes a function or a class, which is judged by its values on cases."""

from dataclasses import replace

from app.bindings import assigned_names
from app.content.blocks import Code, DeclaredMistake, FunctionBox, FunctionCase
from app.content.blocks.code_exercises import join_sources
from app.content.directives.code_box_options import code_of, need_message
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.function_options import parse_function_fields
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.program.programs import check_python, defined_in, function_names
from app.content.text.errors import quoted_names
from app.content.text.fences import Directive
from app.content.text.sentences import render_sentence

PROGRAM_CHILDREN = ("starter", "hint", "case", "mistake", "solution")
RESULT, EXPECT = "result", "expect"


def read_program(directive: Directive, reading: ParseContext) -> FunctionBox:
    fields, inside = parse_function_fields(directive, PROGRAM_CHILDREN, "num_grad(f, x, h)", reading)
    function, arguments = fields["function"], fields["arguments"]
    before = reading.program(reading.options(directive))
    above = before.solution.source if before else ""

    def below(code: Code) -> Code:
        return replace(code, source=join_sources(above, code.source))

    mistakes = [_mistake(child, function, arguments, reading) for child in inside.children if child.name == "mistake"]
    fields["solution"] = below(fields["solution"])
    fields["alternatives"] = tuple(map(below, fields["alternatives"]))
    return FunctionBox(
        **fields,
        cases=_cases(inside, arguments, directive, reading),
        mistakes=tuple(replace(mistake, code=below(mistake.code)) for mistake in mistakes),
        after=before.name if before else "",
        above=above,
    )


def _cases(
    inside: DirectiveBody, arguments: tuple[str, ...], directive: Directive, reading: ParseContext
) -> tuple[FunctionCase, ...]:
    children = [child for child in inside.children if child.name == "case"]
    if not children:
        message = f"{reading.title(directive)} has no '{{case}}'."
        reading.faults.add(directive.place, "no-case", message, "Add one that writes the arguments of the function.")
    return tuple(_case(child, arguments, reading) for child in children)


def _case(child: Directive, arguments: tuple[str, ...], reading: ParseContext) -> FunctionCase:
    need_message(child, "Nothing is said to a learner whose code fails here.", "What to say.", reading)
    tree = check_python(child.body.text, child.body.line, "This case", reading.faults)
    defined = function_names(tree) if tree else ()
    known = {*assigned_names(tree), *defined} if tree else {RESULT}
    missing = [name for name in arguments if name not in known]
    if missing and RESULT not in known:
        message = f"This case does not write {quoted_names(missing)}."
        fix = f"It writes every argument of the function, or '{RESULT} = …' from a call of its own."
        reading.faults.add(child.place, "incomplete", message, fix)
    return FunctionCase(place=child.place, message=child.argument, code=code_of(child), predicate=EXPECT in defined)


def _mistake(child: Directive, function: str, arguments: tuple[str, ...], reading: ParseContext) -> DeclaredMistake:
    need_message(child, "Nothing is said to a learner who writes this.", "What to say.", reading)
    tree = check_python(child.body.text, child.body.line, "This mistake", reading.faults)
    if tree is not None and function and not defined_in(tree, function, len(arguments)):
        message = f"This mistake does not define {function!r} with {len(arguments)} arguments."
        reading.faults.add(child.place, "incomplete", message, "A mistake is the whole program, with one thing wrong.")
    return DeclaredMistake(
        place=child.place, message=child.argument, html=render_sentence(child.argument), code=code_of(child)
    )


READERS = (DirectiveReader(name="program", block=FunctionBox, options=("function", "after"), read=read_program),)
