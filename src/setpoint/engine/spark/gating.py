"""Gates inside the write job: a row that fails one stops the write before any reader sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from setpoint.engine.spark.translation import GATE
from setpoint.errors import GateFailed, ResultMisshapen
from setpoint.model.gate import CheckGate, Gate, NotNullGate, RowCountGate, ScopeGate, UniqueGate
from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, Row

COUNTED = "__setpoint_same_key"
SAMPLES = 5


def gated(frame: DataFrame, gates: Sequence[Gate], scope: str | None) -> DataFrame:
    """The frame with every gate built in; the order of its columns and rows is its own."""
    _check_columns(frame, gates)
    columns = [quote(name) for name in frame.columns]
    guard = F.lit(True)
    for number, gate in enumerate(gates):
        failing = _failing(gate, scope)
        if isinstance(gate, UniqueGate):
            # Told in the shuffle by the key; a result that is grouped by its key has it already.
            same_key = Over.partitionBy(*map(_column, gate.columns))
            frame = frame.withColumn(COUNTED, F.count(F.lit(1)).over(same_key))
            failing = F.col(COUNTED) > 1
        if failing is not None:
            guard = _stop(failing, number, guard)
    return frame.where(guard).select(*columns)


def check_rows(frame: DataFrame, gates: Sequence[Gate]) -> None:
    """The gate on the number of rows. It costs a pass of its own, so only when declared."""
    for gate in gates:
        if isinstance(gate, RowCountGate):
            rows = frame.count()
            if not gate.allows(rows):
                raise GateFailed(
                    "the result has too few or too many rows; nothing was written",
                    gate=gate.name,
                    expected=gate.limits,
                    found=f"{rows:,} rows",
                    next_step="check the sources for this window; min_rows and max_rows set limits",
                )


def diagnose(frame: DataFrame, gate: Gate, scope: str | None, key: Sequence[str]) -> GateFailed:
    """The error for a gate that fired, with up to five of the rows that did it."""
    if isinstance(gate, UniqueGate):
        return _diagnose_unique(frame, gate)
    failing = _failing(gate, scope)
    shown = list(dict.fromkeys([*key, *_gate_columns(gate)])) or frame.columns[:SAMPLES]
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


def _failing(gate: Gate, scope: str | None) -> Column | None:
    """The condition under which a single row fails the gate."""
    if isinstance(gate, ScopeGate) and scope is not None:
        return ~F.coalesce(F.expr(scope), F.lit(False))
    if isinstance(gate, NotNullGate):
        condition = F.lit(False)
        for name in gate.columns:
            condition |= _column(name).isNull()
        return condition
    if isinstance(gate, CheckGate):
        return ~F.coalesce(F.expr(gate.condition).cast("boolean"), F.lit(False))
    return None


def _stop(failing: Column, gate: int, otherwise: Column) -> Column:
    error = F.raise_error(F.lit(f"{GATE}{gate}")).cast("boolean")
    return F.when(failing, error).otherwise(otherwise)


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


def _gate_columns(gate: Gate) -> tuple[str, ...]:
    if isinstance(gate, ScopeGate):
        return (gate.column,)
    return gate.columns if isinstance(gate, (NotNullGate, UniqueGate)) else ()


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
