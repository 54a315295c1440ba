"""Jars: resolved once with Spark's own resolver, then kept and put on the class path.

`spark.jars.packages` would resolve at each start, which costs over a second and thirty lines.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.engine.spark.cache import cache_folder
from setpoint.errors import EnvironmentFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.model.settings import Settings

ICEBERG = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "org.xerial:sqlite-jdbc:3.50.3.0",
)
POSTGRES = ("org.postgresql:postgresql:42.7.8",)
# 4.1.0 fails on Spark 4.1.4 once a table has a checkpoint: it calls a constructor that is gone.
DELTA = ("io.delta:delta-spark_4.1_2.13:4.4.0",)
VERSION = re.compile(r"-\d[^/]*\.jar\Z")
TIMEOUT = 600


def project_packages(settings: Settings) -> tuple[str, ...]:
    """The packages that a project needs, by the kinds of its catalogs and connections."""
    delta = any(catalog.type == "delta" for catalog in settings.catalogs.values())
    kinds = (*(DELTA if delta else ()), *(POSTGRES if settings.connections else ()))
    return (*ICEBERG, *kinds, *settings.spark.packages)


def jar_folder(packages: Sequence[str]) -> Path:
    """The folder that holds, or will hold, the jars of these packages."""
    name = hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:16]
    return cache_folder() / "jars" / name


def cached_jars(packages: Sequence[str]) -> list[Path] | None:
    """The jars of these packages if they were resolved before."""
    folder = jar_folder(packages)
    return _beyond_spark(folder) if folder.is_dir() else None


def resolve_jars(packages: Sequence[str], *, say: Callable[[str], None]) -> list[Path]:
    """The jars of these packages, downloaded if this is the first time."""
    if not packages:
        return []
    known = cached_jars(packages)
    if known is not None:
        return known
    say("Downloading jars for Spark (once): " + ", ".join(p.split(":")[1] for p in packages))
    folder = jar_folder(packages)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        _download(packages, Path(scratch))
        try:
            (Path(scratch) / "jars").rename(folder)
        except OSError:  # another process was first; its jars are the same
            if not folder.is_dir():
                raise
    return _beyond_spark(folder)


def _beyond_spark(folder: Path) -> list[Path]:
    """The jars of a folder that Spark does not bring itself, in the version it was built with."""
    import pyspark

    own = {_artifact(jar) for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    # The resolver puts the group before the artifact: group_artifact-version.jar
    jars = sorted(folder.glob("*.jar"))
    return [jar for jar in jars if _artifact(jar).partition("_")[2] not in own]


def _artifact(jar: Path) -> str:
    return VERSION.sub("", jar.name)


def _download(packages: Sequence[str], scratch: Path) -> None:
    """Let spark-submit resolve the packages around a program that does nothing."""
    program = scratch / "nothing.py"
    program.write_text("")
    submit = _spark_submit()
    command = [
        *submit,
        "--packages",
        ",".join(packages),
        "--conf",
        f"spark.jars.ivy={scratch}",
        str(program),
    ]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unresolved(packages, str(error)) from None
    if done.returncode or not list((scratch / "jars").glob("*.jar")):
        missing = [line.strip() for line in done.stderr.splitlines() if "not found" in line]
        raise _unresolved(packages, "; ".join(missing[:3]) or "the resolver gave no reason")


def _spark_submit() -> list[str]:
    import pyspark

    found = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    if found.is_file():
        return [str(found)]
    on_path = shutil.which("spark-submit")
    if on_path:
        return [on_path]
    raise EnvironmentFault("spark-submit was not found", next_step='pip install "setpoint[spark]"')


def _unresolved(packages: Sequence[str], reason: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"the jars {', '.join(packages)} could not be downloaded: {reason}",
        next_step="check that this machine reaches Maven Central, then run the command again; "
        "or put the jars into " + str(jar_folder(packages)),
    )
