"""Other conditions for a run in this process: clock, time zone, locale, variables."""

from __future__ import annotations

import locale
import os
import time
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import time_machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANOTHER_ZONE = "Pacific/Kiritimati"
SHIFT = timedelta(days=33, hours=7, minutes=13)
LOCALES = ("de_DE.UTF-8", "tr_TR.UTF-8", "en_US.UTF-8", "C.UTF-8", "C")


@contextmanager
def another_day() -> Iterator[None]:
    """Move Python's clock to another day, month and hour."""
    with time_machine.travel(datetime.now(timezone.utc) + SHIFT, tick=True):
        yield


@contextmanager
def another_zone() -> Iterator[None]:
    """Let Python think that it is somewhere else, on the same day or the next."""
    with time_machine.travel(datetime.now(ZoneInfo(ANOTHER_ZONE)), tick=True):
        yield


@contextmanager
def another_environment(variables: Sequence[str]) -> Iterator[None]:
    """Give the variables other values, and set another locale and time zone."""
    changed = {name: other_value(os.environ.get(name)) for name in variables}
    changed["TZ"] = ANOTHER_ZONE
    before = {name: os.environ.get(name) for name in changed}
    spoken = locale.setlocale(locale.LC_ALL)
    os.environ.update(changed)
    time.tzset()
    for name in LOCALES:
        try:
            locale.setlocale(locale.LC_ALL, name)
            break
        except locale.Error:
            continue
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        locale.setlocale(locale.LC_ALL, spoken)
        time.tzset()


def other_value(value: str | None) -> str:
    """Another value of the same kind: a number stays a number, a date a date."""
    if value is None:
        return "0"
    try:
        return str(int(value) + 1)
    except ValueError:
        pass
    try:
        return (datetime.fromisoformat(value) - timedelta(days=1)).date().isoformat()
    except ValueError:
        return f"{value}_other"
