"""Who owns a file, from CODEOWNERS as GitHub reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from setpoint.auditing.ignored import git_top

if TYPE_CHECKING:
    from pathlib import Path

# The order in which GitHub looks for the file.
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


@dataclass(frozen=True, kw_only=True)
class OwnerLine:
    """One line: a pattern and its owners; no owners means that nobody owns what matches."""

    pattern: str
    owners: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether the line speaks of the path."""
        return _compiled(self.pattern).match(path) is not None


@dataclass(frozen=True, kw_only=True)
class Owners:
    """The lines of a CODEOWNERS file, and where the audited root lies below its top."""

    lines: tuple[OwnerLine, ...] = ()
    below: str = ""

    def of(self, path: str) -> str | None:
        """The owners of a path relative to the audited root; the last line that matches wins."""
        whole = f"{self.below}/{path}" if self.below else path
        for line in reversed(self.lines):
            if line.matches(whole):
                return " ".join(line.owners) or None
        return None


def parse_owners(text: str, *, below: str = "") -> Owners:
    """Read the text of a CODEOWNERS file; lines that GitHub would reject are left out."""
    lines = []
    for raw in text.splitlines():
        words = _words(raw)
        # GitHub has neither negation nor character ranges here, and skips lines that use them.
        if not words or words[0].startswith("!") or "[" in words[0]:
            continue
        lines.append(OwnerLine(pattern=words[0], owners=tuple(words[1:])))
    return Owners(lines=tuple(lines), below=below)


def find_owners(root: Path) -> Owners:
    """The owners that hold for an audited root: its repository's file, or its own."""
    top = git_top(root) or root
    for folder in dict.fromkeys((top, root)):
        for name in PLACES:
            place = folder / name
            try:
                text = place.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            below = root.relative_to(folder).as_posix()
            return parse_owners(text, below="" if below == "." else below)
    return Owners()


def _words(line: str) -> list[str]:
    r"""The pattern and the owners; `\ ` is a space in a path, ` #` begins a comment."""
    parts = re.findall(r"(?:\\.|[^\s\\])+", line)
    kept: list[str] = []
    for part in parts:
        if part.startswith("#"):
            break
        kept.append(part if kept else re.sub(r"\\(.)", r"\1", part))
    return kept


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as a regular expression over whole paths.

    As in ignore files a slash inside anchors the pattern and a trailing one means a folder. Unlike
    there `docs/*` owns the files of docs and not those of its folders.
    """
    folder_only = pattern.endswith("/")
    anchored = "/" in pattern.rstrip("/")
    parts = pattern.strip("/").split("/")
    expression = "" if anchored else "(?:.*/)?"
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        if part == "**":
            expression += ".*" if last else "(?:.*/)?"
        else:
            expression += _glob(part) + ("" if last else "/")
    if folder_only:
        expression += "/.*"
    elif not (anchored and parts[-1] == "*") and parts[-1] != "**":
        # A name without a trailing slash is a file, or a folder with all that it holds.
        expression += "(?:/.*)?"
    return re.compile(expression + r"\Z", re.DOTALL)


def _glob(part: str) -> str:
    shapes = {"*": "[^/]*", "?": "[^/]"}
    return "".join(shapes.get(letter) or re.escape(letter) for letter in part)
