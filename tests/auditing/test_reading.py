from __future__ import annotations

import os
import pickle
import signal
import time

import pytest

from setpoint.auditing.pool import read_all
from setpoint.auditing.reading import Job, read_one


def reader(path: str, text: str) -> str:
    """A reader with every fault that a reader may have."""
    if "spin" in path:
        while True:
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001, S112, PERF203 - generous on purpose
                continue
    if "raise" in path:
        raise ValueError("odd\nfile")
    if "deep" in path:
        return reader(path, text)
    if "die" in path:
        os.kill(os.getpid(), signal.SIGKILL)
    if "hang" in path:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGVTALRM})
        time.sleep(60)
    return text[:5]


def jobs(*names: str, size: int = 5) -> list[Job]:
    """Files with these names."""
    return [Job(path=name, text=name[:5].ljust(size, ".")) for name in names]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spin", "takes longer than 0.2 s"),
        ("raise", "cannot be read: ValueError: odd file"),
        ("deep", "nested too deeply"),
    ],
)
def test_a_fault_of_the_reader_becomes_a_reason(name: str, reason: str) -> None:
    """A slow, failing or bottomless file is named with its reason and ends nothing."""
    done = read_one(jobs(name)[0], reader, limit=0.2)
    assert done.facts is None
    assert reason in done.reason


def test_few_files_are_read_in_this_process() -> None:
    """No process is started for a handful of small files."""
    mine = os.getpid()
    done = list(read_all(jobs("a", "b"), lambda *_: os.getpid(), processes=4))
    assert [pickle.loads(item.facts or b"") for item in done] == [mine, mine]  # noqa: S301


@pytest.mark.process
def test_a_worker_that_dies_or_hangs_costs_one_file() -> None:
    """Every file has an answer, and only the faulty ones have a reason."""
    names = [f"{number:05d}" for number in range(60)]
    names[3], names[30], names[31], names[59] = "die-a", "hang", "die-b", "raise"
    done = list(read_all(jobs(*names, size=2000), reader, processes=2, hard_limit=1.0))
    assert sorted(item.path for item in done) == sorted(names)
    failed = {item.path: item.reason for item in done if item.facts is None}
    assert set(failed) == {"die-a", "hang", "die-b", "raise"}
    assert failed["hang"] == "takes longer than 1 s to read"
    assert failed["die-a"] == "ended the process that read it"
