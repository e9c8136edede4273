from datetime import timedelta

from markupsafe import Markup

from app.store.tables import Membership
from app.web.views.board_view import WaitingLearner


def test_who_waits_has_done_so_for_whole_minutes() -> None:
    waiting = WaitingLearner(Membership(name="Ada"), 3, True, timedelta(minutes=7, seconds=50), Markup())

    assert waiting.minutes == 7
