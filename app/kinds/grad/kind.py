"""Write gradients of a forward program."""

from collections.abc import Iterable

from app.content.blocks import Grad, Lesson
from app.content.export.notebook import NotebookCell, Work
from app.content.export.python_code import gradient_cells
from app.content.text.mathml import words_of
from app.engine.task import given_gradients
from app.kinds.block_kind import CodeKind
from app.kinds.grad.prove import prove_grad


def _cells(lesson: Lesson, box: Grad, work: Work) -> Iterable[NotebookCell]:
    given = dict.fromkeys(name for name in given_gradients(lesson, box) if name not in box.require)
    return gradient_cells(box, " ".join(given), work)


def _below(box: Grad) -> list[str]:
    predicted = [f"Predict first: {words_of(box.predict)}"] if box.predict else []
    steps = [f"- {step.title}: {', '.join(f'`{name}`' for name in step.names)}" for step in box.stretches]
    return [*predicted, *(["\n".join(steps)] if steps else [])]


KINDS = (
    CodeKind(
        name="grad",
        block=Grad,
        prove=prove_grad,
        heading=lambda box: f"**Code**: {', '.join(f'`{name}`' for name in box.require)}",
        below=_below,
        cells=_cells,
    ),
)
