"""Kinds of exercises, and of pictures, as the rooms above see them: one value each, made in the folder of the kind."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.check.findings import Finding
from app.check.proof_setup import ProofSetup
from app.content.blocks import CodeBox, Exercise, Lesson, Train, Visual
from app.content.export.notebook import NotebookCell, Work

B = TypeVar("B", bound=Exercise | Visual)
C = TypeVar("C", bound=CodeBox | Train)


def nothing(*_: object) -> tuple[()]:
    """No findings, no cells, no words."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockKind(Generic[B]):
    """A kind of block with a folder of its own. What a kind leaves out is as most have it.

    Args:
        name: Its template is called so.
        block: The class of its blocks.
        called: What it is in the contents of a page.
        decides: What decides about right and wrong besides the fields that the editions name.
        prove: What is proved of it by running or walking; its forward program does not fail.
    """

    name: str
    block: type[B]
    called: str = "code"
    decides: Callable[[B], Iterable[object]] = nothing
    prove: Callable[[Lesson, B, ProofSetup], Awaitable[Sequence[Finding]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeKind(BlockKind[C]):
    """A kind of exercise that code answers.

    Args:
        heading: What it is and what it asks for, in a notebook.
        below: Paragraphs below its text there.
        cells: The cells of code there.
    """

    heading: Callable[[C], str]
    cells: Callable[[Lesson, C, Work], Iterable[NotebookCell]]
    below: Callable[[C], Iterable[str]] = nothing
