"""Vocabulary over the syntax of Python: texts to trees and back, and the plain questions that readers ask of a node.

A module that only carries statements or asks one of these questions needs no more than this; one that matches on the
shapes of syntax belongs beside the readers.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeGuard, TypeVar

Node = ast.AST
Program = ast.Module
Statement = ast.stmt
Expression = ast.expr
N = TypeVar("N", bound=ast.AST)

_NEGATIVE_POWER = re.compile(r"\*\* \((-\d{1,20}(?:\.\d{1,20})?)\)(?! \*\*)")
_SHORT_EXPONENT = re.compile(r"(?<=\d)e-0(?=\d)")
_TEXT_FIELDS = frozenset(["id", "attr", "arg", "name", "kind", "type_comment"])
_NODE_FIELDS: dict[type[Node], tuple[str, ...]] = {}
_LONG_NUMBER = re.compile(r"(?<![\w.])([1-9])(0{6,})\.0(?!\d)")
BINARY_SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_SIGNS: Mapping[type[ast.AST], str] = {ast.UAdd: "+", ast.USub: "-"} | dict(BINARY_SIGNS.items())


def plain_lines(text: str) -> str:
    """*text* with plain ends of lines, and without NUL, which no database and no program needs."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def parse_code(code: str) -> Program:
    r"""Parse *code* to a tree; warnings are off, since torch users write `\d` in texts."""
    if "\0" in code:
        # Python before 3.11.4 has a ValueError for it.
        raise SyntaxError("source code string cannot contain null bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def parse_expression(text: str) -> Expression:
    """Parse *text* to one expression.

    Raises:
        SyntaxError: It is none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def statements_of(source: str) -> list[Statement]:
    """The statements of *source*; none where it is no Python. Never raises."""
    try:
        return parse_code(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def program_of(statements: Iterable[Statement]) -> Program:
    """A program of *statements* alone."""
    return ast.Module([*statements], [])


def source_text(node: Node) -> str:
    """*node* as Python, in one spelling for each thing and without comments."""
    return ast.unparse(node)


def as_written(node: Node) -> str:
    """The text of *node* on one line, with numbers as people write them: `x ** -2`, `1e-5` and `-1e9`."""
    text = " ".join(ast.unparse(node).split())
    text = _LONG_NUMBER.sub(lambda number: f"{number[1]}e{len(number[2])}", text)
    return _SHORT_EXPONENT.sub(r"e-", _NEGATIVE_POWER.sub(r"** \1", text))


def without_style(code: str) -> str:
    """*code* as its syntax alone says it: no comments, and one way to write each thing."""
    return ast.unparse(parse_code(code))


def syntax_key(node: Node) -> str:
    """Key that two nodes share if they are the same syntax, wherever they are written."""
    return ast.dump(node)


def nodes_in(node: Node) -> list[Node]:
    """*node* and everything inside of it, in the order of `ast.walk`, which takes three times as long."""
    nodes = [node]
    for inner in nodes:  # which grows meanwhile
        kind = type(inner)
        for name in _NODE_FIELDS[kind] if kind in _NODE_FIELDS else _list_node_fields(kind):
            value = getattr(inner, name, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [part for part in value if isinstance(part, ast.AST)]
    return nodes


def _list_node_fields(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a *kind* of node that may hold other nodes: a constant has none, and a name is a text."""
    names = tuple(name for name in kind._fields if name not in _TEXT_FIELDS and kind is not ast.Constant)
    return _NODE_FIELDS.setdefault(kind, names)


def rewritten(node: N, change: Callable[[Node], Node]) -> N:
    """A copy of *node* with what *change* makes of each part in its place; what it puts in is not changed again."""

    class Rewriter(ast.NodeTransformer):
        def visit(self, part: Node) -> Any:
            changed = change(part)
            return self.generic_visit(part) if changed is part else changed

    copy: N = Rewriter().visit(deepcopy(node))
    ast.fix_missing_locations(copy)
    return copy


def name_of(node: object) -> str:
    """The name that *node* is; empty where it is something else."""
    return node.id if isinstance(node, ast.Name) else ""


def every_name_in(node: Node) -> set[str]:
    """Every name in *node*, read or written."""
    return {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name)}


def names_in_order(node: Node) -> list[str]:
    """Every name in *node*, each time that it is written, in the order of the text."""
    names = [inner for inner in nodes_in(node) if isinstance(inner, ast.Name)]
    return [name.id for name in sorted(names, key=lambda name: (name.lineno, name.col_offset))]


def names_loaded(node: Node) -> set[str]:
    """The names that are read in *node*; `x` of `x += y` is none."""
    return {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def names_stored(node: Node) -> set[str]:
    """The names that are assigned in *node*."""
    return {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def is_simple(node: object) -> bool:
    """True if *node* is a statement that does nothing but assign, or evaluate."""
    return isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)


def is_loop(node: object) -> bool:
    """True if *node* is a `for` statement."""
    return isinstance(node, ast.For)


def loop_steps_of(node: Statement) -> Expression | None:
    """The expression that a `for` statement goes through; None for any other statement."""
    return node.iter if isinstance(node, ast.For) else None


def is_collection(node: object) -> bool:
    """True if *node* is a list or a dictionary, written out or as a comprehension."""
    return isinstance(node, ast.List | ast.Dict | ast.ListComp | ast.DictComp)


def name_node(name: str) -> Expression:
    """The expression that reads *name*."""
    return ast.Name(name, ast.Load())


def number_node(number: int) -> Expression:
    """The expression that is *number*."""
    return ast.Constant(number)


def part_of(node: Expression, rank: int) -> Expression:
    """The expression `node[rank]`."""
    return ast.Subscript(node, ast.Constant(rank), ast.Load())


def number_of(node: Node) -> int | float | None:
    """The number that *node* is; None where it is none, and for a truth value."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def is_constant(node: object, *types: type) -> bool:
    """True if *node* is a constant of one of *types*."""
    return isinstance(node, ast.Constant) and isinstance(node.value, types)


def elements_of(node: Node) -> list[Expression] | None:
    """The elements of a list or a tuple that is written out; None for anything else."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else None


def tuple_parts(node: Expression) -> list[Expression]:
    """The parts of a tuple that is written out, as in `x[:, t]`; of anything else *node* alone."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def called_name(node: Node) -> str:
    """The bare name of the function or method that *node* calls; empty where it is no call."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def function_of(node: object) -> Expression | None:
    """The expression that *node* calls; None where it is no call."""
    return node.func if isinstance(node, ast.Call) else None


def owner_of(node: object) -> Expression | None:
    """The expression before the dot of an attribute, or of the method that *node* calls; None where there is no dot."""
    attribute = node.func if isinstance(node, ast.Call) else node
    return attribute.value if isinstance(attribute, ast.Attribute) else None


def attribute_of(node: object) -> str:
    """The attribute that *node* reads; empty where it reads none."""
    return node.attr if isinstance(node, ast.Attribute) else ""


def arguments_of(node: object) -> list[Expression]:
    """The arguments of a call that are given by their position."""
    return node.args if isinstance(node, ast.Call) else []


def options_of(node: object) -> dict[str, Expression]:
    """The arguments of a call that are given by their name; `**` has the name ""."""
    return {keyword.arg or "": keyword.value for keyword in node.keywords} if isinstance(node, ast.Call) else {}


def index_of(node: object) -> Expression | None:
    """The index in the brackets of `x[index]`; None for anything else."""
    return node.slice if isinstance(node, ast.Subscript) else None


def indexed_of(node: object) -> Expression | None:
    """The expression before the brackets of `x[index]`; None for anything else."""
    return node.value if isinstance(node, ast.Subscript) else None


def bounds_of(node: object) -> list[Expression]:
    """The bounds that are written in a slice, the lower one first."""
    bounds = (node.lower, node.upper) if isinstance(node, ast.Slice) else ()
    return [bound for bound in bounds if bound is not None]


def defined_name(node: Node) -> str:
    """The name of the function that *node* defines; empty where it defines none."""
    return node.name if isinstance(node, ast.FunctionDef) else ""


def parameters_of(node: Node) -> list[str]:
    """The names by which the function that *node* defines takes its arguments."""
    return [each.arg for each in node.args.args] if isinstance(node, ast.FunctionDef) else []


def is_primary(node: Node) -> bool:
    """True if *node* needs no brackets as a side of arithmetic: a name, a call, a list and the like."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Tuple | ast.Constant)


def is_class(node: Node) -> bool:
    """True if *node* defines a class."""
    return isinstance(node, ast.ClassDef)


def is_comparison(node: object) -> TypeGuard[Expression]:
    """True if *node* compares."""
    return isinstance(node, ast.Compare)


def sign_of(node: object) -> str:
    """The sign of the operation that *node* is, such as `@` or `-`; empty where it is no arithmetic."""
    operator = getattr(node, "op", None)
    return _SIGNS.get(type(operator), "") if isinstance(operator, ast.AST) else ""


def is_binary(node: object, signs: str = "") -> TypeGuard[ast.BinOp]:
    """True if *node* is arithmetic of two sides, with one of *signs*, such as `"+ -"`; or with any."""
    return isinstance(node, ast.BinOp) and (not signs or sign_of(node) in signs.split())


def is_negated(node: object) -> bool:
    """True if *node* is something with a minus in front."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def sides_of(node: object) -> tuple[Expression, Expression] | None:
    """Both sides of arithmetic, of a single comparison, or of a statement such as `x += y`; None for anything else."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return left, right
        case ast.AugAssign(target=left, value=right):
            return left, right
    return None


def terms_of(node: Expression) -> list[Expression]:
    """The terms that *node* adds up, or takes from each other; one in brackets is one."""
    if isinstance(node, ast.BinOp) and sign_of(node) in {"+", "-"}:
        return [*terms_of(node.left), node.right]
    return [node]


def is_assignment(node: Node) -> bool:
    """True if *node* assigns by a plain `=`."""
    return isinstance(node, ast.Assign)


def is_update(node: Node) -> bool:
    """True if *node* changes its target, as `x += y` does."""
    return isinstance(node, ast.AugAssign)


def targets_of(node: Node) -> list[Expression]:
    """The targets that *node* assigns to, or changes."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def right_side(node: Node) -> Expression | None:
    """The expression on the right of an assignment, or of a change such as `x += y`; None for anything else."""
    return node.value if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) else None


def expression_in(node: Node) -> Expression | None:
    """The expression that is all of the statement *node*; None where it does more."""
    return node.value if isinstance(node, ast.Expr) else None


def value_left_by(node: Statement) -> Expression | None:
    """The value of the one name that *node* writes, such as `x + y` after `x += y`; None for other ways to write."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return ast.BinOp(ast.Name(name, ast.Load()), op, value)
    return None
