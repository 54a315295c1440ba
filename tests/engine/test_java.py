"""Java is found before Spark fails without it, and what is wrong with it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.engine.spark.java import INSTALL, Java, find_java
from setpoint.errors import EnvironmentFault

if TYPE_CHECKING:
    from pathlib import Path


def make_java(home: Path, script: str) -> Path:
    """A java of the test's own making."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


def says(version: str) -> str:
    """A script that tells its version as Java does, on standard error."""
    return f"echo 'openjdk version \"{version}\" 2024-01-01' >&2"


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.9", 17), ("21", 21), ("22-ea", 22), ("17.0.10+7-LTS", 17), ("25+36", 25)],
)
def test_a_java_new_enough_is_found_by_java_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, major: int
) -> None:
    """JAVA_HOME goes before PATH, as it does for Spark."""
    path = make_java(tmp_path, says(version))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = find_java()
    assert java == Java(path=path, version=version)
    assert java.major == major


def test_without_java_home_the_path_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever `java` a shell would start."""
    path = make_java(tmp_path, says("17.0.9"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    assert find_java().path == path


def test_no_java_at_all_is_answered_with_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names what needs it; the next step what to type."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault, match="Java is not installed") as refusal:
        find_java()
    assert refusal.value.next_step == INSTALL
    assert "apt install openjdk-17" in INSTALL


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (says("1.8.0_392"), "Java 1.8.0_392 at .* is too old"),
        (says("11.0.2"), "Java 11.0.2 at .* is too old"),
        (says("internal"), "Java internal at .* is too old"),
        ("exit 3", "JAVA_HOME=.* does not run"),
        ("echo 'a toaster'", "does not tell its version"),
    ],
)
def test_a_java_that_will_not_do_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    """Too old, broken, or no Java at all: said before Spark starts."""
    make_java(tmp_path, script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentFault, match=message) as refusal:
        find_java()
    assert refusal.value.next_step == INSTALL


def test_a_java_home_without_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale JAVA_HOME is the likeliest reason, so it is what the message shows."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(EnvironmentFault, match=r"JAVA_HOME=.*gone does not run"):
        find_java()


def test_a_java_that_may_not_be_started_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without the right to be executed is no Java."""
    make_java(tmp_path, says("17")).chmod(0o644)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentFault, match="does not run"):
        find_java()
