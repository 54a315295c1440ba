"""Verifying a project's tasks: on copies, pinned sources, recorded under the code."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.spark.conftest import COPY, ORDERS, TOML, Bench

from setpoint.cli.app import setpoint
from setpoint.errors import UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.testing import TrialProject, assert_backfillable, assert_idempotent, run_twice
from setpoint.verifying.blackbox.lake import DeltaDestination
from setpoint.verifying.blackbox.verification import verify_command
from setpoint.verifying.project_verification import verify_project

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
QUICK = ("plan", "two")
STAMPED = """
@task(target="lake.shop.stamped", grain="day", write=overwrite(by="order_date"),
      sources={"orders": Source("lake.shop.orders", event_time="ordered_at")})
def stamped(orders):
    return orders.withColumn("loaded_at", F.current_timestamp())


@task(target="lake.shop.counted", grain="day", write=overwrite(by="order_date"),
      sources={"stamped": Source("lake.shop.stamped", event_time="order_date")})
def counted(stamped):
    return stamped.groupBy("order_date").agg(F.count("*").alias("orders"))
"""


def test_verify_leaves_live_tables_alone_and_records_its_verdict(shop: Bench) -> None:
    """The live target is not even made; copies are gone; the ledger knows the code."""
    (verdict,) = verify_project(shop.root, ds="2026-04-25", checks=("two", "crash"))
    assert verdict.idempotent, verdict.failures
    assert not shop.exists("lake.shop.orders")
    assert shop.engine.tables("lake") == ["lake.raw.orders"]
    with open_ledger("sqlite:///.setpoint/ledger.db", root=shop.root, create=False) as ledger:
        (kept,) = ledger.verifications.all()
    assert (kept.task, kept.fingerprint, kept.idempotent) == ("orders", verdict.fingerprint, True)
    assert kept.checks == ("two", "crash")


def test_one_unsafe_step_makes_those_after_it_unsafe(shop: Bench) -> None:
    """The step that is to blame is named by those that it feeds."""
    shop.ok("2026-04-25")
    shop.python(STAMPED, "more")
    shop.table(
        "lake.shop.stamped", "SELECT *, current_timestamp() AS loaded_at FROM lake.shop.orders"
    )
    found = verify_project(shop.root, ds="2026-04-25", checks=QUICK)
    by_name = {verdict.subject: verdict for verdict in found}
    assert by_name["orders"].idempotent
    assert [each.check for each in by_name["stamped"].failures] == ["plan", "two"]
    seen = by_name["stamped"].failures[1]
    assert seen.difference is not None
    assert seen.difference.columns == ("loaded_at",)
    assert seen.cause is not None
    assert seen.cause.kind == "clock"
    assert by_name["counted"].idempotent
    assert by_name["counted"].fed_by == ("stamped",)


def test_the_command_exits_with_one_and_status_tells_why(shop: Bench) -> None:
    """And with nothing run there is no verdict to show."""
    shop.ok("2026-04-25")
    shop.python(STAMPED, "more")
    options = ["--project", str(shop.root)]
    shown = CliRunner().invoke(
        setpoint, ["verify", "stamped", "--ds", "2026-04-25", "--checks", "plan", *options]
    )
    assert shown.exit_code == 1, shown.output
    assert "NOT IDEMPOTENT  stamped" in shown.output
    assert "current_timestamp in column loaded_at" in shown.output
    missing = CliRunner().invoke(setpoint, ["verify", "counted", "--ds", "2026-04-25", *options])
    assert missing.exit_code == 1
    assert "NO VERDICT  counted" in missing.output


def test_only_tasks_with_other_code_are_verified(shop: Bench) -> None:
    """A comment is no change, a new task is one."""

    def git(*words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@t.example"]
        subprocess.run(["git", *who, *words], cwd=shop.root, check=True, capture_output=True)

    git("init")
    git("add", "setpoint.toml", "pipelines")
    git("commit", "-m", "first")
    assert verify_project(shop.root, ds="2026-04-25", changed_since="HEAD") == ()
    shop.python("# a comment\n" + COPY)
    assert verify_project(shop.root, ds="2026-04-25", changed_since="HEAD") == ()
    shop.python(COPY.replace('F.to_date("ordered_at")', 'F.to_date(F.col("ordered_at"))'))
    (verdict,) = verify_project(shop.root, ds="2026-04-25", changed_since="HEAD", checks=["plan"])
    assert verdict.subject == "orders"
    with pytest.raises(UsageError, match="git says"):
        verify_project(shop.root, changed_since="nowhere")


@pytest.mark.parametrize("kind", ["delta", "parquet"])
def test_copies_of_folders_are_verified_too(kind: str, jvm: SparkSession, tmp_path: Path) -> None:  # noqa: ARG001 — the JVM must be up
    """A Delta or Parquet target dies and is retried on a copy beside it, which is then gone."""
    bench = Bench(tmp_path, TOML + f'[catalogs.lake]\n[catalogs.here]\ntype = "{kind}"\n')
    bench.table("lake.raw.orders", ORDERS)
    bench.python(COPY.replace("lake.shop", "here.shop"))
    (verdict,) = verify_project(bench.root, ds="2026-04-25", checks=("two", "crash"))
    assert verdict.idempotent, (verdict.error, verdict.failures)
    assert list((tmp_path / kind).glob("*/*")) == []


def test_a_users_task_is_tested_in_three_lines(shop: Bench, tmp_path: Path) -> None:
    """Tables of the test's own, the real task, one assertion."""
    project = TrialProject(shop.root, tmp_path / "scratch")
    project.table("lake.raw.orders", ORDERS)
    assert assert_idempotent(project, "orders", ds="2026-04-25", checks=QUICK).idempotent
    assert assert_backfillable(project, "orders", ds="2026-04-25").idempotent
    twice = run_twice(project, "orders", ds="2026-04-25")
    assert twice.same
    assert twice.second.count == 144
    assert not shop.exists("lake.shop.orders"), "the live lake is not the test's"


def test_a_failed_assertion_shows_the_counter_example(shop: Bench, tmp_path: Path) -> None:
    """What a person needs is in the message of the test."""
    shop.python(STAMPED, "more")
    project = TrialProject(shop.root, tmp_path / "scratch")
    rows = [{"order_id": 1, "ordered_at": "2026-04-25T10:00:00", "order_date": "2026-04-25"}]
    project.table("lake.shop.orders", rows)
    with pytest.raises(AssertionError, match="current_timestamp in column loaded_at"):
        assert_idempotent(project, "stamped", ds="2026-04-25", checks=["plan"])
    with pytest.raises(UsageError, match="there is no task nothing"):
        assert_idempotent(project, "nothing")


JOB = """
import sys
from pathlib import Path
from setpoint.engine.spark.session import open_session
from setpoint.project.settings import read_settings

spark, _ = open_session(read_settings(Path("{root}")), say=lambda _text: None)
spark.sql("INSERT INTO lake.shop.log VALUES ('" + sys.argv[1] + "', 1)")
"""


def test_a_command_that_appends_to_an_iceberg_table_is_caught(shop: Bench) -> None:
    """The table is put back by its snapshot."""
    shop.table("lake.shop.log", "SELECT 'before' AS day, 0 AS n")
    (shop.root / "job.py").write_text(JOB.format(root=shop.root))
    verdict = verify_command(
        f"{sys.executable} job.py {{ds}}",
        targets=["lake.shop.log"],
        checks=["two"],
        folder=shop.root,
    )
    assert [found.check for found in verdict.failures] == ["two"]
    assert verdict.failures[0].difference is not None
    assert verdict.failures[0].difference.kind == "doubled"
    assert shop.rows("SELECT * FROM lake.shop.log") == [("before", 0)]


def test_a_delta_table_is_kept_and_put_back(bench: Bench, tmp_path: Path) -> None:
    """Its folder is copied aside; what was not there is removed again."""
    folder = tmp_path / "events"
    place = DeltaDestination(folder, project=tmp_path, say=lambda _text: None)
    kept_nothing = place.keep()
    spark = place._lake.spark
    spark.range(3).write.format("delta").save(str(folder))
    before, glance, kept = place.read(), place.glance(), place.keep()
    spark.range(5).write.format("delta").mode("append").save(str(folder))
    assert place.read()["events"].count == 8
    assert place.glance() != glance
    place.restore(kept)
    assert place.read() == before
    place.restore(kept_nothing)
    assert place.read() == {}
    place.close()
    assert bench.root.exists()
