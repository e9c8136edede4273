"""The backward rule of an operation at a node: what the gradient `g` at its output sends to each operand.

The table of operations has one text for each operand, in the words of the field: `x` is the operand that is followed,
`z` the other one, `y` the output; of a reduction `g` and `y` keep their axes. `S`, `M` and `C` sum, average and
cumulate backwards along the axes of the operation; `T` transposes. Further words are `p` (exponent), `n` (how many
entries count), `c` (correction), `t` (one-hot labels), `m` (mask), `low` and `high` (limits), `u`, `r` and `w`
(standardised input, its factor, gain). Operations that only put entries elsewhere have no rule: see `moved_back`.

The slips that learners make are edits of these texts, see `grammar` and `slips`. The texts are ours alone: they are
compiled, and no text of a learner's ever is.
"""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from app.grading.operations.curves import GELU_CUBE, GELU_INNER, gelu_tanh_argument, normal_area, normal_density
from app.grading.operations.numerics import Array, Axes, softmax, swapped
from app.grading.operations.table import FUNCTIONS, OPERATIONS, RULES
from app.grading.reading.node import OpNode, moved_back, reduced_count, with_kept_axes
from app.syntax import every_name_in, nodes_in, parse_expression

PASSED_ON = frozenset(op for op, texts in RULES.items() if {*texts} <= {"g", "-g"})
"""Operations that send the upstream gradient back as it is, or its opposite."""
ELEMENTWISE = frozenset({*FUNCTIONS, "add", "sub", "mul", "div", "pow"})
"""Operations whose output has one entry for each entry of the operand, but for broadcasting."""
CONSTANTS: Mapping[str, Any] = {
    **FUNCTIONS, "bell": normal_density, "area": normal_area, "bent": gelu_tanh_argument, "sign": np.sign,
    "pi": math.pi, "k": GELU_INNER, "a": GELU_CUBE, "T": swapped, "__builtins__": {},
}  # fmt: skip


def rule_of(node: OpNode, position: int) -> str | None:
    """The text of the rule; None for a move, or where no rule is known."""
    rules = RULES.get(node.op, ())
    return rules[position] if position < len(rules) else None


@cache
def compiled(text: str) -> CodeType:
    """One of our own texts, ready to be evaluated."""
    return compile(ast.parse(text, mode="eval"), "<rule>", "eval")


@lru_cache(maxsize=1024)
def names_of(text: str) -> frozenset[str]:
    """The words that a rule reads."""
    return frozenset(every_name_in(ast.parse(text, mode="eval")))


@cache
def joins_entries(text: str) -> bool:
    """True if by the rule *text* one entry of what arrives reaches several entries of the operand."""
    calls = (node for node in nodes_in(ast.parse(text, mode="eval")) if isinstance(node, ast.Call))
    return any(isinstance(inner, ast.Name) and inner.id == "g" for node in calls for inner in nodes_in(node))


@cache
def terms_of(op: str, rule: str) -> Mapping[str, str]:
    """By word: the texts that add up to *rule*; empty where it is no sum with names for its terms."""
    terms = _split(parse_expression(rule))
    texts = [ast.unparse(ast.fix_missing_locations(term)) for term in terms]
    words = OPERATIONS[op].terms.split()
    return dict(zip(words, texts, strict=True)) if len(words) == len(texts) else {}


def _split(node: ast.expr) -> list[ast.expr]:
    """The sum nearest to the root, with what it is multiplied by on each of its terms."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_split_sum(left), right]
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [*_split_sum(left), ast.UnaryOp(ast.USub(), right)]
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            if len(terms := _split(left)) > 1:
                return [ast.BinOp(term, op, right) for term in terms]
            if isinstance(op, ast.Mult):
                return [ast.BinOp(left, op, inner) for inner in _split(right)]
    return [node]


def _split_sum(node: ast.expr) -> list[ast.expr]:
    return _split(node) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) else [node]


def words_of(node: OpNode, position: int, g: Array) -> dict[str, Any]:
    """Values of the words of a rule at *node*, with *g* at its output."""
    x, y, axes = node.operands[position].value, node.value, node.options.get("axes")
    words: dict[str, Any] = {"g": g, "x": x, "y": y, **node.options.get("words", {})}
    if len(node.operands) > 1:
        words["z"] = node.operands[1 - position].value
    if axes is not None:
        narrow = not node.options.get("keepdim", True)
        words |= {"g": with_kept_axes(g, node), "y": with_kept_axes(y, node)} if narrow else {}
        words.setdefault("n", reduced_count(node))
        words |= axis_functions(axes)
    if node.op == "matmul":
        left, right = (op_node.value for op_node in node.operands)
        wide = g[..., None] if right.ndim == 1 else g
        words["g"] = wide[..., None, :] if left.ndim == 1 else wide
        other = node.operands[1 - position].value
        words["z"] = other if other.ndim > 1 else (other[None, :] if position else other[:, None])
    return words


def axis_functions(axes: Axes) -> dict[str, Callable[..., Any]]:
    """The functions of a rule that work along *axes*."""
    return {
        "S": partial(np.sum, axis=axes, keepdims=True),
        "M": partial(np.mean, axis=axes, keepdims=True),
        "C": partial(_from_the_end, axes=axes),
        "softmax": partial(softmax, axes=axes),
    }


def _from_the_end(g: Array, axes: Axes) -> Array:
    return np.flip(np.flip(g, axes).cumsum(axes[0]), axes)


def evaluate_rule(text: str, words: Mapping[str, Any], node: OpNode, position: int) -> Array:
    """Evaluate the rule *text*: what it sends to the operand, before a broadcast is undone."""
    full = np.asarray(eval(compiled(text), dict(CONSTANTS), words), dtype=np.float64)
    if node.op == "matmul" and position == 1 and node.operands[1].value.ndim == 1:
        return full[..., 0]
    return full


def backward(node: OpNode, position: int, g: Array) -> Array:
    """Vector-Jacobian product of *node*: what *g* at its output sends to the operand at *position*, before a broadcast
    is undone.

    Raises:
        KeyError: No rule is known for the operation.
    """
    text = rule_of(node, position)
    if text is not None:
        full, shape = (
            evaluate_rule(text, words_of(node, position, g), node, position),
            node.operands[position].value.shape,
        )
        return full if full.shape == shape else np.broadcast_to(full, np.broadcast_shapes(full.shape, shape))
    if "act" in node.options:
        return moved_back(node, position, g)
    if node.op == "conv":
        return _convolution_back(node, position, g)
    return np.asarray(node.options["back"](position, g))


def _convolution_back(node: OpNode, position: int, g: Array) -> Array:
    """A convolution is a product of windows with the kernel; windows are a move."""
    cut, kernel = node.options["windows"], node.operands[1].value
    places = tuple(range(2, kernel.ndim))
    if position == 1:
        return np.tensordot(g, cut.value, ([0, *places], [0, *places]))
    if position > 1:
        return np.asarray(g.sum((0, *places)))
    sent = np.tensordot(g, kernel, ([1], [0]))
    return moved_back(cut, 0, np.moveaxis(sent, kernel.ndim - 1, 1))


def with_operand(node: OpNode, place: int, value: Array) -> OpNode:
    """*node* as if the operand at *place* were *value*; its own value stays."""
    operands = list(node.operands)
    operands[place] = replace(operands[place], value=value)
    return replace(node, operands=tuple(operands))
