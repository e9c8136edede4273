"""A NATS server for the tests, with the rights of `deploy/nats.conf`, on disk; it can be killed and started again."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

from tests.waiting import until
from tests.zygotes import forking

ROOT = Path(__file__).parents[3]
PASSWORDS = {"WEB_PASSWORD": "w", "GRADER_PASSWORD": "g"}


class Broker:
    """*keys* are the public nkeys of the web and of graders, in the place of passwords."""

    def __init__(self, folder: Path, keys: tuple[str, str] | None = None) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        text = (ROOT / "deploy" / "nats.conf").read_text().replace("/data", str(folder / "jetstream"))
        for name, key in zip(("web", "grader"), keys or (), strict=bool(keys)):
            text = re.sub(rf"user: {name}, password: \S+", f"nkey: {key}", text)
        (folder / "nats.conf").write_text(text)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def web(self) -> str:
        return f"nats://web:w@127.0.0.1:{self.port}"

    @property
    def grader(self) -> str:
        return f"nats://grader:g@127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(program()), "-c", self._folder / "nats.conf", "-a", "127.0.0.1", "-p", str(self.port)],
                env=PASSWORDS, stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        until(self._answers)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self._folder / "log").read_text()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0


def program() -> str | None:
    """Where the server is; None where it is not installed."""
    return shutil.which("nats-server")


def host(broker: Broker, folder: Path, *, checks: int = 1, trains: int = 0) -> "subprocess.Popen[bytes]":
    """`backhand grader`, as an operator starts it, but that its zygotes are forked."""
    slots = ["--checks", str(checks), "--trains", str(trains)]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [*forking("app.cli"), "grader", "--nats", broker.grader, *slots],
            env=os.environ | {"BACKHAND_DATA_DIR": str(folder)}, cwd=ROOT, stderr=log,
        )  # fmt: skip
