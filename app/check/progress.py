"""Progress of a check, and the time it still needs."""

from collections.abc import Callable


class ProgressReporter:
    """Counts what is done of *total*, and says so at most every *seconds*."""

    def __init__(self, total: int, say: Callable[[str], None], seconds: float, clock: Callable[[], float]) -> None:
        self._total, self._say, self._seconds, self._clock = total, say, seconds, clock
        self._done = 0
        self._began = self._said = clock()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now = self._clock()
        if now - self._said >= self._seconds and self._done < self._total:
            self._said = now
            left = (now - self._began) / self._done * (self._total - self._done)
            self._say(f"{self._done} of {self._total} codes judged, about {in_words(left)} left")


def in_words(seconds: float) -> str:
    """`40 s`, `3 min`."""
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{round(seconds / 60)} min"
