"""`{checker}`: the learner writes a check that must accept right gradients and refuse wrong ones."""

import ast
import re
from collections.abc import Iterator

from app.content.blocks import Checker, CheckerCase, Code
from app.content.code_box_options import (
    blank_code,
    code_of,
    need_message,
    parse_exercise_fields,
    single_child,
    solutions_in,
)
from app.content.fences import Directive
from app.content.options import Options
from app.content.parse_context import DirectiveBody, ParseContext, is_variable
from app.content.programs import check_python
from app.content.sentences import render_sentence

OPTIONS = ("function", "time", "reveal", "right", "was")
CHECKER_CHILDREN = ("starter", "hint", "correct", "mistake", "solution")
FUNCTION = re.compile(r"^([^\W\d]\w*)\((\s*\w+\s*(?:,\s*\w+\s*)*)\)$")


def parse(directive: Directive, reading: ParseContext) -> Checker:
    options = reading.options(directive)
    function, arguments = parse_signature(options, "cmp(got, reference)")
    inside = reading.inside(directive, CHECKER_CHILDREN)
    solutions = solutions_of(inside, function, arguments, directive, reading)
    starter = single_child(inside, "starter", directive, reading)
    blank = f"def {function}({', '.join(arguments)}):\n    ____\n"
    return Checker(
        **parse_exercise_fields(directive, options, inside, reading),
        function=function,
        arguments=arguments,
        starter=code_of(starter) if starter else blank_code(directive, blank),
        solution=solutions[0],
        cases=_cases(inside, arguments, directive, reading),
        alternatives=solutions[1:],
    )


def parse_signature(options: Options, example: str) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments in `:function:`, written like *example*."""
    text = options.needed_text("function", example)
    match = FUNCTION.match(text or "")
    words = [match[1], *(word.strip() for word in match[2].split(","))] if match else []
    if words and all(is_variable(word) for word in words) and len(set(words)) == len(words):
        return words[0], tuple(words[1:])
    if text is not None:
        options.wrong("function", "wrong-type", f"{text!r} is no function.", f"Write ':function: {example}'.")
    return "", ()


def solutions_of(
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


def defined_in(tree: ast.Module, name: str, count: int) -> bool:
    """True if *tree* defines a function or a class *name* that can be called with *count* arguments."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return _takes(statement, count)
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            makers = (
                function
                for function in statement.body
                if isinstance(function, ast.FunctionDef) and function.name == "__init__"
            )
            return any(_takes(maker, count + 1) for maker in makers)
    return False


def _takes(function: ast.FunctionDef, count: int) -> bool:
    most = len(function.args.posonlyargs) + len(function.args.args)
    return most - len(function.args.defaults) <= count <= most


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
    known = set(_defined_names(tree)) if tree else set(arguments)
    missing = [name for name in arguments if name not in known]
    if missing:
        message = f"This {child.name} does not write {', '.join(repr(name) for name in missing)}."
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


def _defined_names(tree: ast.Module) -> Iterator[str]:
    """Names that code assigns or defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name
