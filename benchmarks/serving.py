"""A real server on a free port, and one learner who talks to it: for the benchmarks that go through HTTP."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
IDLE_SECONDS = 2.0
START_SECONDS = 300.0  # beside other work


@contextlib.contextmanager
def server(graders: int = 1, data: Path | None = None, port: int = 0, **more: str) -> Iterator[int]:
    """The port of a server with an empty database, or with that in the folder *data*, ready to grade.

    Args:
        port: The one that it has to have, if any.
        more: Further settings.
    """
    port = port or free_port()
    with contextlib.ExitStack() as kept:
        folder = str(data or kept.enter_context(tempfile.TemporaryDirectory()))
        # Without a limit for each learner: one of them stands for many here.
        limits = dict.fromkeys(("CHECKS", "CHANGES", "NEW_LEARNERS"), "0")
        settings = {"BACKHAND_DATA_DIR": folder, "BACKHAND_GRADERS": str(graders)}
        settings |= {f"BACKHAND_{name}_PER_MINUTE": most for name, most in limits.items()} | more
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port)],
            cwd=ROOT, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    """Until a server there is ready."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), contextlib.closing(Learner(port)) as learner:
            if learner.get("/readyz")[0] == 200:
                return
        time.sleep(1)
    raise TimeoutError(f"the server was not ready within {START_SECONDS:.0f} s")


class Learner:
    """One browser session over one kept connection, with one code box: of its text it knows the last revision."""

    def __init__(self, port: int, session: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._cookies = {"session": session} if session else {}
        self._asked = time.monotonic()
        self.revision = "0"

    def at(self, port: int) -> "Learner":
        """The same browser at another server."""
        other = Learner(port)
        other._cookies, other.revision = self._cookies, self.revision
        return other

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str) -> tuple[int, str]:
        return self._ask("GET", path, None)

    def post(self, path: str, fields: Mapping[str, str]) -> tuple[int, str]:
        return self._ask("POST", path, urlencode(fields))

    def _ask(self, method: str, path: str, body: str | None) -> tuple[int, str]:
        headers = {"Sec-Fetch-Site": "same-origin", "HX-Request": "true"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if self._cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if time.monotonic() - self._asked > IDLE_SECONDS:
            # The server closes what was idle for five seconds; a browser notices, this client would not.
            self._connection.close()
        self._asked = time.monotonic()
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        for line in response.headers.get_all("Set-Cookie") or []:
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        # As the page's script does; an outdated revision would be a conflict between two tabs.
        self.revision = response.headers.get("revision", self.revision)
        return response.status, response.read().decode()
