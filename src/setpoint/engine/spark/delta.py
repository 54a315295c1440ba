"""Delta as a target: create, set a scope in one commit, and read its history."""

from __future__ import annotations

import json
import shutil
import threading
from datetime import timezone
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from setpoint.engine.commit_mark import CommitMark
from setpoint.engine.protocol import Outcome
from setpoint.engine.spark.fitting import fitted
from setpoint.engine.spark.merging import comparable, repeated_keys, tie_stop
from setpoint.engine.spark.reading import MISSING
from setpoint.engine.spark.target import TableState
from setpoint.engine.spark.translation import SPARK_ERRORS, is_conflict
from setpoint.errors import CommitConflict
from setpoint.failpoint import failpoint
from setpoint.model.merging import matching_sql, newer_sql
from setpoint.model.scope import ColumnKind
from setpoint.model.table import PLAIN, quote
from setpoint.model.transform import source_sql
from setpoint.model.write import Merge, Overwrite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

    from setpoint.engine.spark.target import Writing
    from setpoint.model.task import Task

# Commits that leave every row as it was.
HOUSEKEEPING = ("OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "REORG")
# A MERGE takes no options of its own: what its commit carries is a setting of the session.
SESSION = {
    "userMetadata": "spark.databricks.delta.commitInfo.userMetadata",
    "txnAppId": "spark.databricks.delta.write.txnAppId",
    "txnVersion": "spark.databricks.delta.write.txnVersion",
}
_session_settings = threading.Lock()
RECENT = 20
TRIES = 5


class DeltaTarget:
    """One Delta table that a task owns, in a folder of its own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.name = "delta.`" + str(folder).replace("`", "``") + "`"
        self._written: Writing | None = None
        self._found: Row | None = None
        self._seen: list[Row] | None = None

    def reference(self, snapshot: str | None = None) -> str:
        """The table in a FROM clause of Spark SQL, at a version where one is given."""
        return f"{self.name} VERSION AS OF {int(snapshot)}" if snapshot else self.name

    def state(self) -> TableState | None:
        """The table's columns and current version; None when it does not exist."""
        schema = self._schema()
        if schema is None:
            return None
        columns = {field.name: field.dataType.simpleString() for field in schema.fields}
        (newest,) = self._history(1)
        return TableState(columns=columns, snapshot=str(newest["version"]))

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self._schema() is not None

    def _schema(self) -> StructType | None:
        try:
            return self.spark.sql(source_sql(self.name, None)).schema
        except AnalysisException as error:
            if (error.getCondition() or "").startswith(MISSING):
                return None
            raise

    def create(self, frame: DataFrame, task: Task) -> None:
        """Create the table from the result's schema, a partition for each day where it has one."""
        fields = frame.schema.fields
        columns = ", ".join(f"{quote(f.name)} {f.dataType.simpleString()}" for f in fields)
        properties = {"delta.isolationLevel": "Serializable"}
        if not all(PLAIN.match(field.name) for field in fields):
            properties["delta.columnMapping.mode"] = "name"
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        by = _partition_column(frame.schema, task)
        partition = f" PARTITIONED BY ({quote(by)})" if by else ""
        try:
            self.spark.sql(
                f"CREATE TABLE IF NOT EXISTS {self.name} ({columns}) USING delta{partition} "
                f"TBLPROPERTIES ({listed})"
            )
        except SPARK_ERRORS:
            if self.state() is None:  # otherwise another process was first
                raise

    def write(self, writing: Writing) -> None:
        """Make the scope match the frame in one commit, unless it changed meanwhile."""
        frame = fitted(writing.frame, writing.state.columns)
        self._written = writing
        merge = writing.task.write if isinstance(writing.task.write, Merge) else None
        for attempt in range(1, TRIES + 1):
            if merge is None:
                self._refuse_stale(writing)
            try:
                if merge is None:
                    self._commit(frame, writing)
                else:
                    self._merge(frame, writing, merge)
                break
            except SPARK_ERRORS as error:
                # Without partitions Delta takes other windows for the same one; look closer.
                if not is_conflict(error) or attempt == TRIES:
                    raise
        found = self._found = self._newest(writing.token.run_id)
        if found is None or _token(found)["fence"] != writing.token.fence:
            # Delta leaves out a transaction whose version is not newer than the last of its id.
            raise CommitConflict(
                "a newer attempt of this run has written; nothing was committed",
                next_step="run the same command again",
            )

    def commit(self, run_id: str) -> Outcome | None:
        """The newest commit of a run in the history that readers see."""
        found = self._found
        if found is None or _token(found)["run_id"] != run_id:
            found = self._newest(run_id)
        if found is None:
            return None
        inputs = json.loads(_token(found).get("inputs", "{}"))
        metrics = {name: int(value) for name, value in found["operationMetrics"].items()}
        if found["operation"] == "MERGE":
            updated = metrics.get("numTargetRowsUpdated", 0)
            return Outcome(
                rows=metrics.get("numTargetRowsInserted", 0) + updated,
                replaced=updated,
                snapshot=str(found["version"]),
                inputs=inputs,
            )
        return Outcome(
            # Rows of other windows that shared a file with this one are copied, not written.
            rows=metrics.get("numOutputRows", 0) - metrics.get("numCopiedRows", 0),
            replaced=self._replaced(metrics, str(found["readVersion"])),
            snapshot=str(found["version"]),
            inputs=inputs,
        )

    def drop(self) -> None:
        """Remove the table and its files, if it is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def strangers_since(self, snapshot: str | None) -> bool:
        """Whether others than Setpoint wrote rows after a commit."""
        rows = self._seen if self._seen is not None else self._history(None)
        later = [row for row in rows if row["version"] > int(snapshot or -1)]
        return any(not _token(row) and row["operation"] not in HOUSEKEEPING for row in later)

    def marks(self) -> list[CommitMark]:
        """Setpoint's commits in the history that readers see, in order."""
        rows = self._seen if self._seen is not None else self._history(None)
        return [_mark(row, _token(row)) for row in _visible(rows) if "scope" in _token(row)][::-1]

    def highest_fence(self) -> int:
        """The highest fence among the commits that the table remembers; 0 for none."""
        return max((_token(row).get("fence", 0) for row in self._history(None)), default=0)

    def _replaced(self, metrics: Mapping[str, int], before: str) -> int | None:
        """The rows that a commit removed; Delta does not count those of files it drops whole."""
        if not metrics.get("numRemovedFiles"):
            return 0
        counted = metrics.get("numDeletedRows")
        if counted is not None or self._written is None:
            return counted
        return self.spark.sql(source_sql(self.reference(before), self._written.scope)).count()

    def _commit(self, frame: DataFrame, writing: Writing) -> None:
        writer = frame.writeTo(self.name)
        for name, value in _carried(writing).items():
            writer = writer.option(name, value)
        failpoint("delta.overwrite.before")
        # By filter, never dynamically: a window that became empty must be emptied too.
        writer.overwrite(F.expr(writing.scope) if writing.scope else F.lit(True))
        failpoint("delta.overwrite.after")

    def _merge(self, frame: DataFrame, writing: Writing, merge: Merge) -> None:
        """Merge the batch in one commit. What it rests on: the table has one row a key."""
        (newest,) = self._history(1)
        checked = str(newest["version"])
        key = [name.lower() for name in merge.on]
        if not _proven_unique(newest, key):
            repeated_keys(self.spark.sql(source_sql(self.reference(checked), None)), merge)
        carried = _carried(writing, unique=key, checked=checked)
        newer = newer_sql(merge, comparable(frame), tie_stop(writing.task))
        batch = frame.persist()
        # A view by the run's name: other threads of the session merge from views of their own.
        view = quote(f"setpoint merge {writing.token.run_id}")
        batch.createOrReplaceTempView(view)
        with _session_settings:
            for name, value in carried.items():
                self.spark.conf.set(SESSION[name], value)
            try:
                failpoint("delta.merge.before")
                self.spark.sql(
                    f"MERGE INTO {self.name} AS t USING {view} AS s ON {matching_sql(merge)} "
                    f"WHEN MATCHED AND {newer} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
                )
                failpoint("delta.merge.after")
            finally:
                batch.unpersist()
                self.spark.catalog.dropTempView(view.strip("`"))
                for name in carried:
                    self.spark.conf.unset(SESSION[name])

    def _refuse_stale(self, writing: Writing) -> None:
        base = int(writing.state.snapshot or 0)
        if self._history(1)[0]["version"] == base:
            return
        newer = [row for row in self._history(RECENT) if row["version"] > base]
        if all(row["operation"] in HOUSEKEEPING for row in newer) and len(newer) < RECENT:
            return
        if self._files(writing.scope, str(base)) != self._files(writing.scope, None):
            raise CommitConflict(
                "somebody else wrote to the same scope meanwhile; nothing was committed",
                next_step="run the same command again",
            )

    def _files(self, scope: str | None, snapshot: str | None) -> dict[str, int]:
        """The files that hold the scope's rows, and how many of them each holds."""
        rows = self.spark.sql(source_sql(self.reference(snapshot), scope))
        counted = rows.groupBy(F.col("_metadata.file_path").alias("file")).count()
        return {row["file"]: row["count"] for row in counted.collect()}

    def _newest(self, run_id: str) -> Row | None:
        self._seen = self._history(RECENT)
        found = _visible_commit(self._seen, run_id)
        if found is None and len(self._seen) == RECENT:
            self._seen = self._history(None)
            found = _visible_commit(self._seen, run_id)
        return found

    def _history(self, limit: int | None) -> list[Row]:
        """The commits, newest first."""
        most = f" LIMIT {limit}" if limit else ""
        return self.spark.sql(f"DESCRIBE HISTORY {self.name}{most}").collect()


def _visible(history: Sequence[Row]) -> Iterator[Row]:
    """The commits that no later RESTORE has taken back, newest first."""
    restored: int | None = None
    for row in history:
        if restored is not None and row["version"] > restored:
            continue
        if row["operation"] == "RESTORE":
            version = row["operationParameters"].get("version")
            restored = int(version) if version else None
        else:
            yield row


def _visible_commit(history: Sequence[Row], run_id: str) -> Row | None:
    """The newest commit of a run that readers see."""
    return next((row for row in _visible(history) if _token(row).get("run_id") == run_id), None)


def _mark(row: Row, token: Mapping[str, Any]) -> CommitMark:
    return CommitMark(
        place=row["version"],
        base=int(token["base"] or -1),
        run_id=token["run_id"],
        fence=token["fence"],
        scope=token["scope"],
        at=row["timestamp"].astimezone(timezone.utc),
        snapshot=str(row["version"]),
        inputs=json.loads(token["inputs"]),
    )


def _carried(writing: Writing, **more: Any) -> dict[str, str]:
    """What a commit carries: the token, and a transaction id that fences older attempts off."""
    token = {
        "run_id": writing.token.run_id,
        "fence": writing.token.fence,
        **writing.facts,
        **more,
    }
    return {
        "userMetadata": json.dumps({"setpoint": token}),
        # One transaction id a run: an attempt with an older fence is left out by Delta itself.
        "txnAppId": f"setpoint-{writing.token.run_id}",
        "txnVersion": str(writing.token.fence),
    }


def _proven_unique(newest: Row, key: list[str]) -> bool:
    """Whether a commit is a merge by this key onto a version that had been found unique.

    Then no key repeats, by induction; any other writer's commit has the whole table looked at.
    """
    token = _token(newest)
    return token.get("unique") == key and token.get("checked") == str(newest["readVersion"])


def _token(row: Row) -> dict[str, Any]:
    """What Setpoint wrote into a commit; empty for commits of others."""
    try:
        kept = json.loads(row["userMetadata"] or "{}")["setpoint"]
    except (ValueError, KeyError, TypeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _partition_column(schema: StructType, task: Task) -> str | None:
    """Delta partitions by values, so only whole days make partitions; a timestamp makes none."""
    if not isinstance(task.write, Overwrite):
        return None
    by = task.write.by.lower()
    field = next(field for field in schema.fields if field.name.lower() == by)
    kind = ColumnKind.of(field.dataType.simpleString())
    return field.name if kind in (ColumnKind.DATE, ColumnKind.STRING) else None
