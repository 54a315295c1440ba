"""Which files an audit reads. Finding them opens none of them."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.auditing.finding import Unparsed
from setpoint.auditing.ignored import Ignores, git_top, ignores_above
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SUFFIXES = (
    ".sql", ".hql", ".ddl", ".sql.j2", ".sql.jinja", ".sql.jinja2", ".py", ".ipynb",
)  # fmt: skip

LARGEST = 1024 * 1024
# The outputs of a notebook's cells make it large without making it long to read.
LARGEST_NOTEBOOK = 16 * 1024 * 1024

_NOT_THEIRS = frozenset({
    ".git", ".hg", ".svn", "node_modules", "site-packages", ".venv", ".tox", ".nox", ".eggs",
    "__pycache__", "__pypackages__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".ipynb_checkpoints", "dbt_packages", "dbt_modules", ".setpoint",
})  # fmt: skip

IGNORED = "ignored by git"
FOREIGN = "in folders of dependencies or build results"
LINKED = "symbolic links"
TOO_LARGE = "too large"


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file that will be read."""

    path: str
    """Relative to the root, with forward slashes."""
    place: Path
    size: int


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The files of an audit, and what was left out."""

    root: Path
    files: tuple[FoundFile, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many, by reason. A folder that was not entered counts as one."""
    unread: tuple[Unparsed, ...] = ()
    settings: tuple[FoundFile, ...] = ()
    """Files that say how others are to be read, such as `dbt_project.yml`; some are in both."""


def choose_root(paths: Sequence[Path], *, working: Path) -> Path:
    """What paths are relative to.

    One folder is its own root. Several paths, or files, are relative to the working folder where
    that holds them all (as a pre-commit hook passes them), else to the folder that does.
    """
    places = [path.resolve() for path in paths]
    if len(places) == 1 and places[0].is_dir():
        return places[0]
    working = working.resolve()
    if all(place.is_relative_to(working) for place in places):
        return working
    folders = [str(place if place.is_dir() else place.parent) for place in places]
    return Path(os.path.commonpath(folders))


def walk(
    paths: Sequence[Path], *, working: Path, is_setting: Callable[[str], bool] = lambda _: False
) -> Tree:
    """Find the files under the paths, in a stable order, each once."""
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"There is no {path}.",
                next_step="setpoint audit PATH, with a file or folder that exists",
            )
    search = _Search(choose_root(paths, working=working), is_setting)
    for path in paths:
        place = path.resolve()
        if place.is_dir():
            search.enter(place)
        elif _concerns(place.name):
            search.take(place)
        else:
            search.refuse(place)
    for folder in dict.fromkeys(_project_above(path.resolve()) for path in paths):
        if folder is not None:
            search.look_around(folder)
    return search.tree()


def _project_above(place: Path) -> Path | None:
    """The dbt project that a path lies in, when that was not asked for itself."""
    top = git_top(place)
    for folder in place.parents[: None if top else _LEVELS]:
        if (folder / "dbt_project.yml").is_file():
            return folder
        if folder == top:
            break
    return None


# How far above a path its project may lie where no repository says where to stop.
_LEVELS = 4


class _Search:
    """The walk while it goes on."""

    def __init__(self, root: Path, is_setting: Callable[[str], bool]) -> None:
        self.root = root
        self.is_setting = is_setting
        self.files: dict[str, FoundFile] = {}
        self.settings: dict[str, FoundFile] = {}
        self.skipped: Counter[str] = Counter()
        self.unread: list[Unparsed] = []

    def tree(self) -> Tree:
        return Tree(
            root=self.root,
            files=tuple(self.files[path] for path in sorted(self.files)),
            skipped=dict(self.skipped),
            unread=tuple(sorted(self.unread, key=lambda item: item.path)),
            settings=tuple(self.settings[path] for path in sorted(self.settings)),
        )

    def look_around(self, project: Path) -> None:
        """Take the settings of a project, but none of its files.

        What lies above the root is named as if the root were the project: then its words about
        the project's folders still fit.
        """
        around = _Search(project, self.is_setting)
        around.enter(project)
        for found in around.settings.values():
            inside = found.place.is_relative_to(self.root)
            path = found.place.relative_to(self.root).as_posix() if inside else found.path
            self.settings.setdefault(path, replace(found, path=path))

    def enter(self, start: Path) -> None:
        top = git_top(start)
        ignores, below = ignores_above(start, top) if top else (Ignores(), "")
        pending = [(start, below, ignores)]
        while pending:
            place, folder, ignores = pending.pop()
            ignores = ignores.entering(place, folder)
            try:
                with os.scandir(place) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._unreadable(place, error)
                continue
            names = {entry.name for entry in listed}
            for entry in listed:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_symlink():
                    self.skipped[LINKED] += _concerns(entry.name) or entry.is_dir()
                elif entry.is_dir():
                    if _is_foreign(entry, beside=names):
                        # Git's own folder is nobody's pipeline: saying that it was left out
                        # would be noise.
                        self.skipped[FOREIGN] += entry.name != ".git"
                    elif ignores.ignored(path, folder=True):
                        self.skipped[IGNORED] += 1
                    else:
                        pending.append((Path(entry.path), path, ignores))
                elif entry.is_file():
                    self._meet(Path(entry.path), partial(ignores.ignored, path))

    def _meet(self, place: Path, is_ignored: Callable[[], bool]) -> None:
        path = place.relative_to(self.root).as_posix()
        is_setting = self.is_setting(path)
        if not is_setting and not _concerns(path):
            return
        if is_ignored():
            self.skipped[IGNORED] += _concerns(path)
            return
        if is_setting:
            with contextlib.suppress(OSError):
                size = place.stat().st_size
                if size <= LARGEST:
                    self.settings[path] = FoundFile(path=path, place=place, size=size)
        if _concerns(path):
            self.take(place)

    def take(self, place: Path) -> None:
        path = place.relative_to(self.root).as_posix()
        try:
            size = place.stat().st_size
        except OSError as error:
            self._unreadable(place, error)
            return
        limit = LARGEST_NOTEBOOK if path.endswith(".ipynb") else LARGEST
        if size > limit:
            self.skipped[TOO_LARGE] += 1
            mebibytes = f"{size / LARGEST:.1f} MiB"
            reason = f"is {mebibytes}; files over {limit // LARGEST} MiB are not read"
            self.unread.append(Unparsed(path=path, line=1, reason=reason))
            return
        self.files[path] = FoundFile(path=path, place=place, size=size)

    def refuse(self, place: Path) -> None:
        path = place.relative_to(self.root).as_posix()
        reason = f"is not one of the kinds that are read: {', '.join(SUFFIXES)}"
        self.unread.append(Unparsed(path=path, line=1, reason=reason))

    def _unreadable(self, place: Path, error: OSError) -> None:
        path = place.relative_to(self.root).as_posix()
        reason = f"cannot be opened: {error.strerror or error}"
        self.unread.append(Unparsed(path=path, line=1, reason=reason))


def _concerns(name: str) -> bool:
    """Whether a file by this name may hold a pipeline."""
    return name.lower().endswith(SUFFIXES)


def _is_foreign(entry: os.DirEntry[str], *, beside: set[str]) -> bool:
    """Whether a folder holds dependencies or build results, not somebody's pipelines."""
    if entry.name in _NOT_THEIRS:
        return True
    if entry.name == "target" and "dbt_project.yml" in beside:
        return True
    # A virtual environment under any name.
    return (Path(entry.path) / "pyvenv.cfg").is_file()
