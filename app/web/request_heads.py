"""Parser of request heads: with bounds on length and time, and in linear time."""

import asyncio
from asyncio import TimerHandle
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32 * 1024
HEAD_SECONDS = 20.0
BODY = -1


class HeadTooLongError(Exception):
    """Ends the reading: the parser makes an error of its own of it, and that is answered with 400."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn reads it, up to `HEAD_BYTES` of address and headers, and of trailers.

    A head has `HEAD_SECONDS` to come. Of more than `most` connections the one that has waited longest for its head
    gives way; where none waits for one, the newest.
    """

    most = 10_000
    unread: ClassVar[dict["BoundedHttpProtocol", TimerHandle]] = {}
    """The connections whose head is not whole, the oldest first, with what closes each."""

    _arrived = BODY
    """Bytes of a head, or of trailers, that is not whole yet. A body is counted where it is read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._begin_head()
        if len(self.connections) > self.most:
            oldest = next(iter(self.unread))
            oldest._end_head()
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def _begin_head(self) -> None:
        if self not in self.unread:
            self.unread[self] = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _end_head(self) -> None:
        if timer := self.unread.pop(self, None):
            timer.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._arrived != BODY:
            self._arrived += len(data)
        if self._arrived > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._arrived = 0
        self._begin_head()

    def on_headers_complete(self) -> None:
        self._arrived = BODY
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            raise HeadTooLongError
        self._end_head()
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._arrived = 0  # the last one has no body, and trailers follow

    def on_body(self, body: bytes) -> None:
        self._arrived = BODY
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._arrived = BODY
        super().on_message_complete()


def bounded_heads(most: int) -> type[BoundedHttpProtocol]:
    """The protocol of one server, which holds *most* connections."""
    return type("BoundedHeads", (BoundedHttpProtocol,), {"most": most, "unread": {}})
