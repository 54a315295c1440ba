"""What an audit says: findings, pipelines with a verdict, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return ("error", "warning", "note").index(self.value)


class Verdict(str, Enum):
    """Whether a pipeline can be run twice."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A mechanical replacement of the text in `[start, end)` (character offsets in the file)."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One spot that makes a pipeline unsafe to run twice."""

    rule: str
    severity: Severity
    path: str
    """Relative to the audited root, with forward slashes."""
    line: int
    end_line: int
    message: str
    fix: str
    """The rewrite in the dialect or language of the spot."""
    pipeline: str
    """The name of the pipeline (file, model or task) that the spot belongs to."""
    edits: tuple[Edit, ...] = ()
    """Set only where the fix is mechanical and safe; `--fix` applies it."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A file, a dbt model or an orchestrator task, with its verdict."""

    name: str
    kind: str
    """sql, dbt-model, airflow-task, dagster-asset, prefect-flow, pyspark, notebook …"""
    path: str
    line: int
    verdict: Verdict
    reads: tuple[str, ...] = ()
    """Tables read, lower case, as fully named as the code says."""
    writes: tuple[str, ...] = ()
    owner: str | None = None
    """From CODEOWNERS."""


@dataclass(frozen=True, kw_only=True)
class Unparsed:
    """A file, or a statement in it, that could not be read; listed, never skipped in silence."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Excused:
    """A finding that a comment in the code excuses, with the reason that it gives."""

    finding: Finding
    reason: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """The whole audit as data; every output reads this."""

    findings: tuple[Finding, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    files: int = 0
    excused: tuple[Excused, ...] = ()
