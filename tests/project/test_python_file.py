"""Python task files: imported once each, every fault in them named with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint import overwrite, task
from setpoint.model.source import Source
from setpoint.project.declaration import Declaration, gathering
from setpoint.project.starting import start_project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.project_folder import ProjectFolder


def test_a_decorated_function_becomes_a_task(folder: ProjectFolder) -> None:
    """Its name, place, docstring and parameters are the function's own."""
    folder.python(
        'unique_key="id", sources={"raw": Source("lake.shop.raw", event_time="at")}',
        "raw, window, spark",
    )
    found = folder.task()
    assert (found.name, found.description) == ("orders", "Orders.")
    assert str(found.path) == "pipelines/orders.py"
    assert found.line == 4
    assert found.unique_key == ("id",)
    assert found.choice.reason == "stated by the task"


def test_a_task_can_be_called_like_the_function_it_is() -> None:
    """A test of the user's calls the transform itself; a SQL task has none to call."""
    with gathering() as gathered:

        @task(target="lake.a.b", grain="day", write=overwrite(by="day"), name="other")
        def double(number: int) -> int:
            """Twice."""
            return number * 2

    assert gathered == [double]
    assert double.name == "other"
    assert double(number=4) == 8
    sql = Declaration(name="x", target="t", transform=None, path=double.path, line=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="x is a SQL task"):
        sql()


def test_tasks_of_a_factory_belong_to_the_file_that_calls_it(folder: ProjectFolder) -> None:
    """A function in a file that is no task file makes tasks for those that are; none is lost."""
    folder.write(
        "pipelines/_making.py",
        """
        from setpoint import overwrite, task

        def make(region):
            @task(target=f"lake.shop.{region}", grain="day", write=overwrite(by="day"),
                  name=f"load_{region}")
            def load(spark):
                return None

            return load
        """,
    )
    folder.write("pipelines/regions.py", 'from _making import make\n\nmake("eu")\nmake("us")\n')
    folder.write("pipelines/reader.py", "from regions import make\n")
    tasks = folder.load().graph.tasks
    places = {name: f"{found.path}:{found.line}" for name, found in tasks.items()}
    assert places == {"load_eu": "pipelines/regions.py:3", "load_us": "pipelines/regions.py:4"}


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        ("import setpoint\ndef broken(:\n", 2, "does not parse", None),
        ("\nimport no_such_package_here\n", 2, "ModuleNotFoundError", "no_such_package_here"),
        ("x = 1\n\n1 / 0\n", 3, "does not import: ZeroDivisionError", None),
        ("raise SystemExit(3)\n", 1, "does not import: SystemExit", None),
        (
            "from pyspark.sql.functions import udf\n\n@udf('string')\ndef f(x):\n    return x\n",
            3,
            "asks for Spark while it is imported",
            "StringType()",
        ),
        ("from setpoint import taks\n", 1, "does not import: ImportError", None),
        ("from setpoint import overwrite\noverwrite()\n", 2, "TypeError", None),
    ],
)
def test_a_file_that_does_not_import_is_named_with_its_line(
    folder: ProjectFolder, text: str, line: int, message: str, fix: str | None
) -> None:
    """Syntax, missing packages, errors and exits: a fault, never a traceback."""
    folder.write("pipelines/broken.py", text)
    (fault,) = folder.faults()
    assert fault.place == f"pipelines/broken.py:{line}"
    assert message in fault.message
    assert (fix or "") in (fault.fix or "")


def test_a_fault_in_an_imported_module_names_the_line_that_imports_it(
    folder: ProjectFolder,
) -> None:
    """The task file is what the person opens first."""
    folder.write("pipelines/_deep_fault.py", "\n\n1 / 0\n")
    folder.write("pipelines/uses.py", "import _deep_fault\n")
    (fault,) = folder.faults()
    assert fault.place == "pipelines/uses.py:1"
    folder.write("pipelines/_deep_fault.py", "def (\n")
    (fault,) = folder.faults()
    assert fault.place == "pipelines/uses.py"


def test_a_missing_pyspark_is_answered_with_the_extra(folder: ProjectFolder) -> None:
    """The package that most task files need has a name of its own here."""
    folder.write("pipelines/x.py", "raise ModuleNotFoundError('gone', name='pyspark.sql')\n")
    (fault,) = folder.faults()
    assert fault.fix == 'pip install "setpoint[spark]"'


def test_two_folders_may_hold_a_file_of_one_name(folder: ProjectFolder) -> None:
    """Each file is a module of its own; files with an underscore hold no tasks."""
    text = (
        "from setpoint import replace, task\n"
        "@task(target='lake.shop.{name}', write=replace(), name='{name}')\n"
        "def load():\n    return None\n"
    )
    folder.write("pipelines/a/load.py", text.format(name="one"))
    folder.write("pipelines/b/load.py", text.format(name="two"))
    folder.write("pipelines/_load.py", text.format(name="three"))
    assert sorted(folder.load().graph.tasks) == ["one", "two"]


def test_a_file_may_import_another_task_file(folder: ProjectFolder) -> None:
    """The imported task is not declared a second time."""
    folder.python()
    folder.write(
        "pipelines/later.py",
        "from orders import orders\nfrom setpoint import replace, task\n"
        "@task(target='lake.shop.later', write=replace())\n"
        "def later():\n    return orders()\n",
    )
    assert sorted(folder.load().graph.tasks) == ["later", "orders"]


@pytest.mark.parametrize(
    ("more", "parameters", "message", "fix"),
    [
        ("", "raw", "asks for 'raw', which is no source", "it may ask for window, spark"),
        ("", "windw", "asks for 'windw'", "did you mean 'window'?"),
        (
            'sources={"raw": Source("lake.a.b", event_time="at")}',
            "",
            "source 'raw' is not a parameter",
            "add or remove it",
        ),
        ('sources={"raw": "lake.a.b"}', "raw", "source 'raw' is not a Source", "Source("),
        (
            'sources={"raw": Source("lake.a.b")}',
            "raw",
            "source 'raw' has no event_time",
            "static=True",
        ),
        (
            'sources={"raw": Source("lake.a.b", event_time="at", static=True)}',
            "raw",
            "is static and has an event_time",
            "keep one",
        ),
        (
            'sources={"raw": Source("leak.a.b", event_time="at")}',
            "raw",
            "setpoint.toml has no catalog 'leak'",
            "did you mean 'lake'?",
        ),
        ('sources={"raw": Source("b", event_time="at")}', "raw", "names no catalog", "lake.shop"),
        ('name="a b"', "", "'a b' cannot be a task's name", "letters"),
        ('development_date="2026-02-30"', "", "not in the calendar", ""),
        ("retries=-1", "", "retries must be 0 or more, found -1", ""),
        ("backoff=Backoff(first=-1)", "", "makes no sense", "first and longest ≥ 0"),
        ("backoff=Backoff(longest=-1)", "", "makes no sense", "first and longest ≥ 0"),
        ("backoff=Backoff(first=float('nan'))", "", "makes no sense", "factor ≥ 1"),
        ("backoff=Backoff(jitter=2)", "", "makes no sense", "jitter from 0 to 1"),
        ('allow=["uuid"]', "", "allow 'uuid' gives no reason", "Allow("),
        ('allow=[Allow("uuid", "")]', "", "gives no reason", "Allow("),
        ('unique_key=["a", ""]', "", "is not a list of columns", ""),
        ("min_rows=3, max_rows=2", "", "leave no room", "check the limits"),
    ],
)
def test_a_task_that_contradicts_itself_is_refused_at_load(
    folder: ProjectFolder, more: str, parameters: str, message: str, fix: str
) -> None:
    """Sources, parameters, names, dates, retries, reasons, keys and limits."""
    folder.python(more, parameters)
    (fault,) = folder.faults()
    assert fault.place == "pipelines/orders.py:4"
    assert fault.message.startswith("task ")
    assert message in fault.message
    assert fix in (fault.fix or "")


@pytest.mark.parametrize(
    "more",
    [
        "unique_key=None",
        "unique_key=5",
        "sources=['raw']",
        "checks=['amount > 0']",
        "min_rows='1'",
        "max_rows=1.5",
        "retries='2'",
        "retries=None",
        "retries=True",
        "backoff=5",
        "allow=None",
        "allow='uuid'",
        "timezone=None",
        "partition_by=5",
        "development_date=20260425",
    ],
)
def test_a_value_of_a_wrong_type_is_a_fault_and_not_a_crash(
    folder: ProjectFolder, more: str
) -> None:
    """Python lets anything be passed; the message names the word and what it must be."""
    folder.python(more)
    (fault,) = folder.faults()
    assert f"{more.partition('=')[0]} must be" in fault.message


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ('target=5, grain="day", write=overwrite(by="day")', "target must be text"),
        ('target="lake.a.b", grain=5, write=overwrite(by="day")', "grain must be text"),
        ('target="lake.a.b", grain="fortnight", write=overwrite(by="d")', "is not a grain"),
        ('target="lake.a.b", grain="day"', "does not say which rows a window owns"),
        ('target="lake.a.b", write=overwrite(by="d")', "needs a window"),
        ('target="lake.a.b", grain="day", write="overwrite"', "is not a pattern"),
        ('target="lake.a.b", grain="day", write=overwrite(by=5)', "no column"),
        ('target="lake.a.b", grain="day", write=merge(on=[])', "merge has no key"),
        ('target="lake.a.b", grain="day", write=merge(on=["id"])', "needs a version"),
        ('target="nope", grain="day", write=overwrite(by="d")', "names no catalog"),
        ('target="sea.a.b", grain="day", write=overwrite(by="d")', "has no catalog 'sea'"),
        (
            'target="lake.a.b", grain="hour", write=overwrite(by="d", partition="day")',
            "the grain (hour) is finer than the partition (day)",
        ),
        (
            'target="lake.a.b", grain="hour", write=overwrite(by="d", partition="epoch")',
            "partition: 'epoch' is not a grain",
        ),
    ],
)
def test_what_a_task_owns_must_be_clear_at_load(
    folder: ProjectFolder, head: str, message: str
) -> None:
    """Target, grain and pattern fit together; no cadence is finer than the partition (E2)."""
    folder.write(
        "pipelines/x.py",
        f"from setpoint import merge, overwrite, task\n@task({head})\ndef x():\n    return None\n",
    )
    (fault,) = folder.faults()
    assert message in fault.message
    assert fault.line == 2


def test_a_partition_no_coarser_than_the_grain_is_fine(folder: ProjectFolder) -> None:
    """A day's run may own a day, or 24 hours of partitions."""
    folder.write(
        "pipelines/x.py",
        "from setpoint import overwrite, task\n"
        "@task(target='lake.a.b', grain='day', write=overwrite(by='d', partition='hour'))\n"
        "def x():\n    return None\n",
    )
    assert folder.task("x").name == "x"


def test_a_source_with_time_needs_a_grain_to_bound_it(folder: ProjectFolder) -> None:
    """A whole-table task reads its sources whole, and says so."""
    folder.write(
        "pipelines/x.py",
        "from setpoint import Source, replace, task\n"
        "@task(target='lake.a.b', write=replace(),\n"
        "      sources={'raw': Source('lake.a.raw', event_time='at')})\n"
        "def x(raw):\n    return raw\n",
    )
    (fault,) = folder.faults()
    assert "no grain to bound it by" in fault.message


def test_all_faults_of_all_files_come_at_once(folder: ProjectFolder) -> None:
    """Two files and a header, five faults: one look at the screen is enough."""
    folder.python('retries=-1, name="a b"', "windw")
    folder.write("pipelines/broken.py", "1 / 0\n")
    folder.sql("daily", "uniqe_key: [a]")
    assert sorted(fault.place for fault in folder.faults()) == [
        "pipelines/broken.py:1",
        "pipelines/daily.sql:5",
        *["pipelines/orders.py:4"] * 3,
    ]


def test_two_tasks_cannot_share_a_target_or_a_name(folder: ProjectFolder) -> None:
    """One task owns one target; both places are named, whatever the case of the letters."""
    folder.python()
    copy = folder.sql("copy")
    text = copy.read_text().replace("lake.shop.copy", "lake.shop.ORDERS")
    copy.write_text(text)
    (fault,) = folder.faults()
    assert "target lake.shop.orders is also that of copy (pipelines/copy.sql:1)" in fault.message
    copy.write_text(text.replace("ORDERS", "x").replace("grain", "name: orders\ngrain"))
    (fault,) = folder.faults()
    assert "name orders is also that of orders" in fault.message


def test_tasks_that_feed_each_other_are_named_as_a_circle(folder: ProjectFolder) -> None:
    """The whole way round is shown."""
    folder.sql("a", "sources: {x: {table: lake.shop.b, event_time: day}}")
    folder.sql("b", "sources: {x: {table: lake.shop.a, event_time: day}}")
    (fault,) = folder.faults()
    assert "a → b → a" in fault.message


def test_the_starter_loads_as_it_is(folder: ProjectFolder, tmp_path: Path) -> None:
    """Three tasks in a row, with a development date."""
    pytest.importorskip("pyspark")
    start_project(tmp_path / "shop")
    folder.root = tmp_path / "shop"
    graph = folder.load().graph
    assert [task.name for task in graph.upstream_first()] == [
        "sample_orders",
        "orders",
        "revenue_daily",
    ]
    assert {task.development_date for task in graph.tasks.values()} == {"2026-04-25"}
    assert Source("a").static is False


@pytest.mark.parametrize(
    ("line", "message", "fix"),
    [
        ("@task", "@task is used without its options", "at least a target"),
        ("@task()", "@task names no target", "target="),
        ('@task(target="lake.a.b", grian="day")', "no option 'grian'", "did you mean 'grain'?"),
        ('@task(target="lake.a.b", xyz=1)', "no option 'xyz'", "known: target, grain"),
        (
            '@task(target="lake.a.b", write=overwrite(bye="day"))',
            "overwrite(…) has no option 'bye'",
            "did you mean 'by'?",
        ),
        (
            '@task(target="lake.a.b", sources={"a": Source("lake.a.c", event_tme="at")})',
            "Source(…) has no option 'event_tme'",
            "did you mean 'event_time'?",
        ),
    ],
)
def test_a_misspelt_option_is_told_with_what_was_meant(
    folder: ProjectFolder, line: str, message: str, fix: str
) -> None:
    """File and line, the option that is none, and the nearest that is; no TypeError."""
    folder.write(
        "pipelines/orders.py",
        f"from setpoint import *\n\n{line}\ndef orders():\n    return None\n",
    )
    (fault,) = folder.faults()
    assert fault.place == "pipelines/orders.py:3"
    assert message in fault.message
    assert fix in (fault.fix or "")
    assert "TypeError" not in fault.message
