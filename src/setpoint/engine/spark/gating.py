"""Gates inside the write job: a row that fails one stops the write before any reader sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from setpoint.engine.spark.translation import gate_stop, short
from setpoint.errors import GateFailed, ResultMisshapen
from setpoint.model.gate import (
    CheckGate,
    Gate,
    NotNullGate,
    RowCountGate,
    ScopeGate,
    TieGate,
    UniqueGate,
)
from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, Row

COUNTED = "__setpoint_same_key"
SAMPLES = 5


def gated(
    frame: DataFrame, gates: Sequence[Gate], scope: str | None, *, unique: bool = False
) -> DataFrame:
    """The frame with every gate built in. `unique` says that its key is proven to be one."""
    _check_columns(frame, gates)
    _check_conditions(frame, gates)
    columns = [quote(name) for name in frame.columns]
    arms = []
    for number, gate in enumerate(gates):
        failing = _failing(gate, scope)
        if isinstance(gate, UniqueGate) and not unique:
            key = ", ".join(map(quote, gate.columns))
            frame = frame.selectExpr("*", f"count(1) OVER (PARTITION BY {key}) AS {COUNTED}")
            failing = f"{COUNTED} > 1"
        if failing is not None:
            arms.append(f"WHEN {failing} THEN {gate_stop(number)}")
    if arms:
        frame = frame.where(f"CASE {' '.join(arms)} ELSE true END")
    return frame.selectExpr(*columns) if COUNTED in frame.columns else frame


def check_rows(
    frame: DataFrame,
    gates: Sequence[Gate],
    *,
    counts: Callable[[], Mapping[str, int]] | None = None,
) -> None:
    """The gate on the number of rows. It costs a pass of its own, so only when declared.

    `counts` counts by window, when the frame holds several.
    """
    for gate in gates:
        if isinstance(gate, RowCountGate):
            found = counts() if counts else {"": frame.count()}
            for label, rows in found.items():
                if gate.allows(rows):
                    continue
                raise GateFailed(
                    "the result has too few or too many rows; nothing was written",
                    gate=gate.name,
                    expected=gate.limits,
                    found=f"{rows:,} rows{label and f' in {label}'}",
                    next_step="check the sources for this window; min_rows and max_rows set limits",
                )


def diagnose(frame: DataFrame, gate: Gate, scope: str | None, key: Sequence[str]) -> GateFailed:
    """The error for a gate that fired, with up to five of the rows that did it."""
    if isinstance(gate, UniqueGate):
        return _diagnose_unique(frame, gate)
    failing = _failing(gate, scope)
    shown = list(dict.fromkeys([*key, *_named_columns(frame, gate)])) or frame.columns[:SAMPLES]
    if isinstance(gate, NotNullGate):  # a key that is null tells nothing of the row
        known = {name.lower() for name in shown}
        shown += [name for name in frame.columns if name.lower() not in known][:SAMPLES]
    samples: list[Row] = []
    if failing is not None:
        samples = frame.where(failing).select(*map(_column, shown)).limit(SAMPLES).collect()
    words = {
        "scope": ("rows lie outside the window", "the event-time bounds and the column's zone"),
        "not_null": ("key columns are null", "the key's columns in the sources"),
    }
    what, where = words.get(gate.name, (f"rows fail the check {gate.name}", "these rows"))
    return GateFailed(
        f"{what}; nothing was written",
        gate=gate.name,
        expected=_expected(gate, scope),
        found=f"{len(samples)}{' or more' if len(samples) == SAMPLES else ''} such rows",
        samples=[_sample(row) for row in samples],
        next_step=f"look at {where}, then run the same command again",
    )


def _diagnose_unique(frame: DataFrame, gate: UniqueGate) -> GateFailed:
    counted = frame.groupBy(*map(_column, gate.columns)).agg(F.count(F.lit(1)).alias("rows"))
    repeated = counted.where(F.col("rows") > 1)
    samples = repeated.orderBy(*map(_column, gate.columns)).limit(SAMPLES).collect()
    return GateFailed(
        "keys occur more than once; nothing was written",
        gate=gate.name,
        expected=f"one row for each {', '.join(gate.columns)}",
        found=f"{len(samples)}{' or more' if len(samples) == SAMPLES else ''} keys that repeat",
        samples=[_sample(row) for row in samples],
        next_step="reduce the sources to one row a key, or correct unique_key",
    )


def _failing(gate: Gate, scope: str | None) -> str | None:
    """The condition in SQL under which a single row fails the gate."""
    if isinstance(gate, ScopeGate) and scope is not None:
        return f"NOT coalesce({scope}, false)"
    if isinstance(gate, NotNullGate):
        return " OR ".join(f"{quote(name)} IS NULL" for name in gate.columns)
    if isinstance(gate, CheckGate):
        asked = f" AND NOT coalesce(({gate.unless}\n), false)" if gate.unless else ""
        # On a line of its own: a condition may end in a comment.
        return f"NOT coalesce(({gate.condition}\n), false){asked}"
    return None


def _check_columns(frame: DataFrame, gates: Sequence[Gate]) -> None:
    present = {name.lower() for name in frame.columns}
    roles = {ScopeGate: "column that the task overwrites by", NotNullGate: "key column"}
    for gate in gates:
        for name in _gate_columns(gate):
            if name.lower() not in present:
                raise ResultMisshapen(
                    f"the result has no column {name!r}",
                    facts={
                        "expected": f"the {roles.get(type(gate), 'column')} {name}",
                        "found": ", ".join(frame.columns),
                    },
                    next_step="add the column to the task's result, or correct its name",
                )


def _check_conditions(frame: DataFrame, gates: Sequence[Gate]) -> None:
    """Refuse a check that is no condition on a row, by its name and before it is built in."""
    for gate in gates:
        if not isinstance(gate, CheckGate):
            continue
        try:
            # Asking for the schema lets Spark Connect look at the query too.
            _ = frame.where(f"({gate.condition}\n)").schema
        except AnalysisException as error:
            raise ResultMisshapen(
                f"the check {gate.name} cannot be made on the result: {short(error)}",
                facts={"check": gate.condition, "columns": ", ".join(frame.columns)},
                next_step="correct the condition under checks",
            ) from None


def _gate_columns(gate: Gate) -> tuple[str, ...]:
    if isinstance(gate, ScopeGate):
        return (gate.column,)
    return gate.columns if isinstance(gate, (NotNullGate, UniqueGate, TieGate)) else ()


def _named_columns(frame: DataFrame, gate: Gate) -> tuple[str, ...]:
    """The columns that a gate speaks of; for a check those whose name is in its condition."""
    if not isinstance(gate, CheckGate):
        return _gate_columns(gate)
    words = set(re.findall(r"\w+", gate.condition.lower()))
    return tuple(name for name in frame.columns if name.lower() in words)


def _expected(gate: Gate, scope: str | None) -> str:
    if isinstance(gate, ScopeGate):
        return scope or ""
    if isinstance(gate, NotNullGate):
        return f"{', '.join(gate.columns)} never null"
    return gate.condition if isinstance(gate, CheckGate) else str(gate)


def _sample(row: Row) -> str:
    return ", ".join(f"{name}={value}" for name, value in row.asDict().items())


def _column(name: str) -> Column:
    return F.col(quote(name))
