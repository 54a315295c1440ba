"""Connections in setpoint.toml, and which pattern suits a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ProjectError
from setpoint.model.pattern import Choice, Undecided, choose
from setpoint.model.write import Merge, Replace, overwrite, replace
from setpoint.project.project import load_project
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.model.settings import Settings


def _settings(folder: Path, toml: str) -> Settings:
    (folder / "setpoint.toml").write_text(toml)
    return read_settings(folder)


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password is taken from the environment, and hidden in what is printed."""
    monkeypatch.setenv("MART_PASSWORD", "pl@nted")
    settings = _settings(
        tmp_path,
        '[connections.mart]\nurl = "postgresql://etl@db/shop"\npassword = "${MART_PASSWORD}"\n',
    )
    assert settings.connections["mart"].password == "pl@nted"
    assert "pl@nted" not in repr(settings)


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ('url = "postgresql://etl:secret@db/shop"', "holds a password"),
        ('url = "postgresql://db/shop?password=secret"', "holds a password"),
        ('url = "postgresql://etl@db/shop"\npassword = "secret"', "is written out"),
        ('url = "mysql://db/shop"', "not the address of a Postgres database"),
        ('url = "postgresql://${NOT_SET_ANYWHERE}@db/shop"', "which is not set"),
        ('url = "postgresql://db/shop"\nread_partitions = 0', "1 or more"),
        ('url = "postgresql://db/shop"\nuser = "x"', "is not a setting"),
    ],
)
def test_a_wrong_connection_is_a_fault_without_its_secret(
    tmp_path: Path, lines: str, word: str
) -> None:
    """Each fault says what to write; none repeats a password."""
    with pytest.raises(ProjectError) as caught:
        _settings(tmp_path, f"[connections.mart]\n{lines}\n")
    (fault,) = caught.value.faults
    assert word in fault.message
    assert "secret" not in f"{fault.message} {fault.fix}"


def test_a_connection_and_a_catalog_cannot_share_a_name(tmp_path: Path) -> None:
    """The first name of a table must mean one thing."""
    with pytest.raises(ProjectError, match=r"setpoint\.toml is wrong"):
        _settings(tmp_path, '[connections.lake]\nurl = "postgresql://db/shop"\n')


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("mart.a.b.c", "a schema and a name"),
        ("mart.public." + "x" * 64, "at most 63 bytes"),
        ("mrt.public.x", "no catalog 'mrt'"),
    ],
)
def test_a_table_that_a_database_cannot_have(tmp_path: Path, target: str, word: str) -> None:
    """Postgres would cut a long name in silence."""
    (tmp_path / "setpoint.toml").write_text('[connections.mart]\nurl = "postgresql://db/shop"\n')
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "x.sql").write_text(f"/* target: {target} */ SELECT 1 AS id")
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert word in caught.value.faults[0].message


def test_a_merge_that_deletes_is_refused(tmp_path: Path) -> None:
    """Without a tombstone an old window would bring the row back."""
    (tmp_path / "setpoint.toml").write_text('[connections.mart]\nurl = "postgresql://db/shop"\n')
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "x.sql").write_text(
        "/*\ntarget: mart.public.x\nwrite: {merge: {on: id, version: v, delete_when: gone}}\n*/\n"
        "SELECT 1 AS id, 1 AS v, true AS gone"
    )
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert "delete_when" in caught.value.faults[0].message


def test_a_slice_of_a_database_is_replaced() -> None:
    """B5: time-partitioned in a lake is a slice in a database; the reason is said."""
    given = {"windowed": True, "partition_by": "day", "key": ()}
    chosen = choose(stated=None, kind="postgres", **given)  # type: ignore[arg-type]
    assert isinstance(chosen, Choice)
    assert chosen.write == Replace(by="day")
    assert "one transaction" in chosen.reason


def test_a_pattern_that_does_not_suit_is_refused_with_the_one_that_does() -> None:
    """B5: overwrite is for lakes, replace(by=…) for databases."""
    given = {"windowed": True, "partition_by": None, "key": ()}
    database = choose(stated=overwrite(by="day"), kind="postgres", **given)  # type: ignore[arg-type]
    assert isinstance(database, Undecided)
    assert 'replace(by="day")' in database.fix
    lake = choose(stated=replace(by="day"), kind="iceberg", **given)  # type: ignore[arg-type]
    assert isinstance(lake, Undecided)
    assert 'overwrite(by="day")' in lake.fix


def test_replace_of_a_slice_needs_a_window() -> None:
    """Without a grain there is no slice."""
    chosen = choose(
        stated=replace(by="day"), windowed=False, partition_by=None, key=(), kind="postgres"
    )
    assert isinstance(chosen, Undecided)
    assert "has no grain" in chosen.reason


def test_one_row_an_entity_is_merged() -> None:
    """A key with a version is merged, in a database as in a lake."""
    chosen = choose(
        stated=None,
        windowed=True,
        partition_by=None,
        key=("id",),
        version="changed_at",
        kind="postgres",
    )
    assert isinstance(chosen, Choice)
    assert chosen.write == Merge(on=("id",), version="changed_at")
