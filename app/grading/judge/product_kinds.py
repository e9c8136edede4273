"""A product that does not run because the forward multiplies in the other way: entry by entry, or as matrices."""

import re

from app.grading.forward.statements import ForwardProgram
from app.grading.judge.call_errors import SINGLE_BITS
from app.grading.judge.parsed_submission import ParsedSubmission
from app.grading.judge.run_reports import ReportedError
from app.grading.judge.torch_errors import is_mended_by_product, kind_of, translate_error
from app.grading.operations.table import FUNCTIONS
from app.notations import NAMES
from app.syntax import (
    Expression,
    Node,
    as_written,
    attribute_of,
    called_name,
    every_name_in,
    function_of,
    index_of,
    is_assignment,
    is_binary,
    is_comparison,
    name_of,
    nodes_in,
    options_of,
    owner_of,
    right_side,
    sides_of,
    sign_of,
)

MATRICES = frozenset({"matmul", "vector"})
ENTRYWISE = (
    "The forward line `{line}` multiplies entry by entry, with `*`, and so does the way back: no transpose mends a "
    "matrix product here."
)
EACH = (
    "The forward line `{line}` works entry by entry, and so does the way back, with `*`: no transpose mends a matrix "
    "product here."
)
GATE = (
    " Line {line} makes `{name}` by a comparison alone: a gate holds truth values, and is multiplied by what arrives."
)
LATE_GATE = (
    " Line {line} makes `{name}` by a comparison, which is computed last, after the product: brackets keep the two "
    "apart."
)
LATE_PRODUCT = (
    " `*` and `@` are computed from left to right: does `{first}` meet `{part}` as a whole? Then brackets hold that."
)
INDEX = " `{name}` is made in line {line}."
PRODUCT = "In `{line}`, `{part}` is a matrix product, `@`, and so is its way back: `*` multiplies entry by entry."


def _is_transposed_on_paper(node: Node) -> bool:
    """True of `x^T`, whatever stands before the `^`."""
    sides = sides_of(node)
    return sides is not None and sign_of(node) == "^" and name_of(sides[1]) == "T"


def translate_product(error: ReportedError, program: ForwardProgram, plan: ParsedSubmission) -> str:
    """The *error* in words; a product of another kind than the forward's is told as its cause, so is a `^`."""
    message = translate_error(error)
    if not 0 <= error.statement < len(plan.lines):
        return message
    line = plan.lines[error.statement]
    if "T" not in error.known and any(map(_is_transposed_on_paper, nodes_in(line.node))):
        return f"There is no `T` in a box: {NAMES['T']}."
    if SINGLE_BITS not in message and any(sign_of(node) == "^" for node in nodes_in(line.node)):
        return f"{message} {SINGLE_BITS}"
    if kind_of(error) in {"dtypes", "cast"}:
        return f"{message}{_gate(error, plan)}"
    if kind_of(error) == "broadcast" and (late := _late_product(error, line.node)):
        return f"{message}{late}"
    if kind_of(error) == "index":
        return f"{message}{_index(error, plan)}"
    readers = [
        forward_statement
        for forward_statement in program.statements
        if any(f"d{name}" in line.writes for name in forward_statement.inputs)
    ]
    products = [
        (forward_statement, product)
        for forward_statement in readers
        for name in forward_statement.inputs
        if f"d{name}" in line.writes
        for product in _products_with(forward_statement.node, name)[-1:]
    ]
    if kind_of(error) in MATRICES and products and not any(_is_matrix_product(each.node) for each, _ in products):
        return f"{message.partition('. ')[0]}. {ENTRYWISE.format(line=products[0][0].source)}"
    if (
        kind_of(error) in MATRICES
        and readers
        and all(_is_entrywise(forward_statement.node) for forward_statement in readers)
    ):
        return f"{message.partition('. ')[0]}. {EACH.format(line=readers[0].source)}"
    only_matrices = products and all(is_binary(product, "@") for _, product in products)
    if kind_of(error) == "broadcast" and only_matrices and "*" in error.source and is_mended_by_product(error):
        # Of several products the one that reads what is multiplied here.
        read = {*re.findall(r"\w+", error.source)}
        forward_statement, product = max(products, key=lambda each: len(every_name_in(each[1]) & read))
        return f"{message} {PRODUCT.format(line=forward_statement.source, part=as_written(product))}"
    return message


def names_gate(message: str, name: str) -> bool:
    """True if by the *message* of an error *name* is a gate without what it is to be multiplied by."""
    return f"makes `{name}` by a comparison" in message


def _gate(error: ReportedError, plan: ParsedSubmission) -> str:
    """That an operand which holds truth values is a comparison of an earlier line."""
    names = (
        operand.source.removesuffix(".mT").removesuffix(".T") for operand in error.operands if operand.dtype == "bool"
    )
    for name in names:
        match [line for line in plan.writing(name) if line.line < (error.line or 0)]:
            case [*_, line] if is_assignment(line.node) and is_comparison(right_side(line.node)):
                compared = sides_of(right_side(line.node))
                words = LATE_GATE if compared is not None and is_binary(compared[0], "*") else GATE
                return words.format(line=line.line, name=name)
    return ""


def _late_product(error: ReportedError, line: Node) -> str:
    """That the `@` behind a product comes first, where brackets around it make the line right."""
    for node in nodes_in(line):
        outer = sides_of(node) if is_binary(node, "@") else None
        inner = sides_of(outer[0]) if outer is not None and is_binary(outer[0], "*") else None
        if outer is not None and inner is not None:
            first, part = as_written(inner[0]), f"{as_written(inner[1])} @ {as_written(outer[1])}"
            if error.mends(as_written(node), f"({first}) * ({part})"):
                return LATE_PRODUCT.format(first=first, part=part)
    return ""


def _index(error: ReportedError, plan: ParsedSubmission) -> str:
    """That an index which does not exist is made in another line."""
    names = (operand.source for operand in error.operands[1:] if plan.writing(operand.source))
    places = ((name, plan.writing(name)[-1].line_writing(name)) for name in names)
    return next((INDEX.format(name=name, line=line) for name, line in places if line != error.line), "")


def _products_with(node: Expression, name: str) -> list[Node]:
    """The products in *node* that read *name*, from the outermost inwards."""
    return [inner for inner in nodes_in(node) if is_binary(inner, "* @") and name in every_name_in(inner)]


def _is_entrywise(node: Node) -> bool:
    """True if there is nothing in *node* but functions and operators that take one entry after the other."""
    nodes = nodes_in(node)
    return (
        not any(attribute_of(inner) in {"T", "mT"} or index_of(inner) or options_of(inner) for inner in nodes)
        and all(called_name(inner) in FUNCTIONS for inner in nodes if owner_of(function_of(inner)) is not None)
        and not _is_matrix_product(node)
    )


def _is_matrix_product(node: Node) -> bool:
    return any(is_binary(inner, "@") for inner in nodes_in(node))
