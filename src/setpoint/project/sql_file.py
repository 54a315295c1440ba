"""Task files in SQL: a YAML header in the leading comment, and under it one SELECT."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

import yaml

from setpoint.errors import Fault, SetpointError
from setpoint.model import receiver
from setpoint.model.retry import Backoff
from setpoint.model.source import Source
from setpoint.model.transform import SqlTransform
from setpoint.model.write import Write, merge, overwrite, replace
from setpoint.project.declaration import Declaration
from setpoint.project.select_tables import declare_instead, direct_tables
from setpoint.project.select_text import understand_select

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from setpoint.model.effect import Effect

BLOCK = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)
LINES = re.compile(r"\s*((?:--[^\n]*(?:\n\s*|\Z))+)")
KEYS = {
    "name",
    "target",
    "grain",
    "timezone",
    "write",
    "partition_by",
    "unique_key",
    "version",
    "sources",
    "checks",
    "min_rows",
    "max_rows",
    "retries",
    "backoff",
    "allow",
    "lookback",
    "late",
    "effects",
    "development_date",
    "description",
}
TEXTS = ("name", "target", "grain", "timezone", "partition_by", "version", "late", "description")
NUMBERS = ("min_rows", "max_rows", "retries", "lookback")
RECEIVERS: dict[str, Callable[..., Effect]] = {
    "email": receiver.email,
    "slack": receiver.slack,
    "webhook": receiver.webhook,
    "http": receiver.http,
    "publish": receiver.publish,
}
EFFECT = 'effects: {posted: {slack: {url: "${SLACK_URL}", text: "{rows} rows for {ds}"}}}'
NO_SELECT = "SELECT NULL"
"""What stands for a SELECT that cannot be read, while the rest of the task is checked."""
WRITES = {"overwrite": overwrite, "merge": merge, "replace": replace}


class _HeaderLoader(yaml.SafeLoader):
    """Plain YAML in which no word may be given twice: the last one would win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """Refuse a key that is there already, with its line."""
        seen: set[str] = set()
        for key, _ in node.value:
            word = key.value if isinstance(key, yaml.ScalarNode) else None
            if word in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"{word!r} is given twice", problem_mark=key.start_mark
                )
            if word is not None:
                seen.add(word)
        return super().construct_mapping(node, deep=deep)


def read_sql_file(path: Path, root: Path) -> tuple[list[Declaration], list[Fault]]:
    """Read the header and the SELECT of a file; nothing is executed."""
    shown = path.relative_to(root)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return [], [Fault(path=shown, message=f"cannot be read: {error}")]
    reading = _Reading(shown)
    declaration = reading.declaration(text, path)
    # With faults it is never run; it is checked all the same, so that every fault is told at once.
    return ([declaration] if declaration else []), reading.faults


class _Reading:
    """One pass over a file that gathers faults instead of stopping at the first."""

    def __init__(self, shown: Path) -> None:
        self.shown = shown
        self.faults: list[Fault] = []
        self.first_line = 1
        self.header_lines: list[str] = []

    def declaration(self, text: str, path: Path) -> Declaration | None:
        header, body, body_line = self.split(text)
        if header is None:
            return None
        given = self.parse(header)
        if given is None:
            return None
        given = self.understood(given)
        statement = self.select(body, body_line)
        sources = self.sources(given.get("sources") or {})
        for table in direct_tables(statement):
            message = f"reads {table} past its sources: nothing bounds it to the window"
            fix = declare_instead(table, sources)
            self.faults.append(Fault(path=self.shown, line=body_line, message=message, fix=fix))
        allow = self.mapping(given, "allow")
        checks = self.mapping(given, "checks")
        write = self.write(given.get("write"), windowed="grain" in given)
        backoff = self.backoff(given.get("backoff"))
        effects = self.effects(given.get("effects") or {})
        if "target" not in given:
            return None
        date = given.get("development_date")
        return Declaration(
            name=given.get("name", path.stem),
            target=given["target"],
            transform=SqlTransform(
                text=statement if statement is NO_SELECT else body,
                statement=statement,
                first_line=body_line,
            ),
            path=path,
            line=1,
            grain=given.get("grain"),
            timezone=given.get("timezone", "UTC"),
            write=write,
            partition_by=given.get("partition_by"),
            unique_key=given.get("unique_key") or (),
            version=given.get("version"),
            sources=sources,
            checks=checks,
            min_rows=given.get("min_rows"),
            max_rows=given.get("max_rows"),
            retries=given.get("retries", 0),
            backoff=backoff,
            allow=allow,
            lookback=given.get("lookback", 0),
            late=given.get("late"),
            effects=effects,
            development_date=None if date is None else str(date),
            description=given.get("description", ""),
        )

    def understood(self, given: dict[Any, Any]) -> dict[Any, Any]:
        """The header's words; a misspelt one as it was meant, a wrong value left out."""
        meant = {key: value for key, value in given.items() if key in KEYS}
        for key in sorted(set(map(str, given)) - KEYS):
            near = difflib.get_close_matches(key, KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(KEYS))}"
            self.fault(f"{key!r} is not a word of a task's header", key, fix)
            if near and key in given:
                meant.setdefault(near[0], given[key])
        for key in TEXTS:
            if key in meant and not isinstance(meant[key], str):
                self.fault(f"{key} must be text, found {meant.pop(key)!r}", key)
        for key in NUMBERS:
            if key in meant and (not isinstance(meant[key], int) or isinstance(meant[key], bool)):
                self.fault(f"{key} must be a whole number, found {meant.pop(key)!r}", key)
        if "target" not in given:
            self.fault("the header names no target", fix="target: lake.shop.revenue_daily")
        return meant

    def select(self, body: str, line: int) -> str:
        try:
            return understand_select(body)
        except SetpointError as error:
            self.faults.append(
                Fault(path=self.shown, line=line, message=error.message, fix=error.next_step)
            )
            return NO_SELECT

    def split(self, text: str) -> tuple[str | None, str, int]:
        """The header without its comment marks, the SELECT, and the line it begins on."""
        if match := BLOCK.match(text):
            header = match[1]
            self.first_line = text[: match.start(1)].count("\n") + 1
        elif match := LINES.match(text):
            header = "\n".join(line.strip()[2:] for line in match[1].splitlines())
            self.first_line = text[: match.start(1)].count("\n") + 1
        else:
            fix = "begin the file with /* target: … */; see `setpoint init` for an example"
            self.fault("has no header: a YAML block in the leading comment", fix=fix)
            return None, "", 1
        self.header_lines = header.splitlines()
        rest = text[match.end() :]
        lead = len(rest) - len(rest.lstrip())
        line = text[: match.end() + lead].count("\n") + 1
        return header, rest.strip().rstrip(";").rstrip(), line

    def parse(self, header: str) -> dict[Any, Any] | None:
        try:
            given = yaml.load(header, Loader=_HeaderLoader)  # noqa: S506 — a SafeLoader
        except (yaml.YAMLError, ValueError) as error:  # ValueError: a date like 2026-02-30
            mark = getattr(error, "problem_mark", None)
            line = self.first_line + mark.line if mark else self.first_line
            problem = getattr(error, "problem", None) or str(error)
            self.faults.append(
                Fault(path=self.shown, line=line, message=f"the header is not YAML: {problem}")
            )
            return None
        if not isinstance(given, dict):
            self.fault("the header must be a YAML mapping", fix="target: lake.shop.revenue_daily")
            return None
        return given

    def write(self, given: Any, *, windowed: bool) -> Write | None:
        """The pattern; where it is not understood, one that draws no further faults."""
        if given is None:
            return None
        harmless = overwrite(by="day") if windowed else replace()
        options = given if isinstance(given, dict) else {given: {}} if given in list(WRITES) else {}
        word = next(iter(options), None)
        if word not in WRITES or len(options) != 1:
            self.fault(f"write {given!r} is not a pattern", "write", "write: {overwrite: {by: ds}}")
            return harmless
        named = options[word] or {}
        if isinstance(named, dict) and True in named:  # in YAML a bare `on` means true
            named = {"on" if key is True else key: value for key, value in named.items()}
        try:
            return WRITES[word](**named)  # type: ignore[operator, no-any-return]
        except TypeError as error:
            self.fault(f"write: {error}", "write", "write: {overwrite: {by: order_date}}")
            return harmless

    def backoff(self, given: Any) -> Backoff | None:
        if given is None:
            return None
        try:
            return Backoff(**{key: float(value) for key, value in given.items()})
        except (TypeError, ValueError, AttributeError) as error:
            self.fault(f"backoff: {error}", "backoff", "backoff: {first: 1, factor: 2}")
            return None

    def effects(self, given: Any) -> tuple[Effect, ...]:
        """`effects: {posted: {slack: {url: ${NAME}, text: …}}}`: a name, a receiver, its words."""
        if not isinstance(given, dict):
            self.fault("effects must map a name to a receiver", "effects", EFFECT)
            return ()
        made = []
        for name, value in given.items():
            kind, options = next(iter(value.items())) if isinstance(value, dict) else (None, None)
            if kind not in RECEIVERS or len(value) != 1 or not isinstance(options, dict):
                self.fault(f"effect {name!r} has no receiver", str(name), EFFECT)
                continue
            named = dict(options)
            if isinstance(named.get("backoff"), dict):
                named["backoff"] = self.backoff(named["backoff"])
            try:
                made.append(RECEIVERS[kind](str(name), **named))
            except SetpointError as error:
                self.fault(error.message, str(name), error.next_step)
            except (TypeError, AttributeError, ValueError) as error:
                self.fault(f"effect {name}: {error}", str(name), EFFECT)
        return tuple(made)

    def sources(self, given: Any) -> dict[str, Source]:
        if not isinstance(given, dict):
            self.fault("sources must map a name to a table", "sources")
            return {}
        sources = {}
        for name, value in given.items():
            options = {"table": value} if isinstance(value, str) else value
            try:
                sources[str(name)] = Source(**options)
            except TypeError:
                self.fault(
                    f"source {name!r} has {value!r}",
                    str(name),
                    f"{name}: {{table: lake.shop.orders, event_time: ordered_at}}",
                )
        return sources

    def mapping(self, given: dict[Any, Any], key: str) -> dict[str, str]:
        value = given.get(key) or {}
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            self.fault(f"{key} must map names to text, found {value!r}", key)
            return {}
        return {str(name): text for name, text in value.items()}

    def fault(self, message: str, key: str | None = None, fix: str | None = None) -> None:
        line = self.first_line
        if key:
            # Where the key begins a line; else where it is named at all, as in `{raw: …}`.
            word = rf"(?<!\w){re.escape(key)}(?!\w)"
            places = (
                n
                for pattern in (rf"\W*{word}", f".*{word}")
                for n, text in enumerate(self.header_lines)
                if re.match(pattern, text)
            )
            line += next(places, 0)
        self.faults.append(Fault(path=self.shown, line=line, message=message, fix=fix))
