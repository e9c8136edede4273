"""Two web servers, three hosts of graders, a broker and a database, while processes are killed: is anything lost?

`CHECKS` checks of texts of which no two are alike, each asked again until it is answered, as a learner's browser would:
a grader is killed every five seconds, the broker once, a web server once. Then the database is asked what it holds.
"""

import contextlib
import http.client
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from benchmarks.serving import ROOT, Learner, free_port, wait_for
from tests.engine.pool.broker_server import Broker, host
from tests.store import postgres

CHECKS = int(os.environ.get("CHECKS", "2000"))
AT_ONCE = 12
EACH = 40
"""Checks of one learner: of each exercise no more than fifty attempts are kept."""
KILL_SECONDS = 5.0
HOSTS = 3
URL = "/lessons/a-layer-trained/code/linear-backward"
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n"


class Fleet:
    """The processes, and how to end one and start it again."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder, self._url = folder, url
        self.broker = Broker(folder)
        self.broker.start()
        self.ports = [free_port(), free_port()]
        self.webs = [self._web(port) for port in self.ports]
        self.hosts = [self._host(number) for number in range(HOSTS)]
        for port in self.ports:
            wait_for(port)

    def _web(self, port: int) -> "subprocess.Popen[bytes]":
        limits = {f"BACKHAND_{name}_PER_MINUTE": "0" for name in ("CHECKS", "CHANGES", "NEW_LEARNERS")}
        settings = {
            "BACKHAND_DATA_DIR": str(self._folder / "web"), "BACKHAND_DATABASE_URL": self._url,
            "BACKHAND_NATS_URL": self.broker.web, "BACKHAND_REPLICAS": "2",
        }  # fmt: skip
        with (self._folder / "web.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--port", str(port)],
                cwd=ROOT, env={**os.environ, **settings, **limits}, stdout=log, stderr=log,
            )  # fmt: skip

    def _host(self, number: int) -> "subprocess.Popen[bytes]":
        folder = self._folder / f"host{number}"
        folder.mkdir(exist_ok=True)
        return host(self.broker, folder)

    def kill_a_host(self, number: int) -> None:
        end(self.hosts[number])
        self.hosts[number] = self._host(number)

    def restart_the_broker(self) -> None:
        self.broker.kill()
        time.sleep(2.0)
        self.broker.start()

    def kill_a_web(self) -> None:
        end(self.webs[0])
        self.webs[0] = self._web(self.ports[0])

    def close(self) -> None:
        for one in (*self.webs, *self.hosts):
            one.terminate()
        for one in (*self.webs, *self.hosts):
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(30)
        self.broker.kill()


def end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def main() -> None:
    """Print what was asked, answered, lost and recorded twice."""
    found = postgres.programs()
    if found is None:
        print("PostgreSQL is not installed; nothing was measured")
        return
    with postgres.server(found) as url, tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder), url)
        try:
            _trial(fleet, url)
        finally:
            fleet.close()


def _trial(fleet: Fleet, url: str) -> None:
    numbers, seconds, tries = itertools.count(), list[float](), Counter[str]()
    threads = [
        threading.Thread(target=_learns, args=(fleet.ports, seed, numbers, seconds, tries)) for seed in range(AT_ONCE)
    ]
    began = time.monotonic()
    for one in threads:
        one.start()
    kills = 0
    events = {CHECKS // 3: fleet.restart_the_broker, 2 * CHECKS // 3: fleet.kill_a_web}
    last = time.monotonic()
    while any(one.is_alive() for one in threads):
        time.sleep(0.2)
        for at in [one for one in events if len(seconds) >= one]:
            events.pop(at)()
        if time.monotonic() - last > KILL_SECONDS:
            fleet.kill_a_host(kills % HOSTS)
            kills, last = kills + 1, time.monotonic()
    took = time.monotonic() - began
    kept = _kept(url)
    texts = Counter(kept)
    wanted = {_text(number) for number in range(CHECKS)}
    ordered = sorted(seconds)
    print(f"{len(seconds)} checks in {took:.0f} s, {kills} graders killed, one broker restarted, one web server killed")
    print(f"asked again: {dict(tries)}; p50 {ordered[len(ordered) // 2]:.2f} s, longest {ordered[-1]:.1f} s")
    print(f"lost: {len(wanted - set(texts))}; recorded twice: {sum(count > 1 for count in texts.values())}; "
          f"of nobody: {len(set(texts) - wanted)}")  # fmt: skip


def _text(number: int) -> str:
    return f"{RIGHT}# {number}\n"


def _learns(
    ports: list[int], seed: int, numbers: "itertools.count[int]", seconds: list[float], tries: "Counter[str]"
) -> None:
    """One learner, who asks each text until it is answered, of either server."""
    draw = random.Random(seed)
    at = draw.randrange(2)
    learner, asked = Learner(ports[at]), 0
    while (number := next(numbers)) < CHECKS:
        if asked == EACH:
            learner, asked = Learner(ports[at]), 0
        asked += 1
        began = time.monotonic()
        while True:
            try:
                status, page = learner.post(f"{URL}/check", {"code": _text(number), "revision": learner.revision})
            except (OSError, http.client.HTTPException):
                tries["server gone"] += 1
                at = 1 - at
                learner = learner.at(ports[at])
                time.sleep(0.2)
                continue
            if status == 200 and 'data-passed="true"' in page:
                break
            tries[f"status {status}" if status != 200 else "no verdict"] += 1
            time.sleep(draw.uniform(0.2, 0.6))
        seconds.append(time.monotonic() - began)


def _kept(url: str) -> list[str]:
    """The texts of all attempts that passed."""
    import psycopg
    from sqlalchemy import make_url

    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM attempt WHERE correct")]
