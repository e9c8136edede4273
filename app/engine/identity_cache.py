"""The cache of this house for what is made once for a thing that stays the same: a block, a task, a program."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class IdentityCache(Generic[T]):
    """Values by the very object that they were made for; to compare what is in it would take longer than to make them.

    Each is kept with its object, so that no other can come to its identity.

    Args:
        most: How many are kept; the one that was not asked for the longest goes first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[Hashable, ...], tuple[object, T]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, thing: object, *about: Hashable) -> T | None:
        """Return what is cached for *thing*, and what else it is *about*."""
        key = id(thing), *about
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][1]

    def put(self, value: T, thing: object, *about: Hashable) -> T:
        """Keep *value*, and return it."""
        key = id(thing), *about
        self._kept[key] = thing, value
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def of(self, thing: object, make: Callable[[], T]) -> T:
        """Return what is cached for *thing*, else what *make* gives now."""
        cached = self.get(thing)
        return self.put(make(), thing) if cached is None else cached
