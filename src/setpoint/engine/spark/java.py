"""Finding Java, before Spark fails without it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from setpoint.errors import EnvironmentFault

OLDEST = 17
INSTALL = "install Java 17 or newer (e.g. apt install openjdk-17-jre-headless), or set JAVA_HOME"


@dataclass(frozen=True)
class Java:
    """The Java that Spark will start."""

    path: Path
    version: str

    @property
    def major(self) -> int:
        """The number people mean by "Java 17"."""
        digits = re.match(r"\d+", self.version)
        return int(digits[0]) if digits else 0


def find_java() -> Java:
    """The Java that Spark will use, or an error that says what to install."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        raise EnvironmentFault("Java is not installed, and Spark needs it.", next_step=INSTALL)
    try:
        shown = subprocess.run(
            [found, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        where = f"JAVA_HOME={home}" if home else found
        raise EnvironmentFault(f"{where} does not run: {error}", next_step=INSTALL) from None
    match = re.search(r'version "([^"]+)"', shown.stderr + shown.stdout)
    if match is None:
        raise EnvironmentFault(f"{found} does not tell its version", next_step=INSTALL)
    java = Java(path=Path(found), version=match[1])
    if java.major < OLDEST:
        raise EnvironmentFault(f"Java {java.version} at {found} is too old.", next_step=INSTALL)
    return java
