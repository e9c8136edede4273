"""What middleware learns of an answer on its way out."""

from starlette.types import Message, Send


class Noting:
    """A `send` that remembers the status of the answer; *otherwise* as long as none has begun."""

    def __init__(self, send: Send, otherwise: int = 0) -> None:
        self._send = send
        self.status = otherwise
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
        await self._send(message)
