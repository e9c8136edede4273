"""Whether anything grows while a grader's jail runs many submissions: memory, descriptors, processes, files.

    BACKHAND_LEAK_RUNS=20000 python -m benchmarks leaks

The runs are those of a class: most are right, some wrong, some are errors, floods, forbidden calls or time-outs.
What is held is read twenty times, the first time after a twentieth of the runs, when everything is warm. What leaks
grows with every run, so something leaked if the least of the last third is more than the most of the first third.
"""

import os
import sys
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from app.content.blocks import Grad
from app.course.course import load_course
from app.engine.grade.engine import Engine
from app.engine.task import task_of
from app.sandbox.runner import Jail
from benchmarks.serving import ROOT

RUNS = 2_000
MOST_SECONDS = 3_600.0
READINGS = 20
SLUG, BOX = "a-layer-trained", "linear-backward"
MOST_GROWTH_MIB = 8.0
ENDLESS = "while True:\n    pass\n"
SHARED = ("/dev/shm", "/dev/mqueue", "/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")


@dataclass(frozen=True, slots=True)
class Held:
    """What the grader and the processes under it hold. *objects* are shared: files, and kernel objects of System V."""

    grader_mib: float
    zygote_mib: float
    descriptors: int
    threads: int
    processes: int
    objects: int


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
    engine, readings, began = Engine(jail, None), list[Held](), time.monotonic()
    endings: dict[str, int] = {}
    print(f"{'runs':>8} {'seconds':>8} {'ms a run':>9}", *(f"{one.name:>12}" for one in fields(Held)))
    try:
        for number in range(1, runs + 1):
            # Every four hundredth waits for its time limit; the others end by themselves.
            text = ENDLESS if number % 400 == 0 else texts[number % len(texts)]
            outcome = engine.check(task, f"{text}# {number}\n", gate=number % 2 == 0).outcome
            endings[outcome] = endings.get(outcome, 0) + 1
            if number % max(1, runs // READINGS) == 0:
                seconds = time.monotonic() - began
                readings.append(_held(jail))
                values = (f"{value:>12}" for value in astuple(readings[-1]))
                print(f"{number:>8} {seconds:>8.0f} {seconds / number * 1000:>9.1f}", *values, flush=True)
                if seconds > MOST_SECONDS:
                    print(f"ended after {number} of {runs} runs: {MOST_SECONDS:g} s are over")
                    break
        print("endings:", ", ".join(f"{count} {outcome}" for outcome, count in sorted(endings.items())))
        _compare(readings)
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
    zygote = jail.zygote_pid
    return Held(
        grader_mib=round(_resident_mib(os.getpid()), 1),
        zygote_mib=round(_resident_mib(zygote) if zygote else 0.0, 1),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=len(list(Path("/proc/self/task").iterdir())),
        processes=len(_tree(os.getpid())),
        objects=sum(_count(Path(place)) for place in SHARED),
    )


def _count(place: Path) -> int:
    """Entries of a folder, or lines of one of the kernel's tables."""
    if not place.exists():
        return 0
    return len(list(place.iterdir())) if place.is_dir() else len(place.read_text().splitlines())


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


def _compare(readings: list[Held]) -> None:
    third = max(1, len(readings) // 3)
    leaks = []
    for name in (one.name for one in fields(Held)):
        most = max(getattr(one, name) for one in readings[:third])
        least = min(getattr(one, name) for one in readings[-third:])
        margin = MOST_GROWTH_MIB if name.endswith("_mib") else 0
        print(f"{name:>12}: at most {most} in the first third, at least {least} in the last")
        leaks += [name] * (least > most + margin)
    print(f"GREW: {', '.join(leaks)}" if leaks else "flat")
    if leaks:
        sys.exit(1)


if __name__ == "__main__":
    main()
