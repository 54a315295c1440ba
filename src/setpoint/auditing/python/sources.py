"""Calls and reads that give a different value on each run."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from setpoint.auditing.python.values import Mark

if TYPE_CHECKING:
    from setpoint.auditing.python.modules import Module

_CLOCKS = frozenset(
    [
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "pendulum.now",
        "pendulum.today",
        "pendulum.yesterday",
        "pendulum.tomorrow",
        "arrow.now",
        "arrow.utcnow",
        "pandas.Timestamp.now",
        "pandas.Timestamp.today",
        "pandas.Timestamp.utcnow",
        "Timestamp.now",
        "Timestamp.today",
        "airflow.utils.dates.days_ago",
        "days_ago",
        "airflow.utils.timezone.utcnow",
        "django.utils.timezone.now",
        "timezone.utcnow",
        "timezone.now",
        "time.time",
        "time.time_ns",
        "time.localtime",
        "time.gmtime",
        "time.ctime",
        "datetime.datetime.now.date",
        "dt.datetime.now",
        "dt.date.today",
        "whenever.Instant.now",
        "pendulum.DateTime.now",
        "pendulum.datetime.now",
    ]
)
_CLOCK_ENDINGS = (
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "Timestamp.now",
    "Timestamp.today",
    "Timestamp.utcnow",
    "dates.days_ago",
    "pendulum.now",
)
_SPARK_CLOCKS = frozenset(
    ["current_date", "current_timestamp", "now", "localtimestamp", "curdate", "unix_timestamp"]
)
_SPARK_DRAWS = _SPARK_CLOCKS | {
    "rand", "randn", "random", "uuid", "monotonically_increasing_id", "monotonicallyIncreasingId",
    "next_value", "row_number", "dense_rank",
}  # fmt: skip
_SOMETIMES_CLOCKS = frozenset(
    {"time.strftime", "strftime", "pandas.to_datetime", "pandas.Timestamp", "numpy.datetime64"}
)
"""Clocks when called with certain arguments."""
_RANDOM_ROOTS = ("random.", "numpy.random.", "secrets.")
_HARMLESS_RANDOM = frozenset(
    [
        "seed",
        "Random",
        "SystemRandom",
        "default_rng",
        "RandomState",
        "getstate",
        "setstate",
        "get_state",
        "set_state",
        "Generator",
    ]
)
_UUIDS = frozenset({"uuid.uuid4", "uuid.uuid1", "uuid4", "uuid1"})
_ENVIRONMENT = frozenset(
    {"os.environ.get", "os.getenv", "os.environ", "environ.get", "getenv", "decouple.config"}
)
LOGICAL = re.compile(
    r"^(?:ds|ds_nodash|ts|ts_nodash|next_ds|prev_ds|yesterday_ds|tomorrow_ds|execution_date"
    r"|logical_date|data_interval_start"
    r"|data_interval_end|next_execution_date|prev_execution_date|partition_key"
    r"|partition_time_window|partition_key_range"
    r"|partition_keys|run_logical_date|scheduled_start_time|expected_start_time"
    r"|scheduled_execution_time|asset_partition_key_for_output"
    r"|prev_data_interval_end_success|partition_date_str|get_current_context|dag_run)$"
)
_DATE_WORD = re.compile(r"now|today", re.IGNORECASE)


def mark_of_call(node: ast.Call, dotted: str, module: Module, *, seeded: bool) -> Mark | None:
    """The hidden input that a call draws, or None."""
    if not dotted or not _may_draw(dotted):
        return None
    last = dotted.rsplit(".", 1)[-1]
    if _is_clock(node, dotted):
        return Mark("clock", module.spot(node), _call_text(dotted))
    spark = _spark_mark(node, dotted, last, module)
    if spark:
        return Mark(spark, module.spot(node), f"{last}()", "spark")
    if dotted in _UUIDS:
        return Mark("uuid", module.spot(node), f"{last}()")
    if dotted.startswith(_RANDOM_ROOTS) and not seeded and last not in _HARMLESS_RANDOM:
        return Mark("random", module.spot(node), _call_text(dotted))
    if dotted in _ENVIRONMENT:
        return Mark("env", module.spot(node), _call_text(dotted), name=_first_text(node))
    return None


@lru_cache(maxsize=4096)
def _may_draw(dotted: str) -> bool:
    """Whether a call of this name can draw anything; the same few are called over and over."""
    last = dotted.rsplit(".", 1)[-1]
    return (
        dotted in _CLOCKS | _SOMETIMES_CLOCKS | _UUIDS | _ENVIRONMENT
        or dotted.endswith(_CLOCK_ENDINGS)
        or dotted.startswith(_RANDOM_ROOTS)
        or last in _SPARK_DRAWS
    )


def _is_clock(node: ast.Call, dotted: str) -> bool:
    if dotted in _CLOCKS or dotted.endswith(_CLOCK_ENDINGS):
        return True
    if dotted in {"time.strftime", "strftime"}:
        return len(node.args) == 1
    if dotted in {"pandas.to_datetime", "pandas.Timestamp", "numpy.datetime64"} and node.args:
        first = node.args[0]
        return (
            isinstance(first, ast.Constant)
            and isinstance(first.value, str)
            and _DATE_WORD.fullmatch(first.value) is not None
        )
    return False


def _spark_mark(node: ast.Call, dotted: str, last: str, module: Module) -> str:
    functions = dotted.startswith(("pyspark.sql.functions.", "snowflake.snowpark.functions.")) or (
        "." not in dotted and module.imported("pyspark", "snowflake.snowpark")
    )
    if not functions and not dotted.startswith(
        ("F.", "f.", "fn.", "sf.", "func.", "psf.", "sqlalchemy.func.")
    ):
        return ""
    if last in _SPARK_CLOCKS:
        return "" if last == "unix_timestamp" and node.args else "clock"
    if last in {"rand", "randn", "random"}:
        return "" if node.args or node.keywords else "random"
    if last == "uuid":
        return "uuid"
    if last in {"monotonically_increasing_id", "monotonicallyIncreasingId", "next_value"}:
        return "sequence"
    if last in {"row_number", "dense_rank"}:
        return "row-number"
    return ""


def mark_of_subscript(node: ast.Subscript, module: Module) -> Mark | None:
    """`os.environ["X"]`."""
    if module.dotted(node.value) in {"os.environ", "environ"}:
        key = node.slice
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        return Mark("env", module.spot(node), "os.environ", name=name)
    return None


def _call_text(dotted: str) -> str:
    return ".".join(dotted.split(".")[-2:]) + "()"


def _first_text(node: ast.Call) -> str:
    if node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        return node.args[0].value
    return ""
