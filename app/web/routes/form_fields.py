"""Numbers and dates as instructors type them into forms; each one that cannot be read is refused with its field."""

import math
import re
from datetime import datetime
from typing import Annotated

from fastapi import Form

from app.store.classes import RefusedError
from app.teaching import dates

MAX_QUOTED_CHARS = 20
THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+|\.\d\d0)")
"""What is a number of thousands to some, and to others a number with a part: 1,000, or 2.500."""
Typed = Annotated[str, Form()]
"""A field of a form, as it is typed."""


def parse_number(field: str, typed: str) -> float:
    """A number as it is typed in *field*.

    Raises:
        RefusedError: It is none, or may be two; the message says so.
    """
    quoted = repr(typed.strip()[:MAX_QUOTED_CHARS])
    if THOUSANDS.fullmatch(typed.strip()):
        raise RefusedError(
            f"{field}: {quoted} can be read in two ways. Write a thousand as 1000, and one and a half as 1.5."
        )
    try:
        number = float(typed.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RefusedError(f"{field}: {quoted} is no number.")
    return number


def parse_whole_number(field: str, typed: str) -> int:
    """A whole number as it is typed in *field*, 0 for nothing.

    Raises:
        RefusedError: It is none; the message says so.
    """
    number = parse_number(field, typed.strip() or "0")
    if number != math.floor(number):
        raise RefusedError(f"{field}: {typed.strip()[:MAX_QUOTED_CHARS]!r} is no whole number.")
    return int(number)


def parse_moment(typed: str, timezone: str, *, opens: bool = False) -> datetime | None:
    """A date as it is typed, in the time of a class; None for nothing. A day alone is read as its end, or as its
    beginning of what *opens*.

    Raises:
        RefusedError: It is none; the message says so.
    """
    if not typed.strip():
        return None
    try:
        return dates.parse_local_date(typed, timezone, opens=opens)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def required_moment(field: str, typed: str, timezone: str, *, opens: bool = False) -> datetime:
    """Like `parse_moment`; an empty *field* is refused as well.

    Raises:
        RefusedError: No date can be read in it.
    """
    moment = parse_moment(typed, timezone, opens=opens)
    if moment is None:
        raise RefusedError(f"{field} is missing.")
    return moment
