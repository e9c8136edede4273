"""Two slips in one text: the first shows in the text itself, and once it is mended the tables name what is left.

| code | the first slip |
|---|---|
| `brackets` | `x ** -1/2`, which is half of `x ** -1` |
| `fraction` | `dL / dy`, which is called `dy` |
| that of the second | numbers in the place of sizes, which stop the lines on hidden data |
"""

import ast
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace

import numpy as np

from app.content.program.literals import literal_sizes, with_dim_names
from app.grading.diagnosis.evidence import Array, Diagnosis, WrongGradient, scope_of
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.phrases import sentences_of
from app.grading.diagnosis.rerun import Rerun
from app.grading.diagnosis.single_edit_search import diagnose_single_edit, is_fraction
from app.grading.reading.interpreter import Interpreter
from app.syntax import as_written, nodes_in, program_of, rewritten

SAY = sentences_of("two-slips")
Diagnose = Callable[[WrongGradient], Diagnosis | None]


def half_powers(view: GradientAnalysis, diagnose: Diagnose) -> Diagnosis | None:
    """A fraction behind `**` without brackets, where with them the gradient is right or another power is left."""
    case = view.case
    open_ones = (node for line in case.writes for node in nodes_in(line) if _open_power(node) is not None)
    fraction = next(open_ones, None)
    mended = (
        None if fraction is None else _with_lines(case, [_Bracketed().visit(deepcopy(line)) for line in case.lines])
    )
    if mended is None or not isinstance(fraction, ast.BinOp) or (power := _open_power(fraction)) is None:
        return None
    text = f"{as_written(power)} / {as_written(fraction.right)}"
    said = {"text": text, "power": as_written(power)}
    then = GradientAnalysis(mended)
    if not any(then.wrong(then.got[look], look) for look in mended.looks):
        return case.told("brackets", SAY["fraction"], **said)
    rest = diagnose(mended)
    if rest is None or not rest.code.removeprefix(f"{case.name}:").startswith("power-"):
        return None
    return case.told("brackets", SAY["fraction-and"], rest=rest.message, **said)


def paper_fractions(view: GradientAnalysis, diagnose: Diagnose) -> Diagnosis | None:
    """Gradients as fractions, such as `dL / dy`, where one mistake is left once they have the names that they mean."""
    case, gradients = view.case, view.first_look.gradients
    fraction = next((node for node in view.text.nodes if is_fraction(node, gradients)), None)
    # What one edit mends is one slip, such as a tensor's gradient that the tensor is divided by.
    if fraction is None or diagnose_single_edit(view) is not None:
        return None

    def with_name(node: ast.AST) -> ast.AST:
        return node.right if is_fraction(node, gradients) else node

    mended = _with_lines(case, [rewritten(line, with_name) for line in case.lines])
    rest = None if mended is None else diagnose(mended)
    if rest is None:
        return None
    fields = {"text": as_written(fraction), "meant": as_written(fraction.right), "rest": rest.message}
    return case.told("fraction", SAY["quotient-and"], **fields)


def _open_power(node: ast.AST) -> ast.BinOp | None:
    """The power `x ** -1` at the end of what *node*, such as `a * x ** -1/2`, divides by a number."""
    match node:
        case ast.BinOp(left=last, op=ast.Div(), right=ast.Constant()):
            end = last.end_col_offset
            while isinstance(last, ast.BinOp) and isinstance(last.op, ast.Mult | ast.Div):
                last = last.right
            match last:
                case ast.BinOp(op=ast.Pow(), right=ast.Constant() | ast.UnaryOp(operand=ast.Constant())):
                    # In brackets of its own a power ends before them.
                    return last if last.end_col_offset == end else None
    return None


class _Bracketed(ast.NodeTransformer):
    """`x ** (-1/2)` for `x ** -1/2`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        power = _open_power(node)
        if power is None:
            return self.generic_visit(node)
        power.right = ast.BinOp(power.right, ast.Div(), node.right)
        return node.left


def in_sizes(case: WrongGradient, dims: Mapping[str, int], diagnose: Diagnose) -> Diagnosis | None:
    """Diagnose the mistake that is left once dims replace the learner's literal sizes on the lesson's own data."""
    literals = literal_sizes(program_of(case.lines), dims)
    mended = _with_lines(case, [with_dim_names(line, literals) for line in case.lines]) if literals else None
    # With a size in the place of what is none, not even the shape comes out.
    shaped = mended is not None and all(look.is_shaped for look in mended.looks)
    return diagnose(mended) if mended is not None and shaped else None


def _with_lines(case: WrongGradient, lines: list[ast.stmt]) -> WrongGradient | None:
    """*case*, had *lines* been written; None where they cannot be read on each look."""
    view, looks = GradientAnalysis(case), []
    with case.budget.one() as budget:
        for look in case.looks:
            rerun = Rerun(view, look, tuple(lines), Interpreter(*scope_of(look, case.name), budget))
            got: Array | None = rerun.result(rerun.after)
            if got is None or not np.isfinite(got).all():
                return None
            looks.append(replace(look, got=got))
    writes = tuple(new for old, new in zip(case.lines, lines, strict=True) if old in case.writes)
    return replace(case, looks=tuple(looks), lines=tuple(lines), writes=writes)
