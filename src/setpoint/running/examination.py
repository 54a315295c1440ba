"""Examining what Setpoint stands on: each part checked, none assumed."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Literal

from setpoint.errors import SetpointError
from setpoint.ledger.opening import open_ledger
from setpoint.project.project import open_settings
from setpoint.running.project_run import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from setpoint.model.settings import CatalogSettings, Settings

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
    if folder is None or not folder.exists():
        return Finding(name=name, state="ok", found=f"{folder} (made by the first run)")
    try:
        probe = folder / ".setpoint-probe"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        return Finding(
            name=name,
            state="fault",
            found=f"{folder} cannot be written: {error.strerror}",
            next_step="check the folder's rights and the disk",
        )
    free = shutil.disk_usage(folder).free
    found = f"{folder}, {free / (1 << 30):,.1f} GiB free"
    if free < LITTLE_SPACE:
        return Finding(name=name, state="warning", found=found, next_step="free some disk space")
    return Finding(name=name, state="ok", found=found)


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
        yield Finding(name=f"tables of {catalog}", state="ok", found=f"{len(tables)} tables")


def _fault(name: str, error: SetpointError) -> Finding:
    return Finding(name=name, state="fault", found=error.message, next_step=error.next_step)
