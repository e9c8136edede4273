"""What is said of a gradient that no line wrote, or that a line meant to write and did not."""

import ast
import re
from collections.abc import Collection
from difflib import get_close_matches

from app.bindings import as_written, comparisons
from app.grading.judge.plan import Plan

ALIKE = 0.8
_SIGNS = {
    ast.Eq: "compares `{0}`, with `==`; one `=` assigns it",
    ast.Lt: "compares `{0}`, with `<`; a single `=` assigns it",
    ast.AnnAssign: "writes `:` behind `{0}`; one `=` assigns it",
}


def unwritten(name: str, plan: Plan, required: Collection[str], tensors: Collection[str]) -> str:
    """Why no tensor called *name* was left.

    Args:
        required: All gradients that are asked for; those that are there are not taken for this one.
        tensors: The names of the forward program, which has run before the code does.
    """
    if not plan.lines:
        return f"Nothing is written here yet. A line `{name} = …` is wanted."
    if said := compared(name, plan):
        return said
    if out := re.search(rf"^[ \t]{{0,40}}#[ \t]{{0,8}}{name}[ \t]{{0,8}}[-+]?=", plan.source, re.MULTILINE):
        line = plan.source.count("\n", 0, out.end()) + 1
        return f"Line {line} would make `{name}`, but what stands behind a `#` is not run: delete the sign."
    others = [one for one in plan.last if one not in required]
    alike = [one for one in others if one.lower() == name.lower()] or get_close_matches(name, others, 1, ALIKE)
    hint = f" There is a `{alike[0]}`; capital and small letters count." if alike else _instead(name, plan, tensors)
    return f"No tensor called `{name}` was left when the code ended.{hint}"


def compared(name: str, plan: Plan) -> str:
    """What the first line does that reads `name == value` or the like; empty where none does."""
    found = (one for line in plan.lines for other, one in comparisons(line.node) if other == name)
    for one in found:
        kind = type(one.ops[0]) if isinstance(one, ast.Compare) else type(one)
        return f"Line {one.lineno} {_SIGNS[kind].format(name)}."
    return ""


def idle(name: str, plan: Plan) -> str:
    """The line that computes something of *name* and keeps it nowhere, such as `dz / N`; empty where none does."""
    for line in plan.lines:
        match line.node:
            case ast.Expr(value=ast.BinOp() | ast.UnaryOp() | ast.Call(func=ast.Attribute())) if name in line.reads:
                if name not in line.writes:
                    text = as_written(line.node)
                    return f"Line {line.line}, `{text[:80]}`, changes nothing: what it gives is kept under no name."
    return ""


def _instead(name: str, plan: Plan, tensors: Collection[str]) -> str:
    """What the code did instead: changed the tensor, ran the forward line once more, or kept nothing."""
    for line in reversed(plan.lines):
        given = sorted(line.writes & set(tensors), key=lambda one: one != name[1:])
        if given and given[0] == name[1:]:
            return f" Line {line.line} gives `{given[0]}` itself a new value; its gradient is called `{name}`."
        if given:
            return f" Line {line.line} makes `{given[0]}`, which is there already; a line `{name} = …` is wanted."
    for line in reversed(plan.lines):
        match line.node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                return f" Line {line.line} prints a value and gives it no name; a line `{name} = …` is wanted."
            case ast.Expr(value=ast.BinOp() | ast.UnaryOp()):
                return f" Line {line.line} computes something and gives it no name; a line `{name} = …` is wanted."
    return ""
