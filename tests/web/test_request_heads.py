"""Heads and trailers without an end, over a real connection: they are cut off long before they fill the memory."""

import contextlib
import socket
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from app.web.request_heads import HEAD_BYTES
from tests.waiting import SECONDS
from tests.web.listening import listening

PIECE = 64 * 1024
MEGABYTES = 64
"""More than what the kernel keeps between two ends of a connection."""
GET = b"GET /healthz HTTP/1.1\r\nhost: x\r\n"
POST = b"POST /theme HTTP/1.1\r\nhost: x\r\nsec-fetch-site: same-origin\r\ntransfer-encoding: chunked\r\n\r\n"
ENDLESS = {
    "a header": (GET + b"x-a: ", b"a" * PIECE),
    "a cookie of backslashes": (GET + b'cookie: session="', b"\\" * PIECE),
    "headers": (GET, b"x-a: b\r\n" * (PIECE // 8)),
    "the name of a header": (GET, b"a" * PIECE),
    "an address": (b"GET /", b"a" * PIECE),
    "the head of a second request": (GET + b"\r\n" + GET + b"x-a: ", b"a" * PIECE),
    "a trailer": (POST + b"1\r\na\r\n0\r\nx-a: ", b"a" * PIECE),
    "trailers": (POST + b"1\r\na\r\n0\r\n", b"x-a: b\r\n" * (PIECE // 8)),
}


@pytest.fixture(scope="module")
def port(unstarted: FastAPI) -> Iterator[int]:
    with listening(unstarted) as port:
        yield port


def taken(port: int, start: bytes, piece: bytes) -> int:
    """How many megabytes the server lets in; the connection is cut before all were sent, or it takes them all."""
    sent = 0
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection, contextlib.suppress(OSError):
        connection.sendall(start)
        for _ in range(MEGABYTES * 2**20 // len(piece)):
            connection.sendall(piece)
            sent += len(piece)
    return sent >> 20


def answer(port: int, *parts: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        for part in parts:
            connection.sendall(part)
        return connection.recv(65536)


@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_is_cut_off(port: int, what: str) -> None:
    assert taken(port, *ENDLESS[what]) < MEGABYTES // 2
    assert answer(port, GET, b"\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("length", "status"), [(HEAD_BYTES - 200, 200), (HEAD_BYTES, 400), (3 * HEAD_BYTES, 400), (9 * HEAD_BYTES, 400)]
)
def test_a_whole_head_is_bounded_too(port: int, length: int, status: int) -> None:
    said = answer(port, GET, b"x-a: " + b"a" * length + b"\r\n\r\n")

    assert int(said.split()[1]) == status


def test_an_answer_does_not_say_what_serves_it(port: int) -> None:
    assert b"\r\nserver:" not in answer(port, GET, b"\r\n").lower()


def test_a_body_may_be_longer_than_a_head(port: int) -> None:
    chunk = b"4000\r\n" + b"a" * 0x4000 + b"\r\n"

    assert int(answer(port, POST, chunk * 6, b"0\r\n\r\n").split()[1]) == 422
