"""Fixtures: the project under test, and one Spark session for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.testing.trial_project import TrialProject

PROJECT = "setpoint_project"


@pytest.fixture(scope="session")
def setpoint_root(pytestconfig: pytest.Config) -> Path:
    """The project's folder: the ini option `setpoint_project`, or the folder of the tests."""
    try:
        given = str(pytestconfig.getini(PROJECT) or "")
    except (KeyError, ValueError):  # the plugin was not loaded as one
        given = ""
    return pytestconfig.rootpath / given


@pytest.fixture(scope="session")
def setpoint_session(setpoint_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The one JVM that all tests share; each project has a session of its own on it."""
    from setpoint.testing.trial_project import TrialProject as Found

    return Found(setpoint_root, tmp_path_factory.mktemp("setpoint")).spark


@pytest.fixture
def project(setpoint_root: Path, setpoint_session: Any, tmp_path: Path) -> TrialProject:  # noqa: ARG001 — the JVM is up before a test's time is taken
    """The project's tasks over empty lakes of this test's own."""
    from setpoint.testing.trial_project import TrialProject as Found

    return Found(setpoint_root, tmp_path / "setpoint")


@pytest.fixture
def spark(project: TrialProject) -> Any:
    """The Spark session of the test's project."""
    return project.spark
