"""The one place where Spark's errors become Setpoint's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, ParseException, PySparkException

from setpoint.errors import (
    CommitConflict,
    EngineFailed,
    ResultMisshapen,
    RunError,
    SourceFault,
    StorageFull,
    TransformFailed,
    Transient,
)

if TYPE_CHECKING:
    from pathlib import Path

SPARK_ERRORS: tuple[type[Exception], ...]
try:
    from py4j.protocol import Py4JError

    SPARK_ERRORS = (PySparkException, Py4JError)
except ModuleNotFoundError:  # a client of Spark Connect has no bridge to a JVM
    SPARK_ERRORS = (PySparkException,)

GATE = "setpoint-gate:"
FULL = ("No space left on device", "Disk quota exceeded", "File too large")
CONFLICTS = (
    "CommitFailedException",
    "Found conflicting files",
    "Cannot commit",
    "stale table metadata",
    "Found new conflicting delete files",
    "Found conflicting deleted files",
    "Missing required files to delete",
    "[DELTA_CONCURRENT_",
    "[DELTA_METADATA_CHANGED]",
    "[DELTA_PROTOCOL_CHANGED",
)
PASSING = (
    "Connection refused",
    "Connection reset",
    "Connection timed out",
    "SocketTimeoutException",
    "FetchFailed",
    "ExecutorLostFailure",
    "database is locked",
    "SQLITE_BUSY",
    "StatusCode.UNAVAILABLE",
    "Python worker exited unexpectedly",
)
UNKNOWN = ("CommitStateUnknown", "Cannot determine whether the commit was successful")
MIXED_FILES = "some, but not all, rows match filter"
PYTHON_ERROR = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)+(\S.*)")
BRIDGE = re.compile(r"An error occurred while calling \S+\s*:\s*(?:[\w$]+\.)+[\w$]+:\s*")
UNSUITED = re.compile(r"Invalid type for (.+?): (\w+) is not supported|Not a supported type: (.+)")
FIRST_LINE = 240


class GateFired(Exception):
    """A gate raised inside the write; which rows did it is looked up next."""

    def __init__(self, gate: int) -> None:
        super().__init__(f"gate {gate} of the task")
        self.gate = gate


def gate_stop(number: int) -> str:
    """The expression that stops a write at a gate of the task."""
    return f"CAST(raise_error('{GATE}{number}') AS BOOLEAN)"


def translate(error: Exception, *, log: Path) -> RunError | GateFired:  # noqa: C901, PLR0911
    """The error in Setpoint's words; the JVM's stack goes to the log file."""
    _write_log(error, log)
    text = str(error)
    # A query that Spark refuses is shown with its text, gates included: none of them has fired.
    refused = isinstance(error, AnalysisException)
    gate = None if refused else re.search(re.escape(GATE) + r"(\d+)", text)
    if gate:
        return GateFired(int(gate[1]))
    if any(mark in text for mark in FULL):
        return StorageFull(
            "no space is left where the table lives; nothing was committed",
            next_step="free some space, then run the same command again",
        )
    if MIXED_FILES in text:
        return ResultMisshapen(
            "the table's files hold rows of other windows too, so this one cannot be set alone",
            facts={"expected": "a table partitioned by the column that the task overwrites by"},
            next_step="rewrite the table partitioned by that column, or use replace()",
        )
    if is_conflict(error):
        return CommitConflict(
            "somebody else wrote to the same scope meanwhile; nothing was committed",
            next_step="run the same command again",
        )
    if any(mark in text for mark in UNKNOWN):
        return Transient(
            "the catalog could not say whether the commit took place, and it is not in the table",
            next_step="run the same command again; it looks first",
        )
    if any(mark in text for mark in PASSING):
        return Transient(
            "Spark lost a connection: " + short(error),
            next_step=f"run the same command again; Spark's own words are in {log}",
        )
    if isinstance(error, ParseException):
        return TransformFailed(
            "the SQL does not parse: " + short(error), next_step="correct the SQL of the task"
        )
    if isinstance(error, AnalysisException):
        return _analysis(error)
    unsuited = UNSUITED.search(text)
    if unsuited:
        return ResultMisshapen(
            "a column of the result has a type that the table cannot hold: "
            + (f"{unsuited[1]} {unsuited[2]}" if unsuited[1] else unsuited[3].strip()),
            next_step="cast the column in the task (a bare NULL needs a type too), or leave it out",
        )
    python = PYTHON_ERROR.search(text)
    if python:
        return TransformFailed(
            "Python code in the task raised " + python[1],
            next_step=f"mend the task; the whole stack is in {log}",
        )
    return EngineFailed("Spark failed: " + short(error), next_step=f"read {log}")


def is_unknown(error: Exception) -> bool:
    """Whether an error leaves open if the commit took place."""
    return any(mark in str(error) for mark in (*UNKNOWN, *PASSING))


def is_conflict(error: Exception) -> bool:
    """Whether a commit lost against another one."""
    return any(mark in str(error) for mark in CONFLICTS)


def short(error: Exception) -> str:
    """The first sentence of an error, without its error class, hints and stack."""
    text = BRIDGE.sub("", _message(error).strip(), count=1)
    text = re.sub(r"^\[[\w.]+\]\s*", "", text)
    text = re.split(r"\s*SQLSTATE:|\n\s*at |\nJVM stacktrace|;\s*\n'", text)[0]
    line = " ".join(text.split())
    return line if len(line) <= FIRST_LINE else line[: FIRST_LINE - 1] + "…"


def _message(error: Exception) -> str:
    if not isinstance(error, PySparkException):
        return str(error)
    try:
        return error.getMessage() or str(error)
    except SPARK_ERRORS:  # Spark knows no text for the error classes of its extensions
        return str(error)


def _analysis(error: AnalysisException) -> RunError:
    condition = error.getCondition() or ""
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        return SourceFault(
            short(error), next_step="check the name, or run the task that makes the table first"
        )
    if condition.startswith(("INCOMPATIBLE_DATA_FOR_TABLE", "INSERT_COLUMN")):
        return ResultMisshapen(
            short(error), next_step="cast the column in the task, or change the table"
        )
    return TransformFailed(
        "Spark refused the query: " + short(error), next_step="correct the task's query"
    )


def _write_log(error: Exception, log: Path) -> None:
    try:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"\n{type(error).__name__}: {error}\n")
    except OSError:
        return  # a full disk must not hide the error itself
