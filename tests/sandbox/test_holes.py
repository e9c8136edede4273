"""The holes of the heap are filled in a process of its own: what is filled stays filled."""

import json
import subprocess
import sys

FRESH = """
import gc, json
scattered = [bytes(200) for _ in range(20_000)]
del scattered[::2]
gc.collect()
from app.sandbox import holes
if {fill}:
    holes.fill()
later = [bytes(200) for _ in range(60)]
print(json.dumps(len({{id(one) // 16384 for one in later}})))
"""


def _pools_of_sixty_objects(*, fill: bool) -> int:
    done = subprocess.run([sys.executable, "-c", FRESH.format(fill=fill)], capture_output=True, check=True, timeout=60)
    pools: int = json.loads(done.stdout)
    return pools


def test_new_objects_lie_in_one_or_two_pools_and_not_in_the_holes_of_older_ones() -> None:
    assert _pools_of_sixty_objects(fill=True) <= 2
    assert _pools_of_sixty_objects(fill=False) > 2


def test_filling_ends_where_the_c_library_serves_small_objects() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from app.sandbox import holes; holes._MOST = 2000; holes.fill()"],
        env={"PYTHONMALLOC": "malloc"}, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
