"""The size of what a query reads, as Spark's planner prints it with `explain("cost")`."""

from __future__ import annotations

import re

_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_SCAN = re.compile(
    r"^[\s:+|-]*(?:Relation\w*|\w*Scan\w*|LogicalRelation)\b.*"
    r"Statistics\(sizeInBytes=([0-9.]+)(?:E\+?([0-9]+))? ([KMGTPE]?i?B)",
    re.MULTILINE,
)
_OPTIMIZED = "== Optimized Logical Plan =="


def bytes_read(printed: str) -> int | None:
    """The bytes of all scans of the optimised plan; None when it shows none."""
    plan = printed.partition(_OPTIMIZED)[2].partition("\n== ")[0]
    found = [
        float(number) * 10 ** int(power or 0) * 1024 ** _UNITS.get(unit, 0)
        for number, power, unit in _SCAN.findall(plan)
    ]
    total = sum(found)
    # Without statistics Spark says 8 EiB, which is no size at all.
    return int(total) if found and total < 1 << 60 else None
