"""Whether anything grows while a grader's jail runs many submissions: memory, descriptors, processes.

    BACKHAND_LEAK_RUNS=20000 python -m benchmarks leaks

The runs are those of a class: most are right, some wrong, some are errors, floods, forbidden calls or time-outs.
Figures are taken after a tenth of the runs, when everything is warm, and at the end.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from app.content.blocks import Grad
from app.content.course import load_course
from app.engine.grade import Engine
from app.engine.task import task_of
from app.sandbox.runner import Jail
from benchmarks.serving import ROOT

RUNS = 2_000
SLUG, BOX = "from-scalars-to-tensors", "linear-backward"
MOST_GROWTH_MIB = 8.0
ENDLESS = "while True:\n    pass\n"


@dataclass(frozen=True, slots=True)
class Held:
    """What the grader and the processes under it hold."""

    resident_mib: float
    zygote_mib: float
    descriptors: int
    processes: int


def main() -> None:
    """Run, print what is held, and fail where it grew."""
    runs = int(os.environ.get("BACKHAND_LEAK_RUNS", RUNS))
    lesson = load_course(ROOT / "lessons").lesson(SLUG)
    box = lesson.exercise(BOX) if lesson else None
    assert lesson is not None
    assert isinstance(box, Grad)
    texts = _texts(box.solution.source)
    task, jail = task_of(lesson, box), Jail()
    assert jail.is_warm(60), jail.refusal
    engine, first, began = Engine(jail, None), None, time.monotonic()
    endings: dict[str, int] = {}
    try:
        for number in range(1, runs + 1):
            # Every four hundredth waits for its time limit; the others end by themselves.
            text = ENDLESS if number % 400 == 0 else texts[number % len(texts)]
            outcome = engine.check(task, f"{text}# {number}\n", gate=number % 2 == 0).outcome
            endings[outcome] = endings.get(outcome, 0) + 1
            if number in (runs // 10, runs) or number % max(1, runs // 5) == 0:
                held = _held(jail)
                first = first or held
                print(f"{number:>6} runs, {time.monotonic() - began:.0f} s: {held}", flush=True)
        print(f"endings: {endings}")
        assert first is not None
        _compare(first, _held(jail))
    finally:
        jail.close()


def _texts(solution: str) -> tuple[str, ...]:
    right = f"{solution}\n"
    return (
        *(right for _ in range(6)),
        right.replace("@", "*"),
        right.replace(".T", ""),
        f"{right}print('x' * 10**7)\n",
        f"{right}big = [torch.zeros(10**8) for _ in range(9)]\n",
        f"import os\nos.fork()\n{right}",
        "raise SystemExit\n",
    )


def _held(jail: Jail) -> Held:
    time.sleep(0.05)  # the child that waits for the next run is being made
    mine = _tree(os.getpid())
    zygote = jail.zygote_pid
    return Held(
        resident_mib=round(_resident_mib(os.getpid()), 1),
        zygote_mib=round(_resident_mib(zygote) if zygote else 0.0, 1),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        processes=len(mine),
    )


def _resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _tree(root: int) -> set[int]:
    """*root* and every process that descends from it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found


def _compare(first: Held, last: Held) -> None:
    grown = {
        "resident memory of the grader": last.resident_mib - first.resident_mib > MOST_GROWTH_MIB,
        "resident memory of the zygote": last.zygote_mib - first.zygote_mib > MOST_GROWTH_MIB,
        "descriptors": last.descriptors > first.descriptors,
        "processes": last.processes > first.processes,
    }
    leaks = [what for what, leaked in grown.items() if leaked]
    print("flat" if not leaks else f"GREW: {', '.join(leaks)}")
    if leaks:
        sys.exit(1)


if __name__ == "__main__":
    main()
