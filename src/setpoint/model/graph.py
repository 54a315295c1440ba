"""The graph of tasks, inferred from what they read and write."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from setpoint.model.table import TableName
    from setpoint.model.task import Task


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Tasks by name, and for each the tasks that it reads from."""

    tasks: Mapping[str, Task]
    upstream: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, tasks: Iterable[Task]) -> Graph:
        """Connect each source table to the task that writes it, if one does."""
        by_name = {task.name: task for task in tasks}
        writer = {task.target: task.name for task in by_name.values()}
        return cls(
            tasks=by_name,
            upstream={
                name: tuple(
                    dict.fromkeys(writer[s.table] for s in task.sources if s.table in writer)
                )
                for name, task in by_name.items()
            },
        )

    def task(self, name: str) -> Task:
        """The task of that name."""
        if name in self.tasks:
            return self.tasks[name]
        near = difflib.get_close_matches(name, self.tasks, n=1)
        known = ", ".join(sorted(self.tasks)) or "none"
        raise UsageError(
            f"no task is called {name!r}",
            next_step=f"did you mean {near[0]!r}?" if near else f"the tasks are: {known}",
        )

    def consumers(self, table: TableName) -> tuple[str, ...]:
        """The tasks that read a table."""
        return tuple(
            sorted(n for n, t in self.tasks.items() if any(s.table == table for s in t.sources))
        )

    def cycle(self) -> tuple[str, ...] | None:
        """One circle of tasks that feed each other, or None."""
        done: set[str] = set()
        for first in sorted(self.tasks):
            path: list[str] = []
            stack = [(first, iter(self.upstream[first]))]
            on_path = {first}
            path.append(first)
            while stack:
                name, rest = stack[-1]
                following = next(rest, None)
                if following is None:
                    stack.pop()
                    path.pop()
                    on_path.discard(name)
                    done.add(name)
                elif following in on_path:
                    return (*path[path.index(following) :], following)
                elif following not in done:
                    stack.append((following, iter(self.upstream[following])))
                    on_path.add(following)
                    path.append(following)
        return None

    def upstream_first(self, names: Sequence[str] = ()) -> tuple[Task, ...]:
        """The named tasks (all when none are named) and all they depend on, upstream first."""
        order: dict[str, None] = {}
        roots = [self.task(name).name for name in names] or sorted(self.tasks)
        for root in roots:
            stack = [(root, iter(self.upstream[root]))]
            while stack:
                name, rest = stack[-1]
                following = next((n for n in rest if n not in order), None)
                if following is None:
                    order.setdefault(name)
                    stack.pop()
                else:
                    stack.append((following, iter(self.upstream[following])))
        return tuple(self.tasks[name] for name in order)
