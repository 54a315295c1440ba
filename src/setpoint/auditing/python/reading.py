"""A Python file → its units of work."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import FileFacts, How
from setpoint.auditing.finding import Unparsed
from setpoint.auditing.python import orchestrators
from setpoint.auditing.python.databases import looks_like_sql
from setpoint.auditing.python.modules import Module
from setpoint.auditing.python.setting import setting_of
from setpoint.auditing.python.tape import Tape
from setpoint.auditing.python.texts import run_text
from setpoint.auditing.python.values import UNKNOWN, Value
from setpoint.auditing.sql.reading import WRITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.auditing.context import ProjectContext
    from setpoint.auditing.facts import Unit
    from setpoint.auditing.python.evaluating import Names
    from setpoint.auditing.python.walking import Walker

_TRIGGERS = (
    # Most files that matter hold one of the first.
    ".write.", "airflow", "insert into",
    "insert overwrite", "insert or ", "insert ignore", "merge into", "truncate",
    "delete from", "replace into", "load data", "create table", "create or replace", "create temp",
    ".write\n", ".write \\", "writestream", "writeto(", "insertinto(", "to_sql",
    "to_gbq",
    "write_pandas", "load_table_from", "insert_rows", "insert_many", "insert_one", "write_database",
    "write_delta", "to_csv(", "to_parquet(", "to_json(", "to_excel(", "write_csv(",
    "write_parquet(", "write_to_dataset", "copy_from(", "copy_expert", "write_disposition",
    "awswrangler", "pyiceberg",
    "write_dynamic_frame", "materialized", "deltatable", "sendmail", "send_email", "send_mail",
    "chat_postmessage", ".post(", ".request(", ".produce(", "producer", ".publish(", "send_message",
    "put_events", "put_record", "smtp", "sendgrid", "webhook", "dagster", "prefect",
    "setpoint",
    "def model(dbt", "put_object", "upload_", "load_string",
    "load_file", "insert(", "bulk_", "last_", "if_exists", "watermark",
    "bookmark", "put_item", "variable.set",
)  # fmt: skip
"""Lower-case texts without any of which a file writes nothing, sends nothing and is no task."""
_STATEMENT = re.compile(r"\b(?:update\s+\S+\s+set|merge\s+\S+|copy\s+\S+\s+from)\b")
_CALLBACK = re.compile(
    r"(?:on_(?:failure|retry)(?:_callback|_hooks)?|sla_miss_callback|on_crashed|failure_callback)"
    r"['\"]?\s*[:=]\s*\[?\s*(?:partial\(\s*)?(\w+)"
)
_SEEDED = re.compile(
    r"\b(?:random|np\.random|numpy\.random)\.seed\(|default_rng\(\s*\d|Random\(\s*\d"
    r"|RandomState\(\s*\d"
)
_DATA_PACKAGES = (
    "pandas", "polars", "pyspark", "requests", "httpx", "kafka", "confluent_kafka", "bs4",
    "selenium", "scrapy", "itemadapter", "csv", "tweepy", "yfinance", "openpyxl", "feedparser",
    "playwright", "boto3", "pika", "websocket", "ccxt", "spotipy", "praw", "glob",
)  # fmt: skip
"""Code that imports one of these brings data from somewhere."""


def read_python(
    path: str, text: str, context: ProjectContext, *, first_line: int = 1, kind: str = "python"
) -> FileFacts:
    """Read one Python file."""
    lower = text.lower()
    if not any(trigger in lower for trigger in _TRIGGERS) and not _STATEMENT.search(lower):
        return FileFacts(path=path, kind=kind, setting="pipeline", constants=_short_texts(text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = f"not Python 3: {type(error).__name__}"
        return FileFacts(
            path=path, kind=kind, unparsed=(Unparsed(path=path, line=line, reason=reason),)
        )
    module = Module(tree, text, first_line)
    setting = setting_of(path, text, module)
    if setting in {"test", "sample"}:
        return FileFacts(path=path, kind=kind, setting=setting)
    walker = _walk(module, path, context, seeded=_is_seeded(text))
    if module.imported(*_DATA_PACKAGES):
        for tape in walker.tapes:
            tape.extracts = True
    units = tuple(tape.unit() for tape in walker.tapes if _says_something(tape))
    return FileFacts(
        path=path,
        kind=kind,
        setting=setting,
        dialect=context.dialect,
        units=units,
        dags=tuple(walker.dags),
        constants=_short_texts(text),
        imports=_imported_names(module, units),
        unparsed=tuple(dict.fromkeys(walker.unparsed)),
    )


def _short_texts(text: str) -> tuple[tuple[str, str], ...]:
    """The module's own short texts: what other modules may import as the name of a table."""
    return tuple((match.group(1), match.group(2)) for match in _SHORT_TEXT.finditer(text))


def _imported_names(module: Module, units: Sequence[Unit]) -> tuple[tuple[str, str], ...]:
    """The imports that stand in the names of tables, such as `TARGET` in `{target}`."""
    braced = {
        word
        for unit in units
        for write in unit.writes
        for held in _HELD.findall(write.table)
        for word in held.split(".")[:1]
    }
    return tuple(
        (name.lower(), target) for name, target in module.imports.items() if name.lower() in braced
    )


_SHORT_TEXT = re.compile(
    r"""(?m)^([A-Za-z_]\w*)(?:\s*:\s*[\w.]+)?\s*=\s*["']([\w.$/:\-]{1,120})["']\s*(?:\#.*)?$"""
)
_HELD = re.compile(r"\{([\w.]+)\}")


def _is_seeded(text: str) -> bool:
    # Few files say any of these words, and looking for them is cheaper than the pattern.
    return ("seed(" in text or "Random" in text or "_rng(" in text) and bool(_SEEDED.search(text))


def _says_something(tape: Tape) -> bool:
    return bool(tape.writes or tape.effects or tape.draws or tape.task or tape.reads)


def _walk(module: Module, path: str, context: ProjectContext, *, seeded: bool) -> Walker:
    from setpoint.auditing.python.walking import Walker
    from setpoint.auditing.sql.writes import Memory

    callbacks = {match.group(1) for match in _CALLBACK.finditer(module.text)}
    walker = Walker(module, path=path, hint=context.dialect, seeded=seeded, memory=Memory())
    walker.callbacks = callbacks
    stem = PurePosixPath(path).stem
    last = module.tree.body[-1] if module.tree.body else None
    end = (last.end_lineno or 1) + module.shift if last is not None else 1
    top = Tape(name=stem, kind=_kind(module), line=1 + module.shift, end_line=end)
    with walker.recording(top):
        walker.block(module.tree.body, walker.globals)
    _uncalled(walker, stem)
    _excuse_marked(walker)
    _constants(walker, stem, end)
    orchestrators.finished(walker)
    return walker


def _excuse_marked(walker: Walker) -> None:
    """Appends of what lies beyond the highest value that the target itself holds."""
    for tape in walker.tapes if walker.peaks and walker.compares else ():
        for at, write in enumerate(tape.writes):
            own = any(naming.same_table(write.table, table) for table in walker.peaks)
            if own and write.how is How.APPEND and not write.guard:
                tape.writes[at] = replace(write, guard="the target's own high-water mark")


def _constants(walker: Walker, stem: str, end: int) -> None:
    """SQL kept in module constants for others to run, in an order that others know."""
    ran = {write.spot.line for tape in walker.tapes for write in tape.writes}
    walker.tape = Tape(name=f"{stem}.sql", kind="sql-constants", line=1, end_line=end)
    walker.tapes.append(walker.tape)
    for node in walker.module.tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = walker.globals.get(node.targets[0].id)
        if value is None or value.text is None or not looks_like_sql(value.text):
            continue
        if not WRITES.search(value.text) or value.line in walker.ran_texts:
            continue
        end = node.end_lineno or node.lineno
        if any(node.lineno <= line - walker.module.shift <= end for line in ran):
            continue
        run_text(walker, value, UNKNOWN, line=node.lineno, dialect="", transaction=1)


def _kind(module: Module) -> str:
    return "pyspark" if module.imported("pyspark") else "python"


def _uncalled(walker: Walker, stem: str) -> None:
    """Functions that nothing in the module calls are entry points of their own."""
    module = walker.module
    for name, function in module.functions.items():
        if name not in walker.inlined:
            _root(walker, f"{stem}.{name}", function, {})
    for owner, methods in module.methods.items():
        fields: Names = {}
        start = methods.get("__init__")
        if start is not None:
            names = walker.names_for(start)
            with walker.recording(_tape(walker, f"{stem}.{owner}", start)):
                walker.run_function(start, names)
            fields = {key: value for key, value in names.items() if key.startswith("self.")}
        operator = owner.endswith(("Operator", "Hook", "Sensor")) and module.imported("airflow")
        for name, method in methods.items():
            if name != "__init__" and name not in walker.inlined:
                _root(walker, f"{stem}.{owner}.{name}", method, fields)
                if operator:
                    walker.tapes[-1].kind = "airflow-operator"


def _tape(walker: Walker, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Tape:
    shift = walker.module.shift
    return Tape(
        name=name,
        kind=_kind(walker.module),
        line=function.lineno + shift,
        end_line=(function.end_lineno or function.lineno) + shift,
    )


def _root(
    walker: Walker,
    name: str,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    fields: Names,
) -> None:
    names = walker.names_for(function)
    names.update(fields)
    tape = _tape(walker, name, function)
    parameters = [one.arg for one in function.args.args]
    if function.name == "model" and parameters[:1] == ["dbt"]:
        tape.kind, tape.name = "dbt-model", PurePosixPath(walker.path).stem
        names["dbt"] = Value(kind="dbt", name=tape.name)
    with walker.recording(tape):
        walker.run_function(function, names)
