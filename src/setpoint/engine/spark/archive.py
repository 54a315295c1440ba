"""A class-data archive of the JVM: classes parsed once, mapped at every later start.

The JVM writes the archive when it ends, after Python has gone, to a file of its own. The next start
that finds it complete takes it into use. Java ignores an archive that does not fit its class path.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from typing import TYPE_CHECKING

from setpoint.engine.spark.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from setpoint.engine.spark.java import Java

MAGIC = 4
PENDING = ".pending"
ABANDONED = 24 * 3600
"""Seconds after which nobody is taken to be still at work on an archive."""


def archive_options(java: Java, jars: Sequence[Path], spark_version: str) -> list[str]:
    """The JVM options that use the archive, or make one when there is none yet."""
    if os.environ.get("SETPOINT_CLASS_ARCHIVE") == "off":
        return []
    key = "\n".join([str(java.path), java.version, spark_version, *map(str, jars)])
    folder = cache_folder() / "classes"
    archive = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"
    quiet = ["-Xshare:auto", "-Xlog:disable", "-Xlog:all=off:stderr"]
    if archive.is_file() or _adopt_pending(archive):
        return [*quiet, f"-XX:SharedArchiveFile={archive}"]
    pending = folder / f"{archive.stem}.{secrets.token_hex(4)}{PENDING}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _being_made(archive):
            return []
        pending.touch()
    except OSError:  # a cache that cannot be written to is no reason not to run
        return []
    return [*quiet, f"-XX:ArchiveClassesAtExit={pending}"]


def _being_made(archive: Path) -> bool:
    """Whether another process is at work on it; what a killed one left behind is removed."""
    alive = False
    for pending in archive.parent.glob(f"{archive.stem}.*{PENDING}"):
        if time.time() - pending.stat().st_mtime > ABANDONED:
            pending.unlink()
        else:
            alive = True
    return alive


def _adopt_pending(archive: Path) -> bool:
    """Take a finished archive into use; the JVM writes the header last, so it tells."""
    for pending in archive.parent.glob(f"{archive.stem}.*{PENDING}"):
        try:
            with pending.open("rb") as file:
                finished = any(file.read(MAGIC))
            if finished:
                pending.replace(archive)
                return True
        except OSError:
            continue
    return False
