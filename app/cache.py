"""The cache of this house: bounded, by content, or by the very object for what is dear to compare."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Values by key.

    Args:
        most: How many are kept; the one that was not asked for the longest goes first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: K, value: V) -> V:
        """Keep *value*, and return it."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
        return value

    def of(self, key: K, make: Callable[[], V]) -> V:
        """Return what is cached for *key*, else what *make* gives now; None is not cached."""
        value = self.get(key)
        return self.put(key, make()) if value is None else value


class Same:
    """A key that only the very object *thing* equals: to compare what is in it would take longer than to make a value.

    The key holds its object, so that no other can come to its identity.
    """

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)
