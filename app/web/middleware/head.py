"""HEAD as HTTP means it: what GET would answer, without the body. Monitors and balancers ask that way."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Asks for GET where HEAD was sent, and lets the headers through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def gone() -> Message:
            # Nobody waits for a body: a stream of events ends where it begins.
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
            elif not begun.is_set():
                begun.set()
                await send({"type": "http.response.body"})

        await self._app({**scope, "method": "GET"}, gone, send_head)
