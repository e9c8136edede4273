"""Dates are meant by the clocks of the class."""

from datetime import UTC, datetime

import pytest

from app.teaching import dates

BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-03-28T23:59", datetime(2026, 3, 28, 22, 59, tzinfo=UTC)),
        ("2026-03-29 23:59", datetime(2026, 3, 29, 21, 59, tzinfo=UTC)),
        ("2026-03-29", datetime(2026, 3, 29, 21, 59, tzinfo=UTC)),
        ("2026-03-29T02:30", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),  # there is no such hour
        ("2026-10-25T02:30", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # there are two, and it is the first
    ],
)
def test_a_date_is_read_by_the_clocks_of_the_class(typed: str, moment: datetime) -> None:
    assert dates.parse_local_date(typed, BERLIN) == moment


def test_a_day_alone_opens_at_its_first_minute_and_ends_at_its_last() -> None:
    opens, ends = (dates.parse_local_date("2026-12-29", BERLIN, opens=opens) for opens in (True, False))

    assert (opens, ends) == (
        datetime(2026, 12, 28, 23, 0, tzinfo=UTC),
        datetime(2026, 12, 29, 22, 59, tzinfo=UTC),
    )
    assert dates.parse_local_date("2026-12-29 08:00", BERLIN, opens=True) == datetime(2026, 12, 29, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    "typed", ["soon", "2026-02-30", "0001-01-01", "9999-12-31T23:59", "2026-13-01", "\0", "1e9", "٢٠٢٦"]
)
def test_what_is_no_date_is_said_so(typed: str) -> None:
    with pytest.raises(ValueError, match="is no date"):
        dates.parse_local_date(typed, BERLIN)


def test_what_is_shown_in_a_field_is_read_as_the_same_moment() -> None:
    moment = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)

    assert dates.parse_local_date(dates.date_field(moment, BERLIN), BERLIN) == moment


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (datetime(2026, 3, 28, 22, 59, tzinfo=UTC), datetime(2026, 3, 29, 21, 59, tzinfo=UTC)),
        (datetime(2026, 10, 24, 21, 59, tzinfo=UTC), datetime(2026, 10, 25, 22, 59, tzinfo=UTC)),
    ],
)
def test_a_day_later_it_is_as_late_as_before_when_clocks_change(before: datetime, after: datetime) -> None:
    assert dates.days_later(before, 1, BERLIN) == after
