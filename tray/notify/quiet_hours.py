"""Pure: when quiet hours apply, and when they end. A period over midnight belongs to the day on which it begins."""

from __future__ import annotations

from datetime import datetime, timedelta

from tray.settings import QuietHours

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def quiet_until(hours: QuietHours | None, now: float) -> float | None:
    """Until when it is quiet, in seconds since the epoch; None when it is not."""
    if hours is None:
        return None
    local = datetime.fromtimestamp(now)
    for day in (local.date() - timedelta(days=1), local.date()):
        if hours.days and DAYS[day.weekday()] not in hours.days:
            continue
        begin, end = (datetime.combine(day, datetime.strptime(at, "%H:%M").time()) for at in (hours.begin, hours.end))
        if end <= begin:  # over midnight; the same time twice is a whole day
            end += timedelta(days=1)
        if begin <= local < end:
            return end.timestamp()
    return None
