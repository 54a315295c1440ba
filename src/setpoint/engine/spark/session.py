"""The Spark session of a project: embedded, on a cluster's master, or through Connect."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyspark
from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from setpoint.engine.spark.archive import archive_options
from setpoint.engine.spark.jars import project_packages, resolve_jars
from setpoint.engine.spark.java import find_java
from setpoint.errors import EnvironmentFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setpoint.model.settings import CatalogSettings, Settings

EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
DELTA_EXTENSIONS = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CONF = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # A table's log is read by this many tasks; fifty, the default, are slow on one machine.
    "spark.databricks.delta.snapshotPartitions": "2",
}
# Delta's parser drops the values of named parameters, unless Spark binds them after parsing.
DELTA_PARSER_CONF = {"spark.sql.legacy.parameterSubstitution.constantsOnly": "true"}
# They print JSON to standard error for exceptions that are raised, and shown, anyway.
# py4j's own connection says so by an error with a stack when Ctrl-C closes it in mid-sentence.
CHATTY = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j.clientserver")
# By default a plan shows 25 fields of a row: a clock in the 26th column would not be seen.
PLANS = {"spark.sql.debug.maxToStringFields": "1000000"}
BRIDGE_FILE = "java_gateway.py"
# Java takes an archive only for the paths it was made with: each environment has its own.
SPARK_FOLDER = Path(pyspark.__file__).parent
BUSY_MILLISECONDS = 60_000


def open_session(settings: Settings, *, say: Callable[[str], None]) -> tuple[SparkSession, Path]:
    """A session with the project's catalogs, and the file that Spark logs to."""
    log = new_log(settings)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_the_bridge)
    if not settings.spark.remote:
        for catalog in settings.catalogs.values():
            if catalog.warehouse is not None:
                _make_folder(catalog.warehouse)
    active = SparkSession.getActiveSession()
    if active is not None:
        spark = active.newSession()
        known = spark.conf.get("spark.sql.extensions", None) or ""
        if _has_delta(settings) and DELTA_EXTENSIONS not in known:
            raise EnvironmentFault(
                "this Spark was started without Delta, which a catalog of setpoint.toml needs",
                next_step=f"start it with spark.sql.extensions={DELTA_EXTENSIONS}",
            )
        parser = DELTA_PARSER_CONF if DELTA_EXTENSIONS in known else {}
        conf = {**parser, **catalog_conf(settings), **PLANS, **settings.spark.conf}
        for key, value in conf.items():
            spark.conf.set(key, value)
        for key, value in PLANS.items():  # Spark prints with the settings of the active session
            active.conf.set(key, value)
    elif settings.spark.remote:
        spark = _connect(settings)
    else:
        spark = _classic(settings, log, say)
    return spark, log


def twin_session(spark: SparkSession, settings: Settings) -> SparkSession:
    """A session beside another one, on the same Spark, with the project's catalogs."""
    if settings.spark.remote:
        builder = SparkSession.builder.remote(settings.spark.remote)
        made = builder.config(map={**PLANS, **catalog_conf(settings), **settings.spark.conf})
        return cast("SparkSession", made.create())
    twin = spark.newSession()
    known = spark.conf.get("spark.sql.extensions", None) or ""
    parser = DELTA_PARSER_CONF if DELTA_EXTENSIONS in known else {}
    own = {**parser, **catalog_conf(settings), **PLANS, **settings.spark.conf}
    for key, value in own.items():
        if twin.conf.isModifiable(key) or key.startswith("spark.sql.catalog."):
            twin.conf.set(key, value)
    return twin


def new_log(settings: Settings) -> Path:
    """A log file of this process."""
    folder = settings.state / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(
            f"{folder} cannot be made: {error.strerror}",
            next_step="check the disk and the folder's rights",
        ) from None
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S")
    return folder / f"spark-{stamp}-{os.getpid()}.log"


def catalog_conf(settings: Settings) -> dict[str, str]:
    """The Spark settings of the project's catalogs."""
    conf: dict[str, str] = {}
    for catalog in settings.catalogs.values():
        if catalog.type == "delta":
            conf |= DELTA_CONF | DELTA_PARSER_CONF
        if catalog.type != "iceberg":
            continue
        prefix = f"spark.sql.catalog.{catalog.name}"
        conf[prefix] = SPARK_CATALOG
        # A cached table would hide what other processes have committed meanwhile.
        conf[f"{prefix}.cache-enabled"] = "false"
        conf |= {f"{prefix}.{key}": value for key, value in _catalog_options(catalog).items()}
    return conf


def _catalog_options(catalog: CatalogSettings) -> dict[str, str]:
    if catalog.warehouse is None:
        return dict(catalog.conf)
    return {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{catalog.warehouse / 'catalog.db'}?busy_timeout={BUSY_MILLISECONDS}",
        "jdbc.schema-version": "V1",
        "warehouse": str(catalog.warehouse),
        **catalog.conf,
    }


def _has_delta(settings: Settings) -> bool:
    return any(catalog.type == "delta" for catalog in settings.catalogs.values())


def _connect(settings: Settings) -> SparkSession:
    remote = settings.spark.remote or ""
    try:
        builder = SparkSession.builder.remote(remote)
        return builder.config(
            map={**PLANS, **catalog_conf(settings), **settings.spark.conf}
        ).getOrCreate()
    except Exception as error:  # noqa: BLE001 — Spark's launcher raises many kinds
        raise EnvironmentFault(
            f"the Spark server {remote.split(';')[0]} does not answer: {error}",
            next_step="check spark.remote in setpoint.toml and that the server runs",
        ) from None


def _classic(settings: Settings, log: Path, say: Callable[[str], None]) -> SparkSession:
    java = find_java()
    jars = resolve_jars(project_packages(settings), say=say)
    master = settings.spark.master or "local[*]"
    options = [
        f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
        f"-Dsetpoint.log={log}",
        *archive_options(java, jars, f"{spark_version} in {SPARK_FOLDER}"),
    ]
    conf: dict[str, bool | float | int | str | None] = {
        "spark.app.name": f"setpoint {settings.name}",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": ",".join(
            [EXTENSIONS, DELTA_EXTENSIONS] if _has_delta(settings) else [EXTENSIONS]
        ),
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": " ".join(f'"{option}"' for option in options),
        **PLANS,
        **catalog_conf(settings),
        **_local_conf(master, jars),
        **settings.spark.conf,
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with _stderr_to(log), _own_interrupt():
            return SparkSession.builder.config(map=conf).getOrCreate()
    except Exception as error:  # noqa: BLE001 — Spark's launcher raises many kinds
        raise EnvironmentFault(
            f"Spark did not start: {str(error).splitlines()[0]}",
            next_step=f"setpoint doctor; Spark's own words are in {log}",
        ) from None


def _local_conf(master: str, jars: list[Path]) -> dict[str, str]:
    if not master.startswith("local"):
        return {"spark.jars": ",".join(map(str, jars))}
    cores = os.cpu_count() or 1
    return {
        "spark.driver.memory": _driver_memory(),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(max(4, 2 * cores)),
    }


def _driver_memory() -> str:
    """A quarter of the machine, from 1 to 8 GiB; Spark's own default is 1 whatever there is."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return "1g"
    return f"{min(8, max(1, pages * size // (4 << 30)))}g"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(
            f"the warehouse {folder} cannot be made: {error.strerror}",
            next_step="check the disk, or set another warehouse in setpoint.toml",
        ) from None


def _not_of_the_bridge(record: logging.LogRecord) -> bool:
    """Leave out the stacks that py4j logs by the root logger for errors that it raises anyway."""
    return Path(record.pathname).name != BRIDGE_FILE


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep Ctrl-C as it was: Spark's own handler talks to the JVM in the middle of another talk.

    What came of that were stacks on the terminal and an error that blamed the task.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Spark sets its handler in the main thread only
        return
    kept = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Let the JVM that starts meanwhile inherit the log as its standard error."""
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
