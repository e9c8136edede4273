"""What a whole class meets: thirty checks in one second beside endless loops, and five hundred learners at once.

Everything goes over loopback to a server that this benchmark starts, and every part is bounded in count and in time.
Learners are threads in a process of their own, which sleep most of the time.

    python -m benchmarks load                        # both
    BACKHAND_LOAD=class python -m benchmarks load
"""

import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from app.content.blocks import Grad
from app.course.course import load_course
from benchmarks.serving import ROOT, Learner, server

GRADERS = 2
SLUG, BOX = "a-layer-trained", "linear-backward"
URL = f"/lessons/{SLUG}/code/{BOX}"
ENDLESS = "while True:\n    pass\n"

CLASS, ENDLESS_LOOPS, CLASS_SECONDS = 30, 5, 2.0
LEARNERS, ARRIVE_SECONDS, THINK_SECONDS = 500, 30.0, (2.0, 6.0)


@dataclass
class Tally:
    """What the learners met, from many threads."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def timed(self, ask: Callable[[], str]) -> None:
        """Call *ask*, which returns what was wrong, or an empty text."""
        began = time.perf_counter()
        try:
            wrong = ask()
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        took = time.perf_counter() - began
        with self.lock:
            self.seconds.append(took)
            if wrong:
                self.errors.append(wrong)

    def __str__(self) -> str:
        if len(self.seconds) < 2:
            return "nothing was measured"
        cuts = statistics.quantiles(self.seconds, n=100)
        first = f", first: {self.errors[0][:200]}" if self.errors else ""
        return (
            f"n={len(self.seconds)}, p50 {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f} ms, "
            f"max {max(self.seconds) * 1e3:.0f} ms, errors {len(self.errors)}{first}"
        )


class Pupil:
    """A learner with one code box in front of them, as the page's script would send it."""

    def __init__(self, port: int, seed: int, solution: str) -> None:
        self._learner = Learner(port)
        self._solution = solution
        self._seed = seed
        self._texts = 0
        self.draft = ""

    def check(self) -> str:
        """Check a text that nobody has sent before; what was wrong with the answer."""
        self._texts += 1
        page = self._send("check", f"{self._solution}\n# {self._seed}-{self._texts}")
        return "" if 'data-passed="true"' in page else page[:300]

    def loop_forever(self) -> str:
        page = self._send("check", f"{ENDLESS}# {self._seed}")
        return "" if "Stopped: took too long" in page else page[:300]

    def read(self, path: str) -> str:
        status, _ = self._learner.get(path)
        return "" if status == 200 else f"{path}: {status}"

    def save(self, text: str) -> str:
        self.draft = text
        status, answer = self._learner.post(f"{URL}/draft", {"code": text, "revision": self._learner.revision})
        if status != 200:
            return f"draft: {status}"
        self._learner.revision = str(json.loads(answer)["revision"])
        return ""

    def answer(self, quiz: str, fields: dict[str, str]) -> str:
        status, page = self._learner.post(f"/lessons/{SLUG}/quiz/{quiz}", fields)
        return "" if status == 200 else f"{quiz}: {status} {page[:100]}"

    def lost(self) -> str:
        """Whether the page shows another text than the last one that was written."""
        status, page = self._learner.get(f"/lessons/{SLUG}")
        return "" if status == 200 and self.draft.splitlines()[-1] in page else f"lost: {status}"

    def _send(self, act: str, text: str) -> str:
        self.draft = text
        status, page = self._learner.post(f"{URL}/{act}", {"code": text, "revision": self._learner.revision})
        return page if status == 200 else f"{act}: {status} {page[:200]}"


def main() -> None:
    """Run the parts that `BACKHAND_LOAD` names, or all of them."""
    parts = {"class": press_at_once, "journey": journey}
    wanted = os.environ.get("BACKHAND_LOAD", ",".join(parts)).split(",")
    lesson = load_course(ROOT / "lessons").lesson(SLUG)
    box = lesson.exercise(BOX) if lesson else None
    assert lesson is not None
    assert isinstance(box, Grad)
    for name in wanted:
        with server(graders=GRADERS) as port:
            for seed in range(2 * GRADERS):
                wrong = Pupil(port, -1 - seed, box.solution.source).check()
                assert not wrong, wrong
            parts[name](port, box.solution.source)


def press_at_once(port: int, solution: str) -> None:
    """A class presses Check in the same second, and some of it has written endless loops."""
    honest, endless = Tally(), Tally()
    pupils = [Pupil(port, seed, solution) for seed in range(CLASS)]
    for pupil in pupils:
        pupil.read(f"/lessons/{SLUG}")
    start = threading.Barrier(CLASS)
    loops = set(random.Random(0).sample(range(CLASS), ENDLESS_LOOPS))

    def press(seed: int) -> None:
        start.wait()
        time.sleep(random.Random(seed).random())
        if seed in loops:
            endless.timed(pupils[seed].loop_forever)
        else:
            honest.timed(pupils[seed].check)

    with ThreadPoolExecutor(CLASS) as pool:
        list(pool.map(press, range(CLASS)))
    late = sum(one > CLASS_SECONDS for one in honest.seconds)
    print(f"a class of {CLASS} within a second, {ENDLESS_LOOPS} endless loops: honest {honest}, over 2 s: {late}")
    print(f"  endless loops: {endless}")


def journey(port: int, solution: str) -> None:
    """Everybody takes the first lesson: reads, answers, types, checks, thinks, and finds the text again."""
    learners = int(os.environ.get("BACKHAND_LOAD_LEARNERS", LEARNERS))
    lesson = load_course(ROOT / "lessons").lesson(SLUG)
    assert lesson is not None
    pages, drafts, checks, lost = Tally(), Tally(), Tally(), Tally()

    def walk(seed: int) -> None:
        dice = random.Random(seed)
        time.sleep(dice.uniform(0, ARRIVE_SECONDS))
        pupil = Pupil(port, seed, solution)

        def think() -> None:
            time.sleep(dice.uniform(*THINK_SECONDS))

        pages.timed(lambda: pupil.read("/"))
        think()
        pages.timed(lambda: pupil.read(f"/lessons/{SLUG}"))
        for _ in range(3):
            think()
            text = "\n".join(solution.splitlines()[: dice.randint(1, 3)]) + f"\n# typed by {seed}"
            drafts.timed(partial(pupil.save, text))
        think()
        checks.timed(pupil.check)
        think()
        lost.timed(pupil.lost)

    threading.stack_size(256 * 1024)
    with ThreadPoolExecutor(learners) as pool:
        list(pool.map(walk, range(learners)))
    for name, tally in (("pages", pages), ("saves", drafts), ("checks", checks), ("texts found again", lost)):
        print(f"{learners} learners, {name}: {tally}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
