"""What `make mutants` needs is as it expects, before anybody waits for two hours."""

from tests.mutate import PLACES, ROOT, stale


def test_what_nobody_can_see_is_a_mutant_of_today() -> None:
    assert stale() == set()


def test_the_rooms_that_are_reversed_and_their_tests_are_there() -> None:
    assert [room for room in PLACES if not (ROOT / "app" / room).is_dir()] == []
    assert [place for places in PLACES.values() for place in places if not (ROOT / place).exists()] == []
