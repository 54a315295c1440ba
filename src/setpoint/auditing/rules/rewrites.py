"""The rewrites that fixes show, in the language of the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.rules.found import shown

if TYPE_CHECKING:
    from setpoint.auditing.facts import Draw, Write

_PARAMETERS = {
    "bigquery": "@ds",
    "snowflake": ":ds",
    "spark": ":ds",
    "databricks": ":ds",
    "postgres": "%(ds)s",
    "redshift": "%(ds)s",
    "tsql": "@ds",
    "mysql": "%(ds)s",
}
_OVERWRITES = frozenset({"spark", "databricks", "hive"})


def append_rewrite(write: Write) -> str:
    """An append turned into a write that sets its scope."""
    table = shown(write.table)
    if write.language == "spark":
        return (
            'overwrite the run\'s own slice: df.write.mode("overwrite")'
            f'.option("replaceWhere", f"<date column> = \'{{ds}}\'") on {table} (Delta), '
            'or df.writeTo(…).overwrite(col("<date column>") == ds) (Iceberg), or MERGE on the key'
        )
    if write.language == "pandas":
        return (
            f"in one transaction (with engine.begin() as connection:) delete the run's slice of "
            f"{table}, "
            'then to_sql(…, con=connection, if_exists="append"); or load a staging table and '
            "MERGE on the key"
        )
    if write.language == "warehouse":
        return (
            f"load {table} with WRITE_TRUNCATE into the run's own partition (table$YYYYMMDD), "
            "or load a staging table and MERGE it on the key"
        )
    if write.language == "mongo":
        return (
            f"replace by key: bulk_write([ReplaceOne({{'_id': key}}, document, "
            f"upsert=True)]) on {table}"
        )
    if write.language == "files":
        return (
            "write one file for the run's own window and replace it whole, instead of adding "
            "to a shared file"
        )
    return _sql_append(write, table)


def _sql_append(write: Write, table: str) -> str:
    parameter = _PARAMETERS.get(write.dialect, ":ds")
    if write.rows == "files":
        return (
            f"COPY into a staging table, then in one transaction: DELETE FROM {table} WHERE "
            f"<slice> = {parameter}; "
            f"INSERT INTO {table} SELECT … FROM the staging table"
        )
    if write.dialect in _OVERWRITES:
        return f"INSERT OVERWRITE {table} PARTITION (<date column> = {parameter}) SELECT …"
    if write.rows == "parameters":
        if write.dialect in {"mysql", "starrocks", "singlestore"}:
            return f"INSERT INTO {table} … ON DUPLICATE KEY UPDATE …, on the business key"
        return f"INSERT INTO {table} … ON CONFLICT (<business key>) DO UPDATE SET …"
    return (
        f"BEGIN; DELETE FROM {table} WHERE <date column> = {parameter}; INSERT INTO {table} …; "
        f"COMMIT; "
        "or MERGE on the business key"
    )


def clock_rewrite(draw: Draw) -> str:
    """A clock turned into the run's own date."""
    if draw.language == "spark":
        return f'take the run\'s date as a parameter: F.lit(ds).cast("date") instead of {draw.text}'
    if draw.language == "python":
        return (
            f"take the window from the orchestrator (ds, data_interval_start, partition_key) or "
            f"from "
            f"an argument, instead of {draw.text}"
        )
    if draw.language == "jinja":
        return f"{{{{ var('ds') }}}} instead of {{{{ {draw.text} }}}}"
    parameter = _PARAMETERS.get(draw.dialect, ":ds")
    return f"CAST({parameter} AS DATE) instead of {draw.text}: the run says the date, not the clock"
