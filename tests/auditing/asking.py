"""How the audit's tests ask: files in, rules and lines out."""

from __future__ import annotations

import textwrap

from setpoint.auditing.audit import SourceFile, audit_files
from setpoint.auditing.finding import Report, Severity


def audit(files: dict[str, str], dialect: str | None = None) -> Report:
    """Audit a small repository given as path → text."""
    known = [SourceFile(path=path, text=textwrap.dedent(text)) for path, text in files.items()]
    return audit_files(known, dialect=dialect)


def spots(files: dict[str, str] | str, path: str = "etl/load.sql") -> list[tuple[str, int]]:
    """Rule and line of each error and warning."""
    report = audit({path: files} if isinstance(files, str) else files)
    return [(one.rule, one.line) for one in report.findings if one.severity is not Severity.NOTE]


def rules(files: dict[str, str] | str, path: str = "etl/load.sql") -> set[str]:
    """The rules that found an error or a warning."""
    return {rule for rule, _ in spots(files, path)}


def rules_py(text: str, path: str = "etl/job.py") -> set[str]:
    """The rules that found an error or a warning in a Python file."""
    return rules(text, path)
