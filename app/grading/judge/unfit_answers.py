"""What a function gave in the place of what is wanted: another kind of value, or an error for a name of another one."""

import ast
import re
from collections.abc import Sequence

from app.grading.judge.run_reports import ReportedError

NUMBERS = frozenset({"bool", "int", "float"})


def argument_of_another(error: ReportedError, functions: Sequence[ast.FunctionDef]) -> str:
    """Say whose argument the name is that did not exist; empty where it is none of *functions*."""
    match = re.match(r"name '(\w+)' is not defined", error.text)
    if error.kind != "NameError" or match is None:
        return ""
    name = match[1]
    for function in functions:
        first, *others = [argument.arg for argument in function.args.args] or [""]
        if name in others:
            kept = f"{first}.{name}"
            how = f" `{kept} = {name}` keeps it there, and `{kept}` reads it." if first in {"self", "ctx"} else ""
            return f"`{name}` is an argument of `{function.name}`, and exists in there alone.{how}"
    return ""


def half_precision(own: object, reference: object) -> str:
    """The number type of a tensor in half precision where *reference* has another one; empty if there is none."""
    match own, reference:
        case ["tensor", _, [("float16" | "bfloat16") as dtype, *_]], ["tensor", _, [other, *_]] if dtype != other:
            return str(dtype)
    return ""


def object_for_number(own: object, reference: object) -> str:
    """Class of an object in the place of a number of *reference*; empty if there is none."""
    match own, reference:
        case ["other", str(thing)], [kind, _] if kind in NUMBERS and thing.isidentifier():
            return thing
        case ["list", list(items)], ["list", list(others)]:
            return next((thing for pair in zip(items, others, strict=False) if (thing := object_for_number(*pair))), "")
    return ""
