"""The path that the site is below, such as `/learn`, beside other things on one host.

Nothing inside knows of it. A request loses the prefix here, where no proxy has taken it away before; the answer gets it
here, in `Location` and in cookies. The addresses in pages get it where pages are rendered.
"""

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.middleware.security import HttpMiddleware, with_headers

HOST_COOKIE = "__Host-"
COOKIE_PATH = re.compile(r"(;\s*path=)(/[^;]*)", re.IGNORECASE)


class PathPrefix(HttpMiddleware):
    """Serves *app* below *prefix*.

    Cookies belong to paths below it. Browsers take one whose name begins with `__Host-` for `/` alone, so that one has
    the prefix in its name: what else is on the host has cookies of its own.
    """

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        super().__init__(app)
        self._prefix = prefix
        # A prefix has no full stop: no two of them make one name.
        self._host_cookie = f"{HOST_COOKIE}{prefix[1:].replace('/', '.')}."

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == self._prefix or path.startswith(self._prefix + "/"):
            path = path.removeprefix(self._prefix) or "/"
        headers = [(name, self._own(value) if name == b"cookie" else value) for name, value in scope["headers"]]

        def place(answered: MutableHeaders) -> None:
            if (location := answered.get("location", "")).startswith("/"):
                answered["location"] = self._prefix + location
            cookies = answered.getlist("set-cookie")
            del answered["set-cookie"]
            for cookie in cookies:
                answered.append("set-cookie", self._placed(cookie))

        await self._app({**scope, "path": path, "headers": headers}, receive, with_headers(send, place))

    def _own(self, cookies: bytes) -> bytes:
        """*cookies* of a request, without those of other sites on this host that begin with `__Host-`."""
        marked, host = self._host_cookie.encode(), HOST_COOKIE.encode()
        parts = [part.strip() for part in cookies.split(b";")]
        own = [part for part in parts if part.startswith(marked) or not part.startswith(host)]
        return b"; ".join(part.replace(marked, host, 1) for part in own)

    def _placed(self, cookie: str) -> str:
        if cookie.startswith(HOST_COOKIE):
            return cookie.replace(HOST_COOKIE, self._host_cookie, 1)
        return COOKIE_PATH.sub(lambda match: match[1] + self._prefix + match[2].rstrip("/"), cookie)
