"""Where the processor time of a check goes: web server, grader, zygote and children, from the kernel's books.

Processor time and not waiting: on a machine that is busy otherwise it says more than a clock does.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.content.blocks import Grad
from app.course.course import load_course
from benchmarks.load import BOX, GRADERS, SLUG, Pupil
from benchmarks.serving import ROOT, server

CHECKS = 400
AT_ONCE = 2 * GRADERS
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_ROLES = (("app.sandbox.zygote", "zygote: forks"), ("app.engine.pool.worker", "grader"), (" serve", "web"))
_CHILDREN = "children: run and end"


def main() -> None:
    """Print milliseconds per check and process."""
    lesson = load_course(ROOT / "lessons").lesson(SLUG)
    box = lesson.exercise(BOX) if lesson else None
    assert isinstance(box, Grad)
    solution = box.solution.source
    with server(graders=GRADERS) as port:
        _check(port, solution, 0, 2 * AT_ONCE)
        before, own, began = _spent(), time.process_time(), time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda seed: _check(port, solution, seed, CHECKS // AT_ONCE), range(1, AT_ONCE + 1)))
        seconds, own, after = time.perf_counter() - began, time.process_time() - own, _spent()
    costs = {name: (after[name] - before[name]) / CHECKS for name in after}
    costs["this client"] = own * 1000 / CHECKS
    print(f"{CHECKS} checks of {BOX}, {AT_ONCE} at once with {GRADERS} graders: {CHECKS / seconds:.0f}/s")
    for name, cost in sorted(costs.items(), key=lambda item: -item[1]):
        print(f"  {name:22} {cost:6.2f} ms of processor time a check")
    print(f"  {'all together':22} {sum(costs.values()):6.2f} ms")


def _check(port: int, solution: str, seed: int, times: int) -> None:
    pupil = Pupil(port, seed, solution)
    for _ in range(times):
        wrong = pupil.check()
        assert not wrong, wrong


def _spent() -> dict[str, float]:
    """Milliseconds that the processes of the server have had by now."""
    found: dict[str, float] = defaultdict(float)
    for words, parent_words, (user, system, users, systems) in _processes():
        role = next((name for sign, name in _ROLES if sign in words), None)
        if role is None or (role == _ROLES[0][1] and _ROLES[0][0] in parent_words):
            continue  # not ours, or a child that waits: it is counted when it has ended
        found[role] += user + system
        if role == _ROLES[0][1]:
            found[_CHILDREN] += users + systems
    return found


def _processes() -> Iterator[tuple[str, str, list[float]]]:
    """Command, the parent's command and the four times of every descendant of this process."""
    seen: dict[int, tuple[int, str, list[float]]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_text().replace("\0", " ")
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            seen[int(folder.name)] = (int(fields[1]), words, [int(one) * _TICK_MS for one in fields[11:15]])
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _, _) in seen.items() if parent in ours} - ours:
        ours |= more
    for pid in ours - {os.getpid()}:
        parent, words, times = seen[pid]
        yield words, seen[parent][1] if parent in seen else "", times
