"""The findings that were there before: known, listed in a file, and not counted again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.auditing.fingerprint import fingerprints, spot
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from setpoint.auditing.finding import Finding

VERSION = 1
_SPOT_LENGTH = 160


@dataclass(frozen=True, kw_only=True)
class KnownFinding:
    """One entry of a baseline; only the fingerprint decides, the rest is for the reader."""

    fingerprint: str
    rule: str
    path: str
    spot: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Findings against a baseline."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    gone: tuple[KnownFinding, ...]
    """Entries of files that were audited, but without that finding: mended, or changed."""


def known_from(
    findings: Sequence[Finding], lines: Mapping[str, Sequence[str]]
) -> tuple[KnownFinding, ...]:
    """The findings as entries of a baseline, in a stable order."""
    entries = [
        KnownFinding(
            fingerprint=mark,
            rule=finding.rule,
            path=finding.path,
            spot=spot(finding, lines)[:_SPOT_LENGTH],
        )
        for finding, mark in zip(findings, fingerprints(findings, lines), strict=True)
    ]
    return tuple(sorted(entries, key=lambda e: (e.path, e.rule, e.spot, e.fingerprint)))


def compare(
    findings: Sequence[Finding],
    lines: Mapping[str, Sequence[str]],
    known: Sequence[KnownFinding],
    *,
    audited: frozenset[str],
) -> Comparison:
    """Tell new findings from known ones."""
    marks = fingerprints(findings, lines)
    listed = {entry.fingerprint for entry in known}
    pairs = list(zip(findings, marks, strict=True))
    return Comparison(
        new=tuple(finding for finding, mark in pairs if mark not in listed),
        known=tuple(finding for finding, mark in pairs if mark in listed),
        gone=tuple(e for e in known if e.path in audited and e.fingerprint not in set(marks)),
    )


def read_baseline(place: Path) -> tuple[KnownFinding, ...]:
    """The entries of a baseline file."""
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            raise UsageError(
                f"{place} is a baseline of version {content['version']}, not {VERSION}.",
                next_step=f"setpoint audit PATH --baseline {place} --write-baseline",
            )
        return tuple(
            KnownFinding(
                fingerprint=str(entry["fingerprint"]),
                rule=str(entry["rule"]),
                path=str(entry["path"]),
                spot=str(entry["spot"]),
            )
            for entry in content["findings"]
        )
    except FileNotFoundError as error:
        raise UsageError(
            f"There is no baseline {place}.",
            next_step=f"setpoint audit PATH --baseline {place} --write-baseline",
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{place} is not a baseline of this command: {error}",
            next_step=f"setpoint audit PATH --baseline {place} --write-baseline",
        ) from error


def baseline_text(known: Sequence[KnownFinding]) -> str:
    """The file's text: one entry a line, so that its history reads well."""
    lines = [
        json.dumps(
            {
                "rule": entry.rule,
                "path": entry.path,
                "spot": entry.spot,
                "fingerprint": entry.fingerprint,
            },
            ensure_ascii=False,
        )
        for entry in known
    ]
    listed = ",\n    ".join(lines)
    inside = f"\n    {listed}\n  " if lines else ""
    return f'{{\n  "version": {VERSION},\n  "findings": [{inside}]\n}}\n'
