"""Dates as they are meant in the time zone of a class, where a day may have 23 or 25 hours."""

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

FORM = "%Y-%m-%dT%H:%M"
"""How browsers send a date with its time."""
NO_DATE = "{typed!r} is no date. Write it like 2026-11-30 23:59."
NO_DAY = "{typed!r} is no day. Write it like 2027-03-31."
YEARS = range(2000, 2200)


def zone(name: str) -> tzinfo:
    """
    Raises:
        ValueError: There is no such time zone.
    """
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(zone_fault(name)) from error


@cache
def list_timezones() -> tuple[str, ...]:
    """Time zones: places, and UTC; without the names that are aliases."""
    places = (
        timezone
        for timezone in available_timezones()
        if "/" in timezone and not timezone.startswith(("Etc/", "posix/", "right/"))
    )
    return ("UTC", *sorted(places))


def zone_fault(name: str) -> str:
    """ "" for a time zone that can be used."""
    return "" if name in list_timezones() else f"There is no time zone {name[:60]!r}. Choose one like 'Europe/Berlin'."


def to_local(moment: datetime, timezone: str) -> datetime:
    return moment.astimezone(zone(timezone))


def format_moment(moment: datetime, timezone: str) -> str:
    """`Mon 2 Nov 2026, 23:59`"""
    there = to_local(moment, timezone)
    return f"{there:%a} {there.day} {there:%b %Y, %H:%M}"


def date_field(moment: datetime | None, timezone: str) -> str:
    """Format *moment* for a date field."""
    return "" if moment is None else to_local(moment, timezone).strftime(FORM)


def parse_local_date(typed: str, timezone: str, *, opens: bool = False) -> datetime:
    """The moment in UTC of a local date with or without a time; without one, its last minute, or its first of what
    *opens*.

    An hour that does not exist, when clocks go forward, is the one after it; of one that exists twice it is the first.

    Raises:
        ValueError: It is no date; the message says so.
    """
    text = typed.strip()
    try:
        clock = "00:00" if opens else "23:59"
        there = datetime.fromisoformat(text if len(text) > len("2026-11-30") else f"{text}T{clock}")
    except ValueError:
        raise ValueError(NO_DATE.format(typed=text[:40])) from None
    if there.year not in YEARS:
        raise ValueError(NO_DATE.format(typed=text[:40]))
    return (there if there.tzinfo else there.replace(tzinfo=zone(timezone))).astimezone(UTC)


def parse_day(typed: str) -> date | None:
    """A date without a time; None where nothing is typed.

    Raises:
        ValueError: It is no date; the message says so.
    """
    if not typed.strip():
        return None
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        raise ValueError(NO_DAY.format(typed=typed.strip()[:40])) from None
    if day.year not in YEARS:
        raise ValueError(NO_DAY.format(typed=typed.strip()[:40]))
    return day


def start_of_day(timezone: str, moment: datetime) -> datetime:
    """Start of the day of *moment* in *timezone*, in UTC."""
    return to_local(moment, timezone).replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)


def days_later(moment: datetime, days: int, timezone: str) -> datetime:
    """The same time of day so many *days* later, by the clocks of *timezone*."""
    there = to_local(moment, timezone)
    return (there + timedelta(days=days)).astimezone(UTC)
