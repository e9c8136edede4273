"""A lecture behind one address is let in; nobody finds a code by trying."""

import pytest

from app.web.middleware.guesses import OF_BROWSER, OF_CLASS, OF_NETWORK, Guesses
from app.web.middleware.visitor import RetryLaterError


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guesses(clock: Clock) -> Guesses:
    return Guesses(lambda limit: limit, clock)


def guess(guesses: Guesses, code: str, browser: str = "", *, right: bool = False) -> bool:
    """Whether it was looked at."""
    try:
        guesses.spend("network", browser, code)
    except RetryLaterError:
        return False
    guesses.settle("network", browser, code, right=right)
    return True


def test_five_hundred_join_within_a_minute_though_a_fifth_of_them_mistypes(guesses: Guesses) -> None:
    typed = [guess(guesses, f"wrong {number}") for number in range(100)]
    joined = [guess(guesses, "right", right=True) for _ in range(500)]

    assert all(typed)
    assert all(joined)


def test_a_slip_on_a_slide_counts_once(guesses: Guesses) -> None:
    assert all(guess(guesses, "the code with a slip") for _ in range(500))
    assert guess(guesses, "another")


def test_a_browser_ends_after_ten_and_leaves_its_network_open(guesses: Guesses) -> None:
    tried = [guess(guesses, f"wrong {number}", "mine") for number in range(OF_BROWSER + 200)]

    assert sum(tried) == OF_BROWSER
    assert guess(guesses, "right", "other", right=True)


def test_a_limited_network_is_refused_in_any_browser_and_told_no_code(guesses: Guesses, clock: Clock) -> None:
    tried = [guess(guesses, f"wrong {number}", f"browser {number}") for number in range(1000)]

    assert sum(tried) == OF_NETWORK
    assert not guess(guesses, "right", "new", right=True)
    clock.now += 60
    assert guess(guesses, "right", "new", right=True)


def test_ids_are_tried_so_often_at_a_class_from_however_many_networks(guesses: Guesses) -> None:
    for _ in range(500):
        guesses.spend_id("class", "")
        guesses.settle_id("class", "")
    for _ in range(OF_CLASS):
        guesses.spend_id("class", "")

    with pytest.raises(RetryLaterError):
        guesses.spend_id("class", "")
    guesses.spend_id("other class", "")
