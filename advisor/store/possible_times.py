"""Whether a record's day and time can be: what no clock shows and no training takes is refused."""

from __future__ import annotations

import math
from datetime import date, timedelta

from bench_runner.records.measurement import STATUSES, Measurement

FIRST_DAY = date(2000, 1, 1)
"""Before any GPU that is known here."""
SHORTEST_DAYS, LONGEST_DAYS = 1e-9, 1e9
"""A tenth of a millisecond; a model of 10^26 operations on one old card takes less."""
WIDEST = 100
"""So many times a time may its upper bound be, and it so many times its lower one; those of a time
that is printed in whole days are within 2."""


def _latest() -> date:
    """Elsewhere on earth it may be tomorrow already."""
    return date.today() + timedelta(days=1)


def problem_of(record: Measurement) -> str | None:
    """What is wrong with a record; None where it can be kept."""
    days, measured_on = record.training_days, record.measured_on
    if measured_on is not None and not FIRST_DAY <= measured_on <= _latest():
        # A clock that starts anew with a battery, or runs ahead; the newest time counts most.
        return (
            f"measured_on is {measured_on}, by a clock that was wrong: write the day of the "
            "measurement there"
        )
    if record.status not in STATUSES:
        return f"status '{record.status}' is not one of {', '.join(STATUSES)}"
    if not isinstance(record.gpu_count, int) or record.gpu_count < 1:
        return f"gpu_count is {record.gpu_count}, not a whole number above 0"
    if (record.status == "ok") != (days is not None):
        return "has a time exactly where its status is ok"
    if days is not None and not (math.isfinite(days) and days > 0):
        return f"training_days is {days}, not a number above 0"
    if days is not None and not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        return f"training_days is {days:g}, and no training takes {_beyond(days)}"
    low, high = record.training_days_low, record.training_days_high
    if days is not None and not (low if low is not None else days) <= days <= (
        high if high is not None else days
    ):
        return f"training_days is {days}, not between its bounds {low} and {high}"
    if days is not None and high is not None and high > WIDEST * days:
        return (
            f"training_days_high is {high:g}, more than {WIDEST} times its training_days of "
            f"{days:g}: it bounds nothing"
        )
    if days is not None and low is not None and days > WIDEST * low:
        return (
            f"training_days_low is {low:g}, less than a hundredth of its training_days of "
            f"{days:g}: it bounds nothing"
        )
    return None


def _beyond(days: float) -> str:
    short = days < SHORTEST_DAYS
    return f"less than {SHORTEST_DAYS:g} days" if short else f"more than {LONGEST_DAYS:,.0f} days"
