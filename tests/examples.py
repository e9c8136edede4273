"""How many examples a fuzz test tries: its own number, in `make prove` thirty times that, and others each time."""

import os
from typing import Any

from hypothesis import settings

TIMES = int(os.environ.get("EXAMPLES", "1"))


def examples(count: int, **rest: Any) -> settings:
    return settings(max_examples=count * TIMES, **rest)
