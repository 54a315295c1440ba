"""Fitting a result to a table that exists: its columns, in its order, in its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from setpoint.errors import ResultMisshapen
from setpoint.model.column_type import fits
from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame


def fitted(frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """The frame as the table keeps it; refused where a value could be lost on the way."""
    given = {field.name.lower(): field for field in frame.schema.fields}
    selected: list[Column] = []
    for name, kind in columns.items():
        field = given[name.lower()]
        found = field.dataType.simpleString()
        if not fits(found, kind):
            raise ResultMisshapen(
                f"column {name} is a {found}, and the table keeps a {kind}; nothing was written",
                facts={"expected": f"{name} {kind}", "found": f"{field.name} {found}"},
                next_step="cast the column in the task, or change the table",
            )
        column = F.col(quote(field.name))
        selected.append((column if found == kind else column.cast(kind)).alias(name))
    return frame.select(*selected)
