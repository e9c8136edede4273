"""What is made for a thing is kept with it, and so many of them."""

from app.engine.identity_cache import IdentityCache


class Thing:
    """Equal to all others."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    __hash__ = object.__hash__


def test_it_is_made_once_for_each_thing_however_alike_they_are() -> None:
    cache, one, other = IdentityCache[object](8), Thing(), Thing()

    made = [cache.of(thing, object) for thing in (one, other, one)]

    assert made[0] is made[2]
    assert made[0] is not made[1]


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    cache, things = IdentityCache[int](3), [Thing() for _ in range(4)]
    for number, thing in enumerate(things[:3]):
        cache.put(number, thing)

    cache.get(things[0])
    cache.put(3, things[3])

    assert [cache.get(thing) for thing in things] == [0, None, 2, 3]


def test_a_thing_that_came_later_is_never_taken_for_one_that_was_there() -> None:
    cache = IdentityCache[int](1000)

    assert all(cache.of(Thing(), lambda number=number: number) == number for number in range(500))
