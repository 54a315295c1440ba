"""Clues in the text of the files that a command names: read by the audit, never run."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from setpoint.verifying.cause import Clue
from setpoint.verifying.code_reading import read_python

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from setpoint.auditing.audit import SourceFile

KINDS = {
    "T": "clock",
    "X": "effect",
    "R01": "chance",
    "R02": "uuid",
    "R03": "sequence",
    "R04": "row order",
    "E01": "environment",
    "W01": "append",
    "W02": "torn write",
    "W03": "emptied",
    "W04": "scope",
    "W05": "key",
    "W06": "key",
    "W07": "counter",
}
"""What each rule of the audit, or family of rules, is evidence of."""
LARGEST = 1_000_000


def script_clues(line: str, folder: Path) -> list[Clue]:
    """What the audit sees in the scripts of a command line."""
    from setpoint.auditing.audit import SourceFile as File
    from setpoint.auditing.audit import audit_files, reads_path

    files = [
        File(path=_shown(path, folder), text=path.read_text(encoding="utf-8", errors="replace"))
        for path in _files(line, folder)
        if reads_path(path.name) and path.stat().st_size < LARGEST
    ]
    clues = []
    for finding in audit_files(files).findings:
        kind = KINDS.get(finding.rule) or KINDS.get(finding.rule[0])
        if kind:
            clues.append(
                Clue(
                    kind=kind,
                    words=finding.message,
                    where=f"{finding.path}:{finding.line}",
                    fix=finding.fix,
                )
            )
    return [*clues, *_own_reading(files)]


def _own_reading(files: list[SourceFile]) -> list[Clue]:
    """What stands in Python code and is no finding by itself: chance, sets, files, the zone."""
    return [
        clue
        for file in files
        if file.path.endswith(".py")
        for clue in read_python(file.text, path=file.path).clues
        if clue.kind not in ("row order", "effect")
    ]


def _files(line: str, folder: Path) -> Iterable[Path]:
    """Files that the command names, and those that a script beside them would find."""
    words = shlex.split(line)
    pieces = [piece for word in words for piece in re.split(r"[\s=;&|'\"]+", word) if piece]
    named = [folder / piece for piece in pieces]
    found = {path.resolve(): None for path in named if path.is_file()}
    beside = [path.parent for path in found]
    for piece in pieces:
        for place in beside:
            if (place / piece).is_file():
                found[(place / piece).resolve()] = None
    return list(found)


def _shown(path: Path, folder: Path) -> str:
    try:
        return path.relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.name
