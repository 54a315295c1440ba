"""SQL that Python runs, with what was pasted or bound into it."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing.facts import How, Write
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.texts import run_text
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.reading import WRITES

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

_RUNS = frozenset(
    [
        "execute",
        "executemany",
        "execute_many",
        "executescript",
        "execute_batch",
        "execute_values",
        "execute_sql",
        "run_query",
        "run_sql",
        "exec_driver_sql",
        "sql",
        "query",
        "run",
        "execute_query",
        "execute_async",
        "query_and_wait",
        "exec_sql",
        "run_sql_query",
        "execute_statement",
        "executeQuery",
        "mogrify",
        "copy_expert",
        "execute_command",
        "fetch",
        "fetchrow",
        "fetchval",
        "execute_string",
        "raw_sql",
        "exec",
        "insert_rows_sql",
        "runQuery",
        "run_statement",
        "do_query",
        "sql_query",
        "start_query_execution",
        "command",
    ]
)
_READS = frozenset(
    [
        "read_sql",
        "read_sql_query",
        "get_records",
        "get_pandas_df",
        "get_first",
        "read_sql_table",
        "get_df",
        "fetch_pandas_all",
        "read_gbq",
    ]
)
_MANY = frozenset({"executemany", "execute_many", "execute_batch", "execute_values"})
_QUIET = frozenset(
    [
        "print",
        "info",
        "debug",
        "warning",
        "error",
        "exception",
        "log",
        "format",
        "append",
        "len",
        "isinstance",
    ]
)
_PROSE = frozenset(
    {"comment", "description", "doc", "doc_md", "help", "label", "message", "summary", "title"}
)
"""Arguments that people read: a sentence may begin with `Truncate` too."""
_SQL = re.compile(
    r"^(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:insert|merge|update|delete|truncate|replace|create|drop|with|select|begin|start|"
    r"set|use|declare|call|if|alter|unload|load\s+(?:data\b.*\binto|table)"
    r"|copy\b(?!\s+grants\b).*\b(?:from|to|into))\b",
    re.IGNORECASE | re.DOTALL,
)
_AUTOCOMMIT = re.compile(
    r"snowflake|duckdb|bigquery|clickhouse|trino|presto|hive|impala|athena|databricks|spark"
    r"|druid|cassandra|redshift_connector_auto",
    re.IGNORECASE,
)
_DIALECTS = (
    ("bigquery", "bigquery"),
    ("bq", "bigquery"),
    ("snowflake", "snowflake"),
    ("postgres", "postgres"),
    ("psycopg", "postgres"),
    ("redshift", "redshift"),
    ("mysql", "mysql"),
    ("mssql", "tsql"),
    ("pyodbc", "tsql"),
    ("spark", "spark"),
    ("databricks", "databricks"),
    ("hive", "hive"),
    ("trino", "trino"),
    ("athena", "trino"),
    ("duckdb", "duckdb"),
    ("sqlite", "sqlite"),
    ("oracle", "oracle"),
    ("clickhouse", "clickhouse"),
)


def looks_like_sql(text: str) -> bool:
    """Whether a text starts as a statement of SQL."""
    return len(text) > 10 and _SQL.match(text[:4000]) is not None and " " in text.strip()  # noqa: PLR2004


def dialect_of(*names: str) -> str:
    """The dialect that a hook's, operator's or library's name tells."""
    for name in names:
        plain = name.lower()
        for word, dialect in _DIALECTS:
            if word in plain:
                return dialect
    return ""


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call that runs SQL, opens a connection or ends a transaction."""
    if call.method in {"commit", "rollback"} and not call.args:
        walker.committed()
        walker.transaction = 0
        return UNKNOWN
    if call.method == "begin" and not call.args:
        # Also met inside `with …:`, which puts the old state back at its end.
        walker.transaction = walker.new_transaction()
        return Value(kind="connection", name=call.receiver.name)
    if call.method == "autocommit" and call.args and call.args[0].text == "False":
        walker.manual = True
        return UNKNOWN
    if call.method == "set_session" and call.keywords.get("autocommit", UNKNOWN).text == "True":
        walker.implicit = 0
        return UNKNOWN
    opened = _opened(walker, call)
    if opened is not None:
        return opened
    if call.method in _RUNS or call.method in _READS:
        if _follow_transaction(walker, call.argument(0, "sql", "query").text or ""):
            return UNKNOWN
        return _run(walker, call)
    return _passed_on(walker, call)


_BEGIN = re.compile(
    r"(?i)^\s*(?:begin(?:\s+(?:tran|transaction|work))?"
    r"|start\s+transaction)\s*;?\s*$"
)
_END = re.compile(r"(?i)^\s*(?:commit|rollback|end)(?:\s+\w+)?\s*;?\s*$")


def _follow_transaction(walker: Walker, text: str) -> bool:
    """A transaction that is opened and closed by statements of its own."""
    if _BEGIN.match(text):
        walker.transaction = walker.new_transaction()
        return True
    if _END.match(text):
        walker.transaction = 0
        walker.committed()
        return True
    return False


def _opened(walker: Walker, call: Call) -> Value | None:
    if call.method in {"connect", "create_engine", "get_conn", "raw_connection", "connection"}:
        if call.keywords.get("autocommit", UNKNOWN).text == "True":
            walker.implicit = 0
        elif call.keywords.get("autocommit", UNKNOWN).text == "False":
            walker.manual = True
        isolation = call.keywords.get("isolation_level", UNKNOWN).text or ""
        if isolation.upper() == "AUTOCOMMIT" or isolation == "None":
            walker.implicit = 0
        name = call.dotted or call.receiver.name
        flags = (
            {"autocommit"}
            if _AUTOCOMMIT.search(name) or "autocommit" in call.receiver.flags
            else set()
        )
        kind = "engine" if call.method == "create_engine" else "connection"
        return Value(kind=kind, name=name, flags=frozenset(flags))
    if call.method == "cursor":
        return replace(call.receiver, kind="cursor")
    last = call.dotted.rsplit(".", 1)[-1]
    if last.endswith("Hook"):
        return Value(kind="hook", name=last)
    if call.dotted.startswith("google.cloud.bigquery") and last == "Client":
        return Value(kind="connection", name="bigquery", flags=frozenset({"autocommit"}))
    return None


def _run(walker: Walker, call: Call) -> Value | None:
    if call.args and call.args[0].kind == "orm-insert":
        return _run_insert(walker, call)
    text = _sql_argument(call)
    if text is None:
        return None
    many = call.method in _MANY
    place = 2 if call.method in {"execute_batch", "execute_values"} else 1
    params = call.argument(
        place, "params", "parameters", "argslist", "seq_of_parameters", "vars", "args"
    )
    dialect = dialect_of(call.receiver.name, call.receiver_text, call.dotted)
    if not dialect and call.method == "sql" and walker.module.imported("pyspark"):
        dialect = "spark"
    transaction = walker.transaction
    if not transaction and (walker.manual or not _autocommits(call, dialect)):
        transaction = walker.new_transaction() if call.receiver.kind == "hook" else walker.implicit
    frame = Value(kind="frame" if call.method in {"sql", *_READS} else "cursor")
    for one in text.items if text.items is not None else (text,):
        if one.text is not None and looks_like_sql(one.text):
            shaped = run_text(
                walker,
                one,
                params,
                line=call.spot.line,
                dialect=dialect,
                transaction=transaction,
                many=many,
            )
            frame = replace(frame, pending=frame.pending | shaped)
    walker.tape.extracts = walker.tape.extracts or frame.kind == "frame"
    receiver = call.node.func.value if isinstance(call.node.func, ast.Attribute) else None
    if frame.pending and isinstance(receiver, ast.Name) and frame.kind == "cursor":
        # What the cursor fetches afterwards is what this statement selected.
        known = call.names.get(receiver.id, UNKNOWN)
        call.names[receiver.id] = replace(known, pending=frame.pending)
    return frame


def _run_insert(walker: Walker, call: Call) -> Value:
    """A connection that executes an insert built by SQLAlchemy."""
    walker.record(
        Write(
            how=How.APPEND,
            table=call.args[0].name.lower(),
            spot=call.spot,
            rows="parameters",
            language="database",
            transaction=walker.transaction or walker.implicit,
        ),
        *call.args,
    )
    return UNKNOWN


def _sql_argument(call: Call) -> Value | None:
    for place, names in (
        (0, ("sql", "query", "statement", "operation", "QueryString")),
        (1, ("sql", "query")),
    ):
        value = call.argument(place, *names)
        if value.text is not None and looks_like_sql(value.text):
            return value
        if value.items and any(one.text and looks_like_sql(one.text) for one in value.items):
            return value
    return None


def _autocommits(call: Call, dialect: str) -> bool:
    if (
        "autocommit" in call.receiver.flags
        or call.keywords.get("autocommit", UNKNOWN).text == "True"
    ):
        return True
    if call.receiver.kind == "engine":
        return True
    return dialect in {
        "bigquery",
        "spark",
        "snowflake",
        "databricks",
        "hive",
        "trino",
        "duckdb",
        "clickhouse",
    } and (call.receiver.kind != "hook")


def _passed_on(walker: Walker, call: Call) -> Value | None:
    """A text that plainly writes, handed to a call we do not know: it is taken to run it."""
    if not any(value.text for value in (*call.args, *call.keywords.values())):
        return None
    if call.method in _QUIET or call.dotted.startswith(("logging.", "logger.", "log.")):
        return None
    if call.method.endswith(("Error", "Exception", "Warning")):
        return None
    function = walker._own_function(call)  # noqa: SLF001 - one reader in two files
    if function is not None:
        return None
    given = [value for name, value in call.keywords.items() if name not in _PROSE]
    for value in (*call.args, *given):
        if value.text and WRITES.search(value.text[:3000]) and looks_like_sql(value.text):
            run_text(
                walker,
                value,
                UNKNOWN,
                line=call.spot.line,
                dialect=dialect_of(call.dotted),
                transaction=walker.transaction,
            )
    return None


def opens_transaction(walker: Walker, node: ast.expr, value: Value) -> bool:
    """Whether `with …:` commits what stands in it together."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in {"begin", "transaction", "atomic", "begin_nested"}
    if isinstance(node, ast.Call):
        return walker.module.dotted(node.func).endswith("atomic")
    return (
        isinstance(node, (ast.Name, ast.Attribute))
        and (
            value.kind == "connection"
            or bool(re.search(r"\bconn(?:ection)?\b|\bdb\b", spelled(node)))
        )
        and "autocommit" not in value.flags
    )
