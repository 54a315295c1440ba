"""SQL with templates in it → facts with the templates' own names and meanings put back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.auditing.dbt.jinja import Hole, Masked, has_templates, mask
from setpoint.auditing.facts import Draw, How, Source, Write
from setpoint.auditing.sql.grains import grain_of
from setpoint.auditing.sql.holes import HOLE
from setpoint.auditing.sql.lines import Lines
from setpoint.auditing.sql.lower_case import LowerCasePattern
from setpoint.auditing.sql.reading import SqlFacts, read_sql

if TYPE_CHECKING:
    from collections.abc import Mapping


HIDDEN = LowerCasePattern(
    r"\b(?:current_?date\w*|current_?time\w*|now|getdate|getutcdate|sysdate\w*|sysutcdatetime"
    r"|systimestamp|today|curdate"
    r"|localtimestamp|unix_timestamp|clock_timestamp|run_started_at|yesterday|utc_(?:date"
    r"|timestamp)|rand\w*|uniform|"
    r"\w*uuid\w*|newid|sys_guid|nextval|next\s+value|row_number|dense_rank|rank|tablesample"
    r"|sample|env_var|monotonically\w*)\b",
    (
        "current", "now", "date", "sys", "today", "local", "stamp", "run_started", "yesterday",
        "utc", "rand", "uniform", "uuid", "newid", "next", "row_number", "rank", "sample",
        "env_var", "monoton",
    ),
)  # fmt: skip
"""A model without any of these words hides no input."""

_SOURCES = {"clock": Source.CLOCK, "random": Source.RANDOM, "environment": Source.ENVIRONMENT}


@dataclass(frozen=True, kw_only=True)
class TemplatedFacts:
    """What a templated SQL text does."""

    facts: SqlFacts
    masked: Masked
    logical_date: bool


def read_templated(
    text: str, *, hint: str, path: str, macros: Mapping[str, str], selects: bool, this: str = ""
) -> TemplatedFacts:
    """Read a SQL text that may hold Jinja or other templates."""
    if not has_templates(text):
        facts = read_sql(text, hint=hint, path=path, selects=selects)
        return TemplatedFacts(facts=facts, masked=Masked(text=text), logical_date=False)
    masked = mask(text, macros=macros)
    facts = _read(masked, hint=hint, path=path, selects=selects)
    if facts.unparsed:
        simpler = mask(text, macros=macros, blank_calls=True)
        again = _read(simpler, hint=hint, path=path, selects=selects)
        if len(again.unparsed) < len(facts.unparsed):
            masked, facts = simpler, again
    facts = _named(facts, masked, text, this)
    if HIDDEN.search(masked.kept_back):
        other = mask(text, macros=macros, last_arms=True)
        more = _named(_read(other, hint=hint, path=path, selects=selects), other, text, this)
        facts = _joined(facts, more)
    logical = any(hole.meaning == "logical" for hole in masked.holes.values())
    return TemplatedFacts(facts=facts, masked=masked, logical_date=logical)


def _read(masked: Masked, *, hint: str, path: str, selects: bool) -> SqlFacts:
    return read_sql(masked.text, hint=hint, path=path, selects=selects)


def _joined(facts: SqlFacts, more: SqlFacts) -> SqlFacts:
    seen = {(one.source, one.spot.start) for one in facts.draws}
    added = tuple(one for one in more.draws if (one.source, one.spot.start) not in seen)
    return replace(facts, draws=facts.draws + added)


def _named(facts: SqlFacts, masked: Masked, text: str, this: str) -> SqlFacts:
    """Templates' names put back, and templates that are clocks added to the draws."""
    lines = Lines(text)
    names = {number: _name_of(hole, this) for number, hole in masked.holes.items()}

    def restored(name: str) -> str:
        return HOLE.sub(lambda match: names.get(int(match.group(1)), match.group(0)), name)

    draws = [
        replace(one, table=restored(one.table), column=restored(one.column)) for one in facts.draws
    ]
    for use in facts.holes:
        hole = masked.holes.get(use.hole)
        source = _SOURCES.get(hole.meaning) if hole is not None else None
        if hole is None or source is None:
            continue
        draws.append(
            Draw(
                source=source,
                role=use.role,
                spot=lines.spot(hole.start, hole.end),
                text=hole.text,
                column=restored(use.column).lower(),
                table=restored(use.table),
                language="jinja",
                dialect=facts.dialect,
            )
        )
    return replace(
        facts,
        writes=tuple(_restored_write(write, restored, masked) for write in facts.writes),
        draws=tuple(draws),
        reads=tuple(dict.fromkeys(restored(name) for name in facts.reads)),
    )


def _name_of(hole: Hole, this: str) -> str:
    if hole.table:
        return this if hole.table == "this" and this else hole.table
    return "{" + "".join(hole.text.split())[:40].lower() + "}"


def _restored_write(write: Write, restored: object, masked: Masked) -> Write:
    if not callable(restored):
        return write
    scope = str(restored(write.scope))
    grain = write.grain
    if write.how in {How.DELETE, How.OVERWRITE, How.DYNAMIC} and masked.holes:
        grain = grain_of(scope)
    return replace(
        write,
        table=str(restored(write.table)),
        scope=scope,
        exact=str(restored(write.exact)),
        grain=grain,
        source_grain=grain_of(str(restored(write.source_filter))),
    )
