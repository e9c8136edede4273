"""Parts that boxes for functions share: the signature, the starter, and the solutions that define it."""

import re
from collections.abc import Sequence

from app.content.blocks import Code
from app.content.directives.code_box_options import (
    CodeExerciseFields,
    blank_code,
    code_of,
    parse_exercise_fields,
    single_child,
    solutions_in,
)
from app.content.directives.parse_context import DirectiveBody, ParseContext, is_variable
from app.content.program.programs import check_python, defined_in
from app.content.text.fences import Directive
from app.content.text.options import Options

FUNCTION = re.compile(r"^([^\W\d]\w*)\(\s*(|\w+\s*(?:,\s*\w+\s*)*)\)$")


class FunctionFields(CodeExerciseFields):
    """Fields that boxes for functions have in common."""

    function: str
    arguments: tuple[str, ...]
    starter: Code
    solution: Code
    alternatives: tuple[Code, ...]


def parse_function_fields(
    directive: Directive, children: Sequence[str], example: str, reading: ParseContext
) -> tuple[FunctionFields, DirectiveBody]:
    """The fields of a box for a function, whose signature is written like *example*; and what stands in it."""
    options = reading.options(directive)
    function, arguments = _parse_signature(options, example)
    inside = reading.inside(directive, children)
    solution, *alternatives = _solutions_of(inside, function, arguments, directive, reading)
    starter = single_child(inside, "starter", directive, reading)
    blank = f"def {function}({', '.join(arguments)}):\n    ____\n"
    fields = FunctionFields(
        **parse_exercise_fields(directive, options, inside, reading),
        function=function,
        arguments=arguments,
        starter=code_of(starter) if starter else blank_code(directive, blank),
        solution=solution,
        alternatives=tuple(alternatives),
    )
    return fields, inside


def _parse_signature(options: Options, example: str) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments in `:function:`, written like *example*."""
    text = options.needed_text("function", example)
    match = FUNCTION.match(text or "")
    words = [match[1], *(word.strip() for word in match[2].split(",") if word)] if match else []
    if words and all(is_variable(word) for word in words) and len(set(words)) == len(words):
        return words[0], tuple(words[1:])
    if text is not None:
        options.wrong("function", "wrong-type", f"{text!r} is no function.", f"Write ':function: {example}'.")
    return "", ()


def _solutions_of(
    inside: DirectiveBody, function: str, arguments: tuple[str, ...], directive: Directive, reading: ParseContext
) -> tuple[Code, ...]:
    """The solution, and after it the ones that are equally right."""
    children = solutions_in(inside, directive, reading)
    children.sort(key=lambda child: "same-as" in child.options)
    if not children:
        return (blank_code(directive),)
    for child in children:
        tree = check_python(child.body.text, child.body.line, "This solution", reading.faults)
        if tree is not None and function and not defined_in(tree, function, len(arguments)):
            message = f"The solution does not define {function!r} with {len(arguments)} arguments."
            reading.faults.add(child.place, "incomplete", message, f"Write 'def {function}({', '.join(arguments)}):'.")
    return tuple(code_of(child) for child in children)
