"""How far a check is."""

import pytest

from app.cli.proving import ProgressReporter, in_words


def test_the_time_left_is_told_while_there_is_some() -> None:
    said: list[str] = []
    times = iter([0.0, 1.0, 20.0, 30.0, 40.0])
    progress = ProgressReporter(4, said.append, 5.0, lambda: next(times))

    for _ in range(4):
        progress.step()

    assert said == [
        "2 of 4 codes judged, about 20 s left",
        "3 of 4 codes judged, about 10 s left",
    ]


@pytest.mark.parametrize(("seconds", "words"), [(0.1, "1 s"), (89, "89 s"), (150, "2 min")])
def test_a_time_is_told_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
