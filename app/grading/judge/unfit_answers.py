"""Sentences on unfit answers of a function: another kind of value, or an error for a name of another function."""

import re
from collections.abc import Mapping, Sequence

from app.grading.judge.run_reports import ReportedError
from app.syntax import Statement, defined_name, nodes_in, parameters_of

NUMBERS = frozenset({"bool", "int", "float"})


def arguments_in(statements: Sequence[Statement]) -> dict[str, list[str]]:
    """The arguments of each function in *statements*."""
    nodes = (node for statement in statements for node in nodes_in(statement))
    return {name: parameters_of(node) for node in nodes if (name := defined_name(node))}


def argument_of_another(error: ReportedError, arguments: Mapping[str, Sequence[str]]) -> str:
    """Say whose argument the name is that did not exist; empty where it is one of no function of *arguments*."""
    match = re.match(r"name '(\w+)' is not defined", error.text)
    if error.kind != "NameError" or match is None:
        return ""
    name = match[1]
    for function, (first, *others) in ((function, names or [""]) for function, names in arguments.items()):
        if name in others:
            kept = f"{first}.{name}"
            how = f" `{kept} = {name}` keeps it there, and `{kept}` reads it." if first in {"self", "ctx"} else ""
            return f"`{name}` is an argument of `{function}`, and exists in there alone.{how}"
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
