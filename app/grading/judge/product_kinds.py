"""A product that does not run because the forward multiplies in the other way: entry by entry, or as matrices."""

import ast

from app.grading.forward.statements import ForwardProgram
from app.grading.judge.call_errors import SINGLE_BITS
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.grading.judge.torch_errors import kind_of, translate_error
from app.grading.reading.library import FUNCTIONS

MATRICES = frozenset({"matmul", "vector"})
ENTRYWISE = (
    "The forward line `{line}` multiplies entry by entry, with `*`, and so does the way back: no transpose mends a "
    "matrix product here."
)
EACH = (
    "The forward line `{line}` works entry by entry, and so does the way back, with `*`: no transpose mends a matrix "
    "product here."
)
PRODUCT = "The forward line `{line}` is a matrix product, `@`, and so is the way back: `*` multiplies entry by entry."


def translate_product(error: ReportedError, program: ForwardProgram, plan: ParsedSubmission) -> str:
    """The *error* in words; a product of another kind than the forward's is told as its cause, and so is a `^`."""
    said = translate_error(error)
    if not 0 <= error.statement < len(plan.lines):
        return said
    line = plan.lines[error.statement]
    if SINGLE_BITS not in said and any(isinstance(one, ast.BitXor) for one in ast.walk(line.node)):
        return f"{said} {SINGLE_BITS}"
    readers = [one for one in program.statements if any(f"d{name}" in line.writes for name in one.inputs)]
    products = [
        one for one in readers if any(f"d{name}" in line.writes and _in_product(one.node, name) for name in one.inputs)
    ]
    kinds = {_is_matrix_product(one.node) for one in products}
    if kind_of(error) in MATRICES and kinds == {False}:
        return f"{said.partition('. ')[0]}. {ENTRYWISE.format(line=products[0].source)}"
    if kind_of(error) in MATRICES and readers and all(_is_entrywise(one.node) for one in readers):
        return f"{said.partition('. ')[0]}. {EACH.format(line=readers[0].source)}"
    if kind_of(error) == "broadcast" and kinds == {True} and not _is_matrix_product(line.node):
        return f"{said} {PRODUCT.format(line=products[0].source)}"
    return said


def _in_product(node: ast.expr, name: str) -> bool:
    products = (
        one for one in ast.walk(node) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult | ast.MatMult)
    )
    return any(isinstance(leaf, ast.Name) and leaf.id == name for one in products for leaf in ast.walk(one))


def _is_entrywise(node: ast.AST) -> bool:
    """Whether there is nothing in *node* but functions and operators that take one entry after the other."""
    names = (
        one.func.attr for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    )
    others = (ast.Subscript, ast.MatMult, ast.keyword)
    turned = any(isinstance(one, ast.Attribute) and one.attr in {"T", "mT"} for one in ast.walk(node))
    return (
        not turned
        and all(name in FUNCTIONS for name in names)
        and not any(isinstance(one, others) for one in ast.walk(node))
    )


def _is_matrix_product(node: ast.AST) -> bool:
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.MatMult) for one in ast.walk(node))
