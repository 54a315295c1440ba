"""The tests as `make test` runs them: the pure ones, then Spark and real processes side by side.

Most of what Spark and processes do is wait for each other; in turns they would take twice as long.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent
ON_SPARK = ("spark",)
PROCESSES = ("process", "shop", "crash")


def main() -> int:
    """Run all tests with the given arguments; the worst exit code of the parts."""
    arguments = sys.argv[1:]
    slow = [str(TESTS / name) for name in (*ON_SPARK, *PROCESSES)]
    ignored = [f"--ignore={folder}" for folder in slow]
    code = subprocess.call(_pytest([*ignored, str(TESTS), *arguments]))
    if code:
        return code
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
        beside = subprocess.Popen(
            _pytest([*_folders(PROCESSES), *arguments]), stdout=kept, stderr=subprocess.STDOUT
        )
        try:
            code = subprocess.call(_pytest([*_folders(ON_SPARK), *arguments]))
            other = beside.wait()
        finally:
            beside.terminate()
        kept.seek(0)
        took = f"Spark and processes: {time.monotonic() - begun:.0f} s side by side"
        sys.stdout.write(f"\n{kept.read()}\n{took}\n")
    return code or other


def _folders(names: tuple[str, ...]) -> list[str]:
    return [str(TESTS / name) for name in names]


def _pytest(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", *arguments]


if __name__ == "__main__":
    sys.exit(main())
