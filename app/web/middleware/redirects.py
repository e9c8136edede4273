"""Redirects that leave the scheme and the host to the browser.

Starlette takes a slash too many away with a redirect to a whole address. Behind a proxy that ends TLS that address
begins with `http:`, and a page on `https:` must not lead there.
"""

from starlette.datastructures import URL, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RelativeRedirects:
    """Cuts the scheme and the host off a `Location` that names this very server."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_relative(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                location = headers.get("location", "")
                asked = URL(scope=scope)
                own = f"{asked.scheme}://{asked.netloc}/"
                # Not for a path of two slashes: what remained would name another host.
                if location.startswith(own) and not location.startswith(own + "/"):
                    headers["location"] = location.removeprefix(own[:-1])
            await send(message)

        await self._app(scope, receive, send_relative)
