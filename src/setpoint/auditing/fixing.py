"""Mechanical fixes: planned as data, shown as a diff, written only where nothing has moved."""

from __future__ import annotations

import ast
import difflib
import itertools
import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.auditing.source import NotText, decode
from setpoint.errors import SetpointError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.auditing.finding import Edit, Finding


class FileMoved(SetpointError):
    """A file changed between the audit and the fix."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One file before and after its fixes."""

    path: str
    before: str
    after: str
    fixed: tuple[Finding, ...]
    left: tuple[Finding, ...] = ()
    """Fixable, but in the way of another fix; the next run offers them again."""


def plan_patches(findings: Sequence[Finding], texts: Mapping[str, str]) -> tuple[Patch, ...]:
    """The patches for all findings with edits, one a file."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.edits and finding.path in texts:
            by_path.setdefault(finding.path, []).append(finding)
    patches = (_patch(path, texts[path], found) for path, found in sorted(by_path.items()))
    return tuple(patch for patch in patches if patch is not None)


def _patch(path: str, before: str, findings: list[Finding]) -> Patch | None:
    """The patch of one file; a fix that breaks it must not take the sound ones with it."""
    whole = _combined(path, before, findings)
    if whole is not None:
        return whole
    sound = [one for one in findings if _combined(path, before, [one]) is not None]
    return _combined(path, before, sound) if sound else None


def _combined(path: str, before: str, findings: list[Finding]) -> Patch | None:
    accepted: list[Edit] = []
    fixed: list[Finding] = []
    left: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.edits[0].start, f.line, f.rule)):
        inside = all(0 <= e.start <= e.end <= len(before) for e in finding.edits)
        fresh = [edit for edit in finding.edits if edit not in accepted]
        if not inside or _collide(fresh, accepted):
            left.append(finding)
            continue
        accepted += fresh
        fixed.append(finding)
    after = before
    for edit in sorted(accepted, key=lambda e: e.start, reverse=True):
        after = after[: edit.start] + edit.text + after[edit.end :]
    if after == before or not _still_reads(path, before, after):
        return None
    return Patch(path=path, before=before, after=after, fixed=tuple(fixed), left=tuple(left))


def _collide(fresh: Sequence[Edit], accepted: Sequence[Edit]) -> bool:
    """Whether edits touch one another. Two insertions at one spot have no order: they collide."""
    edits = sorted([*fresh, *accepted], key=lambda e: (e.start, e.end))
    return any(
        right.start < left.end or right.start == left.start
        for left, right in itertools.pairwise(edits)
    )


def _still_reads(path: str, before: str, after: str) -> bool:
    """A fix leaves a Python file that parses with the same strings, and a notebook JSON.

    What looks like a comment may stand in a string, where it is somebody's text.
    """
    if path.endswith(".py"):
        strings = _strings(before)
        return strings is not None and strings == _strings(after)
    if path.endswith(".ipynb"):
        try:
            json.loads(after)
        except ValueError:
            return False
    return True


def _strings(text: str) -> list[str] | None:
    """The strings of a Python text in order; None when it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def diff_text(patches: Sequence[Patch]) -> str:
    """The patches as one unified diff, as `git apply` takes it."""
    parts: list[str] = []
    for patch in patches:
        lines = difflib.unified_diff(
            patch.before.splitlines(keepends=True),
            patch.after.splitlines(keepends=True),
            fromfile=f"a/{patch.path}",
            tofile=f"b/{patch.path}",
        )
        for line in lines:
            parts.append(line)
            if not line.endswith("\n"):
                parts.append("\n\\ No newline at end of file\n")
    return "".join(parts)


def write_patches(patches: Sequence[Patch], root: Path) -> None:
    """Write the patched files, each in one step; a file that changed meanwhile stops the rest."""
    for patch in patches:
        place = root / patch.path
        try:
            decoded = decode(place.read_bytes(), python=patch.path.endswith(".py"))
        except (OSError, NotText) as error:
            raise _moved(patch) from error
        if decoded.text != patch.before:
            raise _moved(patch)
        _replace(place, decoded.encode(patch.after))


def _moved(patch: Patch) -> FileMoved:
    return FileMoved(
        f"{patch.path} changed while it was being audited; it was left as it is.",
        next_step="run the same command again",
    )


def _replace(place: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        fresh.chmod(place.stat().st_mode & 0o7777)
        fresh.replace(place)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
