"""Claims that a sentence makes of the learner's lines, each tried by its opposite before it is shown.

That a prediction equals the learner's tensor shows that the numbers fit, not that the text does: another text may come
to the same numbers. So a sentence that speaks of the text is said only if undoing, there, what it names makes the
gradient right. Where the lines cannot be read again, the prediction alone speaks.
"""

import ast
import builtins
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from app.bindings import freshly_bound, nodes_of
from app.grading.diagnosis.brackets import bracket_edits
from app.grading.diagnosis.call_kinds import CURABLE
from app.grading.diagnosis.evidence import Claim
from app.grading.diagnosis.feeding_lines import reads
from app.grading.diagnosis.gradient_analysis import GradientAnalysis
from app.grading.diagnosis.grammar import (
    EditVocabulary,
    Kind,
    Replacement,
    attribute,
    factor_removal_edits,
    grouping_edits,
    keeping_axis,
    name_edits,
    operator_edits,
    power_edits,
    removal_edits,
)
from app.grading.diagnosis.rerun import line_replays
from app.grading.diagnosis.single_edit_search import is_mended, joins_matrices
from app.grading.operations.table import FUNCTIONS
from app.syntax import called_name, is_binary, name_node, name_of, nodes_in, tuple_parts

ROUNDED = 1e-3
"""How far from a size, or one over it, a number may be that was written for it."""
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


def multiplies_matrices(view: GradientAnalysis) -> bool:
    """True if the learner's lines hold a matrix product."""
    return not view.text.lines or any(map(joins_matrices, view.text.lines))


def reads_all(view: GradientAnalysis, names: Collection[str]) -> bool:
    """True if the learner's lines read each of *names*."""
    return not view.text.lines or view.text.names.issuperset(names)


def cannot_be_read(view: GradientAnalysis) -> bool:
    """True if the learner's lines cannot be read again, so that no edit of them speaks for or against a sentence."""
    return not view.once(line_replays)


def is_unmended(view: GradientAnalysis, kinds: Sequence[Kind]) -> bool:
    """True if no edit of *kinds* makes the gradient right; also where the lines cannot be read again."""
    return cannot_be_read(view) or not is_mended(view, kinds)


def has_gate(view: GradientAnalysis) -> bool:
    """True if the learner's lines compare, or choose by numbers."""
    return any(isinstance(node, ast.Compare) or called_name(node) in GATES for node in view.text.nodes)


def compares_right(view: GradientAnalysis) -> bool:
    """True if no gate in the lines has another operator: by its numbers such a one may be open throughout."""
    return not has_gate(view) or is_unmended(view, (operator_edits,))


def starts_from(view: GradientAnalysis, name: str) -> bool:
    """True if the lines read *name*, and no gate which its numbers open only makes it look as if they start there."""
    return reads_all(view, (name,)) and compares_right(view)


def all_of(*claims: Claim) -> bool:
    return all(claim() for claim in claims)


def keeps_minus(view: GradientAnalysis, code: str) -> bool:
    """True if a minus in the lines may be that of the local derivative which the mistake *code* says to be missing."""
    return code.startswith("local-missing") and any(isinstance(node, ast.USub) for node in view.text.nodes)


def puts_through(view: GradientAnalysis, names: Collection[str]) -> bool:
    """True if the learner's lines raise to a power, or put into a function, what reads one of *names*."""
    raised = [node for node in view.text.nodes if is_binary(node, "**")]
    inside = (
        inner
        for node in (*raised, *(item for item in view.text.nodes if called_name(item) in FUNCTIONS))
        for inner in nodes_in(node)
    )
    return cannot_be_read(view) or any(name_of(node) in names for node in inside)


def takes_parts(view: GradientAnalysis) -> bool:
    """True if the learner's lines take or write parts of a tensor, by an index, in a loop or by a function."""
    loops = any(isinstance(node, LOOPS) for line in view.case.lines for node in nodes_of(line))
    indices = (node.slice for node in view.text.nodes if isinstance(node, ast.Subscript))
    parts = (part for index in indices for part in tuple_parts(index))
    return (
        cannot_be_read(view)
        or loops
        or any(called_name(node) in PARTS for node in view.text.nodes)
        or any(map(_picks, parts))
    )


def writes_parts(view: GradientAnalysis) -> bool:
    """True if one of the learner's lines writes into parts of a tensor, or puts one together from parts."""
    stores = (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in view.text.nodes)
    return cannot_be_read(view) or any(stores) or any(called_name(node) in PLACING for node in view.text.nodes)


def _picks(part: ast.expr) -> bool:
    """True if a part of an index leaves something out."""
    match part:
        case (
            ast.Slice(lower=None, upper=None, step=None)
            | ast.Constant(value=None)
            | ast.Constant(value=builtins.Ellipsis)
        ):
            return False
    return True


def lacks_factor(view: GradientAnalysis, name: str) -> bool:
    """True if the tensor *name* put in as a factor at some place, or no longer divided by, makes the gradient right.

    A product in the place of a sum puts in a factor as well, and so do another exponent, brackets or another name: then
    these are wrong.
    """
    others = (operator_edits, power_edits, grouping_edits, bracket_edits, name_edits)
    return is_mended(view, [partial(_multiplied, name)]) and is_unmended(view, others)


def lacks_written_factor(view: GradientAnalysis, name: str) -> bool:
    """The same where nothing is divided by *name*, so that a factor is what is missing."""
    return not view.text.divides_by(name) and lacks_factor(view, name)


def divides_once_more(view: GradientAnalysis, name: str) -> bool:
    """True if a division by *name* is written, and the gradient is right without one."""
    if cannot_be_read(view) or not view.text.divides_by(name):
        return False
    return lacks_factor(view, name) and is_mended(view, (factor_removal_edits,))


def has_factor(view: GradientAnalysis, name: str) -> bool:
    """True if a division by the tensor *name* at some place mends the gradient, and so does leaving something out."""
    return _lacks(view, name) and is_mended(view, (removal_edits,))


def _lacks(view: GradientAnalysis, name: str) -> bool:
    return is_mended(view, [partial(_divided, name)])


def lacks_division(view: GradientAnalysis, name: str) -> bool:
    """The same where no operator, exponent or factor that stands in the lines is what is wrong."""
    others = (operator_edits, power_edits, factor_removal_edits, grouping_edits, bracket_edits)
    return _lacks(view, name) and is_unmended(view, others)


def numbers_in(view: GradientAnalysis) -> list[float]:
    """Numbers that are written in the learner's lines."""
    return [
        node.value for node in view.text.nodes if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]


def seen_in_product(view: GradientAnalysis, name: str) -> bool:
    """True; and *view* knows in which line a factor *name* makes the gradient right, if in any."""
    if not cannot_be_read(view) and is_mended(view, [partial(_multiplied, name)]):
        view.undone_in = view.once(line_replays)[0].line
    return True


def stands_for_size(view: GradientAnalysis, size: int) -> bool:
    """True if a number in the learner's lines is *size* or made of it, and no operator or exponent is what is wrong."""
    numbers = numbers_in(view)
    made = [size**power for power in (1.0, -1.0, 0.5, -0.5)]
    written = any(math.isclose(number, each, rel_tol=ROUNDED) for number in numbers for each in made)
    kinds = (operator_edits, power_edits)
    return written and is_unmended(view, kinds)


def steps_off_by(view: GradientAnalysis, ratios: Sequence[float]) -> Mapping[str, int]:
    """By name the lines that make no gradient, and whose result divided by *ratios* makes this one right.

    What another gradient reads as well is no likely place.
    """
    reruns, lines_by_step = view.once(line_replays), dict[str, int]()
    others = {name for line in view.case.lines if line not in view.text.lines for name in reads(line)}
    for line in reruns[0].lines if reruns and all(ratios) else ():
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in {
                *reruns[0].look.gradients,
                *others,
            } and _may_scale(value, ratios):
                divided = [ast.Assign(line.targets, ast.BinOp(value, ast.Div(), ast.Constant(by))) for by in ratios]
                acts = [partial(_instead, line, new) for new in divided]
                if all(rerun.is_right(rerun.rewritten(act)) for rerun, act in zip(reruns, acts, strict=True)):
                    lines_by_step[name] = line.lineno
    lines_by_step.pop(view.case.name, None)
    return lines_by_step


def scaled_in_line(view: GradientAnalysis) -> int | None:
    """The line in which a number that is no longer multiplied or divided by makes the gradient right; None for none.

    None as well in a loop: it begins at another line than the number stands in.
    """
    if cannot_be_read(view) or not is_mended(view, [_unnumbered]):
        return None
    line = view.once(line_replays)[0].line
    return None if hasattr(line, "body") else line.lineno


def _unnumbered(node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    removed = (edit for edit in factor_removal_edits(node, words) if isinstance(edit.piece, ast.Constant))
    return (edit for edit in removed if edit.kind == "drop-divisor" or not isinstance(edit.new, ast.Constant))


def raises_right(view: GradientAnalysis) -> bool:
    """True if no product of two numbers stands for a power of one: numbers alone may come to the right one by luck."""
    nodes = [node for node in view.text.nodes if isinstance(node, ast.BinOp)]
    products = any(isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant) for node in nodes)
    return not products or is_unmended(view, (operators_of({"raise", "lower"}),))


def makes_steps(view: GradientAnalysis) -> bool:
    """True if the learner's lines make a tensor on the way that is no gradient of the box."""
    made = {name for line in view.text.lines for name in freshly_bound(line)}
    return bool(made - view.first_look.gradients.keys() - {view.case.name})


def _may_scale(value: ast.expr, ratios: Sequence[float]) -> bool:
    """True if a sign, or a factor, may be off in *value* itself."""
    operators = [getattr(node, "op", None) for node in nodes_in(value)]
    signs, factors = (ast.USub, ast.Sub), (ast.Mult, ast.Div, ast.Pow)
    return any(isinstance(operator, signs if ratios[0] == -1.0 else factors) for operator in operators)


def _instead(old: ast.stmt, new: ast.stmt, line: ast.stmt) -> ast.stmt:
    return new if line is old else line


def lacks_no_gradient(view: GradientAnalysis) -> bool:
    """True if a gradient put in as a factor makes nothing right: a term that lacks one may vanish by nature."""
    kinds = [partial(_multiplied, name) for name in view.first_look.gradients]
    return is_unmended(view, kinds)


def is_there(view: GradientAnalysis) -> bool:
    """True if something stands in the lines too often, in a sum or with another exponent: then it is not left out."""
    added = operators_of({"product", "product-sub"})
    return not cannot_be_read(view) and is_mended(view, [power_edits, factor_removal_edits, added])


def lacks_sum(view: GradientAnalysis) -> bool:
    """True if a sum or an average put in at some place makes the gradient right."""
    return is_mended(view, [_summed])


def upstream_edits(view: GradientAnalysis) -> Kind:
    """Edits that put what arrives in the place of a gradient that does not."""
    arriving = {f"d{path.consumer}" for path in view.paths} & view.first_look.gradients.keys()
    others = view.first_look.gradients.keys() - arriving - {view.case.name}
    return partial(_started, arriving, others)


def _started(
    arriving: Collection[str], others: Collection[str], node: ast.expr, _words: EditVocabulary
) -> Iterator[Replacement]:
    if name_of(node) in others:
        for name in sorted(arriving):
            yield Replacement("gradient", name_node(name), node)


def operators_of(kinds: Collection[str]) -> Kind:
    """Edits of operators, of *kinds* alone."""
    return partial(_operators, kinds)


def has_operator(view: GradientAnalysis, kinds: Collection[str]) -> bool:
    """True if another operator in no divisor mends the gradient: in one, what it divides by is multiplied by."""
    divisors = [node.right for node in view.text.nodes if is_binary(node, "/")]
    below = {node for divisor in divisors for node in nodes_in(divisor)}
    return is_mended(view, (partial(_operators_above, below, kinds),))


def _operators_above(
    below: Collection[ast.AST], kinds: Collection[str], node: ast.expr, words: EditVocabulary
) -> Iterator[Replacement]:
    if node not in below:
        yield from _operators(kinds, node, words)


def _operators(kinds: Collection[str], node: ast.expr, words: EditVocabulary) -> Iterator[Replacement]:
    return (edit for edit in operator_edits(node, words) if edit.kind in kinds)


def turned_signs(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    """A minus that is left out, or a difference the other way round."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield Replacement("drop-minus", operand)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            yield Replacement("swap", ast.BinOp(right, ast.Sub(), left))


def _multiplied(name: str, node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE):
        yield Replacement("put-factor", ast.BinOp(node, ast.Mult(), name_node(name)))


def _divided(name: str, node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE) and name_of(node) != name:
        yield Replacement("put-division", ast.BinOp(node, ast.Div(), name_node(name)))


def _summed(node: ast.expr, _words: EditVocabulary) -> Iterator[Replacement]:
    if isinstance(node, CURABLE):
        for way in ("sum", "mean"):
            for axis in (0, 1, -1):
                yield Replacement("put-sum", ast.Call(attribute(node, way), [ast.Constant(axis)], keeping_axis()))
