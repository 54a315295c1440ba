"""What git ignores, read from the ignore files alone.

Git itself is not asked: a repository's own settings can make git start programs, and an audit
must run nothing of what it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pathspec


@dataclass(frozen=True, kw_only=True)
class IgnoreFile:
    """The patterns of one ignore file and the folder that they speak of."""

    folder: str
    """Relative to the top, with forward slashes; empty for the top itself."""
    patterns: pathspec.GitIgnoreSpec

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether the path is ignored; None when no pattern speaks of it."""
        if self.folder:
            if not path.startswith(self.folder + "/"):
                return None
            path = path[len(self.folder) + 1 :]
        return self.patterns.check_file(path + "/" if folder else path).include


@dataclass(frozen=True, kw_only=True)
class Ignores:
    """The ignore files that hold for a folder, outermost first."""

    files: tuple[IgnoreFile, ...] = ()

    def ignored(self, path: str, *, folder: bool = False) -> bool:
        """Whether git ignores the path; the innermost file that speaks decides."""
        for file in reversed(self.files):
            verdict = file.verdict(path, folder=folder)
            if verdict is not None:
                return verdict
        return False

    def entering(self, place: Path, folder: str) -> Ignores:
        """With the ignore file of this folder, if it has one."""
        file = read_ignore_file(place / ".gitignore", folder)
        return Ignores(files=(*self.files, file)) if file else self


def read_ignore_file(place: Path, folder: str) -> IgnoreFile | None:
    """The patterns of an ignore file; None when there is none that can be read."""
    try:
        if place.is_symlink() or not place.is_file():
            return None
        lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    kept = [line for line in lines if _usable(line)]
    return IgnoreFile(folder=folder, patterns=pathspec.GitIgnoreSpec.from_lines(kept))


def _usable(line: str) -> bool:
    """A pattern that git would reject ignores nothing; it must not end the audit."""
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def git_top(root: Path) -> Path | None:
    """The top folder of the work tree that holds the root."""
    return next((place for place in (root, *root.parents) if (place / ".git").exists()), None)


def ignores_above(root: Path, top: Path) -> tuple[Ignores, str]:
    """What the folders above the root ignore in it, and the root's path below the top.

    A root that is itself ignored was asked for by name: nothing above it counts then.
    """
    below = root.relative_to(top).as_posix()
    if below == ".":
        exclude = read_ignore_file(top / ".git" / "info" / "exclude", "")
        return Ignores(files=(exclude,) if exclude else ()), ""
    ignores, place = Ignores(), top
    folder = ""
    for part in PurePosixPath(below).parts:
        ignores = ignores.entering(place, folder)
        folder = f"{folder}/{part}" if folder else part
        place = place / part
        if ignores.ignored(folder, folder=True):
            return Ignores(), below
    return ignores, below
