"""Iceberg as a target: create, set a scope in one commit, and read its history."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from setpoint.engine.commit_mark import CommitMark
from setpoint.engine.iceberg_metadata import Snapshot, ancestry, history_of
from setpoint.engine.protocol import Outcome, SourceChange
from setpoint.engine.spark.merging import comparable, repeated_keys, tie_stop
from setpoint.engine.spark.target import TableState
from setpoint.engine.spark.translation import SPARK_ERRORS
from setpoint.errors import ResultMisshapen, UsageError
from setpoint.failpoint import failpoint
from setpoint.model.grain import Grain
from setpoint.model.grain_diagnosis import PartitionWrite, partition_name
from setpoint.model.merging import matching_sql, newer_sql
from setpoint.model.scope import ColumnKind
from setpoint.model.table import TableName, quote
from setpoint.model.write import Merge, Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

    from setpoint.engine.spark.target import Writing
    from setpoint.model.task import Task

PROPERTY_ROW = "Table Properties"
PREFIX = "setpoint."
RUN_ID = f"{PREFIX}run-id"
FENCE = f"{PREFIX}fence"
SCOPE = f"{PREFIX}scope"
BASE = f"{PREFIX}base"
INPUTS = f"{PREFIX}inputs"
UNIQUE = f"{PREFIX}unique-key"
CHECKED = f"{PREFIX}checked-snapshot"
COMPACTION = "replace"
ISOLATION = "write.merge.isolation-level"
DAY_SECONDS = 86_400
MERGED = "spark.merge-into.num-target-rows-"
# A MERGE takes no options of its own: what its commit carries is a setting of the session.
SESSION_PROPERTY = "spark.sql.iceberg.snapshot-property."
_session_properties = threading.Lock()
PROPERTIES = {
    "format-version": "2",
    # Counts of every partition in each commit's summary: an outcome for each window, for nothing.
    "write.summary.partition-limit": "10000",
    # Many processes may commit to one table; each commit is small.
    "commit.retry.num-retries": "20",
}


class IcebergTarget:
    """One Iceberg table that a task owns."""

    def __init__(
        self,
        spark: SparkSession,
        table: TableName,
        metadata: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> None:
        self.spark = spark
        self.table = table
        self._metadata = metadata
        self._isolation: str | None = None
        self._seen: list[Snapshot] | None = None

    def reference(self, snapshot: str | None = None) -> str:
        """The table in a FROM clause of Spark SQL, at a snapshot where one is given."""
        return f"{self.table.sql} VERSION AS OF {snapshot}" if snapshot else self.table.sql

    def state(self) -> TableState | None:
        """The table's columns and current snapshot; None when it does not exist."""
        try:
            # One command for both, and no job: columns first, then facts about the table.
            shown = self.spark.sql(f"DESCRIBE TABLE EXTENDED {self.table.sql}").collect()
        except AnalysisException as error:
            if (error.getCondition() or "").startswith(("TABLE_OR_VIEW", "SCHEMA_NOT_FOUND")):
                return None
            raise
        columns: dict[str, str] = {}
        for row in shown:
            if not row["col_name"] or row["col_name"].startswith("# "):
                break
            columns[row["col_name"]] = row["data_type"]
        facts = next((row["data_type"] for row in shown if row["col_name"] == PROPERTY_ROW), "")
        snapshot = re.search(r"\bcurrent-snapshot-id=(\d+)", facts)
        isolation = re.search(rf"[\[,]{re.escape(ISOLATION)}=(\w+)", facts)
        self._isolation = isolation[1] if isolation else None
        return TableState(columns=columns, snapshot=snapshot[1] if snapshot else None)

    def create(self, frame: DataFrame, task: Task) -> None:
        """Create the table from the result's schema, partitioned so that windows lie apart."""
        columns = ", ".join(
            f"{quote(field.name)} {field.dataType.simpleString()}" for field in frame.schema.fields
        )
        partition = ""
        properties = dict(PROPERTIES)
        if isinstance(task.write, Overwrite):
            partition = f" PARTITIONED BY ({partition_sql(frame.schema, task.write, task.grain)})"
            # Exact bounds in every file: a file that lies wholly in the window can be replaced.
            properties[f"write.metadata.metrics.column.{task.write.by}"] = "full"
        if isinstance(task.write, Merge):
            properties[ISOLATION] = "serializable"
        listed = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in properties.items())
        for last in (False, True):
            try:
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.table.namespace.sql}")
                self.spark.sql(
                    f"CREATE TABLE IF NOT EXISTS {self.table.sql} ({columns}) USING iceberg"
                    f"{partition} TBLPROPERTIES ({listed})"
                )
                break
            except SPARK_ERRORS:
                # Looked for, not there, and then made by somebody else: IF NOT EXISTS fails.
                if last:
                    raise

    def write(self, writing: Writing) -> None:
        """Make the scope match the frame in one commit, unless it changed meanwhile."""
        if isinstance(writing.task.write, Merge):
            self._merge(writing, writing.task.write)
            return
        writer = writing.frame.writeTo(self.table.sql)
        options = {
            **{f"snapshot-property.{name}": value for name, value in carried(writing).items()},
            "isolation-level": "serializable",
        }
        if not writing.batched:
            # The gates have shuffled already, and rows of one window need no clustering. Rows of
            # many do: else each task would write a file for each of them.
            options |= {"distribution-mode": "none", "fanout-enabled": "true"}
        if writing.state.snapshot is not None:
            options["validate-from-snapshot-id"] = writing.state.snapshot
        for key, value in options.items():
            writer = writer.option(key, value)
        failpoint("iceberg.overwrite.before")
        # By filter, never dynamically: a window that became empty must be emptied too.
        writer.overwrite(F.expr(writing.scope) if writing.scope else F.lit(True))
        failpoint("iceberg.overwrite.after")

    def partition_writes(self) -> list[PartitionWrite]:
        """Which partitions each commit wrote, from the table's own metadata, whoever wrote it."""
        # Not from the summaries: only tables made by Setpoint have the partitions in theirs.
        table = self.table.sql
        try:
            entries = self.spark.sql(
                "SELECT unix_millis(s.committed_at) AS at, s.summary AS summary, "  # noqa: S608
                "to_json(e.partition) AS partition, e.replaced AS replaced FROM ("
                "SELECT snapshot_id, data_file.partition AS partition, bool_or(status = 2) AS "
                f"replaced FROM {table}.all_entries WHERE status IN (1, 2) GROUP BY 1, 2) e "
                f"JOIN {table}.snapshots s ON s.snapshot_id = e.snapshot_id "
                "WHERE s.operation <> 'replace'"
            ).collect()
        except AnalysisException as error:
            if (error.getCondition() or "").startswith("FIELD_NOT_FOUND"):
                raise UsageError(
                    f"{table} has no partitions, so no write can have the wrong grain"
                ) from None
            raise
        return [
            PartitionWrite(
                partition=partition_name(json.loads(row["partition"])),
                at=datetime.fromtimestamp(row["at"] / 1000, tz=timezone.utc),
                replaced=row["replaced"],
                run_id=row["summary"].get(RUN_ID),
            )
            for row in entries
        ]

    def drop(self) -> None:
        """Remove the table and its files, if it is there."""
        self.spark.sql(f"DROP TABLE IF EXISTS {self.table.sql} PURGE")

    def changes(self, event_time: str | None) -> list[SourceChange]:
        """The commits that readers see, oldest first, with the event times of their files."""
        table = self.table.sql
        lower = upper = "CAST(NULL AS TIMESTAMP)"
        state = self.state()
        kinds = {name.lower(): kind for name, kind in (state.columns if state else {}).items()}
        # A date is where its day begins; an instant is itself.
        instant = kinds.get((event_time or "").lower(), "").startswith("timestamp")
        if event_time is not None:
            lower, upper = (
                f"CAST(readable_metrics.{quote(event_time)}.{edge}_bound AS TIMESTAMP)"
                for edge in ("lower", "upper")
            )
        found = self.spark.sql(
            "SELECT h.snapshot_id AS snapshot, s.operation = 'replace' AS moved, "  # noqa: S608
            "unix_seconds(min(e.low)) AS low, unix_seconds(max(e.high)) AS high, "
            "bool_and(e.low IS NOT NULL AND e.high IS NOT NULL) AS known "
            f"FROM {table}.history h JOIN {table}.snapshots s ON s.snapshot_id = h.snapshot_id "
            f"LEFT JOIN (SELECT snapshot_id, {lower} AS low, {upper} AS high "
            f"FROM {table}.all_entries WHERE status IN (1, 2)) e ON e.snapshot_id = h.snapshot_id "
            "WHERE h.is_current_ancestor GROUP BY h.snapshot_id, s.operation, h.made_current_at "
            "ORDER BY h.made_current_at"
        ).collect()
        return [_change(row, reach=1 if instant else DAY_SECONDS) for row in found]

    def _merge(self, writing: Writing, merge: Merge) -> None:
        """Merge the batch in one commit. What it rests on: the table has one row a key."""
        self._check_isolation()
        checked = writing.state.snapshot or ""
        key = json.dumps([name.lower() for name in merge.on])
        if checked and not self._proven_unique(checked, key):
            repeated_keys(self.spark.sql(f"SELECT * FROM {self.reference(checked)}"), merge)  # noqa: S608
        properties = {**carried(writing), UNIQUE: key, CHECKED: checked}
        newer = newer_sql(
            merge, comparable(writing.frame), tie_stop(writing.task), table=self.table.sql
        )
        matching = matching_sql(merge, table=self.table.sql)
        # By the DataFrame API: in SQL the batch would have to be a temporary view, and Spark 4.1
        # cannot plan a MERGE from a view of a table.
        # Copy-on-write computes the batch twice, first to find the files that are to be rewritten.
        batch = writing.frame if writing.cheap else writing.frame.persist()
        merging = batch.alias("s").mergeInto(self.table.sql, F.expr(matching))
        merging = merging.whenMatched(F.expr(newer)).updateAll().whenNotMatched().insertAll()
        with _session_properties:
            for name, value in properties.items():
                self.spark.conf.set(SESSION_PROPERTY + name, value)
            try:
                failpoint("iceberg.merge.before")
                merging.merge()
                failpoint("iceberg.merge.after")
            finally:
                if not writing.cheap:
                    batch.unpersist()
                for name in properties:
                    self.spark.conf.unset(SESSION_PROPERTY + name)

    def _check_isolation(self) -> None:
        if self._isolation == "snapshot":
            raise ResultMisshapen(
                f"the table's {ISOLATION} is snapshot: two merges at once could insert a key twice",
                next_step=f"ALTER TABLE {self.table.sql} SET TBLPROPERTIES "
                f"('{ISOLATION}' = 'serializable')",
            )

    def _proven_unique(self, snapshot: str, key: str) -> bool:
        """Whether the snapshot is a merge by this key onto one that had been found unique.

        Then no key repeats, by induction; any other writer's commit has the whole table looked at.
        """
        metadata = self._metadata()
        if metadata is not None:
            seen = {str(each.number): each for each in history_of(metadata)}.get(snapshot)
            if seen is None:
                return False
            parent, summary = seen.parent, seen.summary
        else:
            found = self.spark.sql(
                f"SELECT parent_id, summary FROM {self.table.sql}.snapshots "  # noqa: S608
                f"WHERE snapshot_id = {int(snapshot)}"
            ).collect()
            if not found:
                return False
            parent, summary = found[0]
        base = "" if parent is None else str(parent)
        return bool(summary.get(UNIQUE) == key and summary.get(CHECKED) == base)

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self._metadata() is not None or self.state() is not None

    def commit(self, run_id: str) -> Outcome | None:
        """The newest commit of a run in the history that readers see."""
        self._seen = self._history(run_id)
        for each in reversed(self._seen):
            if each.summary.get(RUN_ID) == run_id:
                outcome = outcome_of(str(each.number), each.summary)
                return replace(outcome, inputs=json.loads(each.summary.get(INPUTS) or "{}"))
        return None

    def highest_fence(self) -> int:
        """The highest fence among the commits that the table remembers; 0 for none."""
        found = self.spark.sql(
            f"SELECT coalesce(max(CAST(summary['{FENCE}'] AS BIGINT)), 0) AS fence "  # noqa: S608
            f"FROM {self.table.sql}.snapshots"
        ).collect()
        return int(found[0]["fence"])

    def strangers_since(self, snapshot: str | None) -> bool:
        """Whether others than Setpoint wrote rows after a commit."""
        seen = self._seen if self._seen is not None else self._history(None)
        places = [str(each.number) for each in seen]
        later = seen[places.index(snapshot) + 1 :] if snapshot in places else seen
        return any(not each.summary.get(RUN_ID) and each.operation != COMPACTION for each in later)

    def marks(self) -> list[CommitMark]:
        """Setpoint's commits in the history that readers see, in order."""
        seen = self._seen if self._seen is not None else self._history(None)
        places = {str(each.number): place for place, each in enumerate(seen)}
        return [
            CommitMark(
                place=place,
                base=places.get(each.summary.get(BASE, ""), -1),
                run_id=each.summary[RUN_ID],
                fence=int(each.summary[FENCE]),
                scope=each.summary[SCOPE],
                at=datetime.fromtimestamp(each.at / 1000, tz=timezone.utc),
                snapshot=str(each.number),
                inputs=json.loads(each.summary.get(INPUTS) or "{}"),
            )
            for place, each in enumerate(seen)
            if each.summary.get(RUN_ID) and each.summary.get(SCOPE)
        ]

    def _history(self, run_id: str | None) -> list[Snapshot]:
        """The snapshots that led to the current one, in order.

        Where Spark is asked for them, only those of one run come with all of their summary: it may
        have a line for each of ten thousand partitions.
        """
        metadata = self._metadata()
        if metadata is not None:
            return history_of(metadata)
        full = f"summary['{RUN_ID}'] = {literal(run_id)}" if run_id else "false"
        # The head stands first: a commit that another process makes in between is then merely left
        # out.
        found = self.spark.sql(
            "SELECT true AS head, snapshot_id, NULL AS parent_id, NULL AS operation, NULL AS at, "  # noqa: S608
            f"NULL AS summary FROM {self.table.sql}.refs WHERE name = 'main' "
            "UNION ALL SELECT false, snapshot_id, parent_id, operation, "
            f"unix_millis(committed_at), CASE WHEN {full} THEN summary ELSE "
            f"map_filter(summary, (name, _) -> startswith(name, '{PREFIX}')) END "
            f"FROM {self.table.sql}.snapshots"
        ).collect()
        snapshots = [
            Snapshot(
                number=row["snapshot_id"],
                parent=row["parent_id"],
                operation=row["operation"],
                at=row["at"],
                summary=row["summary"],
            )
            for row in found
            if not row["head"]
        ]
        return ancestry(snapshots, next((r["snapshot_id"] for r in found if r["head"]), None))


def carried(writing: Writing) -> dict[str, str]:
    """The properties of a commit's snapshot, by which it is recognised later."""
    facts = {PREFIX + name: value for name, value in writing.facts.items()}
    return {RUN_ID: writing.token.run_id, FENCE: str(writing.token.fence), **facts}


def outcome_of(snapshot: str, summary: Mapping[str, str]) -> Outcome:
    """What a commit did, from its own summary."""
    if MERGED + "inserted" in summary:
        updated = int(summary.get(MERGED + "updated", 0))
        inserted = int(summary[MERGED + "inserted"])
        return Outcome(rows=inserted + updated, replaced=updated, snapshot=snapshot)
    changed = {
        name.removeprefix("partitions."): value
        for name, value in summary.items()
        if name.startswith("partitions.")
    }
    return Outcome(
        rows=int(summary.get("added-records", 0)),
        replaced=int(summary.get("deleted-records", 0)),
        snapshot=snapshot,
        partitions=_counted(changed, "added-records"),
        removed=_counted(changed, "deleted-records"),
        bytes_written=int(summary.get("added-files-size", 0)),
    )


def partition_sql(schema: StructType, write: Overwrite, grain: Grain | None) -> str:
    """The partitioning of a new table, so that each window's rows lie in files of their own."""
    column = next(field for field in schema.fields if field.name.lower() == write.by.lower())
    name = quote(column.name)
    kind = ColumnKind.of(column.dataType.simpleString())
    length = Grain.parse(write.partition, zone=grain.zone) if write.partition and grain else grain
    if length is None or kind is ColumnKind.STRING:
        return name
    if length.unit == "month":
        return f"months({name})"
    if kind is ColumnKind.DATE:
        return name
    return f"days({name})" if length.unit in ("day", "week") else f"hours({name})"


def _change(row: Row, *, reach: int) -> SourceChange:
    snapshot = str(row["snapshot"])
    if row["moved"]:  # compaction moves rows between files and changes none of them
        return SourceChange(snapshot=snapshot, start=_instant(0), end=_instant(0))
    if not row["known"]:
        return SourceChange(snapshot=snapshot, start=None, end=None)
    end = _instant(row["high"] + reach)
    return SourceChange(snapshot=snapshot, start=_instant(row["low"]), end=end)


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=timezone.utc)


def literal(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _counted(partitions: Mapping[str, str], name: str) -> dict[str, int]:
    counts = {partition: _number(listed, name) for partition, listed in partitions.items()}
    return {partition: rows for partition, rows in counts.items() if rows}


def _number(listed: str, name: str) -> int:
    pairs: dict[str, Any] = dict(part.split("=", 1) for part in listed.split(",") if "=" in part)
    return int(pairs.get(name, 0))
