"""Cells as a file: a notebook, a script whose cells editors know by `# %%`, or markdown to read."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from app.content.export.cells import Cell

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def written_as(form: str, cells: Sequence[Cell]) -> str:
    """The file of *cells*.

    Args:
        form: One of `FORMS`, such as `ipynb`.
    """
    return FORMS[form](cells)


def _notebook(cells: Sequence[Cell]) -> str:
    """Source: the notebook format 4.5, https://nbformat.readthedocs.io/en/latest/format_description.html"""
    made = [_notebook_cell(cell, name) for cell, name in zip(cells, _names(cells), strict=True)]
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(cell: Cell, name: str) -> dict[str, object]:
    # Helpers are folded away where the editor can do so.
    metadata = {"jupyter": {"source_hidden": True}, "tags": ["helpers"]} if cell.aid and cell.code else {}
    made = {"id": name, "metadata": metadata, "source": cell.text.splitlines(keepends=True)}
    if not cell.code:
        return {"cell_type": "markdown", **made}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **made}


def _script(cells: Sequence[Cell]) -> str:
    parts = [f"# %%\n{cell.text}" if cell.code else f"# %% [markdown]\n{_commented(cell.text)}" for cell in cells]
    return "\n\n".join(parts) + "\n"


def _text(cells: Sequence[Cell]) -> str:
    shown = [cell for cell in cells if not cell.aid and (cell.plain or not cell.code)]
    parts = [_fenced(cell.plain) if cell.code else cell.text for cell in shown]
    return "\n\n".join(parts) + "\n"


FORMS: Mapping[str, Callable[[Sequence[Cell]], str]] = {"ipynb": _notebook, "py": _script, "md": _text}


def _commented(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))


def _fenced(code: str) -> str:
    """*code* behind a fence that is longer than any in it."""
    longest = max((len(match[1]) for match in FENCE.finditer(code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"


def _names(cells: Sequence[Cell]) -> list[str]:
    """One id for each cell, the same in every export of a lesson: letters, digits, `-`, `_`, at most 64."""
    names: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = re.sub(r"[^\w-]", "-", cell.name, flags=re.ASCII)[:56] or f"prose-{number}"
        names.append(name if name not in names else f"{name}-{number}")
    return names
