"""What a sentence claims of the learner's lines, tried by its opposite before it is said.

That a prediction equals the learner's tensor shows that the numbers fit, not that the text does: another text may come
to the same numbers. So a sentence that speaks of the text is said only if undoing, there, what it names makes the
gradient right. Where the lines cannot be read again, the prediction alone speaks.
"""

import ast
import builtins
from collections.abc import Collection, Iterator
from functools import partial

from app.bindings import called_name
from app.grading.diagnosis import single_edit_search
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import EditVocabulary, Replacement, attribute, operator_edits, power_edits
from app.grading.diagnosis.single_edit_search import is_mended
from app.grading.reading.library import FUNCTIONS

PRODUCTS = frozenset(
    {"matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "einsum", "tensordot", "addmm", "baddbmm", "linear", "ger"}
)
GATES = frozenset({"where", "clamp", "relu", "sign", "heaviside", "maximum", "minimum", "gt", "lt", "ge", "le"})
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
PLACING = frozenset(
    {"cat", "stack", "pad", "index_add", "index_add_", "scatter", "scatter_", "scatter_add", "scatter_add_"}
    | {"index_put", "index_put_", "index_copy", "index_copy_", "masked_fill", "masked_fill_", "fill_", "copy_"}
)
PARTS = PLACING | frozenset(
    {"select", "narrow", "flip", "roll", "diagonal", "diag", "tril", "triu", "eye", "unbind", "split", "chunk", "fold"}
    | {"gather", "index_select", "take", "unfold", "max", "min", "argmax", "argmin", "one_hot", "einsum", "cumsum"}
)
"""Functions that take or write parts of a tensor."""
CURABLE = (ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.UnaryOp)


def multiplies_matrices(view: GradientAnalysis) -> bool:
    """Whether the learner's lines hold a matrix product."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    return not nodes or any(isinstance(node, ast.MatMult) or called_name(node) in PRODUCTS for node in nodes)


def reads_all(view: GradientAnalysis, names: Collection[str]) -> bool:
    """Whether the learner's lines read each of *names*."""
    return not view.lines or view.names.issuperset(names)


def cannot_be_read(view: GradientAnalysis) -> bool:
    """Whether the learner's lines cannot be read again, so that no edit of them speaks for or against a sentence."""
    return not view.once(single_edit_search.line_replays)


def has_gate(view: GradientAnalysis) -> bool:
    """Whether the learner's lines compare, or choose by numbers."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    return any(isinstance(node, ast.Compare) or called_name(node) in GATES for node in nodes)


def puts_through(view: GradientAnalysis, names: Collection[str]) -> bool:
    """Whether the learner's lines raise to a power, or put into a function, what reads one of *names*."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    raised = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)]
    inside = (
        inner
        for node in (*raised, *(item for item in nodes if called_name(item) in FUNCTIONS))
        for inner in ast.walk(node)
    )
    return cannot_be_read(view) or any(isinstance(node, ast.Name) and node.id in names for node in inside)


def takes_parts(view: GradientAnalysis) -> bool:
    """Whether the learner's lines take or write parts of a tensor, by an index, in a loop or by a function."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    loops = any(isinstance(node, LOOPS) for line in view.case.lines for node in ast.walk(line))
    indices = (node.slice for node in nodes if isinstance(node, ast.Subscript))
    parts = (part for index in indices for part in (index.elts if isinstance(index, ast.Tuple) else [index]))
    return cannot_be_read(view) or loops or any(called_name(node) in PARTS for node in nodes) or any(map(_picks, parts))


def writes_parts(view: GradientAnalysis) -> bool:
    """Whether one of the learner's lines writes into parts of a tensor, or puts one together from parts."""
    nodes = [node for line in view.lines for node in ast.walk(line)]
    stores = (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in nodes)
    return cannot_be_read(view) or any(stores) or any(called_name(node) in PLACING for node in nodes)


def _picks(part: ast.expr) -> bool:
    """Whether a part of an index leaves something out."""
    match part:
        case (
            ast.Slice(lower=None, upper=None, step=None)
            | ast.Constant(value=None)
            | ast.Constant(value=builtins.Ellipsis)
        ):
            return False
    return True


def lacks_factor(view: GradientAnalysis, name: str) -> bool:
    """Whether the tensor *name* put in as a factor at some place, or no longer divided by, makes the gradient right.

    A product in the place of a sum puts in a factor as well, and so does another exponent: then these are wrong.
    """
    others = (operator_edits, power_edits)
    return is_mended(view, [partial(_multiplied, name)]) and (cannot_be_read(view) or not is_mended(view, others))


def has_factor(view: GradientAnalysis, name: str) -> bool:
    """Whether a division by the tensor *name* at some place makes the gradient right."""
    return is_mended(view, [partial(_divided, name)])


def lacks_no_gradient(view: GradientAnalysis) -> bool:
    """Whether a gradient put in as a factor makes nothing right: a term that lacks one may vanish by nature."""
    kinds = [partial(_multiplied, name) for name in view.case.looks[0].gradients]
    return not view.once(single_edit_search.line_replays) or not is_mended(view, kinds)


def lacks_sum(view: GradientAnalysis) -> bool:
    """Whether a sum or an average put in at some place makes the gradient right."""
    return is_mended(view, [_summed])


def _multiplied(name: str, node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE):
        yield Replacement("put-factor", ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load())))


def _divided(name: str, node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE) and not (isinstance(node, ast.Name) and node.id == name):
        yield Replacement("put-division", ast.BinOp(node, ast.Div(), ast.Name(name, ast.Load())))


def _summed(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE):
        for way in ("sum", "mean"):
            for axis in (0, 1, -1):
                keep = [ast.keyword("keepdim", ast.Constant(True))]
                yield Replacement("put-sum", ast.Call(attribute(node, way), [ast.Constant(axis)], keep))
