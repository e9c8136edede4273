"""How soon a board shows a check: a class of 200 checks at a real server while its instructor watches.

Every learner checks a wrong text of their own once; the board is watched over server-sent events. What is measured is
the time from the answer to a check until the first board that counts it, and its ratio to the check itself.

    python -m benchmarks classroom
    BACKHAND_CLASS=30 python -m benchmarks classroom
"""

import asyncio
import http.client
import os
import re
import statistics
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.content.blocks import Grad
from app.course.course import load_course
from benchmarks.serving import ROOT, Learner, server
from tests.web.classroom import Seated, seated

SIZE = int(os.environ.get("BACKHAND_CLASS", "200"))
AT_ONCE, GRADERS, MOST_SECONDS = 4, 2, 2.0
SLUG, BOX = "a-layer-trained", "linear-backward"
COUNTED = re.compile(r"(\d+) solved it, (\d+) (?:is|are) wrong now")


def main() -> None:
    """Print how long it took; the board is held to two seconds."""
    lesson = load_course(ROOT / "lessons").lesson(SLUG)
    box = lesson.exercise(BOX) if lesson else None
    assert lesson is not None
    assert isinstance(box, Grad)
    wrong = box.solution.source.replace(".sum(0)", ".mean(0)", 1)
    assert wrong != box.solution.source
    with tempfile.TemporaryDirectory() as name:
        room = asyncio.run(seated(f"sqlite+aiosqlite:///{Path(name) / 'backhand.db'}", SIZE, lesson.name))
        with server(GRADERS, Path(name)) as port:
            _measure(port, room, wrong)


def _measure(port: int, room: Seated, wrong: str) -> None:
    seen: list[tuple[float, int]] = []
    opened, ended = threading.Event(), threading.Event()
    watching = threading.Thread(target=_watch, args=(port, room, seen, opened, ended), daemon=True)
    watching.start()
    assert opened.wait(30), "the board was not opened"
    answered: list[float] = []
    took: list[float] = []

    def check(at: int) -> None:
        began = time.perf_counter()
        fields = {"code": f"{wrong}\n# {at}", "revision": "0"}
        status, page = Learner(port, room.pupils[at]).post(f"/lessons/{SLUG}/code/{BOX}/check", fields)
        assert status == 200, page[:200]
        answered.append(time.perf_counter())
        took.append(answered[-1] - began)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(check, range(len(room.pupils))))
    assert ended.wait(30), f"the board counted {seen[-1][1]} of {len(room.pupils)}"
    waits = []
    for number, at in enumerate(sorted(answered), start=1):
        shown = next(moment for moment, count in seen if count >= number)
        waits.append(max(0.0, shown - at))
    middle, most, own = statistics.median(waits), max(waits), statistics.median(took)
    print(f"  {len(room.pupils)} learners, one board, {len(seen)} boards sent")
    print(f"  from a check's answer to the board: p50 {middle:.2f} s, max {most:.2f} s, ratio {middle / own:.2f}")
    print(f"  a check itself: p50 {own:.2f} s   {'ok' if most <= MOST_SECONDS else 'TOO SLOW'}")


def _watch(
    port: int, room: Seated, seen: list[tuple[float, int]], opened: threading.Event, ended: threading.Event
) -> None:
    """Note when which count was shown, until it is that of all."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    path = f"/classes/{room.group}/board/events?place={SLUG}/{BOX}"
    connection.request("GET", path, headers={"Cookie": f"session={room.instructor}"})
    response = connection.getresponse()
    assert response.status == 200, response.status
    while not ended.is_set():
        found = COUNTED.search(response.readline().decode())
        if found:
            seen.append((time.perf_counter(), int(found[1]) + int(found[2])))
            opened.set()
            if seen[-1][1] == len(room.pupils):
                ended.set()


if __name__ == "__main__":
    main()
