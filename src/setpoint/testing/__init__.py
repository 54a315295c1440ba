"""Testing one's own pipelines: fixtures and assertions for pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setpoint.testing.assertions import (
        Twice,
        assert_backfillable,
        assert_idempotent,
        run_twice,
    )
    from setpoint.testing.fixtures import project, setpoint_root, setpoint_session, spark
    from setpoint.testing.trial_project import TrialProject

# Each name is imported when it is first asked for: pytest loads the plugin in this package at every
# start, and must not pay for what no test uses.
_HOMES = {
    "TrialProject": "setpoint.testing.trial_project",
    "Twice": "setpoint.testing.assertions",
    "assert_backfillable": "setpoint.testing.assertions",
    "assert_idempotent": "setpoint.testing.assertions",
    "project": "setpoint.testing.fixtures",
    "run_twice": "setpoint.testing.assertions",
    "setpoint_root": "setpoint.testing.fixtures",
    "setpoint_session": "setpoint.testing.fixtures",
    "spark": "setpoint.testing.fixtures",
}

__all__ = [
    "TrialProject",
    "Twice",
    "assert_backfillable",
    "assert_idempotent",
    "project",
    "run_twice",
    "setpoint_root",
    "setpoint_session",
    "spark",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setpoint.testing' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
