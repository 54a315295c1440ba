"""The graph is inferred from what tasks read and write; circles are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.errors import UsageError
from setpoint.model.graph import Graph
from setpoint.model.table import TableName

if TYPE_CHECKING:
    from tests.task_maker import Maker

NODES = 7
EDGES = st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)


def graph_of(make: Maker, reads: dict[str, tuple[str, ...]]) -> Graph:
    """A graph in which each name reads the others it is given with."""
    return Graph.of(make.task(name, reads=others) for name, others in reads.items())


def reading(edges: set[tuple[int, int]]) -> dict[str, tuple[str, ...]]:
    """Random edges as names that read names."""
    return {
        f"t{n}": tuple(sorted(f"t{other}" for at, other in edges if at == n)) for n in range(NODES)
    }


def test_a_source_is_connected_to_the_task_that_writes_it(make: Maker) -> None:
    """What nobody writes is an outside table; what is read twice counts once."""
    graph = graph_of(make, {"raw": (), "orders": ("raw", "raw", "rates"), "revenue": ("orders",)})
    assert graph.upstream == {"raw": (), "orders": ("raw",), "revenue": ("orders",)}
    assert graph.consumers(TableName.parse("lake.shop.raw")) == ("orders",)
    assert graph.consumers(TableName.parse("lake.shop.revenue")) == ()


def test_selected_tasks_bring_what_they_read(make: Maker) -> None:
    """`--select` runs the task and everything before it, and nothing else."""
    graph = graph_of(make, {"a": (), "b": ("a",), "c": ("b",), "aside": ()})
    assert [task.name for task in graph.upstream_first(["c"])] == ["a", "b", "c"]
    assert {task.name for task in graph.upstream_first()} == {"a", "b", "c", "aside"}


def test_an_unknown_task_is_refused_with_the_nearest_name(make: Maker) -> None:
    """A slip of the finger is answered with the name that was meant, else with all of them."""
    graph = graph_of(make, {"revenue_daily": (), "orders": ()})
    with pytest.raises(UsageError, match="'revenu_daily'") as slip:
        graph.upstream_first(["revenu_daily"])
    assert slip.value.next_step == "did you mean 'revenue_daily'?"
    with pytest.raises(UsageError) as wild:
        graph.task("zzz")
    assert wild.value.next_step == "the tasks are: orders, revenue_daily"


def test_a_task_that_reads_its_own_target_is_a_circle(make: Maker) -> None:
    """The smallest circle is one task."""
    assert graph_of(make, {"a": ("a",)}).cycle() == ("a", "a")


def test_a_circle_is_named_from_end_to_end(make: Maker) -> None:
    """Tasks that only lead into the circle are not part of its name."""
    graph = graph_of(make, {"a": ("b",), "b": ("c",), "c": ("d",), "d": ("b",)})
    assert graph.cycle() == ("b", "c", "d", "b")


@given(EDGES)
def test_every_task_comes_after_what_it_reads(make: Maker, edges: set[tuple[int, int]]) -> None:
    """For any graph without a circle, upstream first holds for every edge, each task once."""
    edges = {(one, other) for one, other in edges if one > other}
    graph = graph_of(make, reading(edges))
    order = [task.name for task in graph.upstream_first()]
    assert sorted(order) == sorted(graph.tasks)
    for name, needs in graph.upstream.items():
        assert all(order.index(need) < order.index(name) for need in needs)
    assert graph.cycle() is None


@given(EDGES)
def test_a_circle_is_found_exactly_when_there_is_one(
    make: Maker, edges: set[tuple[int, int]]
) -> None:
    """The named circle consists of real edges; without one the tasks can be put in order."""
    graph = graph_of(make, reading(edges))
    circle = graph.cycle()
    left = dict(graph.upstream)
    while ready := [name for name, needs in left.items() if not set(needs) & set(left)]:
        for name in ready:
            del left[name]
    assert (circle is None) == (not left)
    if circle:
        assert circle[0] == circle[-1]
        assert len(set(circle)) == len(circle) - 1
        assert all(other in graph.upstream[one] for one, other in zip(circle, circle[1:]))  # noqa: B905, RUF007


def test_a_long_chain_needs_no_deep_stack(make: Maker) -> None:
    """Five thousand tasks in a row are ordered and searched for circles."""
    reads: dict[str, tuple[str, ...]] = {"t0": ()}
    reads |= {f"t{n}": (f"t{n - 1}",) for n in range(1, 5000)}
    graph = graph_of(make, reads)
    assert graph.cycle() is None
    assert [task.name for task in graph.upstream_first(["t4999"])] == [f"t{n}" for n in range(5000)]


def test_a_graph_of_very_many_ways_is_searched_once(make: Maker) -> None:
    """Forty layers of two tasks have a million million ways through them: each task is met once."""
    reads: dict[str, tuple[str, ...]] = {"a0": (), "b0": ()}
    for layer in range(1, 41):
        both = (f"a{layer - 1}", f"b{layer - 1}")
        reads |= {f"a{layer}": both, f"b{layer}": both}
    graph = graph_of(make, reads)
    assert graph.cycle() is None
    assert len(graph.upstream_first()) == 82
