"""How many examples a fuzz test tries: half its own number, in `make prove` twenty times that, and others each time."""

import os
from math import ceil
from typing import Any

from hypothesis import settings

TIMES = float(os.environ.get("EXAMPLES", "0.5"))
IS_REPEATED = TIMES < 1
"""Whether each run tries the same examples: then more of them find more in the first run, and nothing in all others."""
FEWEST = 3


def examples(count: int, **rest: Any) -> settings:
    """The settings of a test whose own number of examples is *count*."""
    return settings(max_examples=max(FEWEST, ceil(count * TIMES)), **rest)
