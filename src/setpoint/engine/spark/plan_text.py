"""Hidden inputs in the text of a query plan. Pure: text in, findings out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from setpoint.model.hidden_input import HiddenInputFound

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOCKS = ("current_date", "current_timestamp", "now", "localtimestamp", "current_time")
SEEDABLE = ("rand", "randn")
CHANCE = ("rand", "randn", "uuid", "randstr", "uniform", "shuffle")
PLACEMENT = ("monotonically_increasing_id", "spark_partition_id", "input_file_name")
ORDER = ("first", "last", "any_value", "collect_list", "collect_set")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
CLOCK_FIX = "take the time from the window (window.start, :window_start, :ds)"
CHANCE_FIX = "derive it from the row: surrogate_key(…) for keys, a hash for samples"
ORDER_FIX = "make the order total, e.g. min_by/max_by with a unique column, or array_sort"
SECTION = re.compile(r"^== (.+?) ==$", re.MULTILINE)
ICEBERG_SCAN = re.compile(r"IcebergScan\(table=([^,]+), .*?snapshotId=(\d+)")
ALIAS = re.compile(r" AS ([^#]+)#\d*L?$")
WORD = re.compile(r"[^\s,()\[\]]+(?: \d\d:\d\d:\d\d[.\d]*)?")
PLACES = {"Filter": "a filter", "Join": "a join", "Aggregate": "a grouping", "Sort": "an order"}
IDS = re.compile(
    r"#\d+L?|\bplan_id=\d+|@[0-9a-f]{4,}|(?<=CTERelationDef )\d+|(?<=CTERelationRef )\d+"
    r"|\b(?<=_)\d+(?=#)"
)
# What Spark shows of a seed, set or drawn by itself: a difference there is told as chance.
SEEDS = re.compile(
    r"(\brandn?\(|\buuid\(Some\(|\bshuffle\(.*?Some\(|\b(?:randstr|uniform)\(.*?, )"
    r"-?\d+(?=\)|, (?:true|false)\))"
)


@dataclass(frozen=True, kw_only=True)
class PlanText:
    """A plan as Spark prints it, cut into its sections."""

    analyzed: str
    optimized: str
    physical: str

    @classmethod
    def of(cls, text: str) -> PlanText:
        """Cut what `explain("extended")` prints."""
        pieces = SECTION.split(text)
        sections = dict(zip(pieces[1::2], pieces[2::2], strict=False))
        analyzed = sections.get("Analyzed Logical Plan", "")
        # The first line is the schema, whose column names are free text.
        return cls(
            analyzed=analyzed.strip().partition("\n")[2],
            optimized=sections.get("Optimized Logical Plan", ""),
            physical=sections.get("Physical Plan", ""),
        )

    @property
    def snapshots(self) -> dict[str, str]:
        """The Iceberg snapshot that each scan reads, by table."""
        return dict(ICEBERG_SCAN.findall(self.physical))


def hidden_inputs(first: PlanText, second: PlanText | None) -> tuple[HiddenInputFound, ...]:
    """What a plan depends on besides its sources and window.

    `second` is the same plan built again with another time on Python's clock: a literal that
    differs came from Python's clock or chance, and a seed that differs was never set.
    """
    seeded = second is not None and _seeds(first.analyzed) == _seeds(second.analyzed)
    found = [
        *_clocks(first),
        *_named(CHANCE, first.analyzed, CHANCE_FIX, only_warn=SEEDABLE if seeded else ()),
        *_named(PLACEMENT, first.analyzed, CHANCE_FIX),
        *_named(ORDER, first.analyzed, ORDER_FIX, only_warn=ORDER),
    ]
    if second is not None:
        found += [
            HiddenInputFound(
                function="python",
                place=place,
                fix=f"{one} became {other} when the plan was built again: it comes from Python's "
                f"clock or chance; {CLOCK_FIX if DATE.search(one) else CHANCE_FIX}",
            )
            for place, one, other in _differences(first.analyzed, second.analyzed)
        ]
    return tuple(found)


def grouped_by(plan: PlanText, key: Sequence[str]) -> bool:
    """Whether the result is grouped by columns of the key, so that no key can repeat."""
    top = re.match(
        r"\s*Aggregate \[(.*?)\], \[(.*)\]\s*$", plan.optimized.strip().partition("\n")[0]
    )
    if top is None or not all(re.fullmatch(r"\w+", name) for name in key):
        return False
    names = {}
    for item in top[2].split(", "):
        expression, _, alias = item.rpartition(" AS ")
        names[expression or item] = (alias if expression else item).partition("#")[0].lower()
    columns = {name.lower() for name in key}
    return all(names.get(item) in columns for item in top[1].split(", "))


def cheap_to_repeat(plan: PlanText) -> bool:
    """Whether the result is columns and rows of lake tables, picked but not computed with.

    Then reading it twice costs less than keeping it between the two times.
    """
    lines = [line for line in plan.optimized.splitlines() if line.strip()]
    operators = [line.lstrip(" :+-").partition(" ")[0].partition("[")[0] for line in lines]
    return bool(operators) and set(operators) <= {"Project", "Filter", "RelationV2"}


def _clocks(plan: PlanText) -> list[HiddenInputFound]:
    # Planning turns a clock into a literal. What is still there afterwards is a text that only
    # reads like one.
    names = [name for name in CLOCKS if _count(name, plan.analyzed) > _count(name, plan.optimized)]
    return _named(names, plan.analyzed, CLOCK_FIX)


def _named(
    names: Sequence[str], text: str, fix: str, *, only_warn: Sequence[str] = ()
) -> list[HiddenInputFound]:
    return [
        HiddenInputFound(function=name, place=place, fix=fix, refused=name not in only_warn)
        for name in names
        for place in _places(name, text)
    ]


def _call(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.`']){name}\(")


def _count(name: str, text: str) -> int:
    return len(_call(name).findall(text))


def _seeds(text: str) -> list[str]:
    return re.findall(r"\b(?:rand|randn)\((-?\d+)\)", text)


def _places(name: str, text: str) -> list[str]:
    places = (
        _place(line, match.start())
        for line in text.splitlines()
        for match in _call(name).finditer(line)
    )
    return list(dict.fromkeys(places))


def _place(line: str, position: int) -> str:
    """The column that an expression fills, or the part of the query that it sits in."""
    alias = ALIAS.search(_element(line, position))
    if alias:
        return f"column {alias[1]}"
    word = re.match(r"'?(\w+)", line.lstrip(" +-:"))
    kind = word[1] if word else "text"
    return PLACES.get(kind, f"the {kind} of the plan")


def _element(line: str, position: int) -> str:
    """The item of a node's outermost list, as in `Project [a, b AS c]`, that holds a position."""
    depth = 0
    begin = 0
    for at, character in enumerate(line):
        if character in "([":
            depth += 1
            if depth == 1:
                begin = at + 1
        elif character in ")]":
            depth -= 1
        if (depth == 0 and character in ")]") or (depth == 1 and character == ","):
            if begin <= position < at:
                return line[begin:at]
            begin = at + 1
    return line[begin:]


def _differences(one: str, other: str) -> list[tuple[str, str, str]]:
    differing = []
    for left, right in zip_longest(normal_lines(one), normal_lines(other), fillvalue=""):
        if left == right:
            continue
        words = zip_longest(WORD.finditer(left), WORD.finditer(right))
        a, b = next(((a, b) for a, b in words if not a or not b or a[0] != b[0]), (None, None))
        place = _place(left or right, a.start() if a else len(left.rstrip(")] ")))
        differing.append((place, a[0] if a else "nothing", b[0] if b else "nothing"))
    return differing


def normal_lines(text: str) -> list[str]:
    """The lines of a plan without the ids that every analysis gives anew."""
    return [SEEDS.sub(r"\1#", IDS.sub("#", line)) for line in text.splitlines()]
