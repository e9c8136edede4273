"""Cancellation of a grader's request: the web process says that it no longer waits for the answer.

The web process asks one question at a time, so nothing else can come in between. A stop that crosses the answer is read
before the next question, and is about nothing.
"""

import socket

from app.engine.pool.grader_frames import receive_frame

STOP = "stop"


class CancelListener:
    """Listener that a jail polls beside its runs while a request is being answered."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        return self._connection.fileno()

    def asked(self) -> bool:
        """Read one message; True for a stop, and where the web process is gone."""
        try:
            message = receive_frame(self._connection)
        except ConnectionError:
            return True
        return message is None or message["ask"] == STOP
