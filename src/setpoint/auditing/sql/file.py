"""A .sql file that belongs to no dbt project → a unit."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing.facts import FileFacts, How, Unit, Write
from setpoint.auditing.python.setting import setting_of_path
from setpoint.auditing.sql.lines import Lines
from setpoint.auditing.sql.own_task import header_of
from setpoint.auditing.sql.reading import WRITES, read_sql
from setpoint.auditing.sql.templated import read_templated

if TYPE_CHECKING:
    from setpoint.auditing.context import ProjectContext

_TRIGGER = re.compile(
    r"\bcreate\s+(?:or\s+replace\s+)?trigger\b|\breturns\s+trigger\b", re.IGNORECASE
)
_DUMP = re.compile(
    r"(?:PostgreSQL database dump|MySQL dump|phpMyAdmin SQL Dump|SQLite dump)", re.IGNORECASE
)
MOST_TEXT = 1_500_000


def read_sql_file(path: str, text: str, context: ProjectContext) -> FileFacts:
    """Read one .sql file."""
    setting = setting_of_path(path)
    if setting in {"test", "sample"} or _DUMP.search(text[:2000]) or len(text) > MOST_TEXT:
        return FileFacts(
            path=path, kind="sql", setting=setting if setting != "pipeline" else "sample"
        )
    header = header_of(text)
    if header is not None:
        return _own_task(path, text, header, context)
    if not WRITES.search(text):
        return FileFacts(path=path, kind="sql", setting=setting)
    read = read_templated(
        text, hint=context.dialect, path=path, macros=context.macros, selects=False
    )
    facts = read.facts
    trigger = _TRIGGER.search(text) is not None
    unit = Unit(
        name=PurePosixPath(path).stem,
        kind="sql",
        line=1,
        end_line=Lines(text).at(len(text)),
        writes=facts.writes,
        draws=facts.draws,
        reads=facts.reads,
        logical_date=read.logical_date,
    )
    return FileFacts(
        path=path,
        kind="sql",
        setting="schema" if trigger else setting,
        dialect=facts.dialect,
        units=(unit,) if facts.writes else (),
        unparsed=facts.unparsed,
    )


def _own_task(
    path: str, text: str, header: dict[str, object], context: ProjectContext
) -> FileFacts:
    """A task of Setpoint: it sets its window, so only what hides in its SELECT matters."""
    facts = read_sql(text, hint=context.dialect or "spark", path=path, selects=True)
    lines = Lines(text)
    merges = "merge" in str(header["write"])
    write = Write(
        how=How.UPSERT if merges else How.OVERWRITE,
        table=str(header["target"]).lower(),
        spot=lines.spot(0, 1),
        language="setpoint",
        guard="Setpoint sets the window",
    )
    name = str(header.get("name") or PurePosixPath(path).stem)
    unit = Unit(
        name=name,
        kind="setpoint-task",
        line=1,
        end_line=lines.at(len(text)),
        writes=(write, *facts.writes),
        draws=facts.draws,
        reads=facts.reads,
        task=name,
        logical_date=True,
    )
    return FileFacts(
        path=path, kind="sql", dialect=facts.dialect, units=(unit,), unparsed=facts.unparsed
    )
