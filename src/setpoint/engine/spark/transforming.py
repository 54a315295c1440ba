"""Calling a task's transform: sources in, a frame out."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from setpoint.errors import SetpointError, TransformFailed, Transient
from setpoint.model.transform import PythonTransform, compose_sql, sql_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from setpoint.model.task import Task
    from setpoint.model.window import Window


def transformed(
    spark: SparkSession, task: Task, window: Window | None, sources: Mapping[str, str]
) -> DataFrame:
    """The result of the transform, not yet computed."""
    if isinstance(task.transform, PythonTransform):
        return _from_python(spark, task, task.transform, window, sources)
    statement = compose_sql(task.transform.statement, sources)
    return spark.sql(statement, args=sql_parameters(window))


def _from_python(
    spark: SparkSession,
    task: Task,
    transform: PythonTransform,
    window: Window | None,
    sources: Mapping[str, str],
) -> DataFrame:
    offered: dict[str, Any] = {name: spark.sql(query) for name, query in sources.items()}
    offered |= {"window": window, "spark": spark}
    try:
        result = transform.function(**{name: offered[name] for name in transform.parameters})
    except (SetpointError, PySparkException):
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        frames = traceback.extract_tb(error.__traceback__)
        own = task.path.parts  # the whole path: Spark's own context.py ends like a task's t.py
        place = next(
            (f for f in reversed(frames) if Path(f.filename).parts[-len(own) :] == own), None
        )
        where = f" at {task.path}:{place.lineno}" if place else ""
        passing = isinstance(error, (ConnectionError, TimeoutError))
        raise (Transient if passing else TransformFailed)(
            f"{task.name} raised {type(error).__name__}: {error}{where}",
            next_step=f"mend {task.path}, then run the same command again",
        ) from error
    if not isinstance(result, DataFrame):
        raise TransformFailed(
            f"{task.name} returned {type(result).__name__}, not a DataFrame",
            next_step=f"return the result at the end of {task.path}:{task.line}",
        )
    return result
