"""A grader's own watch over its jail: canary attacks at the start, and again every few minutes."""

import logging
import select
import socket
import time
from collections.abc import Callable

from app.engine.grader import CanaryReport
from app.sandbox.canaries import run_canaries
from app.sandbox.runner import Jail

WATCH_SECONDS = 300.0
_LOG = logging.getLogger(__name__)


class CanaryWatch:
    """Attacks *jail* from time to time; once an attack has succeeded, the jail refuses everything.

    Args:
        on: False for commands that end soon anyway.
        tell: Called with what each look found.
    """

    def __init__(self, jail: Jail, *, on: bool, tell: Callable[[CanaryReport], None]) -> None:
        self._jail = jail
        self._tell = tell
        # In unsafe mode the walls are known to be missing, and every page says so.
        self._on = on and all(state == "on" for name, state in jail.layers if name == "seccomp")
        self._looked = 0.0

    def look(self) -> None:
        """Release the canaries, unless code is refused already."""
        self._looked = time.monotonic()
        if not self._on or self._jail.refusal:
            return
        succeeded = run_canaries(self._jail)
        look = CanaryReport(at=time.time(), succeeded=succeeded)
        if succeeded:
            _LOG.critical("canary attacks succeeded: %s", ", ".join(succeeded))
            self._jail.refusal = look.refusal
        self._tell(look)

    def holds(self, connection: socket.socket) -> bool:
        """Wait for something to read on *connection*; False when the jail stopped holding meanwhile."""
        refused = self._jail.refusal
        while self._on and not refused:
            left = self._looked + WATCH_SECONDS - time.monotonic()
            if left > 0 and select.select([connection], [], [], left)[0]:
                return True
            if left <= 0:
                self.look()
                if self._jail.refusal:
                    return False
        return True
