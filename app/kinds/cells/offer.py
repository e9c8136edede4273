"""The table of cells, as the page shows it."""

from dataclasses import dataclass

import numpy as np

from app.content.blocks import Forward
from app.grading.quiz.feedback import Shapes
from app.kinds.cells.block import CellsQuestion
from app.kinds.cells.mark import answer_of, names_of


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """Entry that is asked: its name, such as `dA[0, 1]`, its place in the answer, and its text."""

    number: int
    name: str
    value: str = ""


def offer_cells(quiz: CellsQuestion, _: Shapes, forward: Forward | None) -> tuple[tuple[AnswerCell, ...], ...]:
    """The cells row by row."""
    entries = answer_of(quiz, forward)
    if entries is None:
        return ()
    names = names_of(quiz, entries.shape)
    given = np.asarray(quiz.at[quiz.of]).ravel().tolist() if quiz.of in quiz.at else [""] * len(names)
    answer_cells = [
        AnswerCell(number, name, str(item)) for number, (name, item) in enumerate(zip(names, given, strict=True))
    ]
    width = entries.shape[-1] if entries.shape else 1
    return tuple(tuple(answer_cells[start : start + width]) for start in range(0, len(answer_cells), width))
