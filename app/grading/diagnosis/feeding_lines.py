"""The learner's lines that a gradient is made of, and the names that they read."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from app.bindings import nodes_of, reads_of, shape_only, writes
from app.grading.diagnosis.evidence import Diagnosis, WrongGradient
from app.syntax import Node, Statement, defined_name, is_class, is_simple, name_of


def names_in(nodes: Sequence[Node]) -> set[str]:
    """The names that *nodes* read for more than their shape."""
    aside = {inner for node in nodes for inner in shape_only(node)}
    return {name for node in nodes if (name := name_of(node)) and node not in aside}


@lru_cache(maxsize=128)
def names_of(line: Statement) -> frozenset[str]:
    """The names that *line* has for more than their shape."""
    return frozenset(names_in(nodes_of(line)))


@lru_cache(maxsize=128)
def reads(line: Statement) -> frozenset[str]:
    """The names that *line* reads, be it for their shape alone."""
    return reads_of([*nodes_of(line)])[0]


@lru_cache(maxsize=128)
def statements_in(line: Statement) -> Sequence[Statement]:
    """The simple statements of *line*, and what it defines."""
    return [node for node in nodes_of(line) if isinstance(node, Statement) and (is_simple(node) or _defines(node))]


def feeding_lines(case: WrongGradient) -> tuple[Statement, ...]:
    """The statements, also those inside of loops, that the gradient is made of; not those of the other gradients."""
    return _feeding(case.lines, case.name, frozenset(case.other_gradients))


@lru_cache(maxsize=32)
def _feeding(lines: tuple[Statement, ...], name: str, others: frozenset[str]) -> tuple[Statement, ...]:
    simple = [statement for line in lines for statement in statements_in(line)]
    if any(map(_defines, simple)):
        return ()
    written = [(item, writes(item)) for item in simple]
    wanted, feeding = {name}, set[Statement]()
    fresh = simple
    while fresh:
        fresh = [item for item, names in written if item not in feeding and names & (wanted - others)]
        feeding |= set(fresh)
        wanted |= {name for item in fresh for name in reads(item)}
    return tuple(item for item in simple if item in feeding)


def in_line(case: WrongGradient, diagnosis: Diagnosis, line: Statement) -> Diagnosis:
    """*diagnosis* with *line*, which writes the gradient or makes a step on the way to it; as it is for another one."""
    written = writes(line)
    if case.name in written:
        return replace(diagnosis, line=line.lineno)
    if len(written) != 1 or written & {*case.settled, *case.first_look.gradients}:
        return diagnosis
    return replace(diagnosis, line=line.lineno, step=min(written))


def _defines(node: Node) -> bool:
    return bool(defined_name(node)) or is_class(node)
