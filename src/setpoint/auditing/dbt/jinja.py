"""Jinja in SQL, masked so that offsets and lines stay true and the rest parses as SQL."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OPENING = re.compile(r"\{[#%{]")
_MOST_UNCLOSED = 200
_CLOSINGS = {"{#": "#}", "{%": "%}", "{{": "}}"}
_QUOTES_OR_CLOSING = {
    "{%": re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|%\}"),
    "{{": re.compile(r"'[^']*'|\"[^\"]*\"|\}\}"),
}
_OTHER_TEMPLATES = re.compile(
    r"\$\{[^}\n]*\}|\$\(\w+\)|(?<!\{)\{[A-Za-z_][\w.]*\}(?!\})|%\(\w+\)s|&&?\w+\.?(?=\s|')"
    r"|(?<![:\w]):(?:'\w+'|\"\w+\")|\$[A-Z][A-Z0-9_]+\$"
)
_QUOTES_A_BODY = re.compile(r"(?i)\b(?:as|do|is|return|execute|language\s+\w+)\s*\$(\w+)\$")
"""`AS $BODY$` opens a text that is quoted in Postgres's and Snowflake's way; no template."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(
    r"""(?:^|[^\w.])(?P<kind>ref|source)\s*\(\s*(?P<args>(?:['"][^'"]*['"]\s*,?\s*){1,2})"""
)
_QUOTED = re.compile(r"""['"]([^'"]*)['"]""")
CLOCK_IN_JINJA = re.compile(
    r"current_timestamp|current_date|current_datetime|run_started_at|datetime\.(?:utc)?now\("
    r"|\.today\(|\bgetdate\b|"
    r"\bnow\(\)|\bdbt_date\.(?:today|now|yesterday|tomorrow|n_\w+_ago|last_\w+|this_\w+"
    r"|next_\w+)\b|date\.today|\bsysdate\b",
    re.IGNORECASE,
)
_LOGICAL = re.compile(
    r"(?<![\w.])(?:ds|ds_nodash|ts|ts_nodash|next_ds|prev_ds|yesterday_ds|tomorrow_ds"
    r"|execution_date|logical_date|"
    r"data_interval_start|data_interval_end|next_execution_date|prev_execution_date"
    r"|prev_data_interval\w*|dag_run|macros\.ds_\w+)\b"
)
_ENVIRONMENT = re.compile(r"\benv_var\s*\(\s*['\"](\w+)")
_VARIABLE = re.compile(r"\bvar\s*\(\s*['\"](\w+)")
_INIT_ONLY = re.compile(
    r"\bnot\s+\(?\s*is_incremental\s*\(|flags\.FULL_REFRESH|should_full_refresh\(\)"
)
_ELSEWHERE = re.compile(
    r"target\.(?:name|schema|database|dataset)\b|\bis_?(?:dev|test|ci)\b"
    r"|var\(\s*['\"](?:is_)?(?:test|dev|ci|limit|sample)\w*|loop\.|\bexecute\b"
    r"|flags\.(?:WHICH|EMPTY)",
    re.IGNORECASE,
)
_PROD = re.compile(
    r"==\s*['\"](?:prod|prd|production|live)\w*['\"]|in\s*[\[(].*prod", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Hole:
    """One Jinja expression that stands in the SQL as a name of the same length."""

    text: str
    """What stands between the braces."""
    start: int
    end: int
    meaning: str
    """table, clock, random, logical, environment, variable, other."""
    table: str = ""


@dataclass(frozen=True, kw_only=True)
class Masked:
    """A text without Jinja, of the same length, and what stood there."""

    text: str
    holes: Mapping[int, Hole] = field(default_factory=dict)
    configs: tuple[tuple[str, int, int], ...] = ()
    """Each `config(…)` call with its offsets."""
    incremental_arm: bool = False
    """Whether some arm asks `is_incremental()`."""
    kept_back: str = ""
    """Text of the alternative arms that were blanked, for a second look."""
    snapshot: str = ""
    macro: bool = False


def has_templates(text: str) -> bool:
    """Whether the text holds anything that is filled in before it is SQL."""
    if "{{" in text or "{%" in text:
        return True
    # Each kind of template begins with one of these; most texts hold none.
    if not any(sign in text for sign in ("{", "$", "%(", "&", ":'", ':"')):
        return False
    return _OTHER_TEMPLATES.search(text) is not None


def tags(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the Jinja tags, quotes inside them respected."""
    at = 0
    unclosed = 0
    while unclosed < _MOST_UNCLOSED:
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        start = opening.start()
        end = _end_of_tag(text, start, opening.group(0))
        if end < 0:
            at = start + 2
            unclosed += 1
            continue
        yield start, end
        at = end


def _end_of_tag(text: str, start: int, kind: str) -> int:
    closing = _CLOSINGS[kind]
    pattern = _QUOTES_OR_CLOSING.get(kind)
    limit = start + 6000
    for match in pattern.finditer(text, start + 2, limit) if pattern is not None else ():
        if match.group(0) == closing:
            return match.end()
    found = text.find(closing, start + 2, limit)
    return found + 2 if found >= 0 else -1


def mask(
    text: str, *, macros: Mapping[str, str], last_arms: bool = False, blank_calls: bool = False
) -> Masked:
    """The text with every Jinja tag blanked or replaced by a name of its own length.

    `macros` says what the project's own macros mean (`clock`, `random` or nothing). With
    `last_arms` the last arm of each plain `if` is kept instead of the first; with `blank_calls`
    macro calls vanish instead of becoming names.
    """
    return _Masker(text, macros, last_arms=last_arms, blank_calls=blank_calls).run()


class _Arm:
    """One open `{% if %}` and which of its arms is kept."""

    def __init__(self, *, keep: bool, init_only: bool, plain: bool) -> None:
        self.keep = keep
        self.init_only = init_only
        self.plain = plain
        self.start = -1


class _Masker:
    def __init__(
        self, text: str, macros: Mapping[str, str], *, last_arms: bool, blank_calls: bool
    ) -> None:
        self._text = text
        self._macros = macros
        self._last_arms = last_arms
        self._blank_calls = blank_calls
        self._out: list[str] = []
        self._holes: dict[int, Hole] = {}
        self._configs: list[tuple[str, int, int]] = []
        self._arms: list[_Arm] = []
        self._silent = 0
        self._kept_back: list[str] = []
        self._names: dict[str, str] = {}
        self._incremental = False
        self._snapshot = ""
        self._macro = False
        self._ends = _ends_of_ifs(text)

    def run(self) -> Masked:
        at = 0
        for start, end in tags(self._text):
            self._plain(self._text[at:start], at)
            self._tag(start, end)
            at = end
        self._plain(self._text[at:], at)
        masked = "".join(self._out)
        return Masked(
            text=masked,
            holes=self._holes,
            configs=tuple(self._configs),
            incremental_arm=self._incremental,
            kept_back="".join(self._kept_back),
            snapshot=self._snapshot,
            macro=self._macro,
        )

    def _plain(self, text: str, start: int) -> None:
        if self._silent or any(not arm.keep for arm in self._arms):
            if not self._silent and not any(arm.init_only and not arm.keep for arm in self._arms):
                self._kept_back.append(text)
            self._out.append(_blank(text))
            return
        at = 0
        bodies = set(_QUOTES_A_BODY.findall(self._text)) if "$" in text else set()
        for match in _OTHER_TEMPLATES.finditer(text):
            if match.group(0).startswith("$") and match.group(0)[1:-1] in bodies:
                continue
            self._out.append(text[at : match.start()])
            inner = re.sub(r"^\W+|\W+$|\)s$", "", match.group(0))
            if match.group(0).startswith(":"):
                # psql quotes the value of `:'day'` itself: without the colon it is a literal.
                spot = (start + match.start(), start + match.end())
                self._holes[len(self._holes) + 1] = Hole(
                    text=inner, start=spot[0], end=spot[1], meaning=self._meaning(inner)[0]
                )
                self._out.append(" " + match.group(0)[1:])
                at = match.end()
                continue
            self._out.append(self._hole(inner, start + match.start(), start + match.end()))
            at = match.end()
        self._out.append(text[at:])

    def _tag(self, start: int, end: int) -> None:
        tag = self._text[start:end]
        inner = tag[2:-2].strip("-+ \n\t\r")
        if tag.startswith("{#"):
            self._out.append(_blank(tag))
        elif tag.startswith("{%"):
            self._statement(inner, start)
            self._out.append(_blank(tag))
        else:
            self._expression(inner, start, end)

    def _expression(self, inner: str, start: int, end: int) -> None:
        if re.match(r"config\s*\(", inner):
            self._configs.append((inner, start, end))
            self._out.append(_blank(self._text[start:end]))
        elif self._silent or any(not arm.keep for arm in self._arms):
            if not self._silent:
                self._kept_back.append(inner)
            self._out.append(_blank(self._text[start:end]))
        else:
            self._out.append(self._hole(inner, start, end))

    def _hole(self, inner: str, start: int, end: int) -> str:
        meaning, table = self._meaning(inner)
        length = end - start
        number = len(self._holes) + 1
        name = f"__h{number}__"
        raw = self._text[start:end]
        call = meaning == "other" and "(" in inner
        if len(name) > length or (call and self._blank_calls):
            return _blank(raw)
        self._holes[number] = Hole(text=inner, start=start, end=end, meaning=meaning, table=table)
        if "\n" not in raw:
            return name + "_" * (length - len(name))
        # Line breaks must survive where they are: the name goes on the first line that holds it.
        rows = [" " * len(row) for row in raw.split("\n")]
        for at, row in enumerate(rows):
            if len(row) >= len(name):
                rows[at] = name + row[len(name) :]
                break
        return "\n".join(rows)

    def _meaning(self, inner: str) -> tuple[str, str]:
        reference = _REFERENCE.search(inner)
        if reference is not None:
            parts = _QUOTED.findall(reference["args"])
            joined = parts[-1] if reference["kind"] == "ref" else ".".join(parts)
            return "table", joined.lower()
        if re.match(r"this\b", inner):
            return "table", "this"
        words = set(_WORD.findall(inner))
        known = {self._macros.get(word) or self._names.get(word) for word in words}
        if CLOCK_IN_JINJA.search(inner) or "clock" in known:
            return "clock", ""
        if "random" in known:
            return "random", ""
        if _LOGICAL.search(inner):
            return "logical", ""
        if _ENVIRONMENT.search(inner) or "environment" in known:
            return "environment", ""
        if _VARIABLE.search(inner) or "variable" in known:
            return "variable", ""
        return "other", ""

    def _statement(self, inner: str, start: int) -> None:
        word = _WORD.match(inner)
        name = word.group(0) if word else ""
        rest = inner[len(name) :].strip()
        if name in {"macro", "set", "call", "filter", "test", "materialization", "docs", "raw"}:
            self._open_block(name, rest)
        elif name in {
            "endmacro",
            "endset",
            "endcall",
            "endfilter",
            "endtest",
            "endmaterialization",
            "endraw",
        }:
            self._silent = max(0, self._silent - 1)
        elif name == "if":
            self._arms.append(self._new_arm(rest, start))
        elif name in {"elif", "else"} and self._arms:
            self._next_arm(name, rest, start)
        elif name == "endif" and self._arms:
            self._arms.pop()
        elif name == "snapshot":
            self._snapshot = rest

    def _open_block(self, name: str, rest: str) -> None:
        if name == "set":
            variable, equals, value = rest.partition("=")
            if equals:
                self._names[variable.strip()] = self._meaning(value)[0]
                return
        if name == "macro":
            self._macro = True
        self._silent += 1

    def _new_arm(self, condition: str, start: int) -> _Arm:
        if "is_incremental" in condition or "should_full_refresh" in condition:
            self._incremental = True
            init_only = _INIT_ONLY.search(condition) is not None
            return _Arm(keep=not init_only, init_only=True, plain=False)
        if _ELSEWHERE.search(condition):
            keep = _PROD.search(condition) is not None
            return _Arm(keep=keep, init_only=True, plain=False)
        has_else = start in self._ends
        keep = not (self._last_arms and has_else)
        return _Arm(keep=keep, init_only=False, plain=True)

    def _next_arm(self, name: str, condition: str, start: int) -> None:
        del start
        arm = self._arms[-1]
        if not arm.plain:
            # The other side of an init-only or environment-only arm.
            arm.keep = not arm.keep if name == "else" else "is_incremental" in condition
            return
        arm.keep = self._last_arms and name == "else"


def _ends_of_ifs(text: str) -> frozenset[int]:
    """Offsets of the `{% if %}` tags that have an `else`."""
    stack: list[int] = []
    found: set[int] = set()
    for match in re.finditer(r"\{%-?\s*(if|else|endif)\b", text):
        if match.group(1) == "if":
            stack.append(match.start())
        elif stack and match.group(1) == "else":
            found.add(stack[-1])
        elif stack:
            stack.pop()
    return frozenset(found)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def read_config(call: str) -> dict[str, object]:
    """The keyword arguments of a `config(…)` call as plain values; other expressions as text."""
    source = call.replace(" ~ ", " + ")
    try:
        tree = ast.parse(source.replace("\n", " "), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _config_by_pattern(call)
    if not isinstance(tree.body, ast.Call):
        return {}
    return {word.arg: _plain_value(word.value) for word in tree.body.keywords if word.arg}


def _plain_value(node: ast.expr) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_plain_value(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_plain_value(key)): _plain_value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.Name) and node.id in {"none", "None"}:
        return None
    if isinstance(node, ast.Name) and node.id in {"true", "false"}:
        return node.id == "true"
    if isinstance(node, ast.IfExp):
        return _plain_value(node.body) or _plain_value(node.orelse)
    return ast.unparse(node)


def _config_by_pattern(call: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for match in re.finditer(r"(\w+)\s*=\s*(?:'([^']*)'|\"([^\"]*)\"|(\[[^\]]*\]))", call):
        name, one, two, many = match.groups()
        found[name] = _QUOTED.findall(many) if many else (one or two or "")
    return found
