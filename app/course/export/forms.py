"""Cells as a file: a notebook, a script whose cells editors know by `# %%`, or markdown to read."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from mimetypes import guess_type

from app.content.export.notebook import ATTACHED, Drawing, NotebookCell

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PICTURE = "picture.svg"
MOST_ROWS, MOST_COLUMNS = 40, 8
FENCE = re.compile("`{3,}")


def written_as(form: str, cells: Sequence[NotebookCell]) -> str:
    """The file of *cells*.

    Args:
        form: One of `EXPORT_FORMS`, such as `ipynb`.
    """
    return EXPORT_FORMS[form](cells)


def _notebook(cells: Sequence[NotebookCell]) -> str:
    """Source: the notebook format 4.5, https://nbformat.readthedocs.io/en/latest/format_description.html"""
    notebook_cells = [_notebook_cell(cell, name) for cell, name in zip(cells, _names(cells), strict=True)]
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook = {"cells": notebook_cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(cell: NotebookCell, name: str) -> dict[str, object]:
    # Helpers are folded away where the editor can do so.
    text = cell.text
    if cell.drawing:
        text = f"![{_alternative(cell.drawing)}](attachment:{PICTURE})\n\n{text}"
    metadata = {"jupyter": {"source_hidden": True}, "tags": ["helpers"]} if cell.aid and cell.code else {}
    fields = {"id": name, "metadata": metadata, "source": text.splitlines(keepends=True)}
    if not cell.code:
        files = dict(cell.attached)
        if cell.drawing:
            files[PICTURE] = cell.drawing.svg.encode("utf-8")
        attached = {name: {guess_type(name)[0] or "image/png": _base64(file)} for name, file in files.items()}
        return {"cell_type": "markdown", **({"attachments": attached} if attached else {}), **fields}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **fields}


def _script(cells: Sequence[NotebookCell]) -> str:
    parts = [
        f"# %%\n{cell.text}" if cell.code else f"# %% [markdown]\n{_as_comment(_text_without_picture(cell))}"
        for cell in cells
    ]
    return "\n\n".join(parts) + "\n"


def _text(cells: Sequence[NotebookCell]) -> str:
    shown = [cell for cell in cells if not cell.aid and (cell.plain or not cell.code)]
    parts = [_as_fence(cell.plain) if cell.code else _text_without_picture(cell) for cell in shown]
    return "\n\n".join(parts) + "\n"


def _text_without_picture(cell: NotebookCell) -> str:
    """The text of a cell that cannot hold a picture: what the picture shows, in words and as a table."""
    markdown = ATTACHED.sub(r"**Picture**: \1", cell.text)
    if not cell.drawing:
        return markdown
    rows = cell.drawing.rows
    fits = len(rows) <= MOST_ROWS and max((len(row) for row in rows), default=0) <= MOST_COLUMNS
    parts = [f"**Picture**: {cell.drawing.summary}", _table(rows) if rows and fits else "", markdown]
    return "\n\n".join(part for part in parts if part)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = ([name.replace("|", "\\|") for name in row] for row in rows)
    lines = [head, ["---"] * len(head), *others]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _alternative(drawing: Drawing) -> str:
    return " ".join(re.sub(r"[\[\]]", " ", drawing.summary).split())


def _base64(file: bytes) -> str:
    return base64.b64encode(file).decode("ascii")


EXPORT_FORMS: Mapping[str, Callable[[Sequence[NotebookCell]], str]] = {"ipynb": _notebook, "py": _script, "md": _text}


def _as_comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))


def _as_fence(code: str) -> str:
    """*code* behind a fence that is longer than any in it."""
    longest = max((len(match[0]) for match in FENCE.finditer(code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"


def _names(cells: Sequence[NotebookCell]) -> list[str]:
    """One id for each cell, the same in every export of a lesson: letters, digits, `-`, `_`, at most 64."""
    names: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = re.sub(r"[^\w-]", "-", cell.name, flags=re.ASCII)[:56] or f"prose-{number}"
        names.append(name if name not in names else f"{name}-{number}")
    return names
