"""Spark frames and writers: modes, formats, streams, Delta merges."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Write
from setpoint.auditing.python.values import UNKNOWN, Value

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

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
_QUIET_STREAMS = frozenset({"console", "memory", "noop", "rate"})
_FILTERS = frozenset(
    ["filter", "where", "query", "loc", "mask", "between_time", "truncate", "drop_where"]
)
_REDUCERS = frozenset(
    [
        "dropDuplicates",
        "drop_duplicates",
        "dropDuplicatesWithinWatermark",
        "distinct",
        "agg",
        "groupBy",
        "groupby",
        "unique",
    ]
)
_LOGGISH = re.compile(r"checkpoint|/tmp/|\blogs?\b", re.IGNORECASE)


def attribute(base: Value, name: str) -> Value | None:
    """`frame.write` and `frame.writeStream`."""
    if name == "write":
        return Value(kind="writer", marks=base.marks, flags=base.flags, fields=base.fields)
    if name == "writeStream":
        return Value(kind="stream", marks=base.marks, flags=base.flags)
    return None


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call on a Spark writer, stream, frame or session."""
    kind = call.receiver.kind
    if kind in {"writer", "stream", "table-writer"}:
        return _on_writer(walker, call)
    if kind == "delta-merge":
        return _on_merge(walker, call)
    if call.method == "writeTo":
        table = table_text(walker, call.argument(0, "table"))
        return Value(kind="table-writer", name=table, flags=call.receiver.flags)
    if call.method == "merge" and _is_delta_merge(call):
        return _merge(walker, call)
    if call.method in {"set", "config"} and call.args:
        return _configuration(walker, call)
    return _on_frame(walker, call)


def table_text(walker: Walker, value: Value) -> str:
    """The name of a table or path, holes shown as `{expression}`."""
    if value.text is None:
        return value.choices[0].lower() if value.choices else ""
    return walker_names(walker, value.text).lower()


def walker_names(walker: Walker, text: str) -> str:
    """The text with holes shown as the expressions they stand for."""
    return re.sub(
        r"__h(\d+)__+",
        lambda match: "{" + walker.holes.get(int(match.group(1)), ("?", UNKNOWN))[0] + "}",
        text,
    )


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
    return replace(writer, marks=writer.marks | call.marks)


def _built(walker: Walker, writer: Value, call: Call) -> Value:
    fields = dict(writer.fields)
    if call.method == "option":
        key = call.argument(0, "key").text or ""
        fields[key.lower()] = call.argument(1, "value")
    elif call.method == "options":
        fields.update({key.lower(): value for key, value in call.keywords.items()})
    elif call.method == "foreachBatch":
        fields["foreachbatch"] = call.argument(0, "func")
        _batch_function(walker, call)
    elif call.method == "partitionBy":
        fields["partitionby"] = call.args[0] if call.args else UNKNOWN
    else:
        fields[call.method.lower()] = call.argument(0, "saveMode", "source", "outputMode")
    return replace(writer, fields=fields)


def _batch_function(walker: Walker, call: Call) -> None:
    import ast

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
        text = ast.unparse(function)
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
    mode = _mode(writer, call)
    target = _target(writer, call)
    table = table_text(walker, target)
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
    )
    walker.record(write)


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
    return walker.dynamic_overwrite and "replacewhere" not in writer.fields


def _guard(walker: Walker, writer: Value, mode: Value, table: str) -> str:
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
        )
    )


def _stream(walker: Walker, writer: Value, call: Call) -> None:
    fields = writer.fields
    form = (
        fields.get("format", UNKNOWN).text or call.keywords.get("format", UNKNOWN).text or ""
    ).lower()
    if form in _QUIET_STREAMS:
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
        )
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


# Frames


def _on_frame(walker: Walker, call: Call) -> Value | None:
    method = call.method
    if method in {"withColumn", "withColumnRenamed"}:
        column = call.argument(0, "colName").text or ""
        if method == "withColumn":
            walker.tape.draw(call.argument(1, "col").all_marks(), "column", column=column)
        return Value(kind="frame", flags=call.receiver.flags, marks=call.receiver.marks)
    if method in {"alias", "name"} and call.receiver.marks and call.args and call.args[0].text:
        return Value(
            marks=call.receiver.marks, name=call.args[0].text, kind=call.receiver.kind or "column"
        )
    if method in {"select", "withColumns", "assign", "agg"} and (
        call.marks or call.receiver.kind == "frame"
    ):
        return _columns(walker, call)
    if method in _FILTERS and (call.receiver.kind == "frame" or call.marks):
        return _filter(walker, call)
    if method in _REDUCERS and call.receiver_is_data():
        return Value(
            kind="frame", flags=call.receiver.flags | {"reduced"}, marks=call.receiver.marks
        )
    if method in {"join", "merge", "subtract", "exceptAll"}:
        return _join(call)
    if method in {"sample", "randomSplit"}:
        return _sample(walker, call)
    if method in {
        "createOrReplaceTempView",
        "createTempView",
        "createOrReplaceGlobalTempView",
        "registerTempTable",
    }:
        name = table_text(walker, call.argument(0, "name"))
        walker.memory.reduced[name] = "reduced" in call.receiver.flags
        return UNKNOWN
    return None


def _columns(walker: Walker, call: Call) -> Value:
    for value in (*call.args, *(one for arg in call.args for one in arg.items or ())):
        if value.marks and value.name:
            walker.tape.draw(value.marks, "column", column=value.name)
    for column, value in call.keywords.items():
        walker.tape.draw(value.all_marks(), "column", column=column)
    for arg in call.args:
        for column, value in arg.fields.items():
            walker.tape.draw(value.all_marks(), "column", column=column)
    return Value(kind="frame", flags=call.receiver.flags, marks=call.receiver.marks)


def _filter(walker: Walker, call: Call) -> Value:
    walker.tape.draw(call.marks, "filter")
    flags = call.receiver.flags
    if re.search(r"(?:rn|row_?num(?:ber)?|rank|rnk)\W{1,12}1\b", call.source()):
        flags |= {"reduced"}
    if "left_only" in call.source() or re.search(r"~.*isin\(", call.source()):
        flags |= {"anti"}
    return Value(kind="frame", flags=flags, marks=call.receiver.marks - call.receiver.marks)


def _join(call: Call) -> Value | None:
    how = call.argument(2, "how")
    source = call.source()
    flags = call.receiver.flags
    if (
        (how.text and "anti" in how.text.lower())
        or call.method in {"subtract", "exceptAll"}
        or re.search(r"['\"]left_?anti['\"]", source)
    ):
        flags |= {"anti"}
    elif "indicator=True" in source or call.receiver.kind == "frame":
        flags = flags - {"reduced"}
    else:
        return None
    return Value(kind="frame", flags=flags, marks=call.receiver.marks)


def _sample(walker: Walker, call: Call) -> Value | None:
    import ast

    if call.dotted.startswith(("random.", "numpy.random.")):
        return None
    seeded = any(word in call.keywords for word in ("seed", "random_state"))
    literal_seed = len(call.args) > (2 if call.method == "sample" else 1)
    if call.receiver.kind == "frame" and not seeded and not literal_seed and not walker.seeded:
        from setpoint.auditing.python.values import Mark

        mark = Mark("random", call.spot, f"{call.method}()", "spark")
        walker.tape.draw([mark], "filter")
    del ast
    return Value(kind="frame", flags=call.receiver.flags)


# Delta's own merge


def _is_delta_merge(call: Call) -> bool:
    condition = call.argument(1, "condition")
    return (condition.text is not None and "=" in condition.text) or (
        "delta" in call.receiver.kind and len(call.args) + len(call.keywords) > 1
    )


def _merge(walker: Walker, call: Call) -> Value:
    from setpoint.auditing.sql.writes import key_problem

    source = call.argument(0, "source")
    condition = call.argument(1, "condition").text or ""
    keys = tuple(
        dict.fromkeys(
            right.lower()
            for left, right in re.findall(r"([\w.`]+)\s*(?:=|<=>)\s*[\w`]+\.`?(\w+)", condition)
            if left
        )
    )
    plain = condition.replace(" ", "").lower()
    constant = plain in {"true", "1=1"}
    problem = "ON compares no column" if constant else key_problem(keys)
    write = Write(
        how=How.MERGE,
        table=call.receiver.name or table_text(walker, call.receiver),
        spot=call.spot,
        language="spark",
        rows="frame",
        keys=keys,
        key_problem=problem,
        reduced="reduced" in source.flags,
        exact=condition[:200],
    )
    walker.record(write)
    return Value(kind="delta-merge")


def _on_merge(walker: Walker, call: Call) -> Value:
    values = call.argument(1 if call.method == "whenMatchedUpdate" else 0, "set", "values")
    for column, value in values.fields.items():
        text = value.text or ""
        name = naming.bare(column)
        if re.search(rf"\b\w+\.{re.escape(name)}\s*[+-]", text) and walker.tape.writes:
            walker.tape.writes[-1] = replace(walker.tape.writes[-1], counter=name)
        walker.tape.draw(value.all_marks(), "column", column=name)
    return call.receiver
