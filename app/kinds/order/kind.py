"""Put lines of code, or steps in words, in an order that works."""

from collections.abc import Iterator

from markupsafe import Markup

from app.content.text.sentences import code_span
from app.kinds.order.block import OrderQuestion
from app.kinds.order.export import export_order
from app.kinds.order.mark import as_values, mark_order
from app.kinds.order.offer import offer_order
from app.kinds.order.prove import prove_order
from app.kinds.quiz_kind import QuizKind


def _key(quiz: OrderQuestion) -> Iterator[tuple[str, Markup]]:
    lines = [order_step.html for order_step in quiz.steps] or [code_span(line) for line in quiz.lines]
    yield "Right", Markup("<br>").join(lines)


KINDS = (
    QuizKind(
        name="order",
        block=OrderQuestion,
        mark=mark_order,
        answers=lambda quiz, *_: [as_values(quiz, range(len(quiz.lines)))],
        by_place=True,
        offer=offer_order,
        decides=lambda quiz: [order_step.rank for order_step in quiz.steps],
        key=_key,
        prove=prove_order,
        export=export_order,
    ),
)
