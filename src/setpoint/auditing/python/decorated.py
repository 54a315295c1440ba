"""Functions that a decorator makes a DAG, a task, an asset or a flow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from setpoint.auditing.facts import How, Write
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.names import table_text
from setpoint.auditing.python.orchestrators import (
    count,
    edge,
    grain_of_schedule,
    new_dag,
    new_tape,
    tasks,
)
from setpoint.auditing.python.values import UNKNOWN, Value

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.evaluating import Names
    from setpoint.auditing.python.walking import Function, Walker

_DECORATED = {
    "task": "airflow-task",
    "asset": "dagster-asset",
    "multi_asset": "dagster-asset",
    "op": "dagster-op",
    "solid": "dagster-op",
    "flow": "prefect-flow",
    "job": "dagster-job",
    "graph_asset": "dagster-asset",
}


def on_function(walker: Walker, node: Function, names: Names) -> bool:
    """A function that a decorator makes a DAG, a task, an asset or a flow."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        dotted = walker.module.dotted(target)
        keywords: dict[str, Value] = {}
        if isinstance(decorator, ast.Call):
            keywords = walker.arguments(decorator, names)[1]
        last = dotted.rsplit(".", 1)[-1]
        if last == "dag":
            return _decorated_dag(walker, node, decorator, keywords, names)
        root = dotted.split(".")[0]
        if root == "task" or last in _DECORATED:
            kind = _kind(walker, "task" if root == "task" and last != "task" else last, dotted)
            if kind:
                return _decorated_task(walker, node, decorator, keywords, kind, names)
    return False


def _kind(walker: Walker, last: str, dotted: str) -> str:
    kind = _DECORATED.get(last, "")
    if last == "task":
        if walker.module.imported("prefect"):
            return "prefect-task"
        if walker.module.imported("setpoint"):
            return "setpoint-task"
        return "airflow-task" if walker.module.imported("airflow") else ""
    if kind.startswith("dagster") and not (
        walker.module.imported("dagster") or dotted.startswith(("dg.", "dagster"))
    ):
        return ""
    if kind.startswith("prefect") and not walker.module.imported("prefect"):
        return ""
    return kind


def _decorated_dag(
    walker: Walker, node: Function, decorator: ast.expr, keywords: dict[str, Value], names: Names
) -> bool:
    walker.inlined.add(node.name)
    dag = new_dag(walker, decorator, (), keywords, node.name)
    before, walker.current_dag = walker.current_dag, dag
    walker.run_function(node, {**walker.names_for(node), **names})
    walker.current_dag = before
    return True


def _decorated_task(  # noqa: PLR0917 - private, called once
    walker: Walker,
    node: Function,
    decorator: ast.expr,
    keywords: dict[str, Value],
    kind: str,
    names: Names,
) -> bool:
    walker.inlined.add(node.name)
    task = keywords.get("task_id", keywords.get("name", UNKNOWN)).text or node.name
    tape = new_tape(walker, task, kind, decorator, keywords)
    tape.line, tape.end_line = (
        node.lineno + walker.module.shift,
        (node.end_lineno or node.lineno) + walker.module.shift,
    )
    policy = keywords.get("retry_policy")
    if policy is not None and "max_retries" in policy.fields:
        tape.retries = count(policy.fields["max_retries"])
        tape.retries_spot = walker.module.spot(decorator)
    if "partitions_def" in keywords:
        tape.logical_date = tape.logical_date or "partition" in spelled(node)
        tape.grain = keywords["partitions_def"].fields.get("grain", UNKNOWN).text or ""
    with walker.recording(tape):
        if kind == "setpoint-task":
            _set_by_setpoint(walker, decorator, keywords)
        walker.run_function(node, {**names, **walker.names_for(node)})
    names[node.name] = Value(kind="task-function", name=task)
    return True


def _set_by_setpoint(walker: Walker, decorator: ast.expr, keywords: dict[str, Value]) -> None:
    """What a task of Setpoint owns; it never adds to what is there."""
    words = decorator.keywords if isinstance(decorator, ast.Call) else []
    pattern = next((spelled(word.value) for word in words if word.arg == "write"), "")
    merges = pattern.rsplit("(", 1)[0].endswith("merge")
    walker.record(
        Write(
            how=How.UPSERT if merges else How.OVERWRITE,
            table=table_text(walker, keywords.get("target", UNKNOWN)),
            spot=walker.module.spot(decorator),
            language="setpoint",
            rows="frame",
            guard="Setpoint sets the window",
        )
    )


def task_call(walker: Walker, call: Call) -> Value | None:
    """`load(transform(extract()))` of TaskFlow: data passed on is order."""
    if call.receiver.kind == "task-function":
        return None
    func = call.node.func
    known = call.names.get(func.id) if isinstance(func, ast.Name) else None
    if known is None or known.kind != "task-function":
        return None
    value = Value(kind="task", name=known.name)
    for argument in (*call.args, *call.keywords.values()):
        if tasks(argument):
            edge(walker, argument, value)
    return value


def retry_policy(call: Call) -> Value | None:
    """Dagster's RetryPolicy."""
    if call.dotted.rsplit(".", 1)[-1] == "RetryPolicy":
        return Value(fields=call.keywords or {"max_retries": call.argument(0)})
    return None


_PARTITIONS = {
    "HourlyPartitionsDefinition": "hour",
    "DailyPartitionsDefinition": "day",
    "WeeklyPartitionsDefinition": "week",
    "MonthlyPartitionsDefinition": "month",
}


def partitions(call: Call) -> Value | None:
    """Dagster's time partitions, by their length."""
    grain = _PARTITIONS.get(call.method)
    return Value(kind="partitions", fields={"grain": Value(text=grain)}) if grain else None


def served(walker: Walker, call: Call) -> Value | None:
    """`flow.serve(cron=…)`: every task of the file then runs on that schedule."""
    if call.method not in {"serve", "deploy", "to_deployment"}:
        return None
    for word in ("cron", "schedule", "interval"):
        if word in call.keywords:
            grain, _ = grain_of_schedule(call.keywords[word])
            for tape in walker.tapes:
                if tape.kind.startswith("prefect"):
                    tape.grain = tape.grain or grain
    return UNKNOWN
