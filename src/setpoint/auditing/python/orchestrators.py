"""Airflow DAGs and operators, Dagster assets, Prefect flows: tasks, retries, schedules, order."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import Dag, Effect, How, Spot, Write
from setpoint.auditing.python.databases import dialect_of, looks_like_sql, run_text
from setpoint.auditing.python.effects import is_alert_name
from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.tape import Tape
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.grains import grain_of_path

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

_SQL_FIELDS = ("sql", "query", "hql", "bql", "sql_query", "queries", "statement")
_LOGICAL_TEMPLATE = re.compile(
    r"\{\{[^}]*\b(?:ds|ds_nodash|ts|ts_nodash|execution_date|logical_date|data_interval\w*"
    r"|next_ds|prev_ds|yesterday_ds|tomorrow_ds|macros|prev_\w+|next_\w+|dag_run)\b"
)
_NO_TRANSACTION = frozenset(
    {"bigquery", "spark", "snowflake", "hive", "trino", "databricks", "duckdb", "clickhouse"}
)
_CRON_PRESETS = {
    "@hourly": "hour",
    "@daily": "day",
    "@weekly": "week",
    "@monthly": "month",
    "@yearly": "month",
    "@annually": "month",
    "@continuous": "minute",
    "@midnight": "day",
}


@dataclass
class DagState:
    """A DAG while it is being read."""

    name: str
    spot: Spot
    grain: str = ""
    scheduled: bool = False
    catchup: bool | None = None
    catchup_spot: Spot | None = None
    moving_start: Spot | None = None
    retries: int = 0
    retries_spot: Spot | None = None
    edges: list[tuple[str, str]] = field(default_factory=list)

    def dag(self) -> Dag:
        """The finished DAG."""
        return Dag(
            name=self.name,
            spot=self.spot,
            grain=self.grain,
            scheduled=self.scheduled,
            catchup=self.catchup,
            catchup_spot=self.catchup_spot,
            moving_start=self.moving_start,
            edges=tuple(dict.fromkeys(self.edges)),
        )


def on_call(walker: Walker, call: Call) -> Value | None:
    """An operator, a DAG, a chain of tasks."""
    last = call.dotted.rsplit(".", 1)[-1]
    if last == "DAG":
        return new_dag(walker, call.node, call.args, call.keywords, "")
    if "task_id" in call.keywords and (last[:1].isupper() or call.receiver.kind == "operator"):
        return _operator(walker, call, last)
    if last in {"chain", "cross_downstream"}:
        _chain(walker, call.args)
        return UNKNOWN
    if call.method in {"set_downstream", "set_upstream"} and call.args:
        pair = (call.receiver, call.args[0])
        edge(walker, *(pair if call.method == "set_downstream" else pair[::-1]))
        return UNKNOWN
    if call.method in {"partial", "override", "expand"}:
        return _configured(walker, call)
    return None


def _configured(walker: Walker, call: Call) -> Value | None:
    if call.method == "partial" and "task_id" in call.keywords:
        return _operator(
            walker, call, call.dotted.split(".")[-2] if "." in call.dotted else "Operator"
        )
    return call.receiver if call.receiver.kind == "task" else None


# DAGs


def grain_of_schedule(value: Value) -> tuple[str, bool]:
    """How far apart runs lie, and whether there is a schedule at all."""
    text = value.text
    if text is None:
        seconds = value.fields.get("seconds")
        if seconds is not None and seconds.text is not None:
            return _grain_of_seconds(float(seconds.text)), True
        return "", value != UNKNOWN
    plain = text.strip()
    if plain in {"None", "@once", ""}:
        return "", False
    if plain in _CRON_PRESETS:
        return _CRON_PRESETS[plain], True
    return _grain_of_cron(plain), True


def _grain_of_cron(cron: str) -> str:
    parts = cron.split()
    if len(parts) < 5:  # noqa: PLR2004 - minute, hour, day, month, weekday
        return ""
    minute, hour = parts[0], parts[1]
    if minute == "*" or "/" in minute or "," in minute:
        return "minute"
    if hour == "*" or "/" in hour or "," in hour or "-" in hour:
        return "hour"
    return "day" if parts[2] == "*" else "month"


def _grain_of_seconds(seconds: float) -> str:
    for limit, name in ((3600, "minute"), (86400, "hour"), (7 * 86400, "day")):
        if seconds < limit:
            return name
    return "week"


_SECONDS = {"days": 86400, "seconds": 1, "minutes": 60, "hours": 3600, "weeks": 604800}


def timedelta(call: Call) -> Value:
    """A `timedelta(…)` as its length."""
    parts = [(_SECONDS.get(name, 0), value) for name, value in call.keywords.items()]
    parts += [(86400, value) for value in call.args[:1]]
    seconds = sum(size * _number(value) for size, value in parts)
    if seconds <= 0:
        return Value(marks=call.marks)
    return Value(fields={"seconds": Value(text=str(seconds))}, marks=call.marks)


def _number(value: Value) -> float:
    return float(value.text) if value.kind == "number" and value.text is not None else 0.0


def new_dag(
    walker: Walker,
    node: ast.expr,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    otherwise: str,
) -> Value:
    """A DAG by its settings."""
    name = keywords.get("dag_id", args[0] if args else UNKNOWN).text or otherwise or "dag"
    spot = walker.module.spot(node)
    state = DagState(name=name, spot=spot)
    schedule = next(
        (
            keywords[word]
            for word in ("schedule", "schedule_interval", "timetable")
            if word in keywords
        ),
        UNKNOWN,
    )
    state.grain, state.scheduled = grain_of_schedule(schedule)
    defaults = keywords.get("default_args", UNKNOWN)
    catchup = keywords.get("catchup", defaults.fields.get("catchup", UNKNOWN))
    if catchup.text in {"True", "False"}:
        state.catchup = catchup.text == "True"
        state.catchup_spot = _keyword_spot(walker, node, "catchup") or spot
    start = keywords.get("start_date", defaults.fields.get("start_date", UNKNOWN))
    clock = next((mark for mark in start.all_marks() if mark.kind == "clock"), None)
    if clock is not None:
        state.moving_start = clock.spot
    retries = defaults.fields.get("retries", UNKNOWN)
    state.retries = count(retries)
    state.retries_spot = _default_spot(walker, node, "retries")
    walker.dag_state[name] = state
    return Value(kind="dag", name=name)


def count(value: Value) -> int:
    """A number that the code states, else 0."""
    return int(value.text) if value.text is not None and value.text.isdigit() else 0


def _keyword_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    for word in node.keywords if isinstance(node, ast.Call) else ():
        if word.arg == name:
            return walker.module.spot(word.value)
    return None


def _default_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    """Where `default_args` says a setting: the dict's own entry, wherever it stands."""
    for word in node.keywords if isinstance(node, ast.Call) else ():
        if word.arg == "default_args":
            found = _entry_spot(walker, word.value, name)
            if found is not None:
                return found
            if isinstance(word.value, ast.Name):
                return _entry_of_name(walker, word.value.id, name)
    return None


def _entry_of_name(walker: Walker, variable: str, name: str) -> Spot | None:
    for one in ast.walk(walker.module.tree):
        if isinstance(one, (ast.Assign, ast.AnnAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if (
                any(isinstance(target, ast.Name) and target.id == variable for target in targets)
                and one.value
            ):
                return _entry_spot(walker, one.value, name)
    return None


def _entry_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    if isinstance(node, ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant) and key.value == name:
                return walker.module.spot(key)
    if isinstance(node, ast.Call):
        return _keyword_spot(walker, node, name)
    return None


# Tasks


def _state(walker: Walker, keywords: dict[str, Value]) -> DagState | None:
    dag = keywords.get("dag", walker.current_dag or UNKNOWN)
    name = dag.name if dag.kind == "dag" else ""
    if not name and len(walker.dag_state) == 1:
        name = next(iter(walker.dag_state))
    return walker.dag_state.get(name)


def new_tape(
    walker: Walker, name: str, kind: str, node: ast.expr | ast.stmt, keywords: dict[str, Value]
) -> Tape:
    """The tape of a task, with the retries that apply to it."""
    state = _state(walker, keywords) if kind.startswith("airflow") else None
    spot = walker.module.spot(node)
    own = keywords.get("retries")
    tape = Tape(
        name=f"{state.name}.{name}" if state is not None else name,
        kind=kind,
        line=spot.line,
        end_line=spot.end_line,
        task=name,
        dag=state.name if state is not None else "",
    )
    if own is not None:
        tape.retries = count(own)
        tape.retries_spot = (
            _keyword_spot(walker, node, "retries") if isinstance(node, ast.expr) else spot
        )
    elif state is not None:
        tape.retries, tape.retries_spot = state.retries, state.retries_spot or state.spot
    rule = keywords.get("trigger_rule", UNKNOWN)
    shown = (rule.text or rule.name or "").lower()
    tape.alert = "failed" in shown or is_alert_name(name)
    return tape


def _operator(walker: Walker, call: Call, operator: str) -> Value:
    task = (
        call.keywords["task_id"].text or ast.unparse(call.node_of(99, "task_id") or call.node)[:60]
    )
    tape = new_tape(walker, task, "airflow-task", call.node, call.keywords)
    tape.logical_date = _uses_templates(call)
    with walker.recording(tape):
        _sql_of_operator(walker, call, operator)
        _callable_of_operator(walker, call)
        _write_of_operator(walker, call, operator)
        _effect_of_operator(walker, call, operator, tape)
        _clocks_of_operator(walker, call)
    return Value(kind="task", name=task)


_PLACES = frozenset(
    [
        "filename",
        "key",
        "s3_key",
        "dest_key",
        "destination",
        "object",
        "path",
        "table",
        "prefix",
        "bucket",
        "blob",
        "file",
        "dst",
        "destination_table",
        "name",
    ]
)
_NOT_DATA = frozenset(
    {"start_date", "end_date", "python_callable", "default_args", "execution_date"}
)


def _clocks_of_operator(walker: Walker, call: Call) -> None:
    """A clock in an operator's settings is read when the DAG's file is, not for the run."""
    for name, value in call.keywords.items():
        if name in _NOT_DATA or name in _SQL_FIELDS:
            continue
        role = "path" if naming.words(name) & _PLACES else "request"
        marks = [mark for mark in value.all_marks() if mark.kind == "clock"]
        walker.tape.draw(marks, role)


def _uses_templates(call: Call) -> bool:
    return _LOGICAL_TEMPLATE.search(ast.unparse(call.node)) is not None


def _sql_of_operator(walker: Walker, call: Call, operator: str) -> None:
    # Hooks of SQL databases run one call in one transaction; only some operators' engines cannot.
    autocommit = call.keywords.get("autocommit", UNKNOWN).text
    engine = dialect_of(operator)
    together = autocommit == "False" or (autocommit != "True" and engine not in _NO_TRANSACTION)
    dialect = engine or dialect_of(call.keywords.get("conn_id", UNKNOWN).text or "")
    transaction = walker.new_transaction() if together else 0
    values: list[Value] = [call.keywords[name] for name in _SQL_FIELDS if name in call.keywords]
    configuration = call.keywords.get("configuration", UNKNOWN)
    query = configuration.fields.get("query", UNKNOWN)
    if "query" in query.fields:
        values.append(query.fields["query"])
        dialect = "bigquery"
    for value in values:
        for one in value.items if value.items is not None else (value,):
            if one.text is None:
                continue
            if one.text.strip().endswith((".sql", ".hql")):
                walker.tape.callable = one.text.strip()
            elif looks_like_sql(one.text.strip()):
                run_text(
                    walker,
                    one,
                    UNKNOWN,
                    line=call.spot.line,
                    dialect=dialect,
                    transaction=transaction,
                )


def _callable_of_operator(walker: Walker, call: Call) -> None:
    node = call.node_of(99, "python_callable")
    function = walker.module.functions.get(node.id) if isinstance(node, ast.Name) else None
    if function is None:
        return
    walker.inlined.add(function.name)
    names = walker.names_for(function)
    given = call.keywords.get("op_kwargs", UNKNOWN).fields
    for name, value in given.items():
        names[name] = value
        if value.text and _LOGICAL_TEMPLATE.search(value.text):
            walker.tape.logical_date = True
    positional = call.keywords.get("op_args", UNKNOWN).items or ()
    for parameter, value in zip(function.args.args, positional, strict=False):
        names[parameter.arg] = value
    walker.tape.line = min(walker.tape.line, call.spot.line)
    walker.run_function(function, names)


_APPENDING = {
    "GCSToBigQueryOperator": (
        "write_disposition",
        "WRITE_EMPTY",
        "destination_project_dataset_table",
    ),
    "GoogleCloudStorageToBigQueryOperator": (
        "write_disposition",
        "WRITE_EMPTY",
        "destination_project_dataset_table",
    ),
    "BigQueryOperator": ("write_disposition", "WRITE_EMPTY", "destination_dataset_table"),
    "BigQueryExecuteQueryOperator": (
        "write_disposition",
        "WRITE_EMPTY",
        "destination_dataset_table",
    ),
    "BigQueryToBigQueryOperator": (
        "write_disposition",
        "WRITE_EMPTY",
        "destination_project_dataset_table",
    ),
    "S3ToRedshiftOperator": ("method", "APPEND", "table"),
    "S3ToRedshiftTransfer": ("method", "APPEND", "table"),
    "RedshiftToS3Operator": ("", "", ""),
    "GenericTransfer": ("", "APPEND", "destination_table"),
    "LoadFileOperator": ("if_exists", "replace", "output_table"),
}


def _write_of_operator(walker: Walker, call: Call, operator: str) -> None:
    known = _APPENDING.get(operator)
    configuration = call.keywords.get("configuration", UNKNOWN)
    for job in ("query", "load", "copy"):
        part = configuration.fields.get(job, UNKNOWN)
        if "APPEND" in (part.fields.get("writeDisposition", UNKNOWN).text or "").upper():
            _append(
                walker,
                call,
                part.fields.get("destinationTable", UNKNOWN).fields.get("tableId", UNKNOWN),
            )
    if known is None:
        return
    setting, default, target = known
    mode = call.keywords.get(setting, UNKNOWN)
    text = (mode.text or mode.name or (default if mode == UNKNOWN else "")).upper()
    if "preoperator" in call.keywords or (
        operator == "S3ToRedshiftOperator"
        and call.keywords.get("truncate_table", UNKNOWN).text == "True"
    ):
        return
    if "APPEND" in text:
        _append(walker, call, call.keywords.get(target, UNKNOWN))
    elif "TRUNCATE" in text:
        table = table_text(walker, call.keywords.get(target, UNKNOWN))
        walker.record(
            Write(
                how=How.OVERWRITE,
                table=table,
                spot=call.spot,
                language="warehouse",
                rows="files",
                grain=grain_of_path(table),
                exact=call.method,
            )
        )


def _append(walker: Walker, call: Call, target: Value) -> None:
    walker.record(
        Write(
            how=How.APPEND,
            table=table_text(walker, target),
            spot=call.spot,
            language="warehouse",
            rows="files",
            exact=call.method,
        )
    )


def _effect_of_operator(walker: Walker, call: Call, operator: str, tape: Tape) -> None:
    kind = ""
    if "Email" in operator:
        kind = "mail"
    elif operator.startswith(("Slack", "Telegram", "Discord", "MSTeams", "MicrosoftTeams")):
        kind = "chat"
    elif operator in {"SimpleHttpOperator", "HttpOperator"}:
        method = call.keywords.get("method", UNKNOWN).text or "POST"
        endpoint = call.keywords.get("endpoint", UNKNOWN).text or ""
        kind = (
            "post"
            if method == "POST" and not re.search(r"search|query|token|auth", endpoint)
            else ""
        )
    elif operator in {
        "SnsPublishOperator",
        "SqsPublishOperator",
        "PubSubPublishMessageOperator",
        "ProduceToTopicOperator",
    }:
        kind = "publish"
    if kind:
        guard = "an alert of a failure" if tape.alert else ""
        walker.tape.effects.append(Effect(kind=kind, spot=call.spot, text=operator, guard=guard))


# Order


def combined(walker: Walker, node: ast.BinOp, left: Value, right: Value) -> Value | None:
    """`a >> b` and `a << b`."""
    if not isinstance(node.op, (ast.RShift, ast.LShift)):
        return None
    pair = (left, right) if isinstance(node.op, ast.RShift) else (right, left)
    edge(walker, *pair)
    return right


def tasks(value: Value) -> list[str]:
    """The tasks that a value stands for."""
    if value.kind == "task":
        return [value.name]
    return [name for one in value.items or () for name in tasks(one)]


def edge(walker: Walker, one: Value, other: Value) -> None:
    """`one` is done before `other` starts."""
    state = _state(walker, {})
    if state is None:
        state = next(iter(walker.dag_state.values()), None)
    if state is None:
        return
    for left in tasks(one):
        for right in tasks(other):
            state.edges.append((left, right))


def _chain(walker: Walker, values: tuple[Value, ...]) -> None:
    for left, right in pairwise(values):
        edge(walker, left, right)


def finished(walker: Walker) -> None:
    """Hand over the DAGs that were read."""
    walker.dags.extend(state.dag() for state in walker.dag_state.values())
