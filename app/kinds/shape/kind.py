"""Ask for the shape of a tensor or of its gradient."""

from collections.abc import Sequence

from app.check.findings import Finding
from app.content.blocks import Forward
from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, typed_question
from app.content.program.programs import statement_of
from app.content.text.sizes import format_shape, plain_shape, shape_text
from app.grading.quiz.feedback import Shapes, tensor_of
from app.kinds.quiz_kind import Candidate, QuizKind
from app.kinds.shape.block import ShapeQuestion
from app.kinds.shape.mark import answer_disagreement, mark_shape


def _answers(quiz: ShapeQuestion, shapes: Shapes, _: Forward | None) -> Sequence[Candidate]:
    tensor = tensor_of(quiz.of, shapes) if quiz.of else None
    return [format_shape(shapes[tensor]) if tensor else quiz.answer or ""]


def _right(quiz: ShapeQuestion, shapes: Shapes, _: Forward | None) -> str:
    tensor = tensor_of(quiz.of, shapes) if quiz.of else None
    return shape_text(shapes[tensor]) if tensor else f"`{quiz.answer}`" if quiz.answer else ""


def _flaw(quiz: ShapeQuestion, shapes: Shapes, _: Forward | None) -> Finding | None:
    why = answer_disagreement(quiz, shapes)
    return Finding(quiz.place, "error", "wrong-answer-key", why) if why else None


def _export(quiz: ShapeQuestion, text: str, work: Work) -> QuestionText:
    return typed_question(quiz, text, work, below=[f"`{quiz.ask}`"] if quiz.ask else ())


KINDS = (
    QuizKind(
        name="shape",
        block=ShapeQuestion,
        mark=mark_shape,
        answers=_answers,
        called="a shape",
        ditto=True,
        tensors=lambda quiz, _: (quiz.of.removeprefix("d"),) if quiz.of else (),
        shape_asked=lambda quiz: quiz.of or "",
        line=lambda quiz, forward: statement_of(quiz.of or "", forward),
        plain=plain_shape,
        right=_right,
        flaw=_flaw,
        export=_export,
    ),
)
