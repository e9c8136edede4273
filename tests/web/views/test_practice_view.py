from dataclasses import replace

import pytest

from app.practice.session_plans import SessionPlan, SessionState, drill_of
from app.store.database import now
from app.store.tables import ServedItem
from app.web.views.practice_view import _button

BEGUN = SessionState(SessionPlan(), now(), (ServedItem(),), over=False)


@pytest.mark.parametrize(
    ("standing", "due", "word"),
    [
        (BEGUN, False, "Go on"),
        (replace(BEGUN, over=True), False, "Another session"),
        (replace(BEGUN, given=()), True, "Begin"),
        (replace(BEGUN, plan=drill_of("matmul")), False, "Practise"),
        (None, True, "Begin"),
        (None, False, "Practise"),
    ],
)
def test_a_sitting_goes_on_where_it_began(standing: SessionState | None, due: bool, word: str) -> None:
    assert _button(standing, due) == word
