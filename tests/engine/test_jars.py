"""Jars are resolved once, kept whole, and their absence is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.engine.spark import jars
from setpoint.engine.spark.cache import cache_folder
from setpoint.engine.spark.jars import cached_jars, jar_folder, resolve_jars
from setpoint.errors import EnvironmentFault

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("org.example:one:1.0", "org.example:two:2.0")
RESOLVES = """\
for word; do case "$word" in spark.jars.ivy=*) ivy="${word#spark.jars.ivy=}";; esac; done
mkdir -p "$ivy/jars" && touch "$ivy/jars/one.jar" "$ivy/jars/two.jar"
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("SETPOINT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spark-submit of the test's own making, which counts its calls."""
    path = tmp_path / "spark-submit"
    monkeypatch.setattr(jars, "_spark_submit", lambda: [str(path)])
    return path


def does(submit: Path, script: str) -> None:
    """Let the resolver do this, and note that it was called."""
    submit.write_text(f'#!/bin/sh\necho called >> "{submit}.calls"\n{script}\n')
    submit.chmod(0o755)


def calls(submit: Path) -> int:
    """How often the resolver was called."""
    noted = submit.with_name(submit.name + ".calls")
    return len(noted.read_text().splitlines()) if noted.exists() else 0


def test_a_cache_that_cannot_be_written_says_how_to_move_it(submit: Path, cache: Path) -> None:
    """A home folder that is read-only or not there is no fault of Setpoint."""
    does(submit, RESOLVES)
    cache.write_text("a file where the folder should be")
    with pytest.raises(EnvironmentFault, match="cannot be written") as refusal:
        resolve_jars(PACKAGES, say=lambda _text: None)
    assert "SETPOINT_CACHE=" in (refusal.value.next_step or "")
    assert calls(submit) == 0


def test_jars_that_were_deleted_are_downloaded_again(submit: Path) -> None:
    """An emptied folder is not taken for a set of jars."""
    does(submit, RESOLVES)
    for jar in resolve_jars(PACKAGES, say=lambda _text: None):
        jar.unlink()
    assert cached_jars(PACKAGES) is None
    assert len(resolve_jars(PACKAGES, say=lambda _text: None)) == 2
    assert calls(submit) == 2


def test_jars_are_downloaded_once_and_then_known(submit: Path) -> None:
    """The second start resolves nothing and says nothing."""
    does(submit, RESOLVES)
    said: list[str] = []
    found = resolve_jars(PACKAGES, say=said.append)
    assert [jar.name for jar in found] == ["one.jar", "two.jar"]
    assert said == ["Downloading jars for Spark (once): one, two"]
    assert resolve_jars(PACKAGES, say=said.append) == found
    assert (calls(submit), len(said)) == (1, 1)


def test_the_order_of_packages_does_not_matter(submit: Path) -> None:
    """The same packages are one folder; others are another."""
    assert jar_folder(PACKAGES) == jar_folder(PACKAGES[::-1])
    assert jar_folder(PACKAGES) != jar_folder(PACKAGES[:1])
    assert cached_jars(PACKAGES) is None
    assert calls(submit) == 0


def test_no_packages_need_no_resolver(submit: Path) -> None:
    """Nothing is asked for, nothing is done."""
    assert resolve_jars((), say=print) == []
    assert calls(submit) == 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo ':: org.example#one;1.0: not found' >&2; exit 1", "one;1.0: not found"),
        ("exit 1", "the resolver gave no reason"),
        ("exit 0", "the resolver gave no reason"),
    ],
)
def test_a_failed_download_is_explained_and_leaves_nothing(
    submit: Path, cache: Path, script: str, reason: str
) -> None:
    """The reason, where the jars would go, and what to check; the next try starts afresh."""
    does(submit, script)
    with pytest.raises(EnvironmentFault, match=reason) as refusal:
        resolve_jars(PACKAGES, say=lambda _text: None)
    assert str(jar_folder(PACKAGES)) in (refusal.value.next_step or "")
    assert cached_jars(PACKAGES) is None
    assert list((cache / "jars").iterdir()) == []


def test_a_resolver_that_does_not_start_is_explained(submit: Path) -> None:
    """A missing spark-submit is an environment's fault, not a traceback."""
    assert not submit.exists()
    with pytest.raises(EnvironmentFault, match="No such file"):
        resolve_jars(PACKAGES, say=lambda _text: None)


def test_a_process_that_comes_second_takes_the_jars_of_the_first(submit: Path) -> None:
    """Two starts at once download twice, and end with one folder."""
    folder = jar_folder(PACKAGES)
    does(submit, f'{RESOLVES}\nmkdir -p "{folder}" && touch "{folder}/first.jar"')
    found = resolve_jars(PACKAGES, say=lambda _text: None)
    assert [jar.name for jar in found] == ["first.jar"]


def test_the_cache_lies_where_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SETPOINT_CACHE, else the user's cache folder."""
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("SETPOINT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "setpoint"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "setpoint"
