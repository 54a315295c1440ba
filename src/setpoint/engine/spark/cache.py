"""Where files are kept that every project on this machine can share."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder for Setpoint; `SETPOINT_CACHE` moves it."""
    given = os.environ.get("SETPOINT_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "setpoint"
