"""Messages for a gradient that no line wrote, or that a line meant to write and did not."""

import ast
import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from app.bindings import idle_comparisons, root_of
from app.grading.diagnosis.grammar import is_module
from app.grading.judge.parsed_submission import ParsedSubmission
from app.syntax import as_written, called_name, nodes_in

ALIKE = 0.8
_STORES = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
_NEW = frozenset(["list", "dict", "set"])
_SIGNS = {
    ast.Eq: "compares `{0}`, with `==`; one `=` assigns it",
    ast.Lt: "compares `{0}`, with `<`; a single `=` assigns it",
    ast.AnnAssign: "writes `:` behind `{0}`; one `=` assigns it",
}


def missing_name_text(name: str, plan: ParsedSubmission, required: Collection[str], tensors: Collection[str]) -> str:
    """Say why no tensor called *name* was left.

    Args:
        required: All gradients that are asked for; those that are there are not taken for this one.
        tensors: The names of the forward program, which has run before the code does.
    """
    if not plan.lines:
        return f"Nothing here yet. Write a line `{name} = …`."
    if said := comparison_text(name, plan):
        return said
    if out := re.search(rf"^[ \t]{{0,40}}#[ \t]{{0,8}}{name}[ \t]{{0,8}}[-+]?=", plan.source, re.MULTILINE):
        line = plan.source.count("\n", 0, out.end()) + 1
        return f"Line {line} would make `{name}`, but what stands behind a `#` is not run: delete the sign."
    others = [text for text in plan.last if text not in required]
    alike = [text for text in others if text.lower() == name.lower()] or get_close_matches(name, others, 1, ALIKE)
    case = "; capital and small letters count" if alike and alike[0].lower() == name.lower() else ""
    near = f" One called `{alike[0]}` was{case}." if alike else ""
    hint = near or _instead(name, plan, tensors)
    return f"No tensor called `{name}` was left when the code ended.{hint}"


def comparison_text(name: str, plan: ParsedSubmission) -> str:
    """Say what the first line does that reads `name == value` or the like; empty if none does."""
    comparisons = (node for line in plan.lines for other, node in idle_comparisons(line.node) if other == name)
    for node in comparisons:
        kind = type(node.ops[0]) if isinstance(node, ast.Compare) else type(node)
        return f"Line {node.lineno} {_SIGNS[kind].format(name)}."
    return ""


def idle_line_text(name: str, plan: ParsedSubmission) -> str:
    """The line that computes something of *name* and keeps it nowhere, such as `dz / N`; empty where none does."""
    idle = [
        (line, node.value)
        for line in plan.lines
        if isinstance(node := line.node, ast.Expr) and name in line.reads and not line.writes
    ]
    if not idle or any(isinstance(node, ast.ClassDef) for line in plan.lines for node in nodes_in(line.node)):
        return ""  # what a method of the learner's own changes, only its text says
    stores = {store for line in plan.lines for store in _stores(line.node)}
    for line, value in idle:
        match value:
            case ast.BinOp() | ast.UnaryOp() | ast.Call(func=ast.Attribute()) if not root_of(value) & stores:
                text = as_written(line.node)
                return f"Line {line.line}, `{text[:80]}`, changes nothing: what it gives is kept under no name."
    return ""


def _stores(node: ast.AST) -> Iterator[str]:
    """Names that *node* binds to a list, a dictionary or a set, whose methods change it."""
    for inner in nodes_in(node):
        match inner:
            case ast.Assign(targets=[*targets], value=value) if (
                isinstance(value, _STORES) or called_name(value) in _NEW
            ):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


_PAIRS = frozenset(["max", "min", "sort", "topk", "kthvalue", "median", "mode", "cummax", "cummin"])


def paired_value_text(name: str, plan: ParsedSubmission) -> str:
    """A comparison on the way to *name* with what `x.max(1)` gives, which is no tensor; empty where there is none."""
    for line in plan.writing(name):
        for node in nodes_in(line.node):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            pairs = (
                side
                for side in sides
                if isinstance(side, ast.Call) and called_name(side) in _PAIRS and _with_axis(side)
            )
            for pair in pairs:
                text = as_written(pair)
                gives = f"`{text}`, which gives two things; take the values, `{text}.values`"
                return f"Line {line.line} compares with {gives}."
    return ""


def _with_axis(call: ast.Call) -> bool:
    own = isinstance(call.func, ast.Attribute) and not is_module(call.func.value)
    return len(call.args) + len(call.keywords) > (0 if own else 1)


def _instead(name: str, plan: ParsedSubmission, tensors: Collection[str]) -> str:
    """Say what the code did instead: changed the tensor, ran the forward line again, or left nothing."""
    for line in reversed(plan.lines):
        given = sorted(line.writes & set(tensors), key=lambda text: text != name[1:])
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
            case ast.Expr(value=ast.Name() | ast.Subscript() | ast.Attribute() | ast.Constant(value=int() | float())):
                text = as_written(line.node)[:80]
                return f" Line {line.line}, `{text}`, is kept under no name; a line `{name} = …` is wanted."
    return ""
