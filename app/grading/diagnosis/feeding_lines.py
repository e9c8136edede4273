"""The learner's lines that a gradient is made of, and the names that they read."""

import ast
from collections.abc import Sequence

from app.bindings import reads_of, shape_only, writes_of
from app.grading.diagnosis.evidence import WrongGradient

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def names_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that *nodes* read for more than their shape."""
    aside = {id(inner) for node in nodes for inner in shape_only(node)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in aside}


def feeding_lines(case: WrongGradient) -> tuple[ast.stmt, ...]:
    """The statements, also those inside of loops, that the gradient is made of; not those of the other gradients."""
    others = case.looks[0].gradients.keys() - {case.name}
    nodes = [node for line in case.lines for node in ast.walk(line)]
    if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in nodes):
        return ()
    simple = [node for node in nodes if isinstance(node, SIMPLE)]
    written = [(item, writes_of(list(ast.walk(item)))) for item in simple]
    wanted, feeding = {case.name}, set[int]()
    fresh = simple
    while fresh:
        fresh = [item for item, names in written if id(item) not in feeding and names & (wanted - others)]
        feeding |= {id(item) for item in fresh}
        wanted |= {name for item in fresh for name in reads_of(list(ast.walk(item)))[0]}
    return tuple(item for item in simple if id(item) in feeding)
