"""A check of a code box through HTTP against a bare fork-and-exit of the zygote, a fresh interpreter, and a run.

All figures come from one run, taken in turn, so that a noisy machine troubles each of them alike.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from app.content.blocks import Grad
from app.course.course import load_course
from app.sandbox.runner import Jail
from benchmarks.serving import ROOT, Learner, server

ROUNDS = int(os.environ.get("BACKHAND_ROUNDS", "100"))
FRESH_ROUNDS = 5
BOXES = (("a-layer-trained", "linear-backward"),)


def main() -> None:
    """Print the medians and ratios."""
    course = load_course(ROOT / "lessons")
    exam = [(one.slug, box.name) for one in course.lessons for box in one.exercises
            if isinstance(box, Grad) and len(box.require) == 26]  # fmt: skip
    jail = Jail()
    try:
        with server() as port:
            for slug, name in (*BOXES, *exam):
                lesson = course.lesson(slug)
                box = lesson.exercise(name) if lesson else None
                assert isinstance(box, Grad)
                _report(Learner(port), jail, slug, box)
    finally:
        jail.close()


def _report(learner: Learner, jail: Jail, slug: str, box: Grad) -> None:
    url = f"/lessons/{slug}/code/{box.name}"
    # Every text is a new one: the same text again would be answered from the store.
    texts = (f"{box.solution.source}\n# {number}" for number in range(10_000))

    def send(act: str, done: str) -> None:
        status, page = learner.post(f"{url}/{act}", {"code": next(texts), "revision": learner.revision})
        assert status == 200, (status, page[:600])
        assert done in page, page[:400]

    def check() -> None:
        send("check", 'data-passed="true"')

    def run() -> None:
        send("run", "Ran, without a verdict")

    for _ in range(5):
        check()
        run()
    checks, forks, runs = [], [], []
    for _ in range(ROUNDS):
        checks.append(_seconds(check))
        runs.append(_seconds(run))
        forks.append(jail.bare_fork())
    fresh = [_seconds(_fresh_interpreter) for _ in range(FRESH_ROUNDS)]
    median, fork = statistics.median(checks), statistics.median(forks)
    print(f"check of {box.name} through HTTP: p50 {median * 1e3:.1f} ms, p95 {_p95(checks) * 1e3:.1f} ms, n={ROUNDS}")
    print(f"  run without a verdict: p50 {statistics.median(runs) * 1e3:.1f} ms; ratio "
          f"{statistics.median(runs) / median:.2f}")  # fmt: skip
    print(f"  bare fork-and-exit of the zygote: p50 {fork * 1e3:.1f} ms; ratio {median / fork:.2f}")
    print(f"  fresh interpreter importing torch: p50 {statistics.median(fresh) * 1e3:.0f} ms; "
          f"ratio {statistics.median(fresh) / median:.0f}")  # fmt: skip


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _fresh_interpreter() -> None:
    subprocess.run([sys.executable, "-c", "import torch; torch.ones(2) @ torch.ones(2)"], check=True)


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    main()
