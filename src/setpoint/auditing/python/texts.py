"""A SQL text that Python runs → its writes, hidden inputs and reads on the walker's tape."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.auditing.dbt.jinja import Hole, has_templates, mask
from setpoint.auditing.facts import How, Source, Spot
from setpoint.auditing.python.names import walker_names
from setpoint.auditing.python.values import UNKNOWN, Mark, Pending, Value, joined, shaping
from setpoint.auditing.sql.grains import grain_of
from setpoint.auditing.sql.holes import HOLE
from setpoint.auditing.sql.reading import WRITES
from setpoint.auditing.sql.templated import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.auditing.facts import Write
    from setpoint.auditing.python.walking import Walker
    from setpoint.auditing.sql.reading import HoleUse, SqlFacts

_PLACEHOLDER = re.compile(
    # Its sign first: the search then passes quickly over all other characters.
    r"[%:?$](?:(?<=%)(?:\((\w+)\)s|s)|(?<=:)(?<![:\w]:)([A-Za-z_]\w*)\b"
    r"|(?<=[\s,(=]\?)(?=[\s,)]|$)|(?<=[\s,(=]\$)(?:(\d+)|([A-Za-z_]\w*)(?![\w$])))"
)


_DYNAMIC = re.compile(r"(?i)^\s*set\s+\S*partitionoverwritemode\s*=\s*['\"]?dynamic")


def run_text(
    walker: Walker,
    value: Value,
    params: Value,
    *,
    line: int,
    dialect: str,
    transaction: int,
    many: bool = False,
) -> frozenset[Pending]:
    """Read a SQL text as run at this place; what shaped the rows that it selects is given back."""
    text = value.text or ""
    walker.ran_texts.add(value.line)
    if _DYNAMIC.search(text):
        walker.dynamic_overwrite = True
    follow_peaks(walker, text)
    if not _is_worth_reading(text, value, params):
        return frozenset()
    bound, holes = _masked(walker, _bind(walker, text, params))
    own = value.line and "filled" not in value.flags
    first = value.line + walker.module.shift if own else line
    facts = walker.repeated.read(
        _completed(bound),
        hint=dialect or walker.hint,
        path=walker.path,
        first_line=first,
        memory=walker.memory,
    )
    walker.unparsed.extend(facts.unparsed)
    reading = _Reading(
        walker=walker,
        holes=holes,
        line=line,
        transaction=transaction,
        many=many,
        data=params.all_pending(),
    )
    return reading.take(facts)


_PEAK = re.compile(r"(?i)\bmax\s*\(")
_PEAK_FROM = re.compile(r"(?i)\bfrom\s+([\w.\"`\[\]]+)")
_MOST_PEAK = 1_500
_BEYOND = re.compile(r">\s*['\"]?(?:__h\d|%s|%\(|:[a-z])")


def follow_peaks(walker: Walker, text: str) -> None:
    """Remember which tables are asked for their highest value, and whether one is compared with."""
    head = text[:_MOST_PEAK]
    peak = _PEAK.search(head) if head.lstrip()[:6].lower() == "select" else None
    source = _PEAK_FROM.search(head, peak.end()) if peak is not None else None
    if source is not None:
        walker.peaks.add(re.sub(r"[\"`\[\]]", "", source.group(1)).lower())
    elif _BEYOND.search(text):
        walker.compares = True


def _is_worth_reading(text: str, value: Value, params: Value) -> bool:
    """Whether the text reads, writes or hides anything; the cheapest question comes first."""
    return bool(
        _FROM.search(text.lower())
        or value.marks
        or params.all_marks()
        or WRITES.search(text)
        or HIDDEN.search(text)
    )


# Its plain letters first: the search then passes quickly over everything else.
_FROM = re.compile(r"from(?<=\bfrom)\b")
_OPEN_ENDED = re.compile(
    r"(?is)^(\s*(?:insert\s+(?:into|overwrite)(?:\s+table)?\s+[\w.`\"]+(?:\s*\([^()]*\))?"
    r"|create\s+(?:or\s+replace\s+)?table\s+[\w.`\"]+\s+as))\s+(__h\d+__+)\s*;?\s*$"
)


def _completed(text: str) -> str:
    """`INSERT INTO t {query}`: the query is not known, but that there is one is."""
    return _OPEN_ENDED.sub(r"\1 SELECT * FROM \2", text)


def _masked(walker: Walker, text: str) -> tuple[str, dict[int, Hole]]:
    if not has_templates(text):
        return text, {}
    masked = mask(text, macros={})
    if any(hole.meaning == "logical" for hole in masked.holes.values()):
        walker.tape.logical_date = True
    return masked.text, dict(masked.holes)


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """Takes what a SQL text does over to the walker's tape."""

    walker: Walker
    holes: Mapping[int, Hole]
    line: int
    transaction: int
    many: bool
    data: frozenset[Pending]
    """What shaped the values that are bound."""

    def named(self, name: str) -> str:
        if "__h" not in name.lower():
            return name.lower()
        shown = HOLE.sub(
            lambda match: (
                "{" + self.holes[int(match.group(1))].text + "}"
                if int(match.group(1)) in self.holes
                else match.group(0)
            ),
            name,
        )
        return walker_names(self.walker, shown).lower()

    def take(self, facts: SqlFacts) -> frozenset[Pending]:
        tape = self.walker.tape
        views = shaping(
            self.walker.views[name] for name in facts.reads if name in self.walker.views
        )
        for name in facts.reads:
            if name not in self.walker.views:
                tape.reads.setdefault(self.named(name))
        for write in facts.writes:
            self._write(write, views)
        selected = self._draws(facts, only_select=not facts.writes)
        return selected | (views if not facts.writes else frozenset())

    def _is_retention(self, write: Write) -> bool:
        """Whether a delete takes what is older than a clock of Python's."""
        if write.how is not How.DELETE or write.retention:
            return write.retention
        parts = write.scope.split(" and ")
        older = [match for part in parts if (match := _OLDER.match(part)) is not None]
        if not older or any("__h" in part and not _OLDER.match(part) for part in parts):
            return False
        values = [self.walker.holes.get(int(one.group(1)), ("", UNKNOWN))[1] for one in older]
        return all(value.has("clock") for value in values)

    def _write(self, write: Write, views: frozenset[Pending]) -> None:
        scope = self.named(write.scope)
        rows = "frame" if self.many and write.rows == "parameters" else write.rows
        inner = write.transaction
        made = replace(
            write,
            table=self.named(write.table),
            spot=Spot(line=write.spot.line, end_line=write.spot.end_line),
            scope=scope,
            retention=self._is_retention(write),
            grain=grain_of(scope) if write.how in _SCOPED else write.grain,
            source_grain=grain_of(self.named(write.source_filter)),
            transaction=inner * 100_000 + self.transaction if inner else self.transaction,
            exact=self.named(write.exact),
            rows=rows,
        )
        self.walker.record(made, Value(pending=views | self.data))

    def _draws(self, facts: SqlFacts, *, only_select: bool) -> frozenset[Pending]:
        tape = self.walker.tape
        pending: set[Pending] = set()
        for draw in facts.draws:
            moved = replace(draw, spot=Spot(line=draw.spot.line, end_line=draw.spot.end_line))
            if only_select:
                mark = Mark(_KINDS[draw.source], moved.spot, draw.text, "sql")
                pending.add(Pending(mark, draw.role, draw.column))
            else:
                tape.draws.append(replace(moved, table=self.named(draw.table)))
        trims = any(self._is_retention(write) for write in facts.writes)
        for use in facts.holes:
            if trims and use.how is How.DELETE:
                # Housekeeping, whose scope no run owns.
                continue
            marks, role = self._used(use)
            if role == "cursor" and self.walker.guard():
                # Written when there was none yet: the beginning, not the point to go on from.
                role = "audit"
            if only_select:
                pending.update(Pending(mark, role, use.column) for mark in marks)
                tape.draw([mark for mark in marks if mark.kind == "logical"], role)
            else:
                tape.draw(marks, role, column=use.column, table=self.named(use.table))
        return frozenset(pending)

    def _used(self, use: HoleUse) -> tuple[frozenset[Mark], str]:
        jinja = self.holes.get(use.hole)
        if jinja is not None:
            if jinja.meaning not in {"clock", "random", "environment"}:
                return frozenset(), use.role
            kind = "env" if jinja.meaning == "environment" else jinja.meaning
            spot = Spot(line=self.line, end_line=self.line)
            return frozenset({Mark(kind, spot, jinja.text, "jinja")}), use.role
        _, value = self.walker.holes.get(use.hole, ("", UNKNOWN))
        if use.role == "name":
            # A scratch table of a new name holds the same rows.
            named = frozenset(m for m in value.all_marks() if m.kind not in {"random", "uuid"})
            return named, "window" if use.how is None else use.role
        role = {"filter": "window", "join": "window", "limit": "window"}.get(use.role, use.role)
        return value.all_marks(), role


_OLDER = re.compile(r"^\(?[\w.\"`]+ <=? (?:cast\()?'?__h(\d+)__")
_SCOPED = frozenset({How.DELETE, How.OVERWRITE, How.DYNAMIC})
_KINDS = {
    Source.CLOCK: "clock",
    Source.RANDOM: "random",
    Source.UUID: "uuid",
    Source.SEQUENCE: "sequence",
    Source.ROW_NUMBER: "row-number",
    Source.ENVIRONMENT: "env",
}


def _bind(walker: Walker, text: str, params: Value) -> str:
    """The text with placeholders replaced by names that stand for the bound values."""
    at = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal at
        name = match.group(1) or match.group(2) or match.group(4)
        if name:
            value = params.fields.get(name, Value(marks=params.marks))
            return walker.hole(f":{name}", value)
        value = _at(params, at)
        at += 1
        return walker.hole(
            f"parameter {at}" if not value.marks else f"parameter {at} {id(value)}", value
        )

    if not any(sign in text for sign in "%:?$"):
        return text
    return _PLACEHOLDER.sub(fill, text)


def _at(params: Value, index: int) -> Value:
    items = params.items
    if items and len(items) == 1 and items[0].items is not None:
        items = items[0].items
    if items is not None and index < len(items):
        return items[index]
    return Value(marks=params.marks if items is None else joined(()))
