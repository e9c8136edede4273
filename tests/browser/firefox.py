"""Firefox, driven by its own protocol (Marionette): what drives Chromium takes no Firefox of a distribution.

Source: https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from tests.waiting import SECONDS, until

PATH = shutil.which("firefox-esr") or shutil.which("firefox")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
QUIET = {
    # What it would ask of its makers ends at a port that nobody listens at.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class Firefox:
    """A browser with a new *profile*, which finds *hosts* on this machine."""

    def __init__(self, profile: Path, hosts: Iterable[str], settings: Mapping[str, Any]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        names = ",".join(sorted(hosts))
        own = {"marionette.port": self._port, "network.dns.localDomains": names, "network.proxy.no_proxies_on": names}
        values = {**QUIET, **own, **settings}
        lines = (f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in values.items())
        (profile / "user.js").write_text("".join(lines))
        words = [str(PATH), "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(words, env={"HOME": str(profile)}, **quiet)
        self._numbers = count(1)
        self._socket: socket.socket | None = None
        until(self._is_there)
        self._receive()
        told = self.ask("WebDriver:NewSession", acceptInsecureCerts=True)
        self.version = str(told["capabilities"]["browserVersion"])
        self._tab = self.ask("WebDriver:GetWindowHandle")["value"]

    def _is_there(self) -> bool:
        assert self._process.poll() is None
        try:
            self._socket = socket.create_connection(("127.0.0.1", self._port), SECONDS)
        except OSError:
            return False
        return True

    def _receive(self) -> Any:
        assert self._socket is not None
        head = b""
        while not head.endswith(b":"):
            head += self._socket.recv(1)
        body = b""
        while len(body) < int(head[:-1]):
            body += self._socket.recv(int(head[:-1]) - len(body))
        return json.loads(body)

    def ask(self, command: str, **values: Any) -> Any:
        assert self._socket is not None
        number = next(self._numbers)
        body = json.dumps([0, number, command, values]).encode()
        self._socket.sendall(b"%d:%s" % (len(body), body))
        _, answered, error, result = self._receive()
        assert answered == number
        if error:
            raise LookupError(f"{error['error']}: {error['message']}")
        return result

    def go(self, url: str) -> None:
        self.ask("WebDriver:Navigate", url=url)

    def frame(self, selector: str) -> None:
        """Be in a frame of the page."""
        self.ask("WebDriver:SwitchToFrame", id=None)
        self.ask("WebDriver:SwitchToFrame", element=self.find(selector)[ELEMENT])

    def is_in_new_tab(self) -> bool:
        """True if a tab has been opened; it is looked at then."""
        *_, newest = self.ask("WebDriver:GetWindowHandles")
        self.ask("WebDriver:SwitchToWindow", handle=newest)
        return bool(newest != self._tab)

    def find(self, selector: str) -> dict[str, str]:
        return dict(self.ask("WebDriver:FindElement", using="css selector", value=selector)["value"])

    def text(self, selector: str) -> str:
        """What an element shows; "" if there is none."""
        try:
            return str(self.ask("WebDriver:GetElementText", id=self.find(selector)[ELEMENT])["value"])
        except LookupError:
            return ""

    def click(self, selector: str) -> None:
        self.ask("WebDriver:ElementClick", id=self.find(selector)[ELEMENT])

    def type(self, selector: str, text: str) -> None:
        self.ask("WebDriver:ElementSendKeys", id=self.find(selector)[ELEMENT], text=text)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._process.terminate()
        self._process.wait(SECONDS)
