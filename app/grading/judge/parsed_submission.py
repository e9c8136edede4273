"""A submission read before it runs: its top-level statements, what each reads and writes, and what is still blank.

Total on any text: what is not Python becomes a `ParsedSubmission` with an error, never an exception.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.bindings import (
    freshly_bound,
    is_blank,
    nodes_of,
    reads_of,
    root_of,
    simple_statements,
    viewed_name,
    writes,
    writes_of,
)
from app.grading.judge.syntax_recovery import UnparsableLine, blank_unparsable_lines, fault_in
from app.syntax import called_name, names_stored, nodes_in, parse_code

LONGEST = 50_000
MOST_NAMES = 200_000
"""Names that the statements read and write, those of the functions that they call counted each time."""
_BUFFERS = frozenset(["zeros", "zeros_like", "new_zeros", "empty", "empty_like", "full", "full_like", "ones_like"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionStatement:
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

    def line_writing(self, name: str) -> int:
        """The line of the first statement inside of it that writes *name*."""
        inside = (each.lineno for each in simple_statements(self.node) if name in writes_of(nodes_in(each)))
        return next(inside, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSubmission:
    """A submission, read.

    Args:
        source: What is run: the text itself, or the text with blanks for the lines that are no Python.
        last: By name, the index of the last statement that writes it.
        faults: What is wrong with the lines that are no Python. Where nothing else can be read, *lines* is empty.
    """

    source: str = ""
    lines: tuple[SubmissionStatement, ...] = ()
    last: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[UnparsableLine, ...] = ()

    @property
    def fault(self) -> UnparsableLine | None:
        return next(iter(self.faults), None)

    def fault_of(self, name: str) -> UnparsableLine | None:
        """Find the unparsable line that writes *name*."""
        blanks = [line for line in self.writing(name) if line.blank]
        faults = (
            unparsable_line
            for line in blanks
            for unparsable_line in self.faults
            if unparsable_line.line <= line.end_line and line.line <= unparsable_line.end
        )
        return next(faults, None)

    def writing(self, name: str) -> tuple[SubmissionStatement, ...]:
        return tuple(line for line in self.lines if name in line.writes)

    def line_of(self, name: str) -> int | None:
        """The line of the innermost statement that writes *name* last; None where none does."""
        at = self.last.get(name)
        if at is None:
            return None
        whole = self.lines[at]
        if not isinstance(whole.node, ast.For | ast.If | ast.While):
            return whole.line
        inner = [node for node in nodes_in(whole.node) if isinstance(node, ast.stmt)]
        written = [node.lineno for node in inner[1:] if name in writes_of(nodes_in(node))]
        return max([whole.line, *written])

    def written_at(self, statement: int, line: int | None) -> frozenset[str]:
        """Names written by the innermost statement of *statement* on *line*; by all of it if there is none."""
        if not 0 <= statement < len(self.lines):
            return frozenset()
        whole = self.lines[statement]
        inner = [node for node in nodes_in(whole.node) if isinstance(node, ast.stmt) and node is not whole.node]
        here = [node for node in inner if line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)]
        innermost = frozenset(writes_of(nodes_in(here[-1]))) if here else frozenset()
        return innermost or whole.writes

    def blamed_for(self, statement: int, changed: str, names: Iterable[str]) -> str | None:
        """The one of *names* that *statement* works on when it changes the tensor *changed*.

        Else the next one to be finished, first of those whose lines read that tensor; or the last one before.
        """
        if not 0 <= statement < len(self.lines):
            return None
        known = tuple(names)
        written = [name for name in known if name in self.lines[statement].writes]
        finished = sorted((self.last[name], name) for name in known if name in self.last)
        after = [name for last, name in finished if last >= statement]
        before = [name for last, name in reversed(finished) if last < statement]
        reading = [name for name in after if any(changed in line.uses for line in self.writing(name))]
        return next(iter([*written, *reading, *after, *before, *known]), None)

    def second_name(self, statement: int, tensor: str) -> str:
        """A name that *statement* changes and that a line before it made another name of *tensor*; empty if none is."""
        written = self.lines[statement].writes if 0 <= statement < len(self.lines) else frozenset()
        return next((name for name in sorted(written) if self.renamed_from(statement, name) == tensor), "")

    def renamed_from(self, statement: int, name: str) -> str:
        """The tensor of which a line before *statement* makes *name* another name; empty if none does."""
        for line in reversed(self.lines[: max(statement, 0)]):
            match line.node:
                case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=source)) if target == name:
                    return source
        return ""

    def drawn_on(self, finished: Iterable[str]) -> dict[str, frozenset[str]]:
        """By name that is written: the gradients *finished* that its value is computed from, by way of any others.

        A gradient counts only from the statement after its last write; before that it is work in progress.
        """
        known = set(finished)
        sources: dict[str, frozenset[str]] = {}
        final: dict[str, frozenset[str]] = {}
        for index, line in enumerate(self.lines):
            drawn: set[str] = set()
            for used in line.uses:
                if used in known and self.last.get(used, -1) < index:
                    drawn.add(used)
                else:
                    drawn |= sources.get(used, frozenset())
            for written in line.writes:
                before = frozenset() if written in line.fresh else sources.get(written, frozenset())
                sources[written] = frozenset(drawn) | before
                if self.last[written] == index:
                    final[written] = sources[written] - {written}
        return final


_TOO_MANY = "Up to here, more functions call each other than can be followed. Fewer of them will do."


class _TooManyError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(f"too many names in line {line}")
        self.line = line


@dataclass(frozen=True, slots=True)
class _Function:
    reads: frozenset[str]
    uses: frozenset[str]
    writes: frozenset[str]
    writes_arguments: bool

    @property
    def size(self) -> int:
        return len(self.reads) + len(self.uses) + len(self.writes)


class _Functions(dict[str, _Function]):
    """The functions that were defined so far, by name, and how many names may still be followed."""

    left = MOST_NAMES

    def called(self, node: ast.stmt, reads: Iterable[str]) -> Iterator[tuple[str, _Function]]:
        """The functions among *reads*, and the ones that they call in turn; paid for before they are handed out.

        Raises:
            _TooManyError: Nothing is left.
        """
        waiting = [name for name in sorted(reads) if name in self]
        reached = set(waiting)
        while waiting:
            name = waiting.pop()
            function = self[name]
            self.left -= function.size + 1
            if self.left < 0:
                raise _TooManyError(node.lineno)
            yield name, function
            further = [inner for inner in sorted(function.reads - reached) if inner in self]
            reached.update(further)
            waiting += further


def parse_submission(code: str) -> ParsedSubmission:
    """Read a submission; *code* may be any text."""
    if len(code) > LONGEST:
        return ParsedSubmission(
            faults=(UnparsableLine(message=f"The code is longer than {LONGEST:,} characters.", line=1),)
        )
    readable: str = code
    faults: tuple[UnparsableLine, ...] = ()
    try:
        try:
            body = parse_code(code).body
        except SyntaxError as error:
            readable, faults = blank_unparsable_lines(code)
            if not faults:
                return ParsedSubmission(faults=(fault_in(error, code),))
            body = parse_code(readable).body
        return replace(_plan(body), source=readable, faults=faults)
    except (ValueError, RecursionError, MemoryError):
        return ParsedSubmission(faults=(UnparsableLine(message="This text cannot be read as Python.", line=1),))
    except _TooManyError as error:
        return ParsedSubmission(faults=(UnparsableLine(message=_TOO_MANY, line=error.line),))


def judged_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that are run and judged one by one; `with torch.no_grad():` around them changes nothing."""
    statements: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.With) and all(_switches_autograd(item) for item in node.items):
            statements += judged_statements(node.body)
        else:
            statements.append(node)
    return statements


def _switches_autograd(item: ast.withitem) -> bool:
    match item:
        case ast.withitem(
            context_expr=ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="no_grad" | "inference_mode")),
            optional_vars=None,
        ):
            return True
    return False


def _plan(body: list[ast.stmt]) -> ParsedSubmission:
    functions = _Functions()
    lines = _through_views([_line(node, functions) for node in judged_statements(body)])
    last = {name: index for index, line in enumerate(lines) for name in line.writes}
    return ParsedSubmission(lines=tuple(lines), last=last)


def _through_views(lines: list[SubmissionStatement]) -> list[SubmissionStatement]:
    """Let a write into `rows = dC.view(-1, 2)` count as one into `dC`, where `dC` began as an empty buffer.

    A second name for a gradient that already holds values is no working view but an alias, and its writes are faults.
    """
    buffers: set[str] = set()
    views: dict[str, str] = {}
    completed = []
    for line in lines:
        reached = {views[name] for name in line.writes - line.fresh if name in views}
        for name in line.fresh:
            buffers.discard(name)
            views.pop(name, None)
        if isinstance(line.node, ast.Assign) and len(line.fresh) == 1:
            (name,) = line.fresh
            bottom = viewed_name(line.node.value)
            if called_name(line.node.value) in _BUFFERS:
                buffers.add(name)
            elif bottom in buffers:
                views[name] = bottom
            elif bottom in views:
                views[name] = views[bottom]
        completed.append(replace(line, writes=line.writes | reached) if reached else line)
    return completed


def _line(node: ast.stmt, functions: _Functions) -> SubmissionStatement:
    nodes = nodes_of(node)
    blank = is_blank(node, nodes)
    if isinstance(node, ast.FunctionDef):
        functions[node.name] = _function(node)
        reads = uses = frozenset[str]()
        written = fresh = frozenset([node.name])
    else:
        reads, uses = reads_of(nodes)
        written, fresh = writes(node), freshly_bound(node)
        helpers = dict(functions.called(node, reads))
        reads = reads.union(*(function.reads for function in helpers.values()))
        uses = uses.union(*(function.uses for function in helpers.values()))
        changed = (_arguments(node, name) for name, function in helpers.items() if function.writes_arguments)
        written = written.union(*(function.writes for function in helpers.values()), *changed)
        fresh -= reads
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for name in written:
                functions[name] = _Function(reads, uses, frozenset(), writes_arguments=False)
            reads = uses = frozenset()
    return SubmissionStatement(
        node=node,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        reads=reads,
        uses=uses,
        writes=written,
        fresh=fresh,
        blank=blank,
    )


def _function(node: ast.FunctionDef) -> _Function:
    arguments = node.args
    parameters = {posonlyarg.arg for posonlyarg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    parameters |= {argument.arg for argument in [arguments.vararg, arguments.kwarg] if argument is not None}
    nodes = nodes_in(node)
    shared = {name for inner in nodes if isinstance(inner, ast.Global | ast.Nonlocal) for name in inner.names}
    local = (parameters | names_stored(node)) - shared
    reads, uses = reads_of(nodes)
    written = writes_of(nodes) - {node.name}
    return _Function(reads - local, uses - local, written - local, bool(written & parameters))


def _arguments(node: ast.AST, function: str) -> set[str]:
    calls = [call for call in nodes_in(node) if isinstance(call, ast.Call) and getattr(call.func, "id", "") == function]
    return {name for call in calls for argument in call.args for name in root_of(argument)}
