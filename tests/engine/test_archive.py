"""The class archive: made once, taken into use when complete, never in the way of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from setpoint.engine.spark.archive import ABANDONED, archive_options
from setpoint.engine.spark.java import Java

JAVA = Java(path=Path("/opt/java/bin/java"), version="17.0.9")
JARS = [Path("/jars/a.jar")]
MAKE, USE = "-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile="


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("SETPOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SETPOINT_CLASS_ARCHIVE", raising=False)
    return tmp_path / "cache"


def chosen(java: Java = JAVA, jars: list[Path] = JARS, spark: str = "4.1.4") -> tuple[str, Path]:
    """The option that was chosen, and its file; nothing when there is none."""
    options = archive_options(java, jars, spark)
    if not options:
        return "", Path()
    name, _, file = options[-1].partition("=")
    return name + "=", Path(file)


def test_the_first_start_makes_the_archive_and_the_next_uses_it() -> None:
    """The JVM writes it when it ends; a finished one is taken into use and kept."""
    option, pending = chosen()
    assert option == MAKE
    pending.write_bytes(b"\xf0\x0b\xab\xa2 classes")
    option, archive = chosen()
    assert option == USE
    assert archive.is_file()
    assert not pending.exists()
    assert chosen() == (USE, archive)


def test_a_start_meanwhile_neither_makes_nor_uses_one() -> None:
    """Two JVMs do not write one archive; an unfinished one, its header empty, is not used."""
    option, pending = chosen()
    assert option == MAKE
    assert chosen() == ("", Path())
    pending.write_bytes(b"\0\0\0\0 half")
    assert chosen() == ("", Path())
    assert pending.exists()


def test_what_a_killed_process_left_behind_is_made_again() -> None:
    """A JVM that was killed never finishes its archive; after a day somebody else may."""
    _, pending = chosen()
    old = pending.stat().st_mtime - ABANDONED - 1
    os.utime(pending, (old, old))
    option, other = chosen()
    assert option == MAKE
    assert other != pending
    assert not pending.exists()


@pytest.mark.parametrize(
    ("java", "jars", "spark"),
    [
        (Java(path=JAVA.path, version="21"), JARS, "4.1.4"),
        (Java(path=Path("/other/java"), version="17.0.9"), JARS, "4.1.4"),
        (JAVA, [*JARS, Path("/jars/b.jar")], "4.1.4"),
        (JAVA, JARS, "4.1.5"),
    ],
)
def test_another_java_spark_or_class_path_has_an_archive_of_its_own(
    java: Java, jars: list[Path], spark: str
) -> None:
    """An archive fits exactly what it was made with."""
    _, pending = chosen()
    pending.write_bytes(b"\xf0\x0b\xab\xa2")
    assert chosen()[0] == USE
    assert chosen(java, jars, spark)[0] == MAKE


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """`SETPOINT_CLASS_ARCHIVE=off` touches nothing."""
    monkeypatch.setenv("SETPOINT_CLASS_ARCHIVE", "off")
    assert archive_options(JAVA, JARS, "4.1.4") == []
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_no_reason_not_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the folder should be, or a full disk: the run goes on without an archive."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SETPOINT_CACHE", str(tmp_path / "file"))
    assert archive_options(JAVA, JARS, "4.1.4") == []


def test_a_cache_that_is_full_is_no_reason_not_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is there, but no file can be made in it."""

    def full(self: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "touch", full)
    assert archive_options(JAVA, JARS, "4.1.4") == []
