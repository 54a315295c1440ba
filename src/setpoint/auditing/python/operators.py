"""Airflow's operators: the SQL, callable, load or message that each one is."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import Effect, How, Write
from setpoint.auditing.python.databases import dialect_of, looks_like_sql
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.orchestrators import chain, edge, new_dag, new_tape
from setpoint.auditing.python.texts import run_text
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.grains import grain_of_path

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.tape import Tape
    from setpoint.auditing.python.walking import Walker

_SQL_FIELDS = ("sql", "query", "hql", "bql", "sql_query", "queries", "statement")
_LOGICAL_TEMPLATE = re.compile(
    r"\{\{[^}]*\b(?:ds|ds_nodash|ts|ts_nodash|execution_date|logical_date|data_interval\w*"
    r"|next_ds|prev_ds|yesterday_ds|tomorrow_ds|macros|prev_\w+|next_\w+|dag_run)\b"
)
_NO_TRANSACTION = frozenset(
    {"bigquery", "spark", "snowflake", "hive", "trino", "databricks", "duckdb", "clickhouse"}
)


def read_operator(walker: Walker, call: Call, operator: str) -> Value:
    """A task that an operator makes: what it runs, writes and sends."""
    task = call.keywords["task_id"].text or spelled(call.node_of(99, "task_id") or call.node)[:60]
    tape = new_tape(walker, task, "airflow-task", call.node, call.keywords)
    tape.logical_date = _uses_templates(call)
    with walker.recording(tape):
        _sql_of_operator(walker, call, operator)
        _callable_of_operator(walker, call)
        _write_of_operator(walker, call, operator)
        _effect_of_operator(walker, call, operator, tape)
        _clocks_of_operator(walker, call)
        if not (tape.writes or tape.effects or tape.reads or tape.callable):
            tape.opaque = tape.opaque or _out_of_view(walker, call, operator)
    return Value(kind="task", name=task)


_QUIET_OPERATORS = re.compile(
    r"Empty|Dummy|Sensor|Branch|ShortCircuit|LatestOnly|TriggerDagRun|TaskGroup|SubDag|Check"
    r"|Label|Marker|Delete|CreateEmpty|CreateCluster|TerminateJobFlow"
)
_QUIET_COMMAND = re.compile(
    r"\s*(?:(?:echo|sleep|exit|date|true|false|ls|pwd|printf|cat|env|set|whoami|hostname|test|wc"
    r"|head|tail|sort|uniq)\b[^<>;&|\n]*|\[[^]]*\]|#[^\n]*)?"
)


def _out_of_view(walker: Walker, call: Call, operator: str) -> str:
    """What the task runs that this file does not show; empty when it runs nothing of weight."""
    named = call.node_of(99, "python_callable")
    if named is not None:
        shown = isinstance(named, ast.Lambda) or (
            isinstance(named, ast.Name) and named.id in walker.module.functions
        )
        return "" if shown else f"the function {spelled(named)[:60]}"
    if _QUIET_OPERATORS.search(operator):
        return ""
    command = call.keywords.get("bash_command", UNKNOWN).text
    if command is not None:
        parts = re.split(r"&&|\|\||[;|\n]", command)
        quiet = all(_QUIET_COMMAND.fullmatch(part) for part in parts)
        return "" if quiet else "a command of the shell"
    return f"what {operator} starts"


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
    return _LOGICAL_TEMPLATE.search(spelled(call.node)) is not None


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


def on_call(walker: Walker, call: Call) -> Value | None:
    """An operator, a DAG, a chain of tasks."""
    last = call.dotted.rsplit(".", 1)[-1]
    if last == "DAG":
        return new_dag(walker, call.node, call.args, call.keywords, "")
    if "task_id" in call.keywords and (last[:1].isupper() or call.receiver.kind == "operator"):
        return read_operator(walker, call, last)
    if last in {"chain", "cross_downstream"}:
        chain(walker, call.args)
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
        return read_operator(
            walker, call, call.dotted.split(".")[-2] if "." in call.dotted else "Operator"
        )
    return call.receiver if call.receiver.kind == "task" else None
