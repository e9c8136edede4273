"""What came of a sitting, over all who handed in."""

from app.store.tables import SittingAnswer
from app.web.views.sitting_board import item_results


def answer(learner: int, item: int, code: str | None) -> SittingAnswer:
    return SittingAnswer(assignment_id=1, learner_id=learner, item=item, text="", correct=code is None, code=code)


def test_a_slip_is_one_whatever_numbers_and_gradients_it_came_to() -> None:
    codes = ["dX:unrecognised:3a", "dX:unrecognised:7b", "dW:transposed", "dX:share-missing:y", "dX:transposed", None]
    answers = [answer(learner, 1, code) for learner, code in enumerate(codes)]

    (one,) = item_results([*answers])

    assert (one.number, one.right, one.of) == (1, 1, 6)
    assert one.slips == ("unrecognised (2)", "the transpose of the right answer (2)", "a share left out (1)")
