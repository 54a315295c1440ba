"""DAGs and tasks: schedules, retries, start dates, and which task comes before which."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Dag, Spot
from setpoint.auditing.python.effects import is_alert_name
from setpoint.auditing.python.tape import Tape
from setpoint.auditing.python.values import UNKNOWN, Value

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

_CRON_PRESETS = {
    "@hourly": "hour",
    "@daily": "day",
    "@weekly": "week",
    "@monthly": "month",
    "@yearly": "month",
    "@annually": "month",
    "@continuous": "minute",
    "@midnight": "day",
}


@dataclass
class DagState:
    """A DAG while it is being read."""

    name: str
    spot: Spot
    grain: str = ""
    scheduled: bool = False
    catchup: bool | None = None
    catchup_spot: Spot | None = None
    moving_start: Spot | None = None
    retries: int = 0
    retries_spot: Spot | None = None
    edges: list[tuple[str, str]] = field(default_factory=list)

    def dag(self) -> Dag:
        """The finished DAG."""
        return Dag(
            name=self.name,
            spot=self.spot,
            grain=self.grain,
            scheduled=self.scheduled,
            catchup=self.catchup,
            catchup_spot=self.catchup_spot,
            moving_start=self.moving_start,
            edges=tuple(dict.fromkeys(self.edges)),
        )


# DAGs


def grain_of_schedule(value: Value) -> tuple[str, bool]:
    """How far apart runs lie, and whether there is a schedule at all."""
    text = value.text
    if text is None:
        seconds = value.fields.get("seconds")
        if seconds is not None and seconds.text is not None:
            return _grain_of_seconds(float(seconds.text)), True
        return "", value != UNKNOWN
    plain = text.strip()
    if plain in {"None", "@once", ""}:
        return "", False
    if plain in _CRON_PRESETS:
        return _CRON_PRESETS[plain], True
    return _grain_of_cron(plain), True


def _grain_of_cron(cron: str) -> str:
    parts = cron.split()
    if len(parts) < 5:  # noqa: PLR2004 - minute, hour, day, month, weekday
        return ""
    minute, hour = parts[0], parts[1]
    if minute == "*" or "/" in minute or "," in minute:
        return "minute"
    if hour == "*" or "/" in hour or "," in hour or "-" in hour:
        return "hour"
    return "day" if parts[2] == "*" else "month"


def _grain_of_seconds(seconds: float) -> str:
    for limit, name in ((3600, "minute"), (86400, "hour"), (7 * 86400, "day")):
        if seconds < limit:
            return name
    return "week"


_SECONDS = {"days": 86400, "seconds": 1, "minutes": 60, "hours": 3600, "weeks": 604800}


def timedelta(call: Call) -> Value:
    """A `timedelta(…)` as its length."""
    parts = [(_SECONDS.get(name, 0), value) for name, value in call.keywords.items()]
    parts += [(86400, value) for value in call.args[:1]]
    seconds = sum(size * _number(value) for size, value in parts)
    if seconds <= 0:
        return Value(marks=call.marks)
    return Value(fields={"seconds": Value(text=str(seconds))}, marks=call.marks)


def _number(value: Value) -> float:
    return float(value.text) if value.kind == "number" and value.text is not None else 0.0


def new_dag(
    walker: Walker,
    node: ast.expr,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    otherwise: str,
) -> Value:
    """A DAG by its settings."""
    name = keywords.get("dag_id", args[0] if args else UNKNOWN).text or otherwise or "dag"
    spot = walker.module.spot(node)
    state = DagState(name=name, spot=spot)
    schedule = next(
        (
            keywords[word]
            for word in ("schedule", "schedule_interval", "timetable")
            if word in keywords
        ),
        UNKNOWN,
    )
    state.grain, state.scheduled = grain_of_schedule(schedule)
    defaults = keywords.get("default_args", UNKNOWN)
    catchup = keywords.get("catchup", defaults.fields.get("catchup", UNKNOWN))
    if catchup.text in {"True", "False"}:
        state.catchup = catchup.text == "True"
        state.catchup_spot = _keyword_spot(walker, node, "catchup") or spot
    start = keywords.get("start_date", defaults.fields.get("start_date", UNKNOWN))
    clock = next((mark for mark in start.all_marks() if mark.kind == "clock"), None)
    if clock is not None:
        state.moving_start = clock.spot
    retries = defaults.fields.get("retries", UNKNOWN)
    state.retries = count(retries)
    state.retries_spot = _default_spot(walker, node, "retries")
    walker.dag_state[name] = state
    return Value(kind="dag", name=name)


def count(value: Value) -> int:
    """A number that the code states, else 0."""
    return int(value.text) if value.text is not None and value.text.isdigit() else 0


def _keyword_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    for word in node.keywords if isinstance(node, ast.Call) else ():
        if word.arg == name:
            return walker.module.spot(word.value)
    return None


def _default_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    """Where `default_args` says a setting: the dict's own entry, wherever it stands."""
    for word in node.keywords if isinstance(node, ast.Call) else ():
        if word.arg == "default_args":
            found = _entry_spot(walker, word.value, name)
            if found is not None:
                return found
            if isinstance(word.value, ast.Name):
                return _entry_of_name(walker, word.value.id, name)
    return None


def _entry_of_name(walker: Walker, variable: str, name: str) -> Spot | None:
    for one in ast.walk(walker.module.tree):
        if isinstance(one, (ast.Assign, ast.AnnAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if (
                any(isinstance(target, ast.Name) and target.id == variable for target in targets)
                and one.value
            ):
                return _entry_spot(walker, one.value, name)
    return None


def _entry_spot(walker: Walker, node: ast.expr, name: str) -> Spot | None:
    if isinstance(node, ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant) and key.value == name:
                return walker.module.spot(key)
    if isinstance(node, ast.Call):
        return _keyword_spot(walker, node, name)
    return None


# Tasks


def _state(walker: Walker, keywords: dict[str, Value]) -> DagState | None:
    dag = keywords.get("dag", walker.current_dag or UNKNOWN)
    name = dag.name if dag.kind == "dag" else ""
    if not name and len(walker.dag_state) == 1:
        name = next(iter(walker.dag_state))
    return walker.dag_state.get(name)


def new_tape(
    walker: Walker, name: str, kind: str, node: ast.expr | ast.stmt, keywords: dict[str, Value]
) -> Tape:
    """The tape of a task, with the retries that apply to it."""
    state = _state(walker, keywords) if kind.startswith("airflow") else None
    spot = walker.module.spot(node)
    own = keywords.get("retries")
    tape = Tape(
        name=f"{state.name}.{name}" if state is not None else name,
        kind=kind,
        line=spot.line,
        end_line=spot.end_line,
        task=name,
        dag=state.name if state is not None else "",
    )
    if own is not None:
        tape.retries = count(own)
        tape.retries_spot = (
            _keyword_spot(walker, node, "retries") if isinstance(node, ast.expr) else spot
        )
    elif state is not None:
        tape.retries, tape.retries_spot = state.retries, state.retries_spot or state.spot
    rule = keywords.get("trigger_rule", UNKNOWN)
    shown = (rule.text or rule.name or "").lower()
    tape.alert = "failed" in shown or is_alert_name(name)
    return tape


# Order


def combined(walker: Walker, node: ast.BinOp, left: Value, right: Value) -> Value | None:
    """`a >> b` and `a << b`."""
    if not isinstance(node.op, (ast.RShift, ast.LShift)):
        return None
    pair = (left, right) if isinstance(node.op, ast.RShift) else (right, left)
    edge(walker, *pair)
    return right


def tasks(value: Value) -> list[str]:
    """The tasks that a value stands for."""
    if value.kind == "task":
        return [value.name]
    return [name for one in value.items or () for name in tasks(one)]


def edge(walker: Walker, one: Value, other: Value) -> None:
    """`one` is done before `other` starts."""
    state = _state(walker, {})
    if state is None:
        state = next(iter(walker.dag_state.values()), None)
    if state is None:
        return
    for left in tasks(one):
        for right in tasks(other):
            state.edges.append((left, right))


def chain(walker: Walker, values: tuple[Value, ...]) -> None:
    """Each of the values is done before the next starts."""
    for left, right in pairwise(values):
        edge(walker, left, right)


def finished(walker: Walker) -> None:
    """Hand over the DAGs that were read."""
    walker.dags.extend(state.dag() for state in walker.dag_state.values())
