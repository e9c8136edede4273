"""Parts of an export, and the work that fills the places that a lesson leaves open."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from app.content.export.unfit import block_problem
from app.installation import TEMPLATES

RESOURCES = TEMPLATES / "export"
ATTACHED = re.compile(r"!\[([^\]\n]*)\]\(attachment:([\w.-]+)\)")
ABOVE = "import torch\nfrom preamble import backhand\nfrom torch import Tensor\n\n"
"""What a module of `RESOURCES` imports so that it can be read on its own; in an export it stands in the first cell."""


@cache
def resource_text(name: str) -> str:
    """A file of `RESOURCES` as the text of a cell, without its docstring.

    They run where the export runs, with torch and nothing else: this room reads them and imports none.
    """
    text = (RESOURCES / name).read_text("utf-8")
    below = text.partition('"""\n\n')[2] if text.startswith('"""') else text
    return below.replace(ABOVE, "").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture of a lesson on its own.

    Args:
        svg: A whole SVG file, with its colours in it.
        summary: What it shows, in words.
        rows: The same numbers as a table, the head first.
    """

    svg: str
    summary: str
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookCell:
    """A piece of prose (markdown) or of code (Python).

    Args:
        name: The exercise or program that it belongs to; empty for prose between them.
        plain: What a text that is not run shows of a piece of code; nothing for what only serves to run it.
        aid: Serves to run the others and is no part of the lesson.
        drawing: A picture that stands above the text.
        attached: Image files that the text shows, by what it calls them.
    """

    text: str
    code: bool = False
    name: str = ""
    plain: str = ""
    aid: bool = False
    drawing: Drawing | None = None
    attached: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work of a learner in a lesson, by exercise.

    Args:
        codes: What stands in the code boxes; the others keep their blanks.
        answers: What was answered to quizzes, value by value.
        right: The right answers, in backticks, of those quizzes that do not carry it.
        solved: The quizzes whose answer is told; None tells all.
        hints: How many hints of an exercise are told; None tells all.
        drawings: The pictures, by name; of the others only the caption is left.
        pictures: The image files of the lesson, by path in the course with `-` for `/`.
        names: What a training run learns from; a few common names where there are none.
        unfit: Says why a text cannot stand in a file of Python, empty where it can.
    """

    codes: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    right: Mapping[str, str] = field(default_factory=dict)
    solved: Collection[str] | None = None
    hints: Mapping[str, int] | None = None
    drawings: Mapping[str, Drawing] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    names: Sequence[str] = ()
    unfit: Callable[[str], str] = block_problem
