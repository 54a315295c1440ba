"""Bad input: a clear message with the next step and an exit code, never a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

DRY = ("run", "--dry-run")


@pytest.mark.parametrize("words", [("run",), ("status",), ("history",), ("explain", "x")])
def test_outside_a_project_every_command_says_how_to_begin(
    shell: Shell, words: tuple[str, ...]
) -> None:
    """No setpoint.toml here or above."""
    (shell.folder.root / "setpoint.toml").unlink()
    answer = shell.type(*words)
    assert answer.code == 1
    assert "error: no setpoint.toml in" in answer.err
    assert "next: setpoint init" in answer.err


@pytest.mark.parametrize("words", [("run",), ("status",), ("history",)])
def test_a_malformed_file_is_named_with_its_line(shell: Shell, words: tuple[str, ...]) -> None:
    """Every command that reads setpoint.toml says where it is wrong."""
    shell.folder.write("setpoint.toml", '[project]\nname = "shop\n')
    answer = shell.type(*words)
    assert answer.code == 1
    assert "setpoint.toml:2: " in answer.err


def test_a_misspelt_setting_is_answered_with_the_right_one(shell: Shell) -> None:
    """The suggestion stands under the fault."""
    shell.folder.write("setpoint.toml", "[project]\nnaem = 'x'\n[spork]\n")
    answer = shell.type("status")
    assert "setpoint.toml:1" not in answer.err
    faults = " ".join(answer.err.split())
    assert "setpoint.toml:2: project.naem is not a setting did you mean 'name'?" in faults
    assert "setpoint.toml:3: [spork] is not a setting did you mean 'spark'?" in faults


def test_a_task_that_does_not_import_is_named_with_its_line(shell: Shell) -> None:
    """File, line, the error in one line, and what to install."""
    shell.folder.write("pipelines/x.py", "\nimport no_such_package_here\n")
    answer = shell.type("run", "--ds", "2026-04-25")
    assert answer.code == 1
    assert "pipelines/x.py:2: does not import: ModuleNotFoundError" in answer.err
    assert "pip install" in answer.err


def test_all_faults_are_shown_at_once(shell: Shell) -> None:
    """Seven faults of a project in one answer."""
    shell.folder.python()
    more = "\nuniqe_key: [a]"
    shell.folder.sql("a_header", more.strip())
    shell.folder.write(
        "pipelines/b_same_target.sql",
        "/*\ntarget: lake.shop.orders\ngrain: day\nwrite: {overwrite: {by: day}}\n*/\nSELECT 1\n",
    )
    shell.folder.write(
        "pipelines/c_finer.sql",
        "/*\ntarget: lake.shop.c\ngrain: hour\n"
        "write: {overwrite: {by: day, partition: day}}\n*/\nSELECT 1\n",
    )
    shell.folder.write(
        "pipelines/d_merge.sql",
        "/*\ntarget: lake.shop.d\ngrain: day\nwrite: {merge: {on: []}}\n*/\nSELECT 1\n",
    )
    shell.folder.write(
        "pipelines/e_catalog.sql",
        "/*\ntarget: laek.shop.e\ngrain: day\nwrite: {overwrite: {by: day}}\n*/\nSELECT 1\n",
    )
    shell.folder.sql("f_parameter", select="SELECT :window_strat AS day")
    shell.folder.sql("g_source", "sources: {raw: lake.shop.raw}")
    answer = shell.type("run", "--ds", "2026-04-25")
    assert answer.code == 1
    shown = " ".join(answer.err.split())
    for expected in (
        "the project's tasks have 7 faults",
        "a_header.sql:5: 'uniqe_key' is not a word of a task's header did you mean 'unique_key'?",
        "its target lake.shop.orders is also that of b_same_target",
        "the grain (hour) is finer than the partition (day)",
        "merge has no key",
        "setpoint.toml has no catalog 'laek' did you mean 'lake'?",
        "f_parameter.sql:6: :window_strat is not a parameter did you mean :window_start?",
        "source 'raw' has no event_time to bound it by",
    ):
        assert expected in shown


@pytest.mark.parametrize(
    ("words", "message", "next_step"),
    [
        (("--ds", "2026-02-30"), "'2026-02-30' is not in the calendar", ""),
        (("--ds", "yesterday"), "'yesterday' is not a date", ""),
        (("--ds", ""), "'' is not a date", ""),
        (
            ("--start", "2026-04-02", "--end", "2026-04-01"),
            "--end 2026-04-01 is not after --start 2026-04-02",
            "next: --end is exclusive",
        ),
        (
            ("--ds", "2026-04-25", "--start", "2026-04-01"),
            "exclude each other",
            "next: give one of them",
        ),
        (("--start", "2026-04-01"), "--start and --end go together", "next: --end is exclusive"),
        (("--end", "2026-04-01"), "--start and --end go together", "next: --end is exclusive"),
        ((), "orders needs a date", "next: setpoint run --ds"),
        (
            ("--ds", "2026-04-25", "--select", "order"),
            "no task is called 'order'",
            "next: did you mean 'orders'?",
        ),
    ],
)
@pytest.mark.parametrize("command", [DRY, ("run",)])
def test_wrong_dates_and_names_are_wrong_use(
    shell: Shell, command: tuple[str, ...], words: tuple[str, ...], message: str, next_step: str
) -> None:
    """Refused before Spark starts, with exit code 2, whether or not it is a dry run."""
    shell.folder.python()
    answer = shell.type(*command, *words)
    assert answer.code == 2
    assert message in answer.err
    assert next_step in answer.err
    assert answer.out == ""


def test_a_project_without_tasks_says_where_they_go(shell: Shell) -> None:
    """An empty folder is not a success."""
    answer = shell.type("run")
    assert answer.code == 2
    assert "error: no tasks in" in answer.err
    assert "add a .py or .sql task file there" in answer.err


@pytest.mark.parametrize(
    "words",
    [("rnu",), ("run", "--dss", "x"), ("status", "--limit", "0"), ("run", "--output", "xml")],
)
def test_words_that_no_command_knows_are_wrong_use(shell: Shell, words: tuple[str, ...]) -> None:
    """Misspelt commands, flags and choices."""
    assert shell.type(*words).code == 2


def test_a_project_folder_that_is_not_there_is_named(shell: Shell) -> None:
    """A misspelt folder must not fall back to the project around it."""
    answer = shell.type("status", "--project", "nowhere")
    assert answer.code == 2
    assert "nowhere" in answer.err


def test_a_broken_ledger_is_named(shell: Shell) -> None:
    """A file that is no database, and a URL that is none, are told with the next step."""
    shell.folder.write(".setpoint/ledger.db", "this is not a database, " * 100)
    answer = shell.type("status")
    assert answer.code == 1
    assert "ledger" in answer.err
    shell.folder.write("setpoint.toml", '[ledger]\nurl = "postgresql://me:secret@db/x"\n')
    answer = shell.type("status")
    assert answer.code == 1
    assert "secret" not in answer.err
    assert "ledger.url holds a password" in answer.err
    shell.folder.write("setpoint.toml", '[ledger]\nurl = "mysql://me@db/x"\n')
    answer = shell.type("status")
    assert answer.code == 1
    assert "next: In setpoint.toml, give one of: sqlite:///" in answer.err


def test_init_writes_over_nothing(shell: Shell) -> None:
    """A file that is there stays as it is, and no other is written beside it."""
    mine = shell.folder.write("shop/pipelines/orders.py", "mine")
    answer = shell.type("init", "shop")
    assert answer.code == 2
    assert "pipelines/orders.py exists already; nothing was written" in answer.err
    assert mine.read_text() == "mine"
    assert not (shell.folder.root / "shop" / "setpoint.toml").exists()


def test_init_refuses_a_name_that_cannot_be_one(shell: Shell) -> None:
    """A name goes into setpoint.toml, so quotes and spaces are refused."""
    answer = shell.type("init", 'my "shop"')
    assert answer.code == 2
    assert "cannot be a project's name" in answer.err


def test_init_on_a_file_says_so(shell: Shell) -> None:
    """A file by the folder's name is not written into."""
    shell.folder.write("shop", "a file")
    answer = shell.type("init", "shop")
    assert answer.code == 2
    assert "cannot be written" in answer.err


def test_a_damaged_ledger_is_told_before_spark_is_started(shell: Shell) -> None:
    """Nobody waits for a JVM to hear that the ledger cannot be read."""
    shell.folder.python()
    shell.folder.write(
        ".setpoint/ledger.db", "this is no database, and longer than a header of one"
    )
    answer = shell.type("run", "--ds", "2026-04-25")
    assert answer.code != 0
    assert "ledger" in answer.err
    assert "starting Spark" not in answer.out + answer.err
