"""The backward pass of a program as text: the rules of its operations, written in torch, shares added up at forks."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Shape = tuple[str, ...]
METHODS = {"S": "sum", "M": "mean"}
TORCH = frozenset({"sigmoid", "tanh", "sqrt", "exp", "sin", "cos", "sign", "log"})
VIEWS = frozenset({"T", "mT", "expand_as", "reshape", "permute", "transpose", "view_as", "unsqueeze", "squeeze"})


@dataclass(frozen=True, slots=True)
class Term:
    """What one line sends to one operand: *text* is torch, with the gradient of the line's own output in it."""

    to: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A line of the forward program that makes *name* by an *operation*, with its terms."""

    name: str
    text: str
    operation: str
    terms: tuple[Term, ...]


def written(rule: str, words: Mapping[str, str], rank: Mapping[str, int], axis: int | None) -> str:
    """*rule* in torch.

    Args:
        words: What the words of the rule stand for.
        rank: How many axes the words have that it may transpose.
        axis: What its functions `S`, `M`, `C` and `softmax` go along.
    """
    tree = ast.parse(rule, mode="eval").body
    return ast.unparse(ast.fix_missing_locations(_Torch(words, rank, axis).visit(tree)))


class _Torch(ast.NodeTransformer):
    def __init__(self, words: Mapping[str, str], rank: Mapping[str, int], axis: int | None) -> None:
        self._words, self._rank, self._axis = words, rank, axis

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self._words.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Name(id=("S" | "M") as word):
                inner = ast.unparse(self.visit(node.args[0]))
                return _parsed(f"({inner}).{METHODS[word]}({self._axis}, keepdim=True)")
            case ast.Name(id="C"):
                inner = ast.unparse(self.visit(node.args[0]))
                return _parsed(f"({inner}).flip({self._axis}).cumsum({self._axis}).flip({self._axis})")
            case ast.Name(id="T"):
                assert isinstance(node.args[0], ast.Name), "rules transpose words"
                turn = "T" if self._rank[node.args[0].id] == 2 else "mT"
                return ast.Attribute(self.visit(node.args[0]), turn, ast.Load())
            case ast.Name(id="softmax"):
                return _parsed(f"torch.softmax({ast.unparse(self.visit(node.args[0]))}, {self._axis})")
            case ast.Name(id=word) if word in TORCH:
                return _parsed(f"torch.{word}({ast.unparse(self.visit(node.args[0]))})")
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.expr)
        return visited

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        assert isinstance(left, ast.expr)
        assert isinstance(right, ast.expr)
        first, second = _number(left), _number(right)
        if first is not None and second is not None and isinstance(node.op, ast.Sub):
            return _parsed(repr(first - second))
        idle = second == 1 and isinstance(node.op, ast.Mult | ast.Pow)
        return left if idle else ast.BinOp(left, node.op, right)


def _number(node: ast.expr) -> int | float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int | float) else None


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def summed(text: str, have: Shape, want: Shape) -> str:
    """*text*, of shape *have*, summed over what was copied to make it of shape *want*."""
    lead = len(have) - len(want)
    kept = [lead + at for at, size in enumerate(want) if size == "1" and have[lead + at] != "1"]
    return _sum(_sum(text, kept, ", keepdim=True"), list(range(lead)), "")


def _sum(text: str, axes: Sequence[int], more: str) -> str:
    if not axes:
        return text
    plain = text.isidentifier()
    return f"{text if plain else f'({text})'}.sum({axes[0] if len(axes) == 1 else tuple(axes)}{more})"


def backward(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    """The lines of the backward pass, each with its operation; later shares of a tensor are added with `+=`."""
    terms = [(step.operation, term) for step in reversed(steps) for term in step.terms]
    shares = {term.to: sum(one.to == term.to for _, one in terms) for _, term in terms}
    begun: set[str] = set()
    lines = []
    for operation, term in terms:
        again = term.to in begun
        text = term.text if again or shares[term.to] == 1 else _own(term.text)
        lines.append((f"d{term.to} {'+=' if again else '='} {text}", operation))
        begun.add(term.to)
    return tuple(lines)


def _own(text: str) -> str:
    """*text* with memory of its own: shares are added to it, and it may be a view of another gradient."""
    match ast.parse(text, mode="eval").body:
        case ast.Name():
            return f"{text}.clone()"
        case ast.Attribute(attr=attr) | ast.Call(func=ast.Attribute(attr=attr)) if attr in VIEWS:
            return f"{text}.clone()"
        case ast.Subscript():
            return f"{text}.clone()"
    return text
