"""Writes by libraries: pandas, Polars, BigQuery, Snowflake, S3, Mongo, dlt, Delta and Iceberg."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Write
from setpoint.auditing.python import sqlalchemy
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.grains import grain_of_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

_READERS = re.compile(
    r"^(?:read_(?:csv|json|parquet|excel|html|xml|table|sql\w*|gbq|ndjson|ipc|database|feather"
    r"|pickle|orc|delta)|scan_\w+|DataFrame|from_records"
    r"|json_normalize|createDataFrame|concat|from_dict|toPandas|to_pandas|to_dataframe|range"
    r"|load_dataset|toDF|fetch_pandas_all|table|create_d\w+_frame_from_\w+)$"
)
_EXTRACTS = re.compile(
    r"^(?:requests|httpx|urllib|aiohttp|csv|json|openpyxl|boto3|pandas|polars|tweepy|yfinance"
    r"|ccxt|feedparser|bs4)\b"
)
_FILE_WRITES = frozenset(
    [
        "to_csv",
        "to_parquet",
        "to_json",
        "to_excel",
        "to_pickle",
        "to_feather",
        "write_csv",
        "write_parquet",
        "write_json",
        "to_orc",
        "to_html",
    ]
)


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call into a library that writes or reads data."""
    if call.receiver.kind == "orm-insert":
        upsert = call.method.startswith("on_") or call.method == "prefix_with"
        return Value(kind="orm-upsert") if upsert else call.receiver
    handler = _HANDLERS.get(call.method)
    if handler is not None:
        return handler(walker, call)
    if call.method in _FILE_WRITES:
        return _file(walker, call)
    if (
        _READERS.match(call.method)
        or call.dotted.startswith("spark.read")
        or "read" in _chain(call)
    ):
        walker.tape.extracts = True
        return _read(call)
    if _EXTRACTS.match(call.dotted):
        walker.tape.extracts = True
    return None


def _read(call: Call) -> Value:
    """A frame that is read or made: a clock in its path decides which data it holds."""
    path = call.argument(0, "path", "filepath_or_buffer", "name", "tableName", "data")
    flags = call.receiver.flags if call.receiver.kind == "frame" else path.flags & {"anti"}
    if call.method == "range":
        # Spark's own numbers, each of them once.
        flags |= {"reduced"}
    frame = Value(kind="frame", flags=flags, pending=call.pending)
    frame = _filled(frame, path)
    marks = path.marks if path.text is not None or path.kind != "dict" else frozenset()
    for word in ("filters", "columns_filter", "where", "push_down_predicate", "row_filter"):
        marks |= call.keywords.get(word, UNKNOWN).all_marks()
    return frame.shaped(marks, "request")


def _filled(frame: Value, rows: Value) -> Value:
    """The frame, with what the fields of its rows were made of."""
    for row in (rows, *(rows.items or ())):
        for name, value in row.fields.items():
            frame = frame.shaped(value.all_marks(), "column", name)
    return frame


def _chain(call: Call) -> tuple[str, ...]:
    names: list[str] = []
    node: ast.expr = call.node.func
    for _ in range(12):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            break
    return tuple(name for name in names if name in {"read", "readStream"})


def _record(
    walker: Walker,
    call: Call,
    how: How,
    target: Value,
    *,
    guard: str = "",
    language: str = "warehouse",
) -> Value:
    table = table_text(walker, target, _node_of(call, target))
    walker.tape.draw(target.all_marks(), "name", table=table)
    frame = call.receiver if call.receiver.kind == "frame" else call.argument(0)
    if "anti" in call.receiver.flags or "anti" in frame.flags:
        guard = guard or "an anti-join on the target"
    walker.record(
        Write(
            how=how,
            table=table,
            spot=call.spot,
            language=language,
            rows="frame",
            guard=guard,
            temporary=naming.is_temporary_table(table),
            exact=call.method,
            transaction=_transaction(walker, call) if language == "pandas" else 0,
        ),
        call.receiver,
        *(_filled(one, one) if one.kind == "list" else one for one in call.args),
        *call.keywords.values(),
    )
    return UNKNOWN


def _node_of(call: Call, target: Value) -> ast.expr | None:
    """The source of the argument that names the target, when it is a plain name."""
    for node, value in zip(call.node.args, call.args, strict=False):
        if value is target and isinstance(node, (ast.Name, ast.Attribute)):
            return node
    for word in call.node.keywords:
        named = isinstance(word.value, (ast.Name, ast.Attribute))
        if word.arg in _TARGETS and named:
            return word.value
    return None


_TARGETS = frozenset({"name", "destination_table", "table_name", "destination", "table"})


def _transaction(walker: Walker, call: Call) -> int:
    """`to_sql` on a connection joins its transaction; on an engine it has one of its own."""
    target = call.argument(1, "con")
    if target.kind == "engine" or "engine" in spelled(call.node_of(1, "con") or call.node.func):
        return 0
    return walker.transaction or walker.implicit


def _mode(value: Value, appends: bool, walker: Walker) -> tuple[How, str]:  # noqa: FBT001 - private
    """What `if_exists`, `mode` and their like do."""
    if value.choices and value.may_be("append"):
        return How.APPEND, "the first round replaces"
    if value.may_be("append") or (value == UNKNOWN and appends):
        return How.APPEND, ""
    if value.may_be("overwrite_partitions") or value.may_be("dynamic"):
        return How.DYNAMIC, ""
    if value.text in {
        "replace",
        "overwrite",
        "delete_rows",
        "truncate",
        "error",
        "fail",
        "upsert",
        "merge",
        "ignore",
    }:
        return (How.UPSERT if value.text in {"upsert", "merge"} else How.OVERWRITE), ""
    del walker
    return (How.APPEND, "the caller chooses the mode") if appends else (How.CREATE, "")


def _to_sql(walker: Walker, call: Call) -> Value:
    how, guard = _mode(call.argument(3, "if_exists"), False, walker)
    method = call.keywords.get("method")
    if how is How.APPEND and method is not None and method.kind not in {"text", "constant"}:
        guard = guard or "a method of its own, which may upsert"
    return _record(walker, call, how, call.argument(0, "name"), guard=guard, language="pandas")


def _to_gbq(walker: Walker, call: Call) -> Value:
    how, guard = _mode(call.keywords.get("if_exists", UNKNOWN), False, walker)
    return _record(
        walker, call, how, call.argument(0, "destination_table"), guard=guard, language="pandas"
    )


def _write_database(walker: Walker, call: Call) -> Value:
    value = call.keywords.get("if_table_exists", call.keywords.get("if_exists", UNKNOWN))
    how, guard = _mode(value, False, walker)
    return _record(walker, call, how, call.argument(0, "table_name"), guard=guard)


def _write_delta(walker: Walker, call: Call) -> Value:
    how, guard = _mode(call.keywords.get("mode", UNKNOWN), False, walker)
    return _record(walker, call, how, call.argument(0, "table_or_uri", "target"), guard=guard)


def _write_dataset(walker: Walker, call: Call) -> Value:
    """PyArrow names each call's files anew, unless a template names them, and keeps the others."""
    behaviour = call.keywords.get("existing_data_behavior", UNKNOWN)
    clears = behaviour.may_be("delete_matching") or "basename_template" in call.keywords
    how = How.OVERWRITE if clears else How.APPEND
    return _record(walker, call, how, call.argument(1, "root_path"))


def _write_pandas(walker: Walker, call: Call) -> Value:
    overwrite = call.keywords.get("overwrite", UNKNOWN)
    how = How.OVERWRITE if overwrite.may_be("True") else How.APPEND
    return _record(walker, call, how, call.argument(2, "table_name"))


def _load_table(walker: Walker, call: Call) -> Value:
    config = call.argument(3, "job_config")
    disposition = config.fields.get("write_disposition", UNKNOWN)
    name = (disposition.text or disposition.name or "").upper()
    told = config.kind == "job-config" or bool(config.fields) or "job_config" not in call.keywords
    if "APPEND" in name or ("write_disposition" not in config.fields and told):
        # BigQuery's load jobs append unless told otherwise.
        return _record(walker, call, How.APPEND, call.argument(1, "destination"))
    if name:
        return _record(walker, call, How.OVERWRITE, call.argument(1, "destination"))
    guard = "the caller chooses the disposition"
    return _record(walker, call, How.APPEND, call.argument(1, "destination"), guard=guard)


def _insert_rows(walker: Walker, call: Call) -> Value:
    guard = "row ids" if "row_ids" in call.keywords else ""
    if call.method == "insert_rows" and call.receiver.kind == "hook":
        guard = "replace=True" if call.keywords.get("replace", UNKNOWN).may_be("True") else ""
    return _record(walker, call, How.APPEND, call.argument(0, "table"), guard=guard)


def _job_config(walker: Walker, call: Call) -> Value:
    del walker
    return Value(kind="job-config", fields=call.keywords)


def _s3(walker: Walker, call: Call) -> Value | None:
    if (
        "mode" not in call.keywords
        and "wr" not in call.receiver_text
        and "awswrangler" not in call.dotted
    ):
        return _file(walker, call)
    if "awswrangler" not in call.dotted and not call.receiver_text.startswith("wr"):
        return _file(walker, call)
    dataset = call.keywords.get("dataset", UNKNOWN).may_be("True")
    how, guard = _mode(call.keywords.get("mode", UNKNOWN), dataset, walker)
    return _record(walker, call, how, call.argument(1, "table", "path"), guard=guard)


def _file(walker: Walker, call: Call) -> Value | None:
    mode = call.keywords.get("mode", UNKNOWN)
    target = call.argument(0, "path", "path_or_buf", "excel_writer", "file")
    table = table_text(walker, target)
    appends = call.method in {"to_csv", "to_json", "write_csv"} and mode.may_be("a")
    walker.tape.draw(target.all_marks(), "path", table=table)
    walker.record(
        Write(
            how=How.APPEND if appends else How.OVERWRITE,
            table=table,
            spot=call.spot,
            language="files",
            rows="frame",
            guard="the first round replaces" if appends and mode.choices else "",
            exact=call.method,
            grain="" if appends else grain_of_path(table),
        ),
        call.receiver,
    )
    return UNKNOWN


def _insert_many(walker: Walker, call: Call) -> Value:
    value = Value(text=call.receiver_text)
    return _record(walker, call, How.APPEND, value, language="mongo")


def _insert_one(walker: Walker, call: Call) -> Value:
    """One document; whether a second run repeats it, the loop and the source around it say."""
    walker.record(
        Write(
            how=How.APPEND,
            table=call.receiver_text.lower(),
            spot=call.spot,
            language="mongo",
            rows="parameters",
        ),
        *call.args,
    )
    return UNKNOWN


def _delete_many(walker: Walker, call: Call) -> Value:
    how = How.TRUNCATE if call.method == "drop" else How.DELETE
    table = call.receiver_text.lower()
    walker.record(
        Write(how=how, table=table, spot=call.spot, language="mongo", transaction=walker.implicit)
    )
    return UNKNOWN


def _iceberg(walker: Walker, call: Call) -> Value | None:
    if call.receiver.kind != "iceberg":
        return None
    how = How.APPEND if call.method == "append" else How.OVERWRITE
    return _record(walker, call, how, Value(text=call.receiver.name or call.receiver_text))


def _iceberg_table(walker: Walker, call: Call) -> Value | None:
    if not walker.module.imported("pyiceberg"):
        return None
    return Value(kind="iceberg", name=table_text(walker, call.argument(0, "identifier")))


def _copy_from(walker: Walker, call: Call) -> Value:
    return _record(walker, call, How.APPEND, call.argument(1, "table"), language="database")


_DATA_FILE = re.compile(r"(?i)\.(?:csv|json|jsonl|ndjson|parquet|avro|orc|xlsx?|gz|xml)\W*$|/$")


def _upload(walker: Walker, call: Call) -> Value | None:
    """An object that is put under a key: a clock in the key decides where it lies."""
    values = [*call.args, *call.keywords.values()]
    keys = [value for value in values if value.text is not None and "\n" not in value.text]
    clocked = [value for value in keys if value.has("clock")]
    for value in clocked:
        walker.tape.draw([mark for mark in value.marks if mark.kind == "clock"], "path")
    for value in keys:
        if value.has("uuid") and not value.has("clock") and _DATA_FILE.search(value.text or ""):
            uuids = [mark for mark in value.marks if mark.kind == "uuid"]
            walker.tape.draw(uuids, "object", table=table_text(walker, value))
    if clocked or call.method in {"put_object", "upload_file", "upload_fileobj"}:
        table = table_text(walker, clocked[0]) if clocked else ""
        walker.record(
            Write(how=How.OVERWRITE, table=table, spot=call.spot, language="files", rows="files"),
            call.receiver,
            *values,
        )
    return None


def _open(walker: Walker, call: Call) -> Value | None:
    """`open(path, "w")` of a data file."""
    path = call.argument(0, "file")
    mode = call.argument(1, "mode").text or "r"
    text = path.text or ""
    placed = path.has("clock") and _DATA_FILE.search(text) is not None
    scratch = text.startswith(("/tmp", "tmp"))  # noqa: S108 - read, never opened
    if mode[:1] in {"w", "x"} and placed and not scratch:
        walker.tape.draw(path.marks, "path", table=table_text(walker, path))
    return Value(kind="file", name=text)


def _purge(walker: Walker, call: Call) -> Value | None:
    """A folder that is emptied before it is written to."""
    target = call.argument(0, "path", "s3_path", "dir", "recurse_path")
    table = table_text(walker, target)
    if table:
        write = Write(how=How.TRUNCATE, table=table, spot=call.spot, language="files")
        walker.record(write)
    return UNKNOWN


def _dlt_run(walker: Walker, call: Call) -> Value | None:
    disposition = call.keywords.get("write_disposition")
    if disposition is None:
        return None
    if disposition.may_be("append"):
        return _record(walker, call, How.APPEND, call.keywords.get("table_name", UNKNOWN))
    return UNKNOWN


def _glue(walker: Walker, call: Call) -> Value | None:
    """Glue's sinks only ever add files or rows."""
    if call.receiver_text.endswith(("create_dynamic_frame", "create_data_frame")):
        walker.tape.extracts = True
        return _read(call)
    if not call.receiver_text.endswith("write_dynamic_frame"):
        return None
    options = call.argument(2, "connection_options", "catalog_connection").fields
    guard = "preactions that clear the scope" if "preactions" in options else ""
    target = (
        options.get("path") or options.get("dbtable") or call.keywords.get("table_name", UNKNOWN)
    )
    return _record(walker, call, How.APPEND, target, guard=guard)


_HANDLERS: dict[str, Callable[[Walker, Call], Value | None]] = {
    "to_sql": _to_sql,
    "to_gbq": _to_gbq,
    "write_database": _write_database,
    "write_delta": _write_delta,
    "write_deltalake": _write_delta,
    "write_to_dataset": _write_dataset,
    "write_pandas": _write_pandas,
    "load_table_from_dataframe": _load_table,
    "load_table_from_json": _load_table,
    "load_table_from_uri": _load_table,
    "load_table_from_file": _load_table,
    "insert_rows_json": _insert_rows,
    "insert_rows_from_dataframe": _insert_rows,
    "insert_rows": _insert_rows,
    "LoadJobConfig": _job_config,
    "QueryJobConfig": _job_config,
    "to_parquet": _s3,
    "insert_many": _insert_many,
    "insert_one": _insert_one,
    "delete_many": _delete_many,
    "append": _iceberg,
    "overwrite": _iceberg,
    "load_table": _iceberg_table,
    "create_table": _iceberg_table,
    "create_table_if_not_exists": _iceberg_table,
    "copy_from": _copy_from,
    "bulk_load": _copy_from,
    "run": _dlt_run,
    **dict.fromkeys(("purge_s3_path", "rmtree", "rm", "remove", "unlink"), _purge),
    **sqlalchemy.HANDLERS,
    **dict.fromkeys(
        (
            "put_object",
            "upload_file",
            "upload_fileobj",
            "upload_from_filename",
            "upload_from_string",
            "upload_blob",
            "load_file",
            "load_string",
            "load_bytes",
            "blob",
            "put_file",
            "upload_from_path",
        ),
        _upload,
    ),
    "open": _open,
    "from_options": _glue,
    "from_catalog": _glue,
    "from_jdbc_conf": _glue,
}
