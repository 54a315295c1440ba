"""The pytest plugin. Loaded at every start of pytest: it imports next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.testing.fixtures import PROJECT, project, setpoint_root, setpoint_session, spark

if TYPE_CHECKING:
    import pytest

__all__ = ["project", "pytest_addoption", "setpoint_root", "setpoint_session", "spark"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let pytest.ini or pyproject.toml name the project's folder."""
    parser.addini(PROJECT, "The folder of setpoint.toml, relative to the root.", default="")
