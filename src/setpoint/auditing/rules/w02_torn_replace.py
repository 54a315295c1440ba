"""W02: delete and insert that do not commit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Spot
from setpoint.auditing.finding import Edit, Finding, Severity
from setpoint.auditing.guarding import Outcome, appends
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Write
    from setpoint.auditing.world import Case

RULE = Rule(
    id="W02",
    name="torn-replace",
    severity=Severity.ERROR,
    what="A scope is deleted and inserted again, but the two statements are not one transaction.",
    why="A crash between them leaves the scope empty, readers in between see no rows, and two runs "
    "at once insert twice.",
    before="""sql
DELETE FROM shop.revenue_daily WHERE order_date = :ds;
INSERT INTO shop.revenue_daily SELECT … WHERE order_date = :ds;""",
    after="""sql
BEGIN;
DELETE FROM shop.revenue_daily WHERE order_date = :ds;
INSERT INTO shop.revenue_daily SELECT … WHERE order_date = :ds;
COMMIT;""",
    ignore_when="The caller opens the transaction around both, or nobody reads the table before "
    "the pipeline's last step.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Deletes whose insert does not commit with them."""
    seen: set[tuple[int, str]] = set()
    for append in appends(case):
        delete = append.delete
        if append.outcome is not Outcome.TORN or delete is None:
            continue
        here = append.write.spot
        same_file = any(one is delete for one in case.unit.writes)
        spot = delete.spot if same_file else here
        if (spot.line, delete.table) in seen:
            continue
        seen.add((spot.line, delete.table))
        yield found(
            RULE,
            case,
            Spot(line=spot.line, end_line=max(spot.end_line, here.end_line if same_file else 0)),
            f"the delete and the insert of {shown(delete.table)} do not commit together: "
            "a crash between them loses the scope",
            _fix(delete.dialect, shown(delete.table)),
            _edits(case, delete, append.write) if same_file else (),
        )


_TRANSACTIONS = {
    "postgres": "BEGIN TRANSACTION",
    "redshift": "BEGIN TRANSACTION",
    "snowflake": "BEGIN TRANSACTION",
    "tsql": "BEGIN TRANSACTION",
    "bigquery": "BEGIN TRANSACTION",
    "duckdb": "BEGIN TRANSACTION",
    "sqlite": "BEGIN TRANSACTION",
    "mysql": "START TRANSACTION",
}


def _edits(case: Case, delete: Write, insert: Write) -> tuple[Edit, ...]:
    """Both statements in one transaction, where that is sure to mean the same.

    Only in a SQL file of a known dialect, and only around neighbours: what stands between them
    may be one of the statements that end a transaction by themselves.
    """
    begin = _TRANSACTIONS.get(insert.dialect or delete.dialect)
    writes = list(case.unit.writes)
    at = next((n for n, one in enumerate(writes) if one is delete), -1)
    neighbours = 0 <= at < len(writes) - 1 and writes[at + 1] is insert
    placed = 0 <= delete.spot.start < delete.spot.end <= insert.spot.start < insert.spot.end
    if case.file.kind != "sql" or begin is None or not neighbours or not placed:
        return ()
    if delete.transaction or insert.transaction:
        return ()
    return (
        Edit(start=delete.spot.start, end=delete.spot.start, text=f"{begin};\n"),
        Edit(start=insert.spot.end, end=insert.spot.end, text=";\nCOMMIT"),
    )


def _fix(dialect: str, table: str) -> str:
    if dialect in {"spark", "databricks", "hive"}:
        return (
            f"one statement: INSERT OVERWRITE {table} …, or INSERT INTO {table} REPLACE "
            f"WHERE … (Delta)"
        )
    begin = "BEGIN TRANSACTION" if dialect in {"bigquery", "tsql"} else "BEGIN"
    return f"{begin}; DELETE FROM {table} …; INSERT INTO {table} …; COMMIT;"
