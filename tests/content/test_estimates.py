import pytest

from app.content.text.estimates import minutes_of, total_time


@pytest.mark.parametrize(
    ("estimate", "minutes"), [("45 min", 45), ("1 h", 60), ("1 h 10 min", 70), ("2h5min", 125), ("", 0), ("a while", 0)]
)
def test_an_estimate_is_read_in_minutes(estimate: str, minutes: int) -> None:
    assert minutes_of(estimate) == minutes


@pytest.mark.parametrize(
    ("estimates", "words"),
    [(["45 min", "35 min"], "1 h 20 min"), (["1 h", "60 min"], "2 h"), (["5 min"], "5 min"), ([], "")],
)
def test_estimates_add_up(estimates: list[str], words: str) -> None:
    assert total_time(estimates) == words
