"""The text of nodes, as it is written."""

import io
from collections.abc import Iterable

from app.syntax import Expression, Statement


def written_at(source: str, nodes: Iterable[Expression | Statement]) -> tuple[str, ...]:
    """The text of each of the *nodes* of *source*.

    `ast.get_source_segment` splits all of *source* for each: of a box that is full of lines that takes minutes.
    """
    lines = [line.encode() for line in io.StringIO(source, newline="")]  # columns count bytes
    return tuple(_written_text(lines, node) for node in nodes)


def _written_text(lines: list[bytes], node: Expression | Statement) -> str:
    *above, last = lines[node.lineno - 1 : node.end_lineno]
    return b"".join([*above, last[: node.end_col_offset]])[node.col_offset :].decode()
