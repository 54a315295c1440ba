"""The history of an Iceberg table in an embedded catalog is read without Spark, or not at all."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.engine.iceberg_metadata import current_metadata, history_of
from setpoint.model.table import TableName
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = TableName.parse("lake.shop.orders")


def snapshot(number: int, parent: int | None = None, **summary: str) -> dict[str, Any]:
    """One snapshot as the file has it."""
    made = {"snapshot-id": number, "timestamp-ms": number * 1000, "summary": summary}
    return made if parent is None else {**made, "parent-snapshot-id": parent}


METADATA = {
    "current-snapshot-id": 4,
    "snapshots": [
        snapshot(1, operation="append"),
        snapshot(2, 1, operation="overwrite"),
        snapshot(3, 2, operation="overwrite"),  # rolled back
        snapshot(4, 2, operation="replace", extra="x"),
        snapshot(5, 4, operation="append"),  # on a branch
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose embedded catalog has one table."""
    (tmp_path / "setpoint.toml").write_text("")
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "warehouse" / "a b.json").write_text(json.dumps(METADATA))
    with sqlite3.connect(tmp_path / "warehouse" / "catalog.db") as catalog:
        catalog.execute(
            "CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name,"
            " metadata_location)"
        )
        place = (tmp_path / "warehouse" / "a b.json").as_uri()
        catalog.execute("INSERT INTO iceberg_tables VALUES ('lake', 'shop', 'orders', ?)", [place])
    catalog.close()
    return tmp_path


def test_the_history_is_what_led_to_the_head(project: Path) -> None:
    """In order; neither what was rolled back nor what lies on a branch."""
    metadata = current_metadata(read_settings(project), ORDERS)
    assert metadata is not None
    found = history_of(metadata)
    assert [each.number for each in found] == [1, 2, 4]
    assert (found[-1].parent, found[-1].operation, found[-1].at) == (2, "replace", 4000)
    assert found[-1].summary["extra"] == "x"


def test_an_empty_table_has_no_history() -> None:
    """Iceberg says -1, or nothing, for the head of a table without commits."""
    assert history_of({"current-snapshot-id": -1, "snapshots": []}) == []
    assert history_of({}) == []


@pytest.mark.parametrize(
    "toml",
    [
        '[catalogs.lake]\nconf = { uri = "jdbc:sqlite:other.db" }\n',
        '[spark.conf]\n"spark.sql.catalog.lake.type" = "rest"\n',
    ],
)
def test_a_catalog_with_settings_of_its_own_is_left_to_spark(project: Path, toml: str) -> None:
    """The embedded catalog's file may be one that was used before."""
    assert current_metadata(read_settings(project), ORDERS) is not None
    (project / "setpoint.toml").write_text(toml)
    assert current_metadata(read_settings(project), ORDERS) is None


def test_what_cannot_be_read_is_left_to_spark(project: Path) -> None:
    """Another table, another format, a file on a store: no history, and no error."""
    settings = read_settings(project)
    assert current_metadata(settings, TableName.parse("lake.shop.other")) is None
    assert current_metadata(settings, TableName.parse("other.shop.orders")) is None
    (project / "warehouse" / "a b.json").write_bytes(b"\x1f\x8b compressed")
    assert current_metadata(settings, ORDERS) is None
    with sqlite3.connect(project / "warehouse" / "catalog.db") as catalog:
        catalog.execute("UPDATE iceberg_tables SET metadata_location = 's3://bucket/m.json'")
    catalog.close()
    assert current_metadata(settings, ORDERS) is None
