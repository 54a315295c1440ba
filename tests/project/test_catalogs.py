"""Kinds of catalog in setpoint.toml, and what a task is told about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.engine.spark.jars import DELTA, project_packages
from setpoint.errors import ProjectError
from setpoint.model.explanation import explain
from setpoint.model.scope import Kinds
from setpoint.project.project import load_project
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.model.settings import Settings

HIVE = '[catalogs.hive]\ntype = "parquet"\n'
TASK = """
/*
target: {target}
grain: {grain}
write: {write}
*/
SELECT DATE '2026-04-25' AS d
"""


def _settings(root: Path, toml: str) -> Settings:
    (root / "setpoint.toml").write_text(toml)
    return read_settings(root)


def _task(
    root: Path, *, target: str, grain: str = "day", write: str = "{overwrite: {by: d}}"
) -> None:
    (root / "pipelines").mkdir()
    text = TASK.format(target=target, grain=grain, write=write)
    (root / "pipelines" / "days.sql").write_text(text.strip())


def test_a_catalog_of_folders_lies_in_a_folder_of_its_type(tmp_path: Path) -> None:
    """The default can be changed; `file:` may be written and means the same."""
    toml = HIVE + '[catalogs.dl]\ntype = "delta"\nwarehouse = "file:///data/dl"\n'
    catalogs = _settings(tmp_path, toml).catalogs
    assert catalogs["hive"].warehouse == tmp_path / "parquet"
    assert str(catalogs["dl"].warehouse) == "/data/dl"


def test_delta_is_fetched_only_for_projects_that_use_it(tmp_path: Path) -> None:
    """No download and no slower start for the others."""
    assert DELTA[0] not in project_packages(_settings(tmp_path, HIVE))
    assert DELTA[0] in project_packages(_settings(tmp_path, '[catalogs.dl]\ntype = "delta"\n'))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('warehouse = "s3a://bucket/x"', "not a folder of a file system"),
        ('conf = {uri = "x"}', "has no conf"),
        ('type = "hudi"', "not one of: iceberg, delta, parquet"),
    ],
)
def test_what_a_catalog_of_folders_cannot_be_is_refused(
    tmp_path: Path, line: str, words: str
) -> None:
    """With the line, and what would do."""
    kind = "" if line.startswith("type") else 'type = "parquet"\n'
    with pytest.raises(ProjectError) as caught:
        _settings(tmp_path, f"[catalogs.hive]\n{kind}{line}\n")
    assert words in caught.value.faults[0].message
    assert caught.value.faults[0].line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grain": "hour"}, "finer than the partition"),
        ({"write": "{overwrite: {by: d, partition: month}}"}, "one folder for each day"),
        ({"write": "{merge: {'on': [d], version: d}}"}, "cannot do merge"),
        ({"target": "hive.shop.`..`"}, "cannot be the name of a folder"),
    ],
)
def test_what_parquet_cannot_do_is_refused_at_load(
    tmp_path: Path, options: dict[str, str], words: str
) -> None:
    """E2, B5: before Spark is started."""
    _settings(tmp_path, HIVE)
    _task(tmp_path, **{"target": "hive.shop.days", **options})
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert words in caught.value.faults[0].message


def test_explain_says_what_the_target_promises(tmp_path: Path) -> None:
    """For Parquet, that a reader may see the swap."""
    _settings(tmp_path, HIVE)
    _task(tmp_path, target="hive.shop.days")
    graph = load_project(tmp_path).graph
    said = dict(explain(graph.task("days"), None, graph, known=Kinds()).lines)["guarantees"]
    assert "may see the swap" in said[0]
