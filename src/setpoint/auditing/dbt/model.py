"""A dbt model, snapshot or macro file → a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing.context import settings_of
from setpoint.auditing.dbt.jinja import CLOCK_IN_JINJA, Masked, mask, read_config
from setpoint.auditing.facts import Draw, FileFacts, How, Source, Unit, Write
from setpoint.auditing.sql.lines import Lines
from setpoint.auditing.sql.reading import WRITES, SqlFacts
from setpoint.auditing.sql.templated import HIDDEN, read_templated
from setpoint.auditing.sql.writes import key_problem

if TYPE_CHECKING:
    from setpoint.auditing.context import ProjectContext

_IS_DBT = re.compile(
    r"\{\{-?\s*(?:config\s*\(|ref\s*\(|source\s*\(\s*['\"])|\{%-?\s*(?:macro|snapshot|test"
    r"|materialization)\b"
)
_OTHER_FOLDERS = frozenset(
    {"tests", "analyses", "analysis", "dbt_packages", "dbt_modules", "target", "seeds", "data"}
)
_TEST_PROJECTS = frozenset({"tests", "test", "fixtures", "integration_tests", "testing"})
_STATIC_STRATEGIES = frozenset({"microbatch", "replace_where"})
_KEYED_STRATEGIES = frozenset({"", "merge", "delete+insert", "delete_insert", "default"})
_ANTI_JOIN = re.compile(
    r"not\s+(?:exists|in)\s*\([^)]*?\{\{\s*this\s*\}\}|(?:left\s+(?:outer\s+)?join"
    r"|anti\s+join)\s+\{\{\s*this\s*\}\}",
    re.IGNORECASE | re.DOTALL,
)
_DELETE_HOOK = re.compile(r"\b(?:delete\s+from|truncate)\b", re.IGNORECASE)


def is_dbt(path: str, text: str, context: ProjectContext) -> bool:
    """Whether a .sql file belongs to a dbt project."""
    return _IS_DBT.search(text) is not None or context.project_of(path) is not None


@dataclass(frozen=True, kw_only=True)
class _Model:
    path: str
    text: str
    name: str
    masked: Masked
    config: dict[str, object]
    lines: Lines
    context: ProjectContext


def read_dbt(path: str, text: str, context: ProjectContext) -> FileFacts:
    """Read one .sql file of a dbt project."""
    parts = PurePosixPath(path).parts
    role = _role(path, context)
    project = context.project_of(path)
    above = PurePosixPath(project.root).parts if project is not None else ()
    if (
        role == "other"
        or set(above) & _TEST_PROJECTS
        or set(parts[:-1]) & {"dbt_packages", "dbt_modules", "target"}
    ):
        return FileFacts(path=path, kind="dbt", setting="test")
    masked = mask(text, macros=context.macros)
    if masked.macro and not masked.text.strip():
        return FileFacts(path=path, kind="dbt", setting="macro")
    name = PurePosixPath(path).stem.lower()
    config = settings_of(context, path, name)
    for call, _, _ in masked.configs:
        config.update(read_config(call))
    model = _Model(
        path=path,
        text=text,
        name=name,
        masked=masked,
        config=config,
        lines=Lines(text),
        context=context,
    )
    if config.get("enabled") is False:
        return FileFacts(path=path, kind="dbt", setting="disabled")
    return _snapshot(model) if masked.snapshot or role == "snapshot" else _model(model)


def _role(path: str, context: ProjectContext) -> str:
    project = context.project_of(path)
    parts = PurePosixPath(path).parts[:-1]
    if project is None:
        return "other" if set(parts) & _OTHER_FOLDERS and "models" not in parts else "model"
    inside = path[len(project.root) + 1 :] if project.root else path
    for role, folders in (
        ("model", project.models),
        ("snapshot", project.snapshots),
        ("other", project.macros),
    ):
        if any(inside.startswith(f"{folder}/") for folder in folders):
            return role
    return "other" if inside.split("/", 1)[0] in _OTHER_FOLDERS | {"macros"} else "model"


def _facts(model: _Model) -> tuple[SqlFacts, bool]:
    if not HIDDEN.search(model.text) and not any(
        hole.meaning in {"clock", "random", "environment"} for hole in model.masked.holes.values()
    ):
        return SqlFacts(), any(hole.meaning == "logical" for hole in model.masked.holes.values())
    hint = model.context.dialect
    read = read_templated(
        model.text,
        hint=hint,
        path=model.path,
        macros=model.context.macros,
        selects=True,
        this=model.name,
    )
    return read.facts, read.logical_date


def _model(model: _Model) -> FileFacts:
    facts, logical = _facts(model)
    config = model.config
    materialized = str(config.get("materialized") or "view").lower()
    writes = [_incremental(model)] if "incremental" in materialized else []
    if (
        "incremental" not in materialized
        and "view" not in materialized
        and "ephemeral" not in materialized
    ):
        writes = [
            Write(how=How.OVERWRITE, table=model.name, spot=model.lines.spot(0, 1), language="dbt")
        ]
    writes += _hooks(model)
    unit = Unit(
        name=model.name,
        kind="dbt-model",
        line=1,
        end_line=model.lines.at(len(model.text)),
        writes=tuple(writes),
        draws=(*(_partitioned(draw, config) for draw in facts.draws), *_placed_by_clock(model)),
        reads=_reads(model),
        logical_date=logical,
        incremental=writes[0].how.value if writes and "incremental" in materialized else "",
    )
    return FileFacts(
        path=model.path,
        kind="dbt",
        dialect=facts.dialect or model.context.dialect,
        units=(unit,),
        unparsed=facts.unparsed,
    )


def _placed_by_clock(model: _Model) -> tuple[Draw, ...]:
    """A clock in the model's own name or schema leaves another table with each run."""
    found: list[Draw] = []
    for call, start, end in model.masked.configs:
        config = read_config(call)
        for name in ("alias", "schema", "database"):
            text = str(config.get(name) or "")
            if CLOCK_IN_JINJA.search(text):
                spot = model.lines.spot(start, end)
                found.append(
                    Draw(
                        source=Source.CLOCK,
                        role="name",
                        spot=spot,
                        text=text[:60],
                        column=name,
                        language="jinja",
                    )
                )
    return tuple(found)


def _hooks(model: _Model) -> list[Write]:
    """What the model's hooks write, placed at its config."""
    spot = model.lines.spot(*model.masked.configs[0][1:]) if model.masked.configs else None
    found: list[Write] = []
    for name in ("pre_hook", "post_hook", "pre-hook", "post-hook"):
        value = model.config.get(name)
        for text in value if isinstance(value, list) else [value]:
            if spot is None or not isinstance(text, str) or not WRITES.search(text):
                continue
            read = read_templated(
                text,
                hint=model.context.dialect,
                path=model.path,
                macros=model.context.macros,
                selects=False,
                this=model.name,
            )
            found += [replace(write, spot=spot) for write in read.facts.writes]
    return found


def _partitioned(draw: Draw, config: dict[str, object]) -> Draw:
    """A clock that fills the model's partition or key column decides placement."""
    if draw.source not in {Source.CLOCK, Source.ENVIRONMENT} or not draw.column:
        return draw
    partition = config.get("partition_by")
    fields = [str(partition.get("field"))] if isinstance(partition, dict) else _as_keys(partition)
    if draw.column in {one.lower() for one in fields}:
        return replace(draw, role="partition")
    if draw.column in {one.lower() for one in _as_keys(config.get("unique_key"))}:
        return replace(draw, role="key")
    return draw


def _as_keys(value: object) -> list[str]:
    if isinstance(value, str):
        return [one.strip() for one in value.split(",") if one.strip()]
    if isinstance(value, list):
        return [str(one) for one in value]
    return []


def _reads(model: _Model) -> tuple[str, ...]:
    tables = [hole.table for hole in model.masked.holes.values() if hole.table not in {"", "this"}]
    for match in re.finditer(r"(?:ref|source)\s*\(([^)]*)\)", model.text):
        quoted = re.findall(r"['\"]([^'\"]+)['\"]", match.group(1))
        if quoted:
            name = quoted[-1] if match.group(0).startswith("ref") else ".".join(quoted)
            tables.append(name.lower())
    return tuple(dict.fromkeys(tables))


def _incremental(model: _Model) -> Write:
    config = model.config
    strategy = str(config.get("incremental_strategy") or "").lower()
    keys = tuple(key.lower() for key in _as_keys(config.get("unique_key")))
    spot = model.lines.spot(0, 1)
    for call, start, end in model.masked.configs:
        if "incremental" in call:
            spot = model.lines.spot(start, end)
    blank = Write(how=How.APPEND, table=model.name, spot=spot, language="dbt", keys=keys)
    return _by_strategy(model, blank, strategy)


def _by_strategy(model: _Model, blank: Write, strategy: str) -> Write:
    config, keys = model.config, blank.keys
    project = model.context.project_of(model.path)
    athena = project is not None and project.adapter == "athena"
    if strategy == "insert_overwrite" or (athena and not strategy):
        static = config.get("partitions") or config.get("incremental_predicates")
        return replace(blank, how=How.OVERWRITE if static else How.DYNAMIC)
    if strategy in _STATIC_STRATEGIES:
        return replace(blank, how=How.OVERWRITE)
    if strategy in _KEYED_STRATEGIES and "unique_key" in config and config["unique_key"]:
        return replace(blank, how=How.UPSERT, key_problem=key_problem(keys))
    if strategy in _KEYED_STRATEGIES or strategy == "append":
        return replace(blank, how=How.APPEND, guard=_guard(model), scope=strategy)
    return replace(blank, how=How.UPSERT, guard=f"the custom strategy {strategy}")


def _guard(model: _Model) -> str:
    hooks = model.config.get("pre_hook") or model.config.get("pre-hook")
    if _DELETE_HOOK.search(str(hooks or "")):
        return "a pre-hook that deletes the scope"
    if _ANTI_JOIN.search(model.text):
        return "an anti-join on {{ this }}"
    return ""


def _snapshot(model: _Model) -> FileFacts:
    keys = tuple(key.lower() for key in _as_keys(model.config.get("unique_key")))
    spot = model.lines.spot(0, 1)
    if model.masked.configs:
        _, start, end = model.masked.configs[0]
        spot = model.lines.spot(start, end)
    write = Write(
        how=How.UPSERT,
        table=model.name,
        spot=spot,
        language="dbt",
        keys=keys,
        key_problem=key_problem(keys),
    )
    unit = Unit(
        name=model.masked.snapshot or model.name,
        kind="dbt-snapshot",
        line=1,
        end_line=model.lines.at(len(model.text)),
        writes=(write,),
        reads=_reads(model),
    )
    return FileFacts(path=model.path, kind="dbt", dialect=model.context.dialect, units=(unit,))
