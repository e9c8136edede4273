"""The gate reads a submission before it runs: a friendly word, early, about what a box is not for.

It is a courtesy, never the protection: the jail holds without it. It also holds the rule of the game, that the backward
pass is written by hand. Nothing can forbid arithmetic: learners who differentiate by other means only cheat themselves.
Both functions are total: any text at all, of any length, gets an answer in time proportional to it.
"""

import ast
import builtins
import difflib
import re
from dataclasses import dataclass

from app.content.text.lookalikes import IN_CODE, LOOKALIKES
from app.notations import attribute_words
from app.sandbox.vocabulary import ATTRIBUTES, AUTOGRAD, BUILTINS
from app.syntax import parse_code

MAX_GATED_CHARS = 50_000
CLASSES = "classes"
"""The rule of an exercise that lets a class through, with attributes of its own."""
MAX_BRACKET_DEPTH = 100

_NO_FUNCTION = {
    "open": "`open` is not available in a box: there are no files, and everything that is needed is in scope.",
    "input": "`input()` has nobody to ask in a box: everything that is needed is in scope.",
}

_KINDS = """
Module Expr Assign AugAssign AnnAssign Delete For While If Break Continue Pass FunctionDef Lambda Return
arguments arg BinOp UnaryOp BoolOp Compare IfExp Call keyword Starred Subscript Slice Tuple List Dict Set
NamedExpr Assert Raise With withitem ListComp SetComp DictComp GeneratorExp comprehension JoinedStr
FormattedValue Constant Name Attribute Nonlocal Global Load Store Del
"""
_NODES = frozenset(_KINDS.split())
_GROUPS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_LOOPS = (ast.For, ast.While, ast.comprehension)
_OPERATORS = "add radd mul rmul neg sub rsub pow rpow truediv rtruediv repr init"
_METHODS = frozenset(f"__{word}__" for word in _OPERATORS.split())
_FUNCTION = "torch.autograd.Function"
_CONTEXT = frozenset({"save_for_backward", "saved_tensors", "needs_input_grad"})
_SAID = {
    "Import": "Nothing needs to be imported: `torch`, `F` and `math` are there already. Delete this line.",
    "ImportFrom": "Nothing needs to be imported: `torch`, `F` and `math` are there already. Delete this line.",
    "ClassDef": "A box has no use for a class; a function will do.",
    "Try": "`try` would hide the mistake that you want to see. Let the line fail; its message is shown.",
    "TryStar": "`try` would hide the mistake that you want to see. Let the line fail; its message is shown.",
}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BLANK = re.compile(r"_+")
_UNARY_RUN = re.compile(rf"(?:[-+~]\s*|\bnot\s+|\blambda\s*:\s*|\bawait\s+){{{MAX_BRACKET_DEPTH},}}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusal of a submission: the reason, and its *line* and *column*, counted from 1."""

    line: int
    column: int
    message: str


class _Refused(Exception):
    def __init__(self, node: ast.AST | None, message: str) -> None:
        super().__init__(message)
        self.node = node
        self.message = message


def normalise(code: str) -> tuple[str, tuple[str, ...]]:
    """*code* with tabs, line ends and typographic characters made plain, and a notice for each kind that was there.

    Typographic characters stay where they are harmless: in comments and texts of a program that is Python as it stands.
    """
    text = code.replace("\r\n", "\n").replace("\r", "\n")
    notices = []
    if "\t" in text:
        text = text.expandtabs(4)
        notices.append("Tabs were read as four spaces.")
    lookalike = [] if text.isascii() else LOOKALIKES
    applied = [lookalikes.notice for lookalikes in lookalike if not lookalikes.meant.keys().isdisjoint(text)]
    if applied and not _is_python(text):
        text = text.translate(IN_CODE)
        notices += applied
    return text, tuple(notices)


def _is_python(code: str) -> bool:
    try:
        return too_much(code) is None and parse_code(code) is not None
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        return False


def find_refusal(code: str, rules: tuple[str, ...] = ()) -> Refusal | None:
    """Refuse *code* that breaks the rules, or return None. Text that is no Python passes: its own error says more.

    Args:
        rules: Rules of this exercise: `loops` forbids them, `classes` lets a class through.
    """
    excess = too_much(code)
    if excess:
        return excess
    try:
        tree = parse_code(code)
        nodes = _in_order(tree)
        own = _own_attributes(tree) if CLASSES in rules else frozenset()
        bases = _function_bases(tree) if CLASSES in rules else frozenset()
        for node in nodes:
            if not (CLASSES in rules and _of_a_class(node, own, bases)):
                _check(node, rules, own)
    except _Refused as refused:
        return _at(code, refused.node, refused.message)
    except SyntaxError:
        return None
    except (MemoryError, RecursionError):
        return Refusal(1, 1, "This is nested too deeply.")
    except (ValueError, OverflowError):
        return Refusal(1, 1, "This text cannot be read as a program.")
    return None


def too_much(code: str) -> Refusal | None:
    """Refuse code that would cost the parser too much, without parsing it."""
    if len(code) > MAX_GATED_CHARS:
        return Refusal(1, 1, f"The text has {len(code):,} characters; a box takes {MAX_GATED_CHARS:,}. Shorten it.")
    depth = 0
    for place, character in enumerate(code):
        if character in _OPENING:
            depth += 1
            if depth > MAX_BRACKET_DEPTH:
                return Refusal(code.count("\n", 0, place) + 1, 1, "The brackets are nested too deeply.")
        elif character in _CLOSING:
            depth = max(0, depth - 1)
    run = _UNARY_RUN.search(code)
    if run:
        return Refusal(code.count("\n", 0, run.start()) + 1, 1, "Too many signs in a row.")
    return None


def _in_order(tree: ast.Module) -> list[ast.AST]:
    """List the nodes in the order of the text, so that the first of two lines is reported.

    Raises:
        _Refused: They are nested too deeply.
    """
    nodes: list[ast.AST] = []
    deepest: list[ast.AST] = []
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        nodes.append(node)
        if depth < 2 * MAX_BRACKET_DEPTH:
            waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)][::-1]
        else:
            deepest.append(node)
    if deepest:
        raise _Refused(next((node for node in deepest if hasattr(node, "lineno")), None), "This is nested too deeply.")
    return nodes


def _own_attributes(tree: ast.Module) -> frozenset[str]:
    """The attributes and methods that a text makes itself; an engine of one's own has a `grad` and a `backward`."""
    assigned = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    methods = {function.name for node in classes for function in node.body if isinstance(function, ast.FunctionDef)}
    plain = {name for name in assigned | methods | {"grad", "backward"} if not _is_hidden(name)}
    context = _CONTEXT if _function_bases(tree) else frozenset()
    return frozenset(plain | methods & _METHODS | context)


def _function_bases(tree: ast.Module) -> frozenset[ast.AST]:
    """The nodes of every `torch.autograd.Function` that a class is made from: a backward pass of one's own, for torch.

    There alone: as a value it would lead to what differentiates by itself.
    """
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    bases = (base for node in classes for base in node.bases if ast.unparse(base) == _FUNCTION)
    return frozenset(inner for base in bases for inner in ast.walk(base))


def _of_a_class(node: ast.AST, own: frozenset[str], bases: frozenset[ast.AST]) -> bool:
    """True if *node* is a plain class, its base, one of its methods, or an attribute that the text makes itself."""
    match node:
        case ast.ClassDef(bases=[] | [_], keywords=[], decorator_list=[], name=name) if bases.issuperset(node.bases):
            _check_name(node, name)
            return True
        case ast.Name(id="staticmethod"):
            return True
        case ast.FunctionDef(name=name, decorator_list=[]) | ast.Name(id=name):  # `__radd__ = __add__` is one, too
            return name in _METHODS
        case ast.Attribute(attr=attribute):
            return attribute in own or node in bases
        case _:
            return False


def _check(node: ast.AST, rules: tuple[str, ...], own: frozenset[str]) -> None:
    kind = type(node).__name__
    if kind not in _NODES and not isinstance(node, _GROUPS):
        raise _Refused(node, _SAID.get(kind, f"`{_keyword(kind)}` is not available in a box."))
    if "loops" in rules and isinstance(node, _LOOPS):
        raise _Refused(
            node.target if isinstance(node, ast.comprehension) else node,
            "This exercise is meant to be solved without a loop: let one tensor operation do all rows.",
        )
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
            _check_name(node, name)
        case ast.Call(func=ast.Name(id="input")):
            raise _Refused(node, _NO_FUNCTION["input"])
        case ast.Attribute(attr="grad", ctx=ast.Store()):
            raise _Refused(node, "`.grad` is where torch puts a gradient. Yours has a name of its own, such as `dW`.")
        case ast.Attribute(attr=attribute):
            _check_attribute(node, attribute, own)
            if not isinstance(node.ctx, ast.Load) and attribute != "data":
                raise _Refused(node, f"`.{attribute}` cannot be assigned here; give the result a name of its own.")
        case ast.keyword(arg=str(name)) if _is_hidden(name):
            raise _Refused(node, f"`{name}` begins with an underscore and is not available in a box.")
        case ast.keyword(arg="requires_grad" as name):
            raise _Refused(node, _by_hand(name))
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            for name in names:
                _check_name(node, name)
        case ast.With(items=items):
            _check_with(node, items)
        case _:
            pass


def _check_name(node: ast.AST, name: str) -> None:
    if _is_hidden(name):
        raise _Refused(node, f"`{name}` begins with two underscores and is not available in a box.")
    if hasattr(builtins, name) and name not in BUILTINS:
        raise _Refused(node, _NO_FUNCTION.get(name, f"`{name}` is not available in a box."))


def _check_attribute(node: ast.Attribute, attribute: str, own: frozenset[str]) -> None:
    if attribute in ATTRIBUTES or _BLANK.fullmatch(attribute):
        return
    if attribute in AUTOGRAD or "backward" in attribute or attribute.startswith("requires_grad"):
        raise _Refused(node, _by_hand(attribute))
    for inner in ast.walk(node.value):  # what it stands behind may be the reason, such as `open(…).read()`
        if isinstance(inner, ast.Name):
            _check_name(inner, inner.id)
    if words := attribute_words(ast.unparse(node.value)[:60], attribute, own):
        raise _Refused(node, f"`.{attribute}` is not available in a box: {words}.")
    near = _misspelt_attribute(attribute[:60])
    meant = f" Did you mean `.{near}`?" if near else ""
    raise _Refused(node, f"`.{attribute[:60]}` is not available in a box.{meant}")


def _misspelt_attribute(word: str) -> str:
    """The attribute that *word* misspells; none where it goes on from one: `acosh` has a meaning of its own."""
    close = difflib.get_close_matches(word, ATTRIBUTES, n=1, cutoff=0.85)
    return next((name for name in close if not word.startswith(name) and not word.endswith(name)), "")


def _check_with(node: ast.With, items: list[ast.withitem]) -> None:
    for item in items:
        if not (isinstance(item.context_expr, ast.Call) and _ends_with(item.context_expr.func, "no_grad")):
            raise _Refused(node, "`with` is only of use with `torch.no_grad()` here.")


def _ends_with(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _is_hidden(name: str) -> bool:
    return name.startswith("__") and not _BLANK.fullmatch(name)


def _by_hand(word: str) -> str:
    return f"`{word}` would let torch do it. Here the backward pass is written by hand; torch is only the judge."


def _keyword(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower().removesuffix(" def").removesuffix(" stmt")


def _at(code: str, node: ast.AST | None, message: str) -> Refusal:
    line = getattr(node, "lineno", 1)
    column = getattr(node, "col_offset", 0)
    if isinstance(node, ast.Attribute) and node.end_lineno is not None and node.end_col_offset is not None:
        line, column = node.end_lineno, node.end_col_offset - len(node.attr.encode())
    lines = code.split("\n")
    before = lines[line - 1].encode()[:column] if 0 < line <= len(lines) else b""
    return Refusal(line, len(before.decode("utf-8", "replace")) + 1, message)
