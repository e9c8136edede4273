"""`python -m tests.quick_times --seed 1`: how long `make quick` takes after a change to one module, for thirty of them.

Each line has seconds of a clock, seconds of processor time, how many files of tests, and the module; those above the
limit come last again. Run it on an idle machine: ten minutes.
"""

import argparse
import os
import random
import subprocess
import sys
import time

from tests.quick import ROOT, import_graph, noticing

LIMIT_SECONDS = 40
COMMAND = (sys.executable, "-m", "pytest", "-n", "4", "--no-loadscope-reorder", "-q")


def modules() -> list[str]:
    files = (ROOT / "app").rglob("*.py")
    return sorted(str(file.relative_to(ROOT)) for file in files if file.read_text("utf-8").strip())


def took(tests: set[str]) -> tuple[float, float]:
    """Seconds of a clock and of processors that a run of *tests* takes, whatever it says."""
    before, began = os.times(), time.monotonic()
    if tests:
        subprocess.run([*COMMAND, *sorted(tests)], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, spent


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--count", type=int, default=30)
    words.add_argument("--list", action="store_true", help="only name the tests")
    asked = words.parse_args()
    graph, slow = import_graph(), []
    for module in random.Random(asked.seed).sample(modules(), asked.count):
        tests = noticing(module, graph)
        if asked.list:
            print(module, *sorted(tests))
            continue
        wall, spent = took(tests)
        line = f"{wall:6.1f} {spent:6.1f} {len(tests):3} {module}"
        print(line, flush=True)
        slow += [line] if wall > LIMIT_SECONDS else []
    print(f"{len(slow)} above {LIMIT_SECONDS} s", *slow, sep="\n")


if __name__ == "__main__":
    main()
