"""Units with their findings → pipelines with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How
from setpoint.auditing.finding import Pipeline, Severity, Verdict
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.auditing.facts import FileFacts, Unit, Write
    from setpoint.auditing.finding import Finding
    from setpoint.auditing.world import World

_ABOUT_COMMENTS = frozenset({"I01", "I02"})
_REMOVES = frozenset({How.DELETE, How.TRUNCATE, How.DROP})


def pipelines_of(world: World, findings: Sequence[Finding]) -> tuple[Pipeline, ...]:
    """Every pipeline of the repository with its verdict, by path and line."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    made: list[Pipeline] = []
    for file in world.files:
        if file.setting == "pipeline":
            own = by_path.get(file.path, [])
            made.extend(_pipeline(world, file, unit, own) for unit in _counted(file))
    return tuple(sorted(made, key=lambda one: (one.path, one.line, one.name)))


def _counted(file: FileFacts) -> Iterable[Unit]:
    for unit in file.units:
        if (
            unit.kind.startswith("dbt")
            or unit.task
            or unit.effects
            or any(lasting(write) for write in unit.writes)
        ):
            yield unit


def _pipeline(world: World, file: FileFacts, unit: Unit, findings: Iterable[Finding]) -> Pipeline:
    ran = world.file_of(unit)
    writes = {
        write.table: None for write in unit.writes if write.table and write.how not in _REMOVES
    }
    reads = dict.fromkeys(unit.reads)
    if ran is not None:
        writes.update({write.table: None for write in ran.writes if write.table})
        reads.update(dict.fromkeys(ran.reads))
    if unit.kind.startswith("dbt"):
        writes.setdefault(unit.name)
    return Pipeline(
        name=unit.name,
        kind=unit.kind,
        path=file.path,
        line=unit.line,
        verdict=_verdict(world, file, unit, findings),
        reads=tuple(table for table in reads if table not in writes),
        writes=tuple(writes),
    )


def _verdict(world: World, file: FileFacts, unit: Unit, findings: Iterable[Finding]) -> Verdict:
    for finding in findings:
        counts = finding.severity is not Severity.NOTE and finding.rule not in _ABOUT_COMMENTS
        if counts and finding.pipeline == unit.name:
            return Verdict.UNSAFE
    inside = any(unit.line <= one.line <= unit.end_line for one in file.unparsed)
    blind = any(write.how is How.APPEND and _is_blind(write) for write in unit.writes)
    unseen = _runs_unseen(world, file, unit)
    return Verdict.UNKNOWN if inside or blind or unseen else Verdict.SAFE


def _runs_unseen(world: World, file: FileFacts, unit: Unit) -> bool:
    """Whether it runs what the audit did not read as part of it."""
    if unit.opaque or (unit.callable and not world.path_of(unit)):
        return True
    return any(world.modules.holds(called, file.path) for called in unit.calls)


def _is_blind(write: Write) -> bool:
    """Whether the code does not say which table is written, or how."""
    return "chooses" in write.guard or (not write.guard and naming.is_nameless(write.table))
