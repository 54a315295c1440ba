"""Tasks as plain data, without a project around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setpoint.model.grain import Grain
from setpoint.model.pattern import Choice
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource, Task
from setpoint.model.transform import PythonTransform
from setpoint.model.write import overwrite


class Maker:
    """Makes tasks that differ in the one thing that a test is about."""

    @staticmethod
    def task(
        name: str = "orders",
        *,
        reads: tuple[str, ...] = (),
        grain: str | None = "day",
        zone: str = "UTC",
        **changes: Any,
    ) -> Task:
        """A task that writes `lake.shop.<name>` and reads the targets of other tasks."""
        given: dict[str, Any] = {
            "name": name,
            "target": TableName.parse(f"lake.shop.{name}"),
            "grain": None if grain is None else Grain.parse(grain, zone=zone),
            "choice": Choice(write=overwrite(by="day"), reason="stated by the task"),
            "transform": PythonTransform(function=dict, parameters=()),
            "path": Path(f"pipelines/{name}.py"),
            "line": 1,
            "fingerprint": "code-1",
            "sources": tuple(
                BoundSource(
                    name=other, table=TableName.parse(f"lake.shop.{other}"), event_time="at"
                )
                for other in reads
            ),
        }
        return Task(**(given | changes))
