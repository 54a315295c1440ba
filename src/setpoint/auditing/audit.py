"""The audit: files are read one by one, then judged together.

Reading is pure and knows nothing of other files but the context, so that it can be cached and
done by several processes. No code of the audited repository is imported or run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing.context import ProjectContext, build_context, wants_text
from setpoint.auditing.facts import FileFacts
from setpoint.auditing.finding import Finding, Report, Unparsed
from setpoint.auditing.ignores import apply_ignores, excused_by, read_ignores
from setpoint.auditing.verdicts import pipelines_of
from setpoint.auditing.world import Case, World, build_world

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.auditing.facts import Dag, Spot, Unit

__all__ = [
    "FileFacts",
    "ProjectContext",
    "SourceFile",
    "apply_ignores",
    "audit_files",
    "build_context",
    "judge",
    "read_file",
    "reads_path",
    "wants_text",
]

READ_SUFFIXES = frozenset({".sql", ".hql", ".ddl", ".py", ".ipynb"})
_TOO_LARGE = 3_000_000
_SKIPPED = re.compile(
    r"(?:^|/)(?:\.git|node_modules|\.venv|venv|site-packages|__pycache__|dbt_packages"
    r"|dbt_modules|\.tox)/"
)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file's path, relative to the audited root with forward slashes, and its text."""

    path: str
    text: str


def reads_path(path: str) -> bool:
    """Whether `read_file` has anything to say of a file of this name."""
    return PurePosixPath(path).suffix.lower() in READ_SUFFIXES and not _SKIPPED.search(path)


def audit_files(files: Iterable[SourceFile], *, dialect: str | None = None) -> Report:
    """Audit files that are already in memory, in this process."""
    known = list(files)
    texts = {file.path: file.text for file in known if wants_text(file.path)}
    context = build_context(texts, paths=[file.path for file in known], dialect=dialect)
    facts = [
        read_file(file.path, file.text, context=context) for file in known if reads_path(file.path)
    ]
    return judge(facts, context)


def read_file(path: str, text: str, *, context: ProjectContext) -> FileFacts:
    """The facts of one file. Pure; an unreadable file is said to be one, never raised."""
    if len(text) > _TOO_LARGE:
        reason = f"too large to read ({len(text):,} characters)"
        return FileFacts(path=path, kind="", unparsed=(Unparsed(path=path, line=1, reason=reason),))
    try:
        facts = _read(path, text, context)
    except Exception as error:  # noqa: BLE001 - one strange file must not cost the audit
        reason = f"could not be read: {type(error).__name__}"
        return FileFacts(path=path, kind="", unparsed=(Unparsed(path=path, line=1, reason=reason),))
    return replace(facts, ignores=read_ignores(text))


def _read(path: str, text: str, context: ProjectContext) -> FileFacts:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".ipynb":
        return _read_notebook(path, text, context)
    if suffix == ".py":
        return _read_python(path, text, context)
    from setpoint.auditing.dbt.model import is_dbt, read_dbt
    from setpoint.auditing.sql.file import read_sql_file

    if is_dbt(path, text, context):
        return read_dbt(path, text, context)
    return read_sql_file(path, text, context)


def _read_python(path: str, text: str, context: ProjectContext) -> FileFacts:
    from setpoint.auditing.notebooks import is_databricks, python_of_databricks
    from setpoint.auditing.python.reading import read_python

    if is_databricks(text):
        facts = read_python(path, python_of_databricks(text), context, kind="notebook")
        return _moved(facts, range(1, text.count("\n") + 2))
    return read_python(path, text, context)


def _read_notebook(path: str, text: str, context: ProjectContext) -> FileFacts:
    from setpoint.auditing.notebooks import cells_of_notebook
    from setpoint.auditing.python.reading import read_python

    made = cells_of_notebook(text)
    if made is None:
        reason = "not a notebook: no JSON with cells"
        return FileFacts(
            path=path, kind="notebook", unparsed=(Unparsed(path=path, line=1, reason=reason),)
        )
    source, origin = made
    facts = read_python(path, source, context, kind="notebook")
    return _moved(facts, origin)


def _moved(facts: FileFacts, origin: Sequence[int]) -> FileFacts:
    """Facts with the lines of the notebook's file instead of those of its joined cells."""

    def at(line: int) -> int:
        return origin[min(max(line, 1), len(origin)) - 1] if origin else 1

    def spot(one: Spot) -> Spot:
        return replace(one, line=at(one.line), end_line=at(one.end_line), start=-1, end=-1)

    def unit(one: Unit) -> Unit:
        return replace(
            one,
            line=at(one.line),
            end_line=at(one.end_line),
            writes=tuple(replace(write, spot=spot(write.spot)) for write in one.writes),
            draws=tuple(replace(draw, spot=spot(draw.spot)) for draw in one.draws),
            effects=tuple(replace(effect, spot=spot(effect.spot)) for effect in one.effects),
            retries_spot=spot(one.retries_spot) if one.retries_spot is not None else None,
        )

    def dag(one: Dag) -> Dag:
        return replace(one, spot=spot(one.spot), moving_start=None, catchup_spot=None)

    return replace(
        facts,
        units=tuple(unit(one) for one in facts.units),
        dags=tuple(dag(one) for one in facts.dags),
        unparsed=tuple(replace(one, line=at(one.line)) for one in facts.unparsed),
    )


def judge(files: Sequence[FileFacts], context: ProjectContext) -> Report:
    """The report on all files that were read. Cheap: parsing is over."""
    world = build_world(files, context)
    raw = _findings(world)
    findings = apply_ignores(raw, files)
    ordered = sorted(findings, key=lambda one: (one.path, one.line, one.rule))
    return Report(
        findings=tuple(ordered),
        pipelines=pipelines_of(world, ordered),
        unparsed=tuple(one for file in files for one in file.unparsed),
        files=len(files),
        excused=excused_by(raw, files),
    )


def _findings(world: World) -> list[Finding]:
    from setpoint.auditing.rules.registry import JUDGES

    found: dict[tuple[str, str, int], Finding] = {}
    of_files: dict[str, list[Finding]] = {}
    for file in sorted(world.files, key=lambda one: one.kind != "sql"):
        for unit in file.units:
            case = Case(unit=unit, file=file, world=world, of_files=of_files)
            for rule in JUDGES:
                case.findings.extend(rule(case))
            if file.kind == "sql":
                of_files.setdefault(file.path, []).extend(case.findings)
            for finding in case.findings:
                found.setdefault((finding.path, finding.rule, finding.line), finding)
    return list(found.values())
