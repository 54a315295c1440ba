"""A SQL task: a YAML header, one SELECT, and nothing executed by reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.model.retry import Backoff
from setpoint.model.transform import SqlTransform
from setpoint.model.write import Merge, Overwrite, Replace
from setpoint.project.project import load_sql_project
from setpoint.project.sql_file import read_sql_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project_folder import ProjectFolder


def test_a_header_says_all_that_a_decorator_can(folder: ProjectFolder) -> None:
    """Every word of the header reaches the task."""
    folder.write(
        "pipelines/daily.sql",
        """\
        /*
        name: revenue
        target: lake.shop.revenue
        description: Revenue by day.
        grain: day
        timezone: Europe/Paris
        partition_by: day
        unique_key: [day, region]
        sources:
          orders: {table: lake.shop.orders, event_time: day}
          rates: {table: lake.ref.rates, static: true}
        checks: {positive: revenue >= 0}
        min_rows: 1
        max_rows: 10
        retries: 2
        backoff: {first: 5, longest: 60}
        allow: {collect_set: its order does not matter}
        lookback: 2
        development_date: 2026-04-25
        */

        SELECT day, region, sum(amount) AS revenue FROM orders GROUP BY ALL;
        """,
    )
    task = folder.task("revenue")
    assert (str(task.target), str(task.grain)) == ("lake.shop.revenue", "day")
    assert task.grain is not None
    assert task.grain.zone == "Europe/Paris"
    assert task.write == Overwrite(by="day")
    assert "time-partitioned by day" in task.choice.reason
    assert task.unique_key == ("day", "region")
    assert [(s.name, s.event_time) for s in task.sources] == [("orders", "day"), ("rates", None)]
    assert len(task.gates) == 5
    assert (task.retry.retries, task.retry.backoff) == (2, Backoff(first=5, longest=60))
    assert [(a.function, a.reason) for a in task.allow] == [
        ("collect_set", "its order does not matter")
    ]
    assert task.lookback == 2
    assert (task.development_date, task.description) == ("2026-04-25", "Revenue by day.")
    assert isinstance(task.transform, SqlTransform)
    assert task.transform.first_line == 22
    assert task.transform.text.endswith("GROUP BY ALL")


def test_a_byte_order_mark_is_read_over(folder: ProjectFolder) -> None:
    """Some editors begin a file with one."""
    file = folder.sql("daily")
    file.write_text("\ufeff" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert folder.task("daily").name == "daily"


def test_a_word_that_is_given_twice_is_a_fault(folder: ProjectFolder) -> None:
    """YAML lets the last one win: the rows would go to another table than the first line says."""
    folder.sql("daily", "target: lake.shop.other")
    (fault,) = folder.faults()
    assert fault.place == "pipelines/daily.sql:5"
    assert "'target' is given twice" in fault.message


def test_a_header_may_stand_in_line_comments(folder: ProjectFolder) -> None:
    """Dashes instead of a block; the name comes from the file."""
    folder.write(
        "pipelines/sub/stock.sql",
        "-- target: lake.shop.stock\n-- write: replace\n\nSELECT 1 AS a -- a comment\n",
    )
    task = folder.task("stock")
    assert task.write == Replace()
    assert task.grain is None
    assert isinstance(task.transform, SqlTransform)
    assert task.transform.first_line == 4


@pytest.mark.parametrize(
    ("more", "line", "message", "fix"),
    [
        ("uniqe_key: [a]", 5, "'uniqe_key' is not a word", "did you mean 'unique_key'?"),
        ("'a(b': 1", 5, "'a(b' is not a word", "known: allow"),
        ("retries: many", 5, "retries must be a whole number, found 'many'", ""),
        ("min_rows: true", 5, "min_rows must be a whole number, found True", ""),
        ("timezone: 5", 5, "timezone must be text, found 5", ""),
        ("timezone: Europe/Pari", 1, "Did you mean Europe/Paris", ""),
        ("checks: [a]", 5, "checks must map names to text", ""),
        ("allow: {uuid: 5}", 5, "allow must map names to text", ""),
        ("sources: [a]", 5, "sources must map a name to a table", ""),
        ("sources: {\n  raw: {tabel: x}}", 6, "source 'raw' has", "event_time: ordered_at"),
        ("sources: {raw: 5}", 5, "source 'raw' has 5", "table: lake.shop.orders"),
        ("backoff: {frist: 1}", 5, "backoff:", "backoff: {first: 1"),
        ("backoff: {first: soon}", 5, "backoff:", "backoff: {first: 1"),
        ("unique_key: 5", 1, "unique_key must be a column or a list of columns, found 5", ""),
        ("unique_key: [a, 5]", 1, "is not a list of columns", ""),
        ("sources: {raw: lake.shop.raw}", 1, "'raw' has no event_time", "static=True"),
        (
            "sources: {raw: {table: lake.shop.raw, event_time: 5}}",
            1,
            "event_time of source 'raw' must be a column's name, found 5",
            "",
        ),
        ("max_rows: -1", 1, "leave no room", ""),
        ("min_rows: 5\nmax_rows: 4", 1, "leave no room", ""),
        ("retries: -1", 1, "retries must be 0 or more", ""),
        ("development_date: 2026-02-30", 1, "day is out of range for month", ""),
        ("development_date: '2026-02-30'", 1, "'2026-02-30' is not in the calendar", ""),
        ("allow: {uuid: ' '}", 1, "gives no reason", ""),
    ],
)
def test_a_fault_in_the_header_is_named_with_its_line(
    folder: ProjectFolder, more: str, line: int, message: str, fix: str
) -> None:
    """Unknown words, wrong types and contradictions: file, line, what was found, what to write."""
    folder.sql("daily", more)
    (fault,) = folder.faults()
    assert fault.place == f"pipelines/daily.sql:{line}"
    assert message in fault.message
    assert fix in (fault.fix or "")


@pytest.mark.parametrize(
    "write",
    [
        "append",
        "[overwrite]",
        "{}",
        "5",
        "{overwrite: {by: a}, replace: {}}",
        "{overwrite: {}}",
        "{overwrite: {by: 5}}",
        "{overwrite: {to: a}}",
        "{overwrite: day}",
        "{merge: {}}",
        "{merge: {on: []}}",
        "{merge: {on: 5}}",
        "{replace: {by: day}}",
    ],
)
def test_a_write_that_is_no_pattern_is_a_fault(folder: ProjectFolder, write: str) -> None:
    """Wrong words and wrong shapes are refused; none of them is a fault of Setpoint."""
    header = f"/*\ntarget: lake.shop.x\ngrain: day\nwrite: {write}\n*/\nSELECT 1 AS a\n"
    folder.write("pipelines/x.sql", header)
    assert len(folder.faults()) == 1


def test_a_merge_is_written_with_a_bare_on(folder: ProjectFolder) -> None:
    """YAML reads `on` as true; here it is the key of a merge."""
    header = "/*\ntarget: lake.a.b\nwrite: {merge: {on: [id], version: v}}\n*/\nSELECT 1 AS id\n"
    folder.write("pipelines/x.sql", header)
    declarations, faults = read_sql_file(folder.root / "pipelines/x.sql", folder.root)
    assert not faults
    assert declarations[0].write == Merge(on=("id",), version="v")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("SELECT 1\n", 1, "has no header"),
        ("/* just a comment */ SELECT 1\n", 1, "must be a YAML mapping"),
        ("/*\ntarget: [\n*/\nSELECT 1\n", 3, "the header is not YAML"),
        ("/*\ngrain: day\n*/\nSELECT 1\n", 1, "names no target"),
        ("/*\ntarget: lake.a.b\n*/\n", 4, "holds no SELECT"),
        ("/*\ntarget: lake.a.b\n*/\n\nSELECT 1; DROP TABLE x\n", 5, "more than one statement"),
        ("/*\ntarget: lake.a.b\n*/\nINSERT INTO x SELECT 1\n", 4, "begins with 'INSERT'"),
        ("/*\ntarget: lake.a.b\n*/\nSELECT 'open\n", 4, "cannot be read"),
        ("/*\ntarget: lake.a.b\n*/\nSELECT :window_strat\n", 4, ":window_strat is not a parameter"),
        ("/*\ntarget: lake.a.b\n*/\nSELECT surrogate_key(a\n", 4, "no closing parenthesis"),
        ("/*\ntarget: lake.a.b\n*/\nSELECT surrogate_key()\n", 4, "at least one column"),
    ],
)
def test_a_file_that_is_no_task_is_named_with_its_line(
    folder: ProjectFolder, text: str, line: int, message: str
) -> None:
    """No header, no mapping, no SELECT, more than a SELECT, a parameter that is none."""
    folder.write("pipelines/x.sql", text)
    (fault,) = folder.faults()
    assert fault.place == f"pipelines/x.sql:{line}"
    assert message in fault.message


def test_a_file_that_is_not_text_is_a_fault(folder: ProjectFolder) -> None:
    """Bytes that are no UTF-8 are told with the file's name."""
    (folder.root / "pipelines").mkdir()
    (folder.root / "pipelines" / "x.sql").write_bytes(b"/* target: \xff */")
    (fault,) = folder.faults()
    assert fault.place == "pipelines/x.sql"


def test_a_hostile_yaml_tag_is_not_obeyed(folder: ProjectFolder, tmp_path: Path) -> None:
    """YAML that asks for a Python object is refused (scenario 43)."""
    marker = tmp_path / "touched"
    folder.write(
        "pipelines/x.sql",
        f"/*\ntarget: !!python/object/apply:os.system ['touch {marker}']\n*/\nSELECT 1\n",
    )
    (fault,) = folder.faults()
    assert "not YAML" in fault.message
    assert not marker.exists()


def test_reading_the_sql_tasks_runs_no_code_of_the_project(
    folder: ProjectFolder, tmp_path: Path
) -> None:
    """A Python file that writes a marker when imported stays unread (scenario 43)."""
    marker = tmp_path / "touched"
    folder.write("pipelines/evil.py", f"open({str(marker)!r}, 'w').close()\n")
    folder.write("pipelines/sitecustomize.py", f"open({str(marker)!r}, 'w').close()\n")
    folder.sql("daily")
    project = load_sql_project(folder.root)
    assert list(project.graph.tasks) == ["daily"]
    assert not marker.exists()
    folder.load()
    assert marker.exists()


def test_faults_of_the_header_do_not_hide_those_of_the_task(folder: ProjectFolder) -> None:
    """A misspelt word, a wrong number, a wrong zone and a broken SELECT are told at once."""
    header = (
        "/*\ntarget: lake.shop.x\ngrian: fortnight\ntimezone: Europe/Pari\nretries: many\n"
        "write: {overwrite: {by: day}}\nunique_key: [a, 5]\n*/\nINSERT INTO x SELECT 1\n"
    )
    folder.write("pipelines/x.sql", header)
    told = "\n".join(fault.message for fault in folder.faults())
    for words in ("'grian'", "fortnight", "retries must", "not a list of columns", "'INSERT'"):
        assert words in told, words
    assert len(folder.faults()) == 5


def test_a_table_that_is_read_past_the_sources_is_refused(folder: ProjectFolder) -> None:
    """D2: nothing would bound it. The source to declare is told; WITH names no tables."""
    folder.sql(
        "daily",
        "sources: {orders: {table: lake.shop.orders, event_time: day}}",
        "WITH a AS (SELECT o.day FROM orders AS o) SELECT day FROM a, range(3)\n"
        "WHERE day IN (SELECT day FROM lake.shop.orders JOIN lake.ref.`ra-tes` USING (day))",
    )
    direct, lookup = folder.faults()
    assert direct.place == lookup.place == "pipelines/daily.sql:7"
    assert "reads lake.shop.orders past its sources" in direct.message
    assert direct.fix == "it is the source 'orders': read FROM orders"
    assert "reads lake.ref.ra-tes" in lookup.message
    assert "static: true" in (lookup.fix or "")
    folder.sql(
        "daily",
        "sources: {orders: {table: lake.shop.orders, event_time: day}}",
        "SELECT orders.day, 'FROM lake.shop.x' AS a FROM orders -- FROM lake.shop.y",
    )
    assert folder.task("daily").name == "daily"
