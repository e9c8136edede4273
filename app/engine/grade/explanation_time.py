"""Processor time that is set aside for all explanations of one check together.

What looks for a mistake has bounds of its own. This one holds whatever is inside: a timer of the kernel ends the search
where it stands. A single step that never comes back to Python is beyond it; that ends the reader (`reader`).
"""

import math
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

EXPLAINING_SECONDS = 1.0
_AGAIN = 0.05  # what recovers from errors may swallow the first one

T = TypeVar("T")


class TimeUpError(BaseException):
    """Nothing is left. No `Exception`: what recovers from a stumbling rule must not recover from this."""


class ExplanationTimeBudget:
    """Time left for explanations, in seconds of processor time, because a busy machine must not change the verdict.

    One thread of a process has signals, so this is of use in that one only.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.left = EXPLAINING_SECONDS if seconds is None else seconds
        self._running = False

    def spend(self, work: Callable[[], T]) -> T:
        """Run *work* on this budget and return its result.

        Raises:
            TimeUpError: It did not come to its end in the time that is left.
        """
        if self.left <= 0:
            raise TimeUpError
        began = time.process_time()
        before = signal.signal(signal.SIGPROF, self._ring)
        try:
            try:
                self._running = True
                signal.setitimer(signal.ITIMER_PROF, self.left, _AGAIN)
                return work()
            finally:
                self._running = False
        except TimeUpError:
            began = -math.inf
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            self.left -= time.process_time() - began

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._running:
            raise TimeUpError
