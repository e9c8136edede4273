"""The text of nodes, as it is written."""

import ast
import io
from collections.abc import Iterable


def written_at(source: str, nodes: Iterable[ast.expr | ast.stmt]) -> tuple[str, ...]:
    """The text of each of the *nodes* of *source*.

    `ast.get_source_segment` splits all of *source* for each: of a box that is full of lines that takes minutes.
    """
    lines = [line.encode() for line in io.StringIO(source, newline="")]  # columns count bytes
    return tuple(_written(lines, node) for node in nodes)


def _written(lines: list[bytes], node: ast.expr | ast.stmt) -> str:
    *above, last = lines[node.lineno - 1 : node.end_lineno]
    return b"".join([*above, last[: node.end_col_offset]])[node.col_offset :].decode()
