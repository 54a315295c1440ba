"""A Setpoint task drafted from an unsafe model or statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import How

if TYPE_CHECKING:
    from setpoint.auditing.facts import Unit, Write
    from setpoint.auditing.finding import Pipeline


def draft_task(pipeline: Pipeline, unit: Unit | None = None) -> str:
    """A SQL file with a YAML header that does the pipeline's work by setting its scope.

    What the code does not say is left in angle brackets for a person to fill in.
    """
    write = _main_write(unit)
    known = pipeline.writes[-1] if pipeline.writes else pipeline.name
    target = write.table if write is not None and write.table else known
    keys = write.keys if write is not None else ()
    lines = ["/*", f"name: {pipeline.name}", f"target: {target}", "grain: day"]
    lines += _pattern(write, keys)
    if keys:
        lines.append(f"unique_key: [{', '.join(keys)}]")
    lines.append("sources:")
    for table in pipeline.reads or ("<source table>",):
        alias = table.rsplit(".", 1)[-1].strip("{}") or "source"
        lines += [f"  {alias}:", f"    table: {table}", "    event_time: <event time column>"]
    lines += [f"# drafted from {pipeline.path}:{pipeline.line}", "*/"]
    first = (pipeline.reads or ("<source table>",))[0].rsplit(".", 1)[-1].strip("{}")
    lines += [
        "SELECT",
        "  <columns>",
        f"FROM {first}",
        "-- already bounded to [:window_start, :window_end)",
    ]
    return "\n".join(lines) + "\n"


def _main_write(unit: Unit | None) -> Write | None:
    if unit is None:
        return None
    kept = [write for write in unit.writes if write.how not in {How.DELETE, How.TRUNCATE, How.DROP}]
    return kept[-1] if kept else None


def _pattern(write: Write | None, keys: tuple[str, ...]) -> list[str]:
    if write is not None and write.how in {How.MERGE, How.UPSERT} and keys:
        return ["write:", "  pattern: merge", "  version: <version column>"]
    by = write.scope_columns[0] if write is not None and write.scope_columns else "<date column>"
    return ["write:", "  pattern: overwrite", f"  by: {by}"]
