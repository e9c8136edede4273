"""What a sentence claims of the learner's lines, tried by its opposite before it is said.

That a prediction equals the learner's tensor shows that the numbers fit, not that the text does: another text may come
to the same numbers. So a sentence that speaks of the text is said only if undoing, there, what it names makes the
gradient right. Where the lines cannot be read again, the prediction alone speaks.
"""

import ast
from collections.abc import Collection, Iterator
from functools import partial

from app.bindings import called
from app.grading.diagnosis import mend
from app.grading.diagnosis.case_view import CaseView
from app.grading.diagnosis.grammar import Change, Words, attribute
from app.grading.diagnosis.mend import is_mended

PRODUCTS = frozenset(
    {"matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "einsum", "tensordot", "addmm", "baddbmm", "linear", "ger"}
)
CURABLE = (ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.UnaryOp)


def multiplies_matrices(view: CaseView) -> bool:
    """Whether the learner's lines hold a matrix product."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    return not nodes or any(isinstance(node, ast.MatMult) or called(node) in PRODUCTS for node in nodes)


def reads(view: CaseView, names: Collection[str]) -> bool:
    """Whether the learner's lines read each of *names*."""
    return not view.lines or view.names.issuperset(names)


def cannot_be_read(view: CaseView) -> bool:
    """Whether the learner's lines cannot be read again, so that no edit of them speaks for or against a sentence."""
    return not view.once(mend.reruns)


def has_numbers(view: CaseView) -> bool:
    """Whether numbers stand in the lines that write the gradient."""
    return not view.lines or bool(view.numbers)


def lacks_factor(view: CaseView, name: str) -> bool:
    """Whether the tensor *name* put in as a factor at some place, or no longer divided by, makes the gradient right."""
    return is_mended(view, [partial(_multiplied, name)])


def has_factor(view: CaseView, name: str) -> bool:
    """Whether a division by the tensor *name* at some place makes the gradient right."""
    return is_mended(view, [partial(_divided, name)])


def lacks_no_gradient(view: CaseView) -> bool:
    """Whether a gradient put in as a factor makes nothing right: a term that lacks one may vanish by nature."""
    kinds = [partial(_multiplied, name) for name in view.case.looks[0].gradients]
    return not view.once(mend.reruns) or not is_mended(view, kinds)


def lacks_sum(view: CaseView) -> bool:
    """Whether a sum or an average put in at some place makes the gradient right."""
    return is_mended(view, [_summed])


def _multiplied(name: str, node: ast.expr, _words: Words) -> Iterator[Change]:
    if isinstance(node, CURABLE):
        yield Change("put-factor", ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load())))


def _divided(name: str, node: ast.expr, _words: Words) -> Iterator[Change]:
    if isinstance(node, CURABLE):
        yield Change("put-division", ast.BinOp(node, ast.Div(), ast.Name(name, ast.Load())))


def _summed(node: ast.expr, _words: Words) -> Iterator[Change]:
    if isinstance(node, CURABLE):
        for way in ("sum", "mean"):
            for axis in (0, 1, -1):
                keep = [ast.keyword("keepdim", ast.Constant(True))]
                yield Change("put-sum", ast.Call(attribute(node, way), [ast.Constant(axis)], keep))
