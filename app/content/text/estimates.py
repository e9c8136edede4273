"""Lengths of time as lesson files say them, such as `45 min` or `1 h 10 min`, and their sum."""

import re
from collections.abc import Iterable

HOURS = re.compile(r"(\d{1,3}) ?h")
MINUTES = re.compile(r"(\d{1,3}) ?min")


def minutes_of(estimate: str) -> int:
    """Parse *estimate* into minutes; 0 if it has none."""
    hours, minutes = HOURS.search(estimate), MINUTES.search(estimate)
    return 60 * int(hours[1] if hours else 0) + int(minutes[1] if minutes else 0)


def total_time(estimates: Iterable[str]) -> str:
    """The sum of *estimates* in words, such as `3 h 20 min`; empty where there is nothing to add up."""
    hours, minutes = divmod(sum(map(minutes_of, estimates)), 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if minutes else [])])
