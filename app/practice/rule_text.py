"""A backward rule of `reading.rules` as a line of torch."""

import ast
from collections.abc import Mapping, Sequence

from app.practice.shapes import Shape
from app.syntax import parse_expression

ALONG: Mapping[str, str] = {
    "S": "{1}.sum({axis}, keepdim=True)",
    "M": "{1}.mean({axis}, keepdim=True)",
    "C": "{1}.flip({axis}).cumsum({axis}).flip({axis})",
    "F": "{1}.cumsum({axis})",
    "O": "{1}.sum({aside}, keepdim=True)",
    "softmax": "torch.softmax({0}, {axis})",
    "other": "torch.softmax({0}, {aside})",
    "low": "{1}.amin({axis}, keepdim=True)",
    "most": "{1}.amax({aside}, keepdim=True)",
    "area": "0.5 * (1 + torch.erf({1} / 2 ** 0.5))",
    "bell": "torch.exp(-{1} ** 2 / 2) / (2 * math.pi) ** 0.5",
    **{name: f"torch.{name}({{0}})" for name in ("sigmoid", "tanh", "sqrt", "exp", "sin", "cos", "sign", "log", "erf")},
}
"""The functions of rules, and those of slips; `aside` is the other axis of two."""
OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.LtE, ast.Lt: ast.GtE}


def rule_in_torch(rule: str, words: Mapping[str, str], ranks: Mapping[str, int], axis: int | None) -> str:
    """*rule* in torch.

    Args:
        words: What the words of the rule stand for.
        ranks: How many axes have those that it may transpose.
        axis: What it sums, averages or cumulates along.

    Raises:
        KeyError: The rule has a word that is not known here.
    """
    tree = parse_expression(rule)
    return ast.unparse(ast.fix_missing_locations(_Torch(words, ranks, axis).put(tree)))


class _Torch(ast.NodeTransformer):
    def __init__(self, words: Mapping[str, str], ranks: Mapping[str, int], axis: int | None) -> None:
        self._words, self._ranks, self._axis = words, ranks, axis

    def put(self, node: ast.expr) -> ast.expr:
        expression = self.visit(node)
        assert isinstance(expression, ast.expr)
        return expression

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id in {"torch", "F", "math"} else _parse_text(self._words[node.id])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="T"), args=[ast.Name(id=word)]):
                return ast.Attribute(self.put(node.args[0]), "T" if self._ranks[word] == 2 else "mT", ast.Load())
            case ast.Call(func=ast.Name(id=word), args=[inner]):
                if word not in ALONG:
                    raise KeyError(f"{word}(…) of a rule is not known here: add it to ALONG, and to reading.rules")
                aside = None if self._axis is None else 1 - self._axis
                text = ast.unparse(self.put(inner))
                whole = text if text.isidentifier() else f"({text})"
                return _parse_text(ALONG[word].format(text, whole, axis=self._axis, aside=aside))
        expression = self.generic_visit(node)
        assert isinstance(expression, ast.expr)
        return expression

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.put(node.left), self.put(node.right)
        first, second = _number(left), _number(right)
        match node.op, right:
            case ast.Sub(), _ if first is not None and second is not None:
                return _parse_text(repr(first - second))
            case ast.Sub(), ast.Compare(left=inner, ops=[op], comparators=others) if first == 1:
                return ast.Compare(inner, [OPPOSITE[type(op)]()], others)
        idle = second == 1 and isinstance(node.op, ast.Mult | ast.Pow)
        return left if idle else ast.BinOp(left, node.op, right)


def _number(node: ast.expr) -> int | float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int | float) else None


def _parse_text(text: str) -> ast.expr:
    return parse_expression(text)


def sum_text(text: str, have: Shape, want: Shape) -> str:
    """*text*, of shape *have*, summed over what was copied to make it of shape *want*."""
    lead = len(have) - len(want)
    kept = [lead + at for at, size in enumerate(want) if size == "1" and have[lead + at] != "1"]
    return _sum(_sum(text, kept, ", keepdim=True"), list(range(lead)), "")


def _sum(text: str, axes: Sequence[int], more: str) -> str:
    if not axes:
        return text
    whole = text if text.isidentifier() else f"({text})"
    return f"{whole}.sum({axes[0] if len(axes) == 1 else tuple(axes)}{more})"
