"""Bytes that no client sends, over a real connection: each is answered or cut off, and the server serves on."""

import contextlib
import logging
import socket
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.waiting import SECONDS
from tests.web.listening import listening

HANG_SECONDS = SECONDS
PATIENCE_SECONDS = 0.2
"""After half a request the server waits, and rightly; so long do we."""
DRAFT = "/lessons/linear/code/linear-backward/draft"
BODY = b"code=transport&revision=0"


@pytest.fixture(scope="module")
def port(unstarted: FastAPI) -> Iterator[int]:
    with listening(unstarted) as port:
        yield port


def exchanged(port: int, *parts: bytes, patience: float = PATIENCE_SECONDS) -> bytes:
    """Everything that comes back for *parts*, until the server closes, or waits for what never comes."""
    chunks = []
    ended = contextlib.suppress(ConnectionResetError, BrokenPipeError, TimeoutError)
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection, ended:
        for part in parts:
            connection.sendall(part)
        while chunk := connection.recv(65536):
            chunks.append(chunk)
    return b"".join(chunks)


def statuses(answer: bytes) -> list[int]:
    return [int(line.split()[1]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def request(line: str = f"POST {DRAFT} HTTP/1.1", *headers: bytes, body: bytes = b"") -> bytes:
    head = [line.encode("latin-1"), b"host: testserver", b"connection: close", *headers]
    return b"\r\n".join([*head, b"", b""]) + body


def length(value: object) -> bytes:
    return f"content-length: {value}".encode("latin-1")


SAME = b"sec-fetch-site: same-origin"
KIND = b"content-type: application/x-www-form-urlencoded"
CHUNKED = b"transfer-encoding: chunked"
MANGLED = {
    "a longer body than announced": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(3), body=BODY),
    "a shorter body than announced": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(9000), body=BODY),
    "two lengths": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(3), length(25), body=BODY),
    "two lengths in one": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length("3, 25"), body=BODY),
    "a length and chunks": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(3), CHUNKED, body=b"0\r\n\r\n"),
    "a negative length": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(-1), body=BODY),
    "a signed length": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length("+25"), body=BODY),
    "a length in hex": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length("0x19"), body=BODY),
    "a length of 4,000 digits": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length("9" * 4000), body=BODY),
    "an endless length": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(2**63), body=BODY),
    "an unknown encoding": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, b"transfer-encoding: xchunked", body=BODY),
    "a chunk without a size": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, CHUNKED, body=b"zz\r\nab\r\n0\r\n\r\n"),
    "a chunk of a huge size": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, CHUNKED, body=b"f" * 15 + b"\r\nab\r\n"),
    "a chunk with a long extension": request(
        f"POST {DRAFT} HTTP/1.1", SAME, KIND, CHUNKED, body=b"1;" + b"e" * 100_000 + b"\r\na\r\n0\r\n\r\n"
    ),
    "chunks that never end": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, CHUNKED, body=b"1\r\na\r\n" * 100),
    "more chunks than the limit": request(
        f"POST {DRAFT} HTTP/1.1", SAME, KIND, CHUNKED, body=(b"1000\r\n" + b"a" * 4096 + b"\r\n") * 80 + b"0\r\n\r\n"
    ),
    "an expectation": request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(25), b"expect: 100-continue", body=BODY),
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": request("GET / HTTP/1.1", b"host: evil.example"),
    "a folded header": request("GET / HTTP/1.1", b"x-a: 1\r\n\tfolded"),
    "a header with NUL": request("GET / HTTP/1.1", b"x-a: a\0b"),
    "a header with a bare CR": request("GET / HTTP/1.1", b"x-a: a\rset-cookie: b"),
    "a space before the colon": request("GET / HTTP/1.1", b"x-a : 1"),
    "a header without a name": request("GET / HTTP/1.1", b": 1"),
    "ten thousand headers": request("GET / HTTP/1.1", *(b"x-%d: 1" % number for number in range(10_000))),
    "a header of 200 kB": request("GET / HTTP/1.1", b"x-a: " + b"a" * 200_000),
    "a cookie of 30 kB": request("GET / HTTP/1.1", b"cookie: session=" + b"a" * 30_000),
    "an address of 60 kB": request("GET /" + "a" * 60_000 + " HTTP/1.1"),
    "an address of 200 kB": request("GET /" + "a" * 200_000 + " HTTP/1.1"),
    "an address of another site": request("GET http://evil.example/ HTTP/1.1"),
    "no address": request("GET  HTTP/1.1"),
    "an asterisk": request("OPTIONS * HTTP/1.1"),
    "a tunnel": request("CONNECT evil.example:443 HTTP/1.1"),
    "an address with raw bytes": request("GET /\xff\xfe HTTP/1.1"),
    "an address with half an escape": request("GET /%e HTTP/1.1"),
    "an address with an escaped line end": request("GET /%0d%0aset-cookie:%20x=1 HTTP/1.1"),
    "an old version": b"GET /\r\n",
    "a version of the future": b"GET / HTTP/9.9\r\nhost: x\r\n\r\n",
    "an upgrade": request("GET / HTTP/1.1", b"upgrade: websocket", b"connection: upgrade", b"sec-websocket-key: eA=="),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "half a line": b"GET / HT",
    "half a head": b"GET / HTTP/1.1\r\nhost: x\r\n",
    "nothing": b"",
    "line ends": b"\r\n" * 1000,
    "a hundred in a row": (b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n") * 100,
    "a method of 20 kB": request("G" * 20_000 + " / HTTP/1.1"),
    "a range of a file": request("GET /static/icon.svg HTTP/1.1", b"range: bytes=" + b"0-1," * 500 + b"9-"),
}


HEALTHY = request("GET /healthz HTTP/1.1")


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The server says nothing of an error of its own."""
    yield
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.usefixtures("quiet")
def test_mangled_requests_are_answered_or_cut_off_and_the_server_serves_on(port: int) -> None:
    for name, sent in MANGLED.items():
        answer = exchanged(port, sent)

        assert all(status < 500 for status in statuses(answer)), (name, answer[:300])
        assert b"Traceback" not in answer, name
        assert b"\nset-cookie: x=1" not in answer.lower(), name
        assert statuses(exchanged(port, HEALTHY, patience=HANG_SECONDS)) == [200], name


@pytest.mark.usefixtures("quiet")
@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.integers(0, 250),
    wound=st.binary(max_size=12)
    | st.sampled_from([b"\r\n", b"\r\n\r\n", b"\0", b" ", b"\n", b"%00", b"chunked", b"\xff" * 9]),
    lost=st.integers(0, 12),
    cut=st.integers(0, 400),
)
def test_a_good_request_with_a_wound_is_answered_or_cut_off(
    port: int, place: int, wound: bytes, lost: int, cut: int
) -> None:
    good = request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(len(BODY)), body=BODY)
    hurt = good[:place] + wound + good[place + lost :]

    answer = exchanged(port, hurt[:cut], hurt[cut:])

    assert all(status < 500 for status in statuses(answer)), answer[:300]
    assert statuses(exchanged(port, HEALTHY, patience=HANG_SECONDS)) == [200]


def test_a_body_that_is_cut_short_is_not_stored(port: int) -> None:
    cut = exchanged(port, request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(9000), body=BODY))
    whole = exchanged(
        port, request(f"POST {DRAFT} HTTP/1.1", SAME, KIND, length(len(BODY)), body=BODY), patience=HANG_SECONDS
    )

    assert cut == b""
    assert statuses(whole) == [200]
    assert b'"revision":1' in whole
