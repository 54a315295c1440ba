"""Types of columns: which values a column can take without loss."""

from __future__ import annotations

import re

INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
"""Whole numbers, narrow to wide, with the decimal digits that each may need."""
FLOATS = ("float", "double")
EXACT_IN = {"float": ("tinyint", "smallint"), "double": ("tinyint", "smallint", "int", "float")}
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)\Z")


def fits(given: str, column: str) -> bool:
    """Whether every value of a type can be kept, unchanged, in a column of another."""
    if given in (column, "void"):
        return True
    if given in INTEGERS and column in INTEGERS:
        return INTEGERS[given] <= INTEGERS[column]
    if column in FLOATS:
        return given in EXACT_IN[column]
    room = DECIMAL.match(column)
    if room is None:
        return False
    whole = int(room[1]) - int(room[2])
    if given in INTEGERS:
        return INTEGERS[given] <= whole
    value = DECIMAL.match(given)
    return (
        value is not None
        and int(value[1]) - int(value[2]) <= whole
        and int(value[2]) <= int(room[2])
    )
