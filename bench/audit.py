"""How long an audit of a thousand files takes, cold and again, and how much memory.

    python -m bench.audit [--files 1000] [--jobs N]

Prints JSON lines, then a table. Seconds are of the clock; on a machine that others use as well, the
processor's seconds say more. Memory is the largest sum, over the command and its processes, of
the memory that is their own share (PSS), looked at every few milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.audit_files import write_files

LOOK_EVERY = 0.02
COMMAND = "from setpoint.cli.app import main; main()"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description="Measure setpoint audit.")
    options.add_argument("--files", type=int, default=1000)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repository, cache = Path(folder) / "repository", Path(folder) / "cache"
        size = write_files(repository, count=given.files)
        lines = sum(len(p.read_text().splitlines()) for p in repository.rglob("*.*") if p.is_file())
        figures = []
        for name, changed in (("cold", 0), ("second", 0), ("ten files changed", 10)):
            for place in sorted(repository.rglob("*.sql"))[:changed]:
                place.write_text(place.read_text() + "\n-- changed\n")
            before = processor_seconds()
            seconds, memory, findings = measure(repository, cache, given.jobs)
            figures.append(
                {
                    "run": name,
                    "files": given.files,
                    "lines": lines,
                    "megabytes": round(size / 1e6, 1),
                    "jobs": given.jobs,
                    "seconds": round(seconds, 2),
                    "processor_seconds": round(processor_seconds() - before, 2),
                    "peak_memory_mb": round(memory / 1e6),
                    "findings": findings,
                }
            )
    for figure in figures:
        print(json.dumps(figure))
    print()
    names = ("run", "seconds", "processor_seconds", "peak_memory_mb", "findings")
    print("".join(f"{name.replace('_', ' '):<20}" for name in names))
    for figure in figures:
        print("".join(f"{figure[name]!s:<20}" for name in names))


def processor_seconds() -> float:
    """What the commands that have ended so far used, all their processes together."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(repository: Path, cache: Path, jobs: int) -> tuple[float, int, int]:
    """Run the command once; seconds, peak bytes, findings."""
    began = time.perf_counter()
    command = [sys.executable, "-c", COMMAND, "audit", str(repository)]
    with tempfile.TemporaryFile("w+") as shown:
        process = subprocess.Popen(
            [*command, "--output", "json", "--fail-on", "never", "--jobs", str(jobs)],
            stdout=shown,
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        )
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(own_share(pid) for pid in family(process.pid)))
            time.sleep(LOOK_EVERY)
        seconds = time.perf_counter() - began
        if process.returncode:
            sys.exit(f"setpoint audit ended with {process.returncode}")
        shown.seek(0)
        return seconds, peak, len(json.load(shown)["findings"])


def family(pid: int) -> list[int]:
    """A process and those below it."""
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        found.append(one)
        try:
            for place in Path(f"/proc/{one}/task").iterdir():
                pending += [int(word) for word in (place / "children").read_text().split()]
        except OSError:
            continue
    return found


def own_share(pid: int) -> int:
    """Bytes of memory, shared pages divided among those who share them."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    main()
