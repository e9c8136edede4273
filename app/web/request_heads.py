"""How the head of a request is read: with a bound on it, and in linear time."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 32 * 1024
BODY = -1


class HeadTooLongError(Exception):
    """Ends the reading: the parser makes an error of its own of it, and that is answered with 400."""


class BoundedHeads(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn reads it, up to `HEAD_BYTES` of address and headers, and of trailers."""

    _arrived = BODY
    """Bytes of a head, or of trailers, that is not whole yet. A body is counted where it is read."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._arrived != BODY:
            self._arrived += len(data)
        if self._arrived > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._arrived = 0

    def on_headers_complete(self) -> None:
        self._arrived = BODY
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            raise HeadTooLongError
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._arrived = 0  # the last one has no body, and trailers follow

    def on_body(self, body: bytes) -> None:
        self._arrived = BODY
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._arrived = BODY
        super().on_message_complete()
