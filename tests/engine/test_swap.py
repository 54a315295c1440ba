"""Folders are swapped by renames; a crash between any two of them is finished by the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from setpoint.engine.protocol import Token
from setpoint.engine.swap import Counts, SwapFolder
from setpoint.errors import CommitConflict
from setpoint.failpoint import VARIABLE

COUNTS = Counts(rows=1, replaced=1, partitions={})


class Died(BaseException):
    """The process is gone; nothing after this line runs."""


def _put(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{text}.parquet").write_text(text)


def _content(table: SwapFolder) -> dict[str, list[str]]:
    return {
        name: sorted(file.read_text() for file in (table.root / name).iterdir())
        for name in table.entries()
    }


def _begun(root: Path) -> SwapFolder:
    """A table of three days, and a new attempt staged: one day changed, one gone, one new."""
    table = SwapFolder(root)
    for day in ("d=1", "d=2", "d=9"):
        _put(root / day, "old")
    staged = table.stage(Token(run_id="run", fence=2))
    _put(staged, "_SUCCESS")
    _put(staged / "d=1", "new")
    _put(staged / "d=3", "new")
    return table


def _owned(name: str) -> bool:
    return name in ("d=1", "d=2", "d=3")


def _swap(table: SwapFolder, *, fence: int = 2, run: str = "run", base: int = 0) -> None:
    token = Token(run_id=run, fence=fence)
    table.swap(token, scope="d < 9", owned=_owned, base=base, counts=COUNTS)


ATTEMPT = """\
import os, signal, sys
from pathlib import Path
from setpoint.engine.protocol import Token
from setpoint.engine.swap import Counts, SwapFolder
table, token = SwapFolder(Path(sys.argv[1])), Token(run_id="run", fence=1)
aside = table.stage(token)
for name in ("d=2", "d=3"):
    (aside / name).mkdir(parents=True, exist_ok=True)
    (aside / name / "dead.parquet").write_text("dead")
    if sys.argv[2] == "files":             # one of two is written
        os.kill(os.getpid(), signal.SIGKILL)
table.swap(token, scope="d < 9", owned={"d=1", "d=2", "d=3"}.__contains__, base=0,
           counts=Counts(rows=2, replaced=2, partitions={}))
"""


def _killed(root: Path, where: str, traps: str = "") -> None:
    """Let a process die in an attempt of its own: while it writes, or at a failpoint."""
    environment = {**os.environ, VARIABLE: traps}
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPT, str(root), where], env=environment, check=False
    )
    assert done.returncode == -signal.SIGKILL


AFTER = {"d=1": ["new"], "d=3": ["new"], "d=9": ["old"]}
BEFORE = {"d=1": ["old"], "d=2": ["old"], "d=9": ["old"]}


def test_a_swap_changes_the_owned_entries_only(tmp_path: Path) -> None:
    """Changed, gone and new folders are swapped; a neighbour stays; nothing is left behind."""
    table = _begun(tmp_path)
    _swap(table)
    assert _content(table) == AFTER
    commit = table.commit_of("run")
    assert commit is not None
    assert (commit.number, commit.fence, commit.brought) == (1, 2, ("d=1", "d=3"))
    assert sorted(p.name for p in table.own.iterdir()) == ["commits", "lock", "staging", "trash"]
    assert not list((table.own / "staging").iterdir())
    assert not list((table.own / "trash").iterdir())


@pytest.mark.parametrize(
    ("where", "traps"), [("files", ""), ("swap", "swap.decide.before:kill")], ids=["2", "3"]
)
def test_scenarios_2_and_3_files_of_a_dead_attempt_are_nobodys(
    tmp_path: Path, where: str, traps: str
) -> None:
    """Scenarios 2 and 3: killed while it writes files, or before the commit: as if it never was."""
    for day in BEFORE:
        _put(tmp_path / day, "old")
    _killed(tmp_path, where, traps)
    table = SwapFolder(tmp_path)
    assert _content(table) == BEFORE
    assert table.commit_of("run") is None  # or the next attempt would adopt what is not there
    _begun(tmp_path)
    _swap(table)
    assert _content(table) == AFTER
    assert not list((table.own / "staging").iterdir())


@pytest.mark.parametrize("step", range(12))
@pytest.mark.parametrize("again", [None, 0, 1, 2])
def test_scenario_7_a_crash_between_any_two_renames_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, again: int | None
) -> None:
    """Died before the decision: as before. Died after it, and even while finishing: as decided."""
    table = _begun(tmp_path)
    original = Path.rename

    def dying(after: int) -> None:
        left = [after]

        def rename(self: Path, target: Path) -> Any:
            if left[0] == 0:
                raise Died
            left[0] -= 1
            return original(self, target)

        monkeypatch.setattr(Path, "rename", rename)

    dying(step)
    died = False
    try:
        _swap(table)
    except Died:
        died = True
    decided = step >= 1
    if again is not None:
        dying(again)
        try:
            SwapFolder(tmp_path).finish()
        except Died:
            died = True
    monkeypatch.setattr(Path, "rename", original)
    found = SwapFolder(tmp_path).commit_of("run")
    assert (found is not None) is decided
    assert _content(table) == (AFTER if decided else BEFORE)
    assert died or step >= 6
    assert not (table.own / "intent.json").exists()


def test_an_older_attempt_of_a_run_is_fenced_off(tmp_path: Path) -> None:
    """A process that wakes late finds a commit of its run with a newer fence, and stops."""
    table = _begun(tmp_path)
    _swap(table)
    with pytest.raises(CommitConflict):
        _swap(table, fence=1, base=1)
    assert _content(table) == AFTER


def test_a_stale_base_is_refused_for_the_same_folders_only(tmp_path: Path) -> None:
    """Another run wrote meanwhile: a conflict where the folders meet, and none elsewhere."""
    table = _begun(tmp_path)
    _swap(table)
    with pytest.raises(CommitConflict, match="same scope"):
        _swap(table, run="other", fence=5, base=0)
    token = Token(run_id="other", fence=6)
    _put(table.stage(token) / "d=9", "new")
    table.swap(token, scope="d = 9", owned=lambda name: name == "d=9", base=0, counts=COUNTS)
    assert _content(table) == {**AFTER, "d=9": ["new"]}


def test_scenario_14_nothing_over_nothing_is_a_conflict_too(tmp_path: Path) -> None:
    """Another run set the same scope, empty over empty: no folder tells, the record does."""
    table = SwapFolder(tmp_path)
    table.swap(Token(run_id="new", fence=9), scope="d < 9", owned=_owned, base=0, counts=COUNTS)
    _put(table.stage(Token(run_id="old", fence=8)) / "d=1", "late")
    with pytest.raises(CommitConflict, match="same scope"):
        _swap(table, run="old", fence=8)
    assert _content(table) == {}


def test_scenario_4_what_a_finished_swap_left_is_swept_when_it_is_adopted(tmp_path: Path) -> None:
    """Killed after the swap was done and before its folders were gone."""
    table = _begun(tmp_path)
    _swap(table)
    for place in ("trash", "staging"):
        _put(table.own / place / "run-2", "left")
    assert table.commit_of("run") is not None
    assert not list((table.own / "trash").iterdir())
    assert not list((table.own / "staging").iterdir())


def test_two_swaps_at_once_take_turns(tmp_path: Path) -> None:
    """Threads on windows of their own: both are done, and the numbers tell their order."""
    table = SwapFolder(tmp_path)
    faults: list[BaseException] = []

    def set_day(number: int) -> None:
        mine = SwapFolder(tmp_path)
        token = Token(run_id=f"run{number}", fence=number)
        _put(mine.stage(token) / f"d={number}", "new")
        try:
            day = f"d={number}"
            mine.swap(token, scope=day, owned=lambda name: name == day, base=0, counts=COUNTS)
        except BaseException as error:  # noqa: BLE001 — shown by the test
            faults.append(error)

    threads = [threading.Thread(target=set_day, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert table.latest() == 8
    assert set(_content(table)) == {f"d={number}" for number in range(1, 9)}


def test_what_a_dead_attempt_staged_is_removed_by_the_next(tmp_path: Path) -> None:
    """A2: no trace of the dead attempt; other runs' staging is left alone."""
    table = SwapFolder(tmp_path)
    _put(table.stage(Token(run_id="run", fence=1)), "half")
    _put(table.stage(Token(run_id="other", fence=1)), "busy")
    table.stage(Token(run_id="run", fence=2))
    assert [path.name for path in (table.own / "staging").iterdir()] == ["other-1"]
