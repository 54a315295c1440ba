"""The small decisions: halving, probing, staleness, estimates, cost, progress, requests."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.backfilling.conftest import at, plan_of, standing

from setpoint.backfilling.batching import default_size, stretches
from setpoint.backfilling.bisecting import bisected
from setpoint.backfilling.cost import usage, usages
from setpoint.backfilling.estimate import estimate, past_runs
from setpoint.backfilling.progress import Progress
from setpoint.backfilling.request import Request, parse_tags
from setpoint.backfilling.separable import added, judge, probe_pairs
from setpoint.backfilling.stale import Staleness, Upstream, changed_since
from setpoint.engine.protocol import SourceChange
from setpoint.engine.table_size import TableSize
from setpoint.errors import EngineFailed, SourceFault, UsageError
from setpoint.ledger.backfill import Backfill, Job
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.record import Outcome
from setpoint.model.checksum import Checksum
from setpoint.model.grain import Grain
from setpoint.model.graph import Graph
from setpoint.model.settings import CostSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.task_maker import Maker

    from setpoint.model.window import Window

DAY = Grain.parse("day")


def days(count: int, first: str = "2026-04-01") -> list[Window]:
    """Some days in a row."""
    return list(DAY.windows(at(first), at(first) + timedelta(days=count)))


@given(st.sets(st.integers(0, 30)), st.integers(1, 31))
def test_halving_blames_exactly_the_bad_ones(bad: set[int], count: int) -> None:
    """All others go through, in order, whatever the number of bad ones."""
    tried = 0

    def attempt(items: Sequence[int]) -> int:
        nonlocal tried
        tried += 1
        if bad & set(items):
            raise EngineFailed("bad")
        return len(items)

    parts = list(bisected(range(count), attempt))
    assert [item for part in parts for item in part.items] == list(range(count))
    blamed = {item for part in parts if part.error for item in part.items}
    assert blamed == {item for item in bad if item < count}
    assert tried <= 2 * count


def test_a_fault_that_no_window_caused_is_not_tried_window_by_window() -> None:
    """A missing table fails alike in all of them: one try."""

    def attempt(items: Sequence[int]) -> int:
        raise SourceFault(f"no table for {len(items)}")

    (part,) = bisected(range(60), attempt)
    assert part.error is not None
    assert "60" in part.error.message


def test_neighbours_in_the_middle_are_probed_first() -> None:
    """And those at the ends, should the middle be empty; windows apart are no neighbours."""
    windows = days(10)
    pairs = probe_pairs(windows)
    assert [pair[0].label for pair in pairs] == ["2026-04-05", "2026-04-01", "2026-04-09"]
    assert probe_pairs([windows[0], windows[2]]) == []
    assert probe_pairs(windows[:1]) == []


def test_a_probe_compares_the_sum_of_two_windows_with_both_together(make: Maker) -> None:
    """Separable when equal; refuted when not; no verdict from windows without rows."""
    one, other = Checksum(2, 5, 7), Checksum(3, (1 << 64) - 1, 1)
    both = added([one, other])
    assert both == Checksum(5, 4, 8)
    pair = (days(2)[0], days(2)[1])
    good = judge(make.task(), pair, [one, other], both)
    assert good is not None
    assert good.separable
    bad = judge(make.task(), pair, [one, other], Checksum(5, 4, 9))
    assert bad is not None
    assert not bad.separable
    assert judge(make.task(), pair, [one, Checksum(0, 0, 0)], one) is None


def test_a_job_takes_a_month_of_windows_at_least_a_hundred_and_no_more_than_it_can_read() -> None:
    """The default size, by grain and by what a window has read before."""
    assert default_size(DAY) == 100
    assert default_size(Grain.parse("hour")) == 720
    assert default_size(Grain.parse("15min")) == 2880
    assert default_size(Grain.parse("1min")) == 10_000
    assert default_size(DAY, window_bytes=1 << 30) == 8
    assert default_size(DAY, window_bytes=1 << 40) == 1
    assert default_size(None) == 1


def test_stretches_of_nothing_are_none() -> None:
    """An empty plan has no batches."""
    assert list(stretches([])) == []


def test_a_source_changed_when_a_later_commit_touched_the_windows_event_times() -> None:
    """Commits elsewhere in time do not count; one whose reach is unknown does."""
    (window,) = days(1, "2026-04-05")
    history = [
        SourceChange(snapshot="1", start=at("2026-04-01"), end=at("2026-05-01")),
        SourceChange(snapshot="2", start=at("2026-04-06"), end=at("2026-04-07")),
        SourceChange(snapshot="3", start=at("2026-04-05"), end=at("2026-04-06")),
    ]
    assert changed_since(window, "1", history)
    assert changed_since(window, "2", history)
    assert not changed_since(window, "3", history)
    assert not changed_since(window, "1", history[:2])
    assert changed_since(window, "expired", history)
    assert not changed_since(window, "1", None)
    unknown = SourceChange(snapshot="4", start=None, end=None)
    assert changed_since(window, "3", [*history, unknown])


def test_a_window_is_stale_when_upstream_set_what_it_reads_with_a_later_fence() -> None:
    """By the ledger alone, without Spark."""
    upstream = Upstream([standing(4, fence=3), standing(5, fence=9)], whole=False)
    fourth, fifth = days(2, "2026-04-04")
    assert not upstream.set_since(fourth, 4)
    assert upstream.set_since(fifth, 4)
    assert not upstream.set_since(fifth, 9)
    assert Upstream([standing(5, fence=9)], whole=True).set_since(fourth, 4)


def test_staleness_of_a_task_by_its_code_and_by_what_it_read(make: Maker) -> None:
    """The fingerprint first, then each source."""
    tasks = [make.task("raw"), make.task("daily", reads=("raw",))]
    ledger = MemoryLedger()
    ledger.record_many(
        [
            Outcome(
                task=name,
                window_start=at("2026-04-05"),
                window_end=at("2026-04-06"),
                target="t",
                fingerprint="code-1",
                state="succeeded",
            )
            for name in ("daily", "raw")
        ],
        pid=1,
        host="h",
    )
    (window,) = days(1, "2026-04-05")
    (known,) = ledger.standings("daily", window.start, window.end)
    graph = Graph.of(tasks)
    stale = Staleness(graph=graph, task=graph.tasks["daily"], ledger=ledger, changes=None)
    assert stale.why(window, known) == "raw has set it again since"
    assert "code" in (stale.why(window, known._replace(fingerprint="old")) or "")


def job(**changes: object) -> Job:
    """A job that took a minute for ten windows."""
    given = Job(
        job_id="j",
        backfill_id="b",
        task="orders",
        window_start=at("2026-04-01"),
        window_end=at("2026-04-11"),
        windows=10,
        fence=1,
        state="succeeded",
        rows_written=1000,
        bytes_read=500,
        bytes_written=50,
        seconds=60.0,
        started_at=at("2026-05-01"),
    )
    return replace(given, **changes)  # type: ignore[arg-type]


def test_the_estimate_says_what_each_figure_rests_on(make: Maker) -> None:
    """H4: past jobs for rows, bytes, seconds and cost; table metadata for bytes; or no basis."""
    plan = plan_of([make.task("raw"), make.task("orders", reads=("raw",))])
    blind = estimate(plan, past={}, sizes={}, rate_per_hour=3.0, currency="EUR")
    assert (blind.rows, blind.bytes, blind.seconds, blind.cost) == (None, None, None, None)
    assert "no basis" in blind.tasks[0].basis[0]
    sized = estimate(
        plan,
        past={},
        sizes={"lake.shop.raw": TableSize(rows=9, bytes=77)},
        rate_per_hour=None,
        currency="",
    )
    assert sized.bytes == 77
    past = past_runs([job(windows=5)], [])
    assert past is not None
    known = estimate(plan, past={"orders": past}, sizes={}, rate_per_hour=3.0, currency="EUR")
    assert (known.rows, known.bytes, known.seconds, known.cost) == (2000, 1000, 120.0, 0.1)
    assert past_runs([], []) is None


def test_cost_adds_up_by_tag_task_and_person() -> None:
    """H4: failed tries cost time too; a backfill of two tags counts for both."""
    backfills = {
        "b": Backfill(
            backfill_id="b",
            request_key="k",
            request={},
            state="succeeded",
            since=0,
            windows=10,
            requested_by="finance",
            tags={"quarter": "2026Q1", "team": "risk"},
            started_at=at("2026-05-01"),
            seen_at=at("2026-05-01"),
            pid=1,
            host="h",
        )
    }
    jobs = [job(), job(job_id="f", state="failed", seconds=30.0), job(backfill_id="x", job_id="o")]
    rate = CostSettings(per_hour=60.0, currency="EUR")
    by_tag = {each.name: each for each in usages("tag", jobs, backfills, rate)}
    assert set(by_tag) == {"quarter=2026Q1", "team=risk", "(no tag)"}
    risk = by_tag["team=risk"]
    assert (risk.windows, risk.rows, risk.seconds, risk.cost) == (10, 1000, 90.0, 1.5)
    assert [each.name for each in usages("task", jobs, backfills, rate)] == ["orders"]
    assert {each.name for each in usages("requested-by", jobs, backfills, rate)} == {
        "finance",
        "(nobody named)",
    }
    assert usage("all", [], CostSettings()).cost is None


def test_progress_knows_its_rate_and_what_is_left() -> None:
    """Windows a second, and seconds to go; nothing before the first job has ended."""
    begun = Progress(total=10).began(5)
    assert begun.rate is None
    assert begun.remaining_seconds is None
    ended = begun.ended_job(windows=5, done=3, failed=1, blocked=1, rows=30)
    ended = replace(ended, seconds=2.0)
    assert (ended.running, ended.ended, ended.rate) == (0, 5, 2.0)
    assert ended.remaining_seconds == 2.5


def test_a_request_knows_itself_again_whoever_asks_and_however_fast() -> None:
    """Resume: the same command goes on, with another pool or more jobs at once, too."""
    asked = Request(tasks=("b", "a"), start="2026-04-01", end="2026-04-02")
    again = Request(
        tasks=("a", "b"), start="2026-04-01", end="2026-04-02", max_active_runs=8, reason="why"
    )
    assert asked.key == again.key
    assert asked.key != replace(asked, backwards=True).key
    assert Request.of_document(again.document()) == replace(again, tasks=("a", "b"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": ()}, "no task"),
        ({"reprocess": "failed", "only": ("missing",)}, "exclude each other"),
        ({"shadow": True, "only": ("missing",)}, "whole range aside"),
        ({"shadow": True, "reprocess": "none"}, "whole range aside"),
        ({"reprocess": "sometimes"}, "not one of"),
        ({"only": ("old",)}, "not one of"),
        ({"batch_size": 0}, "1 or more"),
        ({"max_active_runs": 0}, "1 or more"),
    ],
)
def test_requests_that_make_no_sense_are_refused(changes: dict[str, object], words: str) -> None:
    """With what to do instead."""
    given = {"tasks": ("a",), "start": "2026-04-01", "end": "2026-04-02", **changes}
    with pytest.raises(UsageError, match=words):
        Request(**given)  # type: ignore[arg-type]


def test_tags_are_written_key_equals_value() -> None:
    """A tag without a value is refused, one with more equal signs is not."""
    assert parse_tags(("a=1", " b = x=y ")) == {"a": "1", "b": "x=y"}
    for wrong in ("a", "=1"):
        with pytest.raises(UsageError, match="key=value"):
            parse_tags((wrong,))
