"""The cache is bounded, and tells the very object from one that is equal to it."""

import gc
import weakref

from app.cache import LruCache, Same


class Equal:
    """Equal to every other, as two blocks of one text are."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 0


def test_the_value_that_was_asked_for_last_is_kept() -> None:
    cache, made = LruCache[str, str](2), []

    for key in "abcba":
        cache.of(key, lambda key=key: made.append(key) or key)

    assert made == ["a", "b", "c", "a"]
    assert len(cache) == 2


def test_two_objects_that_are_equal_are_two_keys() -> None:
    cache, one, other = LruCache[Same, str](9), Equal(), Equal()

    cache.put(Same(one), "one")

    assert cache.get(Same(one)) == "one"
    assert cache.get(Same(other)) is None


def test_a_key_holds_its_object_until_it_is_dropped() -> None:
    cache, one = LruCache[Same, str](1), Equal()
    alive = weakref.ref(one)
    cache.put(Same(one), "one")
    del one
    gc.collect()
    assert alive() is not None

    cache.put(Same(Equal()), "next")
    gc.collect()

    assert alive() is None
