"""Spark frames and writers: modes, formats, streams, Delta merges."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import Effect, How, Write
from setpoint.auditing.python import frames, merges
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.names import table_text, walker_names
from setpoint.auditing.python.texts import follow_peaks
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.grains import grain_of, grain_of_path

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.values import Mark, Pending
    from setpoint.auditing.python.walking import Walker

FUNCTIONS = "pyspark.sql.functions."
_BUILDERS = frozenset(
    [
        "mode",
        "option",
        "options",
        "format",
        "partitionBy",
        "bucketBy",
        "sortBy",
        "outputMode",
        "trigger",
        "queryName",
        "tableProperty",
        "using",
        "partitionedBy",
        "foreachBatch",
        "foreach",
        "clusterBy",
        "withSchemaEvolution",
    ]
)
_SAVES = frozenset(
    [
        "save",
        "parquet",
        "csv",
        "json",
        "orc",
        "text",
        "avro",
        "delta",
        "jdbc",
        "saveAsTable",
        "insertInto",
        "synapsesql",
    ]
)
_ASKED = frozenset({"writeTo", "merge", "option", "set", "config"})
"""What `on_call` knows whatever it is called on."""
_QUIET_STREAMS = frozenset({"console", "memory", "noop", "rate"})
_LOGGISH = re.compile(r"checkpoint|/tmp/|\blogs?\b", re.IGNORECASE)


def attribute(base: Value, name: str) -> Value | None:
    """`frame.write` and `frame.writeStream`."""
    if name == "write":
        return Value(kind="writer", flags=base.flags, pending=base.pending)
    if name == "writeStream":
        return Value(kind="stream", flags=base.flags, pending=base.pending)
    return None


@lru_cache(maxsize=1024)
def looks_into(dotted: str) -> bool:
    """Whether `on_call` may know a function of columns by its name."""
    method = dotted.rsplit(".", 1)[-1]
    return method in _ASKED or frames.knows(method)


def expression(dotted: str, marks: frozenset[Mark], pending: frozenset[Pending]) -> Value:
    """What a function of columns gives: what its arguments hold; a column's name is no value."""
    if marks and dotted.endswith((".col", ".column")):
        marks = frozenset(mark for mark in marks if mark.kind not in {"random", "uuid"})
    return Value(marks=marks, pending=pending)


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call on a Spark writer, stream, frame or session."""
    kind = call.receiver.kind
    if kind in {"writer", "stream", "table-writer"}:
        return _on_writer(walker, call)
    if kind == "delta-merge":
        return merges.on_merge(walker, call)
    if call.method == "writeTo":
        table = table_text(walker, call.argument(0, "table"))
        return replace(call.receiver, kind="table-writer", name=table)
    if call.method == "merge" and merges.is_delta_merge(call):
        return merges.merge(walker, call)
    if call.method == "option" and call.argument(0, "key").text in {"query", "dbtable"}:
        follow_peaks(walker, call.argument(1, "value").text or "")
    if call.method in {"set", "config"} and call.args:
        return _configuration(walker, call)
    return frames.on_call(walker, call)


def _on_writer(walker: Walker, call: Call) -> Value:
    writer = call.receiver
    method = call.method
    if method in _BUILDERS:
        return _built(walker, writer, call)
    if writer.kind == "stream" and method in {"start", "toTable", "table", "save", "saveAsTable"}:
        _stream(walker, writer, call)
        return UNKNOWN
    if writer.kind == "table-writer":
        _table_write(walker, writer, call)
        return UNKNOWN
    if method in _SAVES:
        _save(walker, writer, call)
        return UNKNOWN
    return writer


def _built(walker: Walker, writer: Value, call: Call) -> Value:
    fields = dict(writer.fields)
    if call.method == "option":
        key = call.argument(0, "key").text or ""
        fields[key.lower()] = call.argument(1, "value")
    elif call.method == "options":
        fields.update({key.lower(): value for key, value in call.keywords.items()})
    elif call.method in {"foreachBatch", "foreach"}:
        fields["foreachbatch"] = call.argument(0, "func", "f")
        _batch_function(walker, call)
    elif call.method == "partitionBy":
        first = call.args[0] if call.args else UNKNOWN
        fields["partitionby"] = replace(first, items=first.items or call.args)
    else:
        fields[call.method.lower()] = call.argument(0, "saveMode", "source", "outputMode")
    return replace(writer, fields=fields)


def _batch_function(walker: Walker, call: Call) -> None:
    node = call.node_of(0, "func")
    function = None
    if isinstance(node, ast.Name):
        function = walker.module.functions.get(node.id)
    elif isinstance(node, ast.Attribute):
        for methods in walker.module.methods.values():
            function = function or methods.get(node.attr)
    walker.batched += 1
    if function is not None:
        walker.inlined.add(function.name)
        names = walker.names_for(function)
        before = len(walker.tape.writes)
        walker.run_function(function, names)
        parameters = [one.arg for one in function.args.args if one.arg != "self"]
        epoch = parameters[1] if len(parameters) > 1 else ""
        used = epoch and any(
            isinstance(one, ast.Name) and one.id == epoch
            for one in ast.walk(ast.Module(body=function.body, type_ignores=[]))
        )
        text = spelled(function)
        if used and re.search(r"txnVersion|txnAppId|delete|overwrite|replaceWhere", text):
            for at in range(before, len(walker.tape.writes)):
                one = walker.tape.writes[at]
                walker.tape.writes[at] = replace(one, guard=one.guard or "the batch id")
    elif isinstance(node, ast.Lambda):
        inner = {**call.names, **{one.arg: UNKNOWN for one in node.args.args}}
        walker.value(node.body, inner)
    walker.batched -= 1


def _mode(writer: Value, call: Call) -> Value:
    if "mode" in call.keywords:
        return call.keywords["mode"]
    if call.method == "saveAsTable" and len(call.args) > 2:  # noqa: PLR2004 - its third place
        return call.args[2]
    if call.method in {"parquet", "csv", "json", "orc", "save", "text"} and len(call.args) > 1:
        place = 2 if call.method == "save" else 1
        if place < len(call.args):
            return call.args[place]
    return writer.fields.get("mode", UNKNOWN)


def _save(walker: Walker, writer: Value, call: Call) -> None:
    if (writer.fields.get("format", UNKNOWN).text or "").lower() == "kafka":
        guard = "a message key" if "keyed" in writer.flags else ""
        effect = Effect(kind="publish", spot=call.spot, text='write.format("kafka")', guard=guard)
        walker.tape.effects.append(effect)
        return
    mode = _mode(writer, call)
    target = _target(writer, call)
    table = table_text(walker, target, _target_node(call))
    how = _how(walker, writer, call, mode)
    if how is None:
        return
    walker.tape.draw(target.all_marks(), "path", table=table)
    write = Write(
        how=how,
        table=table,
        spot=call.spot,
        language="spark",
        rows="frame",
        guard=_guard(walker, writer, mode, table),
        temporary=naming.is_temporary_table(table),
        exact=f"mode={mode.text or '/'.join(mode.choices)}",
        scope=writer.fields.get("partitionby", UNKNOWN).text or "",
        grain=_grain(walker, writer, table),
    )
    walker.record(write, _placed(writer))


def _placed(writer: Value) -> Value:
    """The data, with what fills a column that the write partitions by."""
    columns = {one.text for one in writer.fields.get("partitionby", UNKNOWN).items or ()}
    pending = frozenset(
        replace(one, role="partition") if one.role == "column" and one.column in columns else one
        for one in writer.pending
    )
    return replace(writer, pending=pending)


def _grain(walker: Walker, writer: Value, table: str) -> str:
    """The length of the slice that an overwrite replaces, by its path or its replaceWhere."""
    where = writer.fields.get("replacewhere", UNKNOWN).text
    return grain_of(walker_names(walker, where)) if where else grain_of_path(table)


def _target_node(call: Call) -> ast.expr | None:
    node = call.node_of(1 if call.method == "jdbc" else 0, "name", "tableName", "path", "table")
    return node if isinstance(node, (ast.Name, ast.Attribute)) else None


def _target(writer: Value, call: Call) -> Value:
    if call.method == "jdbc":
        return call.argument(1, "table", "dbtable")
    value = call.argument(0, "name", "tableName", "path")
    if value != UNKNOWN:
        return value
    for option in ("dbtable", "path", "table", "collection", "topic", "es.resource", "kudu.table"):
        if option in writer.fields:
            return writer.fields[option]
    return UNKNOWN


def _how(walker: Walker, writer: Value, call: Call, mode: Value) -> How | None:
    form = (writer.fields.get("format", UNKNOWN).text or "").lower()
    if "kafka" in form or form in _QUIET_STREAMS:
        return None
    if call.method == "insertInto":
        overwrite = call.argument(1, "overwrite")
        if overwrite.may_be("True") or mode.may_be("overwrite"):
            return How.DYNAMIC if _dynamic(walker, writer) else How.OVERWRITE
        return How.APPEND
    if mode.may_be("overwrite"):
        return How.DYNAMIC if _dynamic(walker, writer) else How.OVERWRITE
    if mode.may_be("append"):
        return How.APPEND
    # Without a mode Spark refuses to write where something lies already.
    return How.CREATE


def _dynamic(walker: Walker, writer: Value) -> bool:
    option = writer.fields.get("partitionoverwritemode")
    if option is not None:
        return option.may_be("dynamic")
    if any(_CREATES.match(one) for one in walker.conditions):
        return False
    return walker.dynamic_overwrite and "replacewhere" not in writer.fields


_CREATES = re.compile(r"(?i)not (?!not ).*table_?exists")
"""The arm for a table that is not there yet."""


_UPSERT_SINKS = re.compile(r"cassandra|hudi|redis|dynamodb|kudu|hbase|phoenix|aerospike")
_UPSERT_OPTIONS = frozenset(
    {"es.mapping.id", "idfieldlist", "replacedocument", "upsertdocument", "primarykey"}
)


def _upserts(writer: Value) -> bool:
    """Whether the sink itself replaces rows of the same key."""
    form = (writer.fields.get("format", UNKNOWN).text or "").lower()
    operation = writer.fields.get("hoodie.datasource.write.operation", UNKNOWN).text or ""
    if "hudi" in form and "insert" in operation:
        return False
    return bool(_UPSERT_SINKS.search(form)) or bool(_UPSERT_OPTIONS & set(writer.fields))


def _guard(walker: Walker, writer: Value, mode: Value, table: str) -> str:
    if _upserts(writer):
        return "a sink that replaces rows of the same key"
    if mode.choices and mode.may_be("overwrite") and mode.may_be("append"):
        return "the first round overwrites"
    if "anti" in writer.flags:
        return "an anti-join on the target"
    if "txnversion" in writer.fields:
        return "Delta's txnVersion"
    if walker.first_iteration() and mode.may_be("overwrite"):
        return "the first round overwrites"
    if _LOGGISH.search(table):
        return "a log or scratch path"
    return ""


def _table_write(walker: Walker, writer: Value, call: Call) -> None:
    how = {
        "append": How.APPEND,
        "overwrite": How.OVERWRITE,
        "overwritePartitions": How.DYNAMIC,
        "create": How.CREATE,
        "replace": How.OVERWRITE,
        "createOrReplace": How.OVERWRITE,
    }.get(call.method)
    if how is None:
        return
    walker.record(
        Write(
            how=how,
            table=writer.name,
            spot=call.spot,
            language="spark",
            rows="frame",
            guard="an anti-join on the target" if "anti" in writer.flags else "",
            temporary=naming.is_temporary_table(writer.name),
            exact="writeTo",
        ),
        writer,
    )


def _stream(walker: Walker, writer: Value, call: Call) -> None:
    fields = writer.fields
    form = (
        fields.get("format", UNKNOWN).text or call.keywords.get("format", UNKNOWN).text or ""
    ).lower()
    if form in _QUIET_STREAMS and "foreachbatch" not in fields:
        return
    safe = (
        "checkpointlocation" in fields
        or "checkpointLocation" in call.keywords
        or walker.checkpointed
    )
    table = table_text(walker, call.argument(0, "path", "tableName"))
    walker.record(
        Write(
            how=How.STREAM,
            table=table,
            spot=call.spot,
            language="spark",
            rows="frame",
            guard="a checkpoint" if safe else "",
            exact=form,
        ),
        writer,
    )


def _configuration(walker: Walker, call: Call) -> Value | None:
    key, value = call.argument(0, "key"), call.argument(1, "value")
    name = (key.text or "").lower()
    if name.endswith("partitionoverwritemode"):
        walker.dynamic_overwrite = value.may_be("dynamic")
    elif name.endswith("streaming.checkpointlocation"):
        walker.checkpointed = True
    else:
        return None
    return call.receiver
