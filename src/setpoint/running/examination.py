"""Examining what Setpoint stands on: each part checked, none assumed."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from setpoint.engine.commit_mark import WHOLE
from setpoint.errors import SetpointError
from setpoint.ledger.opening import open_ledger
from setpoint.project.project import open_settings
from setpoint.running.cleaning import leftovers
from setpoint.running.loading import open_project
from setpoint.running.project_run import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setpoint.engine.spark.engine import SparkEngine
    from setpoint.model.settings import CatalogSettings, ConnectionSettings, Settings

OLDEST_PYTHON = (3, 10)
LITTLE_SPACE = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was checked."""

    name: str
    state: Literal["ok", "warning", "fault"]
    found: str
    next_step: str | None = None


def examine(folder: Path, *, start_spark: bool, say: Callable[[str], None]) -> list[Finding]:
    """Check every part; a fault in one does not hide the others."""
    findings = [_python(), _java(), _pyspark()]
    try:
        settings = open_settings(folder)
    except SetpointError as error:
        findings.append(_fault("project", error))
        return findings
    findings.append(Finding(name="project", state="ok", found=f"{settings.name} ({settings.root})"))
    findings.append(_jars(settings))
    findings += [_warehouse(catalog) for catalog in settings.catalogs.values() if catalog.embedded]
    findings += [_connection(connection) for connection in settings.connections.values()]
    findings.append(_ledger(settings))
    if start_spark and not any(finding.state == "fault" for finding in findings):
        findings += _spark(settings, say)
    return findings


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Finding(
            name="python", state="fault", found=version, next_step="use Python 3.10 or newer"
        )
    return Finding(name="python", state="ok", found=version)


def _java() -> Finding:
    from setpoint.engine.spark.java import find_java

    try:
        java = find_java()
    except SetpointError as error:
        return _fault("java", error)
    return Finding(name="java", state="ok", found=f"{java.version} ({java.path})")


def _pyspark() -> Finding:
    try:
        return Finding(name="pyspark", state="ok", found=metadata.version("pyspark"))
    except metadata.PackageNotFoundError:
        return Finding(
            name="pyspark",
            state="fault",
            found="not installed",
            next_step='pip install "setpoint[spark]"',
        )


def _jars(settings: Settings) -> Finding:
    from setpoint.engine.spark.jars import cached_jars, jar_folder, project_packages

    packages = project_packages(settings)
    jars = cached_jars(packages)
    if jars is None:
        return Finding(
            name="jars",
            state="warning",
            found="not downloaded yet",
            next_step="the first run downloads them; it needs to reach Maven Central",
        )
    return Finding(name="jars", state="ok", found=f"{len(jars)} in {jar_folder(packages)}")


def _warehouse(catalog: CatalogSettings) -> Finding:
    name = f"catalog {catalog.name}"
    folder = catalog.warehouse
    if folder is None:
        return Finding(name=name, state="ok", found="a server of its own")
    # A folder that the first run will make must be one that it can make.
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        Path(tempfile.mkdtemp(prefix=".setpoint-probe-", dir=there)).rmdir()
    except OSError as error:
        return Finding(
            name=name,
            state="fault",
            found=f"{folder} cannot be written: {error.strerror}",
            next_step="check the folder's rights and the disk, or name another warehouse",
        )
    damage = _catalog_file(folder / "catalog.db") if catalog.type == "iceberg" else None
    if damage:
        return Finding(
            name=name,
            state="fault",
            found=damage,
            next_step="restore the file from a backup. The tables' own files are intact: in a new "
            "catalog, CALL system.register_table takes each table's newest metadata file",
        )
    free = shutil.disk_usage(there).free
    made = "" if folder.exists() else " (made by the first run)"
    found = f"{folder}{made}, {free / (1 << 30):,.1f} GiB free"
    if free < LITTLE_SPACE:
        return Finding(name=name, state="warning", found=found, next_step="free some disk space")
    return Finding(name=name, state="ok", found=found)


def _catalog_file(path: Path) -> str | None:
    """What is wrong with the embedded catalog's file, if anything is."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return f"{path} cannot be read: {error}"
    return None if said == "ok" else f"{path} is damaged: {said}"


def _connection(connection: ConnectionSettings) -> Finding:
    from setpoint.engine.spark.postgres.connection_check import connection_facts

    name = f"connection {connection.name}"
    try:
        facts = connection_facts(connection)
    except SetpointError as error:
        return _fault(name, error)
    fault = facts.fault()
    if fault:
        found = f"{facts.found}: {fault[0]}"
        return Finding(name=name, state="fault", found=found, next_step=fault[1])
    return Finding(name=name, state="ok", found=facts.found)


def _ledger(settings: Settings) -> Finding:
    try:
        with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
            windows = sum(entry.windows for entry in ledger.summary())
    except SetpointError as error:
        return _fault("ledger", error)
    return Finding(name="ledger", state="ok", found=f"{windows:,} windows recorded")


def _spark(settings: Settings, say: Callable[[str], None]) -> Iterator[Finding]:
    engine = spark_engine(settings, say=say)
    try:
        version = engine.version()
    except SetpointError as error:
        yield _fault("spark", error)
        return
    yield Finding(name="spark", state="ok", found=f"{version}, log in {engine.log}")
    for catalog in settings.catalogs:
        try:
            tables = engine.tables(catalog)
        except SetpointError as error:
            yield _fault(f"tables of {catalog}", error)
            continue
        broken = [finding for table in tables if (finding := _table(engine, table))]
        yield from broken
        if not broken:
            found = f"{len(tables)} tables, each can be read"
            yield Finding(name=f"tables of {catalog}", state="ok", found=found)
    yield from _history(settings, engine)


def _table(engine: SparkEngine, table: str) -> Finding | None:
    """What is wrong with a table, if it cannot be read."""
    try:
        engine.probe(table)
    except SetpointError as error:
        return _fault(f"table {table.replace('`', '')}", error)
    return None


def _history(settings: Settings, engine: SparkEngine) -> Iterator[Finding]:
    """Commits that came late, and what dead attempts have left."""
    try:
        project = open_project(settings.root)
        late = [
            (task, found)
            for task in project.graph.tasks.values()
            for found in engine.late_commits(task)
        ]
        left = leftovers(project, engine)
    except SetpointError as error:
        yield _fault("history", error)
        return
    for task, found in late:
        ds = found.commit.scope.partition("T")[0]
        dates = "" if found.commit.scope == WHOLE else f" --ds {ds}"
        yield Finding(
            name=f"late commit to {task.target}",
            state="fault",
            found=found.words,
            next_step=f"setpoint run --select {task.name}{dates} sets it again",
        )
    if left:
        yield Finding(
            name="left behind",
            state="warning",
            found=f"{len(left)} of dead attempts",
            next_step="setpoint clean lists them",
        )
    if not late:
        yield Finding(name="history", state="ok", found="no commit came late")


def _fault(name: str, error: SetpointError) -> Finding:
    return Finding(name=name, state="fault", found=error.message, next_step=error.next_step)
