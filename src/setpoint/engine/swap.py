"""Setting a part of a folder by renames, so that a crash between two of them can be finished.

The table's own folder holds its entries (partition folders, or files), and beside them `_setpoint`,
which readers of Hive-style tables skip:

    _setpoint/table.json      the columns
    _setpoint/staging/…       rows written aside, by run id and fence
    _setpoint/intent.json     a swap that has been decided; whoever finds it finishes it
    _setpoint/commits/…       one small file a commit, by number, run id and fence
    _setpoint/trash/…         what a swap moved out, until it is done

The decision falls when the intent's file appears. Until then nothing has happened; from then on
every process that opens the table first carries the swap through to its end.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from setpoint.errors import CommitConflict
from setpoint.failpoint import failpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from setpoint.engine.protocol import Token

OWN = "_setpoint"
HIDDEN = ("_", ".")


@dataclass(frozen=True, kw_only=True)
class Commit:
    """One swap: who did it, which entries went and came, and the rows that it counted."""

    number: int
    run_id: str
    fence: int
    scope: str | None
    removed: tuple[str, ...]
    brought: tuple[str, ...]
    rows: int
    replaced: int
    partitions: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The name under which its files are staged and moved out."""
        return f"{self.run_id}-{self.fence}"

    @property
    def file(self) -> str:
        """The name of its record."""
        return f"{self.number:010}-{self.place}.json"

    @classmethod
    def read(cls, path: Path) -> Commit:
        """Read a record back."""
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        kept |= {"removed": tuple(kept["removed"]), "brought": tuple(kept["brought"])}
        return cls(**kept)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The rows of a swap: new ones, by partition, and those that they replace."""

    rows: int
    replaced: int
    partitions: Mapping[str, int]


class SwapFolder:
    """The folder of one table."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.own = root / OWN

    def description(self) -> dict[str, Any] | None:
        """What was written down about the table; None when nothing was."""
        try:
            text = (self.own / "table.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        kept: dict[str, Any] = json.loads(text)
        return kept

    def describe(self, description: Mapping[str, Any]) -> None:
        """Write down what the table is, unless another process did so before."""
        with self._locked():
            if self.description() is None:
                _write(self.own / "table.json", description)

    def entries(self) -> list[str]:
        """What readers of the table see: partition folders, or files."""
        return _visible(self.root)

    def stage(self, token: Token) -> Path:
        """A place for the rows of an attempt; what older attempts of the run left is removed."""
        staging = self.own / "staging"
        if staging.is_dir():
            for left in staging.glob(f"{token.run_id}-*"):
                shutil.rmtree(left, ignore_errors=True)
        return staging / f"{token.run_id}-{token.fence}"

    def latest(self) -> int:
        """The number of the newest commit; 0 when there is none."""
        self.finish()
        return self._number()

    def commit_of(self, run_id: str) -> Commit | None:
        """The newest commit of a run."""
        self.finish()
        found = sorted((self.own / "commits").glob(f"*-{run_id}-*.json"))
        if not found:
            return None
        commit = Commit.read(found[-1])
        self._sweep(commit)
        return commit

    def highest_fence(self) -> int:
        """The highest fence among the commits; 0 when there is none."""
        self.finish()
        names = [path.stem for path in (self.own / "commits").glob("*.json")]
        return max((int(name.rpartition("-")[2]) for name in names), default=0)

    def swap(
        self,
        token: Token,
        *,
        scope: str | None,
        owned: Callable[[str], bool],
        base: int,
        counts: Counts,
        inputs: Mapping[str, str] | None = None,
    ) -> Commit:
        """Put the staged entries in place of the owned ones, unless those changed since `base`."""
        with self._locked():
            self._finish()
            self._refuse_stale(token, owned, base, scope)
            commit = Commit(
                number=self._number() + 1,
                run_id=token.run_id,
                fence=token.fence,
                scope=scope,
                removed=tuple(name for name in self.entries() if owned(name)),
                brought=tuple(_visible(self.own / "staging" / f"{token.run_id}-{token.fence}")),
                rows=counts.rows,
                replaced=counts.replaced,
                partitions=dict(counts.partitions),
                inputs=dict(inputs or {}),
            )
            failpoint("swap.decide.before")
            _write(self.own / "intent.json", asdict(commit))
            failpoint("swap.decide.after")
            self._carry_out(commit)
        return commit

    def finish(self) -> None:
        """Carry through a swap that a process left half done."""
        if (self.own / "intent.json").exists():
            with self._locked():
                self._finish()

    def _finish(self) -> None:
        intent = self.own / "intent.json"
        if intent.exists():
            self._carry_out(Commit.read(intent))

    def _carry_out(self, commit: Commit) -> None:
        staging = self.own / "staging" / commit.place
        trash = self.own / "trash" / commit.place
        trash.mkdir(parents=True, exist_ok=True)
        for name in commit.removed:
            # Still staged, or never to come: then what stands in place is the old one.
            waits = (staging / name).exists() or name not in commit.brought
            if waits and (self.root / name).exists():
                (self.root / name).rename(trash / name)
                failpoint("swap.move-out.after")
        for name in commit.brought:
            if (staging / name).exists():
                (staging / name).rename(self.root / name)
                failpoint("swap.move-in.after")
        _write(self.own / "commits" / commit.file, asdict(commit))
        failpoint("swap.record.after")
        (self.own / "intent.json").unlink()
        failpoint("swap.forget.after")
        self._sweep(commit)
        failpoint("swap.sweep.after")

    def _sweep(self, commit: Commit) -> None:
        """Remove what a swap that is done needed on its way."""
        for place in ("trash", "staging"):
            shutil.rmtree(self.own / place / commit.place, ignore_errors=True)

    def _refuse_stale(
        self, token: Token, owned: Callable[[str], bool], base: int, scope: str | None
    ) -> None:
        for path in sorted((self.own / "commits").glob("*.json")):
            number = int(path.name.partition("-")[0])
            same_run = f"-{token.run_id}-" in path.name
            if number <= base and not same_run:
                continue
            commit = Commit.read(path)
            # By its scope too: who set nothing over nothing has touched no folder.
            touched = commit.scope == scope or any(map(owned, (*commit.removed, *commit.brought)))
            if (same_run and commit.fence >= token.fence) or (number > base and touched):
                raise CommitConflict(
                    "another run wrote to the same scope meanwhile; nothing was committed",
                    facts={"found": f"commit {number} of run {commit.run_id}"},
                    next_step="run the same command again",
                )

    def _number(self) -> int:
        names = [path.name for path in (self.own / "commits").glob("*.json")]
        return max((int(name.partition("-")[0]) for name in names), default=0)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.own.mkdir(parents=True, exist_ok=True)
        with (self.own / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _visible(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith(HIDDEN))


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Let a file appear whole, and stay after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
