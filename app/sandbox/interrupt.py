"""How a run is ended from outside before its time: because nobody waits for it any more."""

from typing import Protocol


class StoppedError(BaseException):
    """The run was stopped, and with it everything that needed it.

    No `Exception`: it is nobody's fault, and what recovers from faults must not recover from it.
    """


class Interrupt(Protocol):
    """Something that can be polled beside a run."""

    def fileno(self) -> int: ...

    def asked(self) -> bool:
        """Whether the run is to stop; called when `fileno` can be read, and must read something of it."""
        ...
