"""Build a gradient as a product of two tensors."""

from collections.abc import Sequence

from markupsafe import Markup

from app.check.findings import Finding
from app.content.blocks import Forward
from app.content.export.notebook import Work
from app.content.export.questions import QuestionText, typed_question
from app.content.program.programs import tensors_of
from app.content.text.sentences import code_span
from app.grading.quiz.feedback import Shapes, word_list
from app.grading.quiz.worked import evaluate_on_random_data
from app.kinds.matmul.block import MatmulQuestion
from app.kinds.matmul.mark import mark_matmul, operands_offered, right_products
from app.kinds.quiz_kind import QuizKind, typed_words

PRODUCT_FIELDS = ("left", "left_transposed", "right", "right_transposed")


def _factors(given: Sequence[str]) -> list[str]:
    """The factors of a product as they are marked, such as `X.T`, from the values of its fields."""
    fields = dict(zip(PRODUCT_FIELDS, given, strict=False))
    return [
        f"{fields[side]}.T" if fields.get(f"{side}_transposed") else fields[side]
        for side in ("left", "right")
        if fields.get(side)
    ]


def _words(quiz: MatmulQuestion, given: Sequence[str]) -> Markup:
    if len(given) != len(PRODUCT_FIELDS):
        return typed_words(quiz, given)
    left, turned, right, also = given
    return code_span(f"{left}{'.T' * bool(turned)} @ {right}{'.T' * bool(also)}")


def _right(quiz: MatmulQuestion, shapes: Shapes, forward: Forward | None) -> str:
    products = right_products(quiz, shapes, forward)
    return f"`{products[0]}`" if products else ""


def _flaw(quiz: MatmulQuestion, shapes: Shapes, forward: Forward | None) -> Finding | None:
    products = right_products(quiz, shapes, forward)
    if len(products) < 2 or evaluate_on_random_data(forward) is not None:
        return None
    message = (
        f"{word_list([f'`{product}`' for product in products])} have the shape of `{quiz.of}`, and the numbers of this "
        "program cannot be worked out to tell which is right. Give its sizes different values, or ask in a code box."
    )
    return Finding(quiz.place, "error", "ambiguous-answer", message)


def _unanswerable(quiz: MatmulQuestion) -> str:
    return (
        f"No product of two tensors of this program, transposed or not, gives the numbers of `{quiz.of}`. Ask "
        "for the gradient of a tensor that one product reads and nothing else does."
    )


def _export(quiz: MatmulQuestion, text: str, work: Work) -> QuestionText:
    return typed_question(quiz, text, work, between=" @ ")


KINDS = (
    QuizKind(
        name="matmul",
        block=MatmulQuestion,
        mark=mark_matmul,
        answers=right_products,
        fields=PRODUCT_FIELDS,
        values=_factors,
        words=_words,
        tensors=lambda _, forward: tensors_of(forward),  # a product may be made of any
        offer=operands_offered,
        right=_right,
        flaw=_flaw,
        unanswerable=_unanswerable,
        export=_export,
    ),
)
