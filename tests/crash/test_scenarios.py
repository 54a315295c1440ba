"""Single stories of processes that die, each with its number."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.crash.scene import COMBINATIONS, DAY, Combination, expected_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crash.scene import Scene

pytestmark = pytest.mark.process
BY_NAME = {each.name: each for each in COMBINATIONS}
LATER = ["2026-04-26", "2026-04-27"]
OVERWRITES = ["iceberg_overwrite", "delta_overwrite", "parquet_overwrite", "postgres_workers"]
REFUSED = ("is aborting", "Lost task")  # Spark's words for a commit, or a copy, that failed


def _right(scene: Scene, combination: Combination, version: int) -> None:
    rows = expected_rows(combination, version, neighbours=False)
    assert scene.rows(combination) == rows
    run = scene.recorded(combination)
    assert run is not None
    assert (run.state, run.rows) == ("succeeded", len(rows))


@pytest.fixture
def combination(scene: Scene, request: pytest.FixtureRequest) -> Combination:
    """A table that holds one day."""
    found = BY_NAME[request.param]
    scene.next_version()
    scene.ok(found)
    return found


@pytest.mark.parametrize("combination", ["iceberg_overwrite", "postgres_replace"], indirect=True)
def test_scenario_4_a_commit_that_the_ledger_missed_is_adopted(
    scene: Scene, combination: Combination
) -> None:
    """Killed right after the commit: the retry writes nothing, and says so."""
    version = scene.next_version()
    assert scene.run(combination, traps="write.after:kill").signal == signal.SIGKILL
    answer = scene.ok(combination)
    assert answer["adopted"]
    _right(scene, combination, version)


@pytest.mark.parametrize("combination", OVERWRITES, indirect=True)
def test_scenario_8_only_the_client_dies_and_spark_goes_on(
    scene: Scene, combination: Combination
) -> None:
    """Killed in the middle of its Spark job; another takes over; then the old job goes on."""
    hold = scene.hold()
    client = scene.start(combination)
    scene.wait_for((hold.parent / f"{hold.name}.reached").exists)
    os.kill(client, signal.SIGKILL)
    assert scene.zygote.wait(client).signal == signal.SIGKILL
    version = scene.next_version()
    scene.ok(combination)
    is_over = _watched(scene, combination)
    hold.unlink()
    scene.wait_for(is_over)
    _right(scene, combination, version)
    version = scene.next_version()
    assert scene.ok(combination)["warnings"] == []
    _right(scene, combination, version)


def _watched(scene: Scene, combination: Combination) -> Callable[[], bool]:
    """Whether the job of a client that is gone has come to its end, or to its commit."""
    log = scene.server.log.stat().st_size
    folder = scene.table_folder(combination)
    files = set(folder.rglob("*.parquet"))

    def refused() -> bool:
        with scene.server.log.open(encoding="utf-8", errors="replace") as file:
            file.seek(log)
            said = file.read()
        return any(words in said for words in REFUSED)

    if combination.kind == "parquet":
        return lambda: any(folder.glob("_setpoint/staging/*/_SUCCESS"))
    if combination.kind == "delta":  # which leaves the commit out without a word
        return lambda: bool(set(folder.rglob("*.parquet")) - files)
    commits = set(folder.rglob("*.metadata.json"))  # of Iceberg; Postgres has none
    return lambda: refused() or bool(set(folder.rglob("*.metadata.json")) - commits)


def test_scenario_14_an_old_write_over_an_empty_takeover_is_told_and_repaired(
    scene: Scene,
) -> None:
    """Nothing over nothing leaves Iceberg nothing to collide with: found, set again, reported."""
    combination = BY_NAME["iceberg_overwrite"]
    empty = scene.folder / "empty"
    empty.touch()
    scene.ok(combination)
    empty.unlink()
    hold = scene.hold()
    client = scene.start(combination)
    scene.wait_for((hold.parent / f"{hold.name}.reached").exists)
    os.kill(client, signal.SIGKILL)
    scene.zygote.wait(client)
    scene.next_version()
    empty.touch()
    assert scene.ok(combination)["rows"] == 0
    empty.unlink()
    task = scene.project.graph.task(combination.name)
    assert scene.engine.late_commits(task) == []
    hold.unlink()
    scene.wait_for(lambda: scene.engine.late_commits(task))
    (late,) = scene.engine.late_commits(task)
    assert late.commit.fence < late.over.fence
    assert scene.rows(combination)  # what doctor warns of, until the next run
    version = scene.next_version()
    (words,) = scene.ok(combination)["warnings"]
    assert f"run {late.commit.run_id} (fence {late.commit.fence}) committed late" in words
    assert "this run has set it again" in words
    _right(scene, combination, version)
    assert scene.engine.late_commits(task) == []


@pytest.mark.parametrize("name", ["iceberg_overwrite", "parquet_overwrite"])
def test_scenario_14_a_stopped_writer_that_wakes_over_an_empty_takeover_harms_nothing(
    scene: Scene, name: str
) -> None:
    """It is told that it was taken over; whatever it could still do, the next run is right."""
    combination = BY_NAME[name]
    point = {"parquet": "parquet.count.after"}.get(
        combination.kind, f"{combination.kind}.overwrite.before"
    )
    empty = scene.folder / "empty"
    empty.touch()
    scene.ok(combination)
    empty.unlink()
    reached = scene.folder / f"stopped-{scene.next_version()}"
    paused = scene.start(combination, traps=f"{point}:stop:{reached}")
    scene.wait_for(reached.exists)
    empty.touch()
    assert scene.ok(combination)["rows"] == 0
    empty.unlink()
    os.kill(paused, signal.SIGCONT)
    woken = scene.zygote.wait(paused).answer
    assert woken["state"] == "failed", woken
    version = scene.next_version()
    scene.ok(combination)
    _right(scene, combination, version)
    assert scene.engine.late_commits(scene.project.graph.task(name)) == []


@pytest.mark.parametrize("combination", ["iceberg_overwrite"], indirect=True)
def test_scenario_14_a_writer_that_wakes_over_rows_is_refused(
    scene: Scene, combination: Combination
) -> None:
    """The takeover has rows in the window: the old commit collides with them."""
    old = scene.next_version()
    reached = scene.folder / f"stopped-{old}"
    paused = scene.start(combination, traps=f"iceberg.overwrite.before:stop:{reached}")
    scene.wait_for(reached.exists)
    version = scene.next_version()
    scene.ok(combination)
    os.kill(paused, signal.SIGCONT)
    assert scene.zygote.wait(paused).answer["state"] == "failed"
    _right(scene, combination, version)


def test_a_source_that_changed_since_the_commit_is_read_again(scene: Scene) -> None:
    """A dead attempt's commit is not adopted when a run now would read other rows."""
    spark = scene.engine.spark
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.raw")
    spark.sql(
        f"CREATE OR REPLACE TABLE lake.raw.one USING iceberg AS SELECT 1 AS id, DATE '{DAY}' AS d"
    )
    (scene.folder / "pipelines" / "copy.sql").write_text(
        "/*\ntarget: lake.shop.copy\ngrain: day\nwrite: {overwrite: {by: d}}\n"
        "sources: {one: {table: lake.raw.one, event_time: d}}\n*/\nSELECT id, d FROM one"
    )
    zygote = scene.zygote
    for change, adopted in (
        ("", True),
        ("INSERT INTO lake.raw.one SELECT 2, d FROM lake.raw.one", False),
    ):
        assert zygote.run("copy", DAY, traps="write.after:kill").signal == signal.SIGKILL
        if change:
            spark.sql(change)
        answer = zygote.run("copy", DAY).answer
        assert (answer["state"], answer["adopted"]) == ("succeeded", adopted)
    assert sorted(row[0] for row in spark.sql("SELECT id FROM lake.shop.copy").collect()) == [1, 2]


@pytest.mark.parametrize("name", ["delta_merge", "iceberg_merge"])
def test_scenario_13_two_windows_at_once_are_both_right(scene: Scene, name: str) -> None:
    """Two processes commit to one table in the same moment; nothing of either is lost."""
    combination = BY_NAME[name]
    scene.drop(combination)
    scene.next_version()
    scene.ok(combination)
    version = scene.next_version()
    point = f"{combination.kind}.{name.partition('_')[2]}.before"
    waiting = []
    for day in LATER:
        reached = scene.folder / f"both-{version}-{day}"
        waiting.append(scene.start(combination, day, traps=f"{point}:stop:{reached}"))
        scene.wait_for(reached.exists)
    for client in waiting:
        os.kill(client, signal.SIGCONT)
    answers = [scene.zygote.wait(client).answer for client in waiting]
    assert [answer["state"] for answer in answers] == ["succeeded"] * 2, answers
    both = [row for row in scene.rows(combination) if row[1] in LATER]
    assert len(both) == len({row[0] for row in both}) == sum(a["rows"] for a in answers)
    assert {row[2] for row in both} == {version}
