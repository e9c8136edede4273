import socket
import struct
from collections.abc import Iterator

import pytest

from app.engine.pool.cancel import STOP, CancelListener
from app.engine.pool.grader_frames import encode_frame


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The grader's end, and the web's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        web = socket.create_connection(listener.getsockname())
        grader, _ = listener.accept()
    with grader, web:
        yield grader, web


def test_a_stop_is_heard(ends: tuple[socket.socket, socket.socket]) -> None:
    grader, web = ends
    web.sendall(encode_frame({"ask": STOP}))

    assert CancelListener(grader).asked()


@pytest.mark.parametrize("linger", [0, 1])
def test_a_web_process_that_is_gone_waits_for_nothing(ends: tuple[socket.socket, socket.socket], linger: int) -> None:
    grader, web = ends
    if linger == 0:  # the connection is reset, as when it ends with something unread
        web.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    web.close()

    assert CancelListener(grader).asked()
