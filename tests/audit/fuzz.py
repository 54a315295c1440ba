"""Audits thousands of broken files: no crash, no hang, no file over two seconds.

    python -m tests.audit.fuzz [--count 10000] [--seed 1] [--seeds FOLDER]

The files are mutations of the labelled cases and of made-up pipelines. Prints the slowest file and
every fault; the exit code is 1 when there was one.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.audit_files import airflow_dag, dbt_model, pyspark_job, sql_script
from tests.audit.mutating import mutated

from setpoint.auditing.audit import judge, read_file
from setpoint.auditing.context import ProjectContext, build_context, wants_text
from setpoint.auditing.pool import read_all
from setpoint.auditing.reading import Job
from setpoint.auditing.source import NotText, decode
from setpoint.auditing.walk import SUFFIXES

if TYPE_CHECKING:
    from setpoint.auditing.facts import FileFacts

SLOWEST_ALLOWED = 2.0
ROUND = 500
# Listed as unread with a reason that says what is wrong with the file: that is the right answer.
ANSWERS = ("holds zero bytes", "is marked as", "nested too deeply")


def seeds_from(folder: Path) -> dict[str, str]:
    """The files to start from, by name."""
    chance = random.Random(3)
    found = {
        "models/made_up.sql": dbt_model(chance, 1),
        "sql/made_up.sql": sql_script(chance, 2),
        "dags/made_up.py": airflow_dag(chance, 3),
        "jobs/made_up.py": pyspark_job(chance, 4),
    }
    for place in sorted(folder.rglob("*")):
        if place.is_file() and place.name.lower().endswith(SUFFIXES):
            found[place.relative_to(folder).as_posix()] = place.read_text(
                encoding="utf-8", errors="replace"
            )
    return found


def timed_read(path: str, text: str, *, context: ProjectContext) -> tuple[float, FileFacts]:
    """The facts of a file, and the seconds of processor time that they took."""
    began = time.process_time()
    facts = read_file(path, text, context=context)
    return time.process_time() - began, facts


def fuzz(folder: Path, *, count: int, seed: int, processes: int) -> int:
    """Run; returns how many files went wrong."""
    seeds = seeds_from(folder)
    names, texts = list(seeds), list(seeds.values())
    chance = random.Random(seed)
    slowest, faults, unread, findings = (0.0, ""), 0, 0, 0
    for start in range(0, count, ROUND):
        with tempfile.TemporaryDirectory() as place:
            jobs = []
            for number in range(start, min(start + ROUND, count)):
                name = chance.choice(names)
                text = mutated(seeds[name], texts, chance)
                file = Path(place) / f"{number:06d}" / name
                file.parent.mkdir(parents=True)
                content = text.encode("utf-8", "surrogatepass")
                file.write_bytes(content)
                path = file.relative_to(place).as_posix()
                jobs.append(Job(path=path, place=file, size=len(content)))
            context = build_context(_settings(jobs), paths=[job.path for job in jobs])
            read = partial(timed_read, context=context)
            facts = []
            kept = {job.path: job.place for job in jobs}
            for done in read_all(jobs, read, processes=processes):
                if done.facts is None:
                    unread += 1
                    if not any(word in done.reason for word in ANSWERS):
                        faults += 1
                        _keep(kept[done.path], done.reason)
                    continue
                seconds, one = pickle.loads(done.facts)  # noqa: S301 - made by this run
                slowest = max(slowest, (seconds, done.path))
                if seconds > SLOWEST_ALLOWED:
                    faults += 1
                    _keep(kept[done.path], f"took {seconds:.1f} s")
                for spot in one.unparsed:
                    # A fault inside the reader that it caught itself is a fault all the same.
                    if (
                        spot.reason.startswith("could not be read")
                        and "Recursion" not in spot.reason
                    ):
                        faults += 1
                        _keep(kept[done.path], spot.reason)
                facts.append(one)
            findings += len(judge(facts, context).findings)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{start + ROUND:,} of {count:,}")
    print(  # noqa: T201 - a command's output
        f"{count} mutated files from {len(seeds)} seeds: {faults} faults, {findings} findings, "
        f"{unread} unreadable; slowest {slowest[0]:.2f} s of processor time ({slowest[1]})"
    )
    return faults


def _settings(jobs: list[Job]) -> dict[str, str]:
    texts = {}
    for job in jobs:
        if wants_text(job.path):
            try:
                texts[job.path] = decode(job.place.read_bytes()).text
            except NotText:
                continue
    return texts


def _keep(file: Path, reason: str) -> None:
    """Copy a file that went wrong to where it can be looked at."""
    folder = Path(tempfile.gettempdir()) / "setpoint-fuzz"
    folder.mkdir(exist_ok=True)
    kept = folder / f"{file.parts[-2]}-{file.name}"
    kept.write_bytes(file.read_bytes())
    print(f"{kept}: {reason}")  # noqa: T201 - a command's output


def main() -> None:
    """Read the options and run."""
    options = argparse.ArgumentParser(description="Audit mutated files.")
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seeds", type=Path, default=Path(__file__).parent / "cases")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    faults = fuzz(given.seeds, count=given.count, seed=given.seed, processes=given.jobs)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
