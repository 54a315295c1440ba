from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from setpoint.engine.spark.plan_cost import bytes_read
from setpoint.engine.table_size import table_size
from setpoint.model.table import TableName
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

PRINTED = """\
== Optimized Logical Plan ==
Aggregate [day#1], [day#1, sum(x#2)], Statistics(sizeInBytes=900.0 KiB, rowCount=3)
+- Join Inner, Statistics(sizeInBytes=9.0 EiB)
   :- RelationV2[x#2, day#1] lake.raw.orders, Statistics(sizeInBytes=1.5 MiB, rowCount=9)
   +- Relation spark_catalog.`x`[id#1L] parquet, Statistics(sizeInBytes=512.0 B)

== Physical Plan ==
Scan foo, Statistics(sizeInBytes=77.0 GiB)
"""


def test_the_scans_of_the_optimised_plan_are_added_up() -> None:
    """Not the joins above them, and not the physical plan again."""
    assert bytes_read(PRINTED) == int(1.5 * 1024 * 1024) + 512


def test_no_scan_or_no_statistics_is_no_size() -> None:
    """Spark says 8 EiB where it does not know."""
    assert bytes_read("== Optimized Logical Plan ==\nRange (0, 3)\n") is None
    vague = PRINTED.replace("1.5 MiB", "8.0 EiB")
    assert bytes_read(vague) is None


def test_the_size_of_a_table_is_read_from_its_metadata_without_spark(tmp_path: Path) -> None:
    """The embedded catalog names the metadata file; its current snapshot has the totals."""
    (tmp_path / "setpoint.toml").write_text("")
    settings = read_settings(tmp_path)
    orders = TableName.parse("lake.shop.orders")
    assert table_size(settings, orders) is None
    (tmp_path / "warehouse").mkdir()
    metadata = tmp_path / "warehouse" / "v1.json"
    summary = {"total-records": "12", "total-files-size": "345"}
    metadata.write_text(
        json.dumps(
            {"current-snapshot-id": 7, "snapshots": [{"snapshot-id": 7, "summary": summary}]}
        )
    )
    with sqlite3.connect(tmp_path / "warehouse" / "catalog.db") as catalog:
        catalog.execute(
            "CREATE TABLE iceberg_tables (catalog_name, table_namespace, table_name,"
            " metadata_location)"
        )
        catalog.execute(
            "INSERT INTO iceberg_tables VALUES ('lake', 'shop', 'orders', ?)", [str(metadata)]
        )
    catalog.close()
    found = table_size(settings, orders)
    assert found is not None
    assert (found.rows, found.bytes) == (12, 345)
    assert table_size(settings, TableName.parse("lake.shop.other")) is None
    metadata.write_text("{")
    assert table_size(settings, orders) is None
