"""A submission read before it runs: its top-level statements, what each reads and writes, and what is still blank.

Total on any text: what is not Python becomes a `Plan` with an error, never an exception.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

LONGEST = 50_000
_BLANK = re.compile(r"_{2,}")
_SHAPE_ONLY = frozenset(["shape", "dtype", "device", "ndim", "size", "numel", "dim", "is_floating_point", "layout"])
_LIKE = frozenset(["zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "len"])
_BUFFERS = frozenset(["zeros", "zeros_like", "new_zeros", "empty", "empty_like", "full", "full_like", "ones_like"])
_VIEWS = frozenset(
    ["view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "t", "transpose", "permute", "narrow", "select"]
)
_SHAPED_BY = frozenset(["expand_as", "view_as", "reshape_as", "type_as", "new_zeros", "new_ones", "new_full"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One top-level statement.

    Args:
        line: Where it starts, from 1.
        reads: Names it needs to run, those inside of functions that it calls included.
        uses: The part of *reads* whose values count; a name that is only asked for its shape is not in it.
        writes: Names it may change: assigned, written into, or handed to a function that writes in place.
        fresh: Names that it binds without regard to what they held before.
        blank: Whether it holds a blank such as `____`.
    """

    node: ast.stmt
    line: int
    end_line: int
    reads: frozenset[str]
    uses: frozenset[str]
    writes: frozenset[str]
    fresh: frozenset[str]
    blank: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    message: str
    line: int
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """*last* holds, by name, the index of the last statement that writes it."""

    lines: tuple[Line, ...] = ()
    last: Mapping[str, int] = field(default_factory=dict)
    fault: Fault | None = None

    def writing(self, name: str) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if name in line.writes)

    def drawn_on(self, finished: Iterable[str]) -> dict[str, frozenset[str]]:
        """By name that is written: the gradients *finished* that its value is computed from, by way of any others.

        A gradient counts only from the statement after its last write; before that it is work in progress.
        """
        known = set(finished)
        sources: dict[str, frozenset[str]] = {}
        final: dict[str, frozenset[str]] = {}
        for index, line in enumerate(self.lines):
            found: set[str] = set()
            for used in line.uses:
                if used in known and self.last.get(used, -1) < index:
                    found.add(used)
                else:
                    found |= sources.get(used, frozenset())
            for written in line.writes:
                before = frozenset() if written in line.fresh else sources.get(written, frozenset())
                sources[written] = frozenset(found) | before
                if self.last[written] == index:
                    final[written] = sources[written] - {written}
        return final


@dataclass(frozen=True, slots=True)
class _Function:
    reads: frozenset[str]
    uses: frozenset[str]
    writes: frozenset[str]
    writes_arguments: bool


def read_plan(code: str) -> Plan:
    """Read a submission; *code* may be any text."""
    if len(code) > LONGEST:
        return Plan(fault=Fault(message=f"The code is longer than {LONGEST:,} characters.", line=1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
        return _plan(body)
    except SyntaxError as error:
        return Plan(fault=Fault(message=_syntax(error, code), line=error.lineno or 1, column=error.offset))
    except (ValueError, RecursionError, MemoryError):
        return Plan(fault=Fault(message="This text cannot be read as Python.", line=1))


def _plan(body: list[ast.stmt]) -> Plan:
    functions: dict[str, _Function] = {}
    lines = _through_views([_line(node, functions) for node in body])
    last = {name: index for index, line in enumerate(lines) for name in line.writes}
    return Plan(lines=tuple(lines), last=last)


def _through_views(lines: list[Line]) -> list[Line]:
    """Let a write into `rows = dC.view(-1, 2)` count as one into `dC`, where `dC` began as an empty buffer.

    A second name for a gradient that already holds values is no working view but an alias, and its writes are faults.
    """
    buffers: set[str] = set()
    views: dict[str, str] = {}
    found = []
    for line in lines:
        reached = {views[name] for name in line.writes - line.fresh if name in views}
        for name in line.fresh:
            buffers.discard(name)
            views.pop(name, None)
        if isinstance(line.node, ast.Assign) and len(line.fresh) == 1:
            (name,) = line.fresh
            bottom = _viewed(line.node.value)
            if _called(line.node.value) in _BUFFERS:
                buffers.add(name)
            elif bottom in buffers:
                views[name] = bottom
            elif bottom in views:
                views[name] = views[bottom]
        found.append(replace(line, writes=line.writes | reached) if reached else line)
    return found


def _viewed(node: ast.expr) -> str:
    """The name whose memory *node* shows; empty where it has its own."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="T" | "mT" | "data"):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _VIEWS:
                node = inner
            case _:
                return ""


def _called(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def _line(node: ast.stmt, functions: dict[str, _Function]) -> Line:
    nodes = list(ast.walk(node))
    blank = _blank(node, nodes)
    if isinstance(node, ast.FunctionDef):
        functions[node.name] = _function(node)
        reads = uses = frozenset[str]()
        writes = fresh = frozenset([node.name])
    else:
        reads, uses = _reads(nodes)
        writes, fresh = _writes(nodes), _fresh(node)
        for name in sorted(reads & functions.keys()):
            called = functions[name]
            reads, uses, writes = reads | called.reads, uses | called.uses, writes | called.writes
            if called.writes_arguments:
                writes |= _arguments(node, name)
        fresh -= reads
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for name in writes:
                functions[name] = _Function(reads, uses, frozenset(), writes_arguments=False)
            reads = uses = frozenset()
    return Line(
        node=node,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        reads=reads,
        uses=uses,
        writes=writes,
        fresh=fresh,
        blank=blank,
    )


def _blank(node: ast.stmt, nodes: list[ast.AST]) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is ...:
        return True
    return any(
        (isinstance(one, ast.Name) and _BLANK.fullmatch(one.id) is not None)
        or (isinstance(one, ast.Attribute) and _BLANK.fullmatch(one.attr) is not None)
        for one in nodes
    )


def _reads(nodes: list[ast.AST]) -> tuple[frozenset[str], frozenset[str]]:
    """Names read anywhere in *nodes*, and the ones read for more than their shape."""
    aside: set[int] = set()
    for one in nodes:
        if isinstance(one, ast.Attribute) and one.attr in _SHAPE_ONLY:
            aside.update(id(inner) for inner in [one.value] if isinstance(inner, ast.Name))
        if isinstance(one, ast.Call):
            called = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            if called in _LIKE and one.args:
                aside.add(id(one.args[0]))
            if called in _SHAPED_BY:
                aside.update(id(argument) for argument in one.args)
            if called in {"new_zeros", "new_ones", "new_full"} and isinstance(one.func, ast.Attribute):
                aside.add(id(one.func.value))
    loads = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    targets = [one.target for one in nodes if isinstance(one, ast.AugAssign)]
    changed = {one.id for one in targets if isinstance(one, ast.Name)}
    reads = frozenset(one.id for one in loads) | changed
    uses = frozenset(one.id for one in loads if id(one) not in aside) | changed
    return reads, uses


def _writes(nodes: list[ast.AST]) -> frozenset[str]:
    found: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del):
            found.add(one.id)
        elif isinstance(one, ast.Subscript | ast.Attribute) and isinstance(one.ctx, ast.Store | ast.Del):
            found |= _root(one)
        elif isinstance(one, ast.Call):
            if isinstance(one.func, ast.Attribute) and _in_place(one.func.attr):
                found |= _root(one.func.value)
            for keyword in one.keywords:
                if keyword.arg == "out":
                    found |= _root(keyword.value)
        elif isinstance(one, ast.FunctionDef):
            found.add(one.name)
    return frozenset(found)


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _fresh(node: ast.stmt) -> frozenset[str]:
    """Names that a plain assignment binds anew."""
    if not isinstance(node, ast.Assign):
        return frozenset()
    targets = [inner for target in node.targets for inner in ast.walk(target)]
    return frozenset(one.id for one in targets if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def _root(node: ast.expr) -> set[str]:
    """The name at the bottom of `dC.view(-1)[0]`: a view of it is written."""
    while True:
        match node:
            case ast.Name(id=name):
                return {name}
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return set()


def _function(node: ast.FunctionDef) -> _Function:
    arguments = node.args
    parameters = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    parameters |= {one.arg for one in [arguments.vararg, arguments.kwarg] if one is not None}
    nodes = list(ast.walk(node))
    shared = {name for one in nodes if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names}
    bound = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    local = (parameters | bound) - shared
    reads, uses = _reads(nodes)
    writes = _writes(nodes) - {node.name}
    return _Function(reads - local, uses - local, writes - local, bool(writes & parameters))


def _arguments(node: ast.AST, function: str) -> set[str]:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == function]
    return {name for call in calls for argument in call.args for name in _root(argument)}


def _syntax(error: SyntaxError, code: str) -> str:
    lines = code.splitlines()
    line = lines[error.lineno - 1].strip() if error.lineno and error.lineno <= len(lines) else ""
    reason = (error.msg or "invalid syntax").rstrip(".")
    return f"This line is not Python yet: {reason}." + (f" It reads `{line[:80]}`." if line else "")
