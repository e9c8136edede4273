"""`{checker}`: the learner writes a check that must accept right gradients and refuse wrong ones."""

from app.bindings import assigned_names
from app.content.blocks import Checker, CheckerCase
from app.content.directives.code_box_options import code_of, need_message
from app.content.directives.directive_reader import DirectiveReader
from app.content.directives.function_options import parse_function_fields
from app.content.directives.parse_context import DirectiveBody, ParseContext
from app.content.program.programs import check_python, function_names
from app.content.text.errors import quoted_names
from app.content.text.fences import Directive
from app.content.text.sentences import render_sentence

CHECKER_CHILDREN = ("starter", "hint", "correct", "mistake", "solution")


def read_checker(directive: Directive, reading: ParseContext) -> Checker:
    fields, inside = parse_function_fields(directive, CHECKER_CHILDREN, "cmp(got, reference)", reading)
    return Checker(**fields, cases=_cases(inside, fields["arguments"], directive, reading))


def _cases(
    inside: DirectiveBody, arguments: tuple[str, ...], directive: Directive, reading: ParseContext
) -> tuple[CheckerCase, ...]:
    """Right and wrong gradients in file order, at least one of each."""
    children = [child for child in inside.children if child.name in ("correct", "mistake")]
    for kind in ("correct", "mistake"):
        if not any(child.name == kind for child in children):
            message = f"{reading.title(directive)} has no '{{{kind}}}'."
            reading.faults.add(directive.place, f"no-{kind}", message, "It must accept one and refuse another.")
    return tuple(_case(child, arguments, reading) for child in children)


def _case(child: Directive, arguments: tuple[str, ...], reading: ParseContext) -> CheckerCase:
    tree = check_python(child.body.text, child.body.line, f"This {child.name}", reading.faults)
    known = {*assigned_names(tree), *function_names(tree)} if tree else set(arguments)
    missing = [name for name in arguments if name not in known]
    if missing:
        message = f"This {child.name} does not write {quoted_names(missing)}."
        reading.faults.add(child.place, "incomplete", message, "It must write every argument of the function.")
    if child.name == "mistake":
        example = "One entry is off by one percent; your check accepts it."
        need_message(child, "Nothing is said to a learner whose check accepts this.", example, reading)
    return CheckerCase(
        place=child.place,
        right=child.name == "correct",
        message=child.argument,
        html=render_sentence(child.argument),
        code=code_of(child),
    )


READERS = (DirectiveReader(name="checker", block=Checker, options=("function",), read=read_checker),)
