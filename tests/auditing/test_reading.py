from __future__ import annotations

import os
import pickle
import signal
import time
from typing import TYPE_CHECKING

import pytest

from setpoint.auditing.pool import read_all
from setpoint.auditing.reading import Job, read_one

if TYPE_CHECKING:
    from pathlib import Path


def reader(path: str, text: str) -> str:
    """A reader with every fault that a reader may have."""
    if "spin" in path:
        while True:
            try:
                sum(range(1000))
            except Exception:  # noqa: BLE001, S112 - generous on purpose
                continue
    if "busy" in path:
        # As in compiled code: the signal that would become an exception is not seen.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGVTALRM})
        while True:
            sum(range(1000))
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


def jobs(folder: Path, *names: str, size: int = 5) -> list[Job]:
    """Files with these names."""
    for name in names:
        (folder / name).write_text(name[:5].ljust(size, "."))
    return [Job(path=name, place=folder / name, size=size) for name in names]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spin", "takes longer than 0.2 s"),
        ("raise", "cannot be read: ValueError: odd file"),
        ("deep", "nested too deeply"),
    ],
)
def test_a_fault_of_the_reader_becomes_a_reason(tmp_path: Path, name: str, reason: str) -> None:
    """A slow, failing or bottomless file is named with its reason and ends nothing."""
    done = read_one(jobs(tmp_path, name)[0], reader, limit=0.2)
    assert done.facts is None
    assert reason in done.reason


def test_a_file_that_is_gone_or_no_text_becomes_a_reason(tmp_path: Path) -> None:
    """What happens to a file between the walk and the reading is told."""
    gone, binary = jobs(tmp_path, "gone", "binary")
    gone.place.unlink()
    binary.place.write_bytes(b"\0")
    assert "No such file" in read_one(gone, reader).reason
    assert "zero bytes" in read_one(binary, reader).reason


def test_few_files_are_read_in_this_process(tmp_path: Path) -> None:
    """No process is started for a handful of small files."""
    mine = os.getpid()
    done = list(read_all(jobs(tmp_path, "a", "b"), lambda *_: os.getpid(), processes=4))
    assert [pickle.loads(item.facts or b"") for item in done] == [mine, mine]  # noqa: S301


@pytest.mark.process
def test_a_worker_that_dies_or_hangs_costs_one_file(tmp_path: Path) -> None:
    """Every file has an answer, and only the faulty ones have a reason."""
    names = [f"{number:05d}" for number in range(60)]
    names[3], names[30], names[31], names[50], names[59] = (
        "die-a", "hang", "die-b", "busy", "raise",
    )  # fmt: skip
    files = jobs(tmp_path, *names, size=2000)
    done = list(read_all(files, reader, processes=2, limit=0.2, hard_limit=4.0))
    assert sorted(item.path for item in done) == sorted(names)
    failed = {item.path: item.reason for item in done if item.facts is None}
    assert set(failed) == {"die-a", "hang", "die-b", "busy", "raise"}
    assert failed["hang"] == "takes longer than 4 s to read"
    assert failed["busy"].startswith("takes longer than")
    assert failed["die-a"] == "ended the process that read it"
