from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from setpoint.auditing.audit import read_file
from setpoint.cli.app import setpoint
from setpoint.errors import UsageError

APPEND = "INSERT INTO mart.orders\nSELECT * FROM raw.orders;\n"
SAFE = "CREATE OR REPLACE TABLE mart.days AS SELECT * FROM raw.days;\n"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own for each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with an unsafe and a safe pipeline."""
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "orders.sql").write_text(APPEND)
    (tmp_path / "sql" / "days.sql").write_text(SAFE)
    return tmp_path


def audit(*words: object) -> Result:
    """Type a command; wrong use is raised, as the outermost function shows it."""
    result = CliRunner().invoke(setpoint, ["audit", *map(str, words)], catch_exceptions=True)
    if isinstance(result.exception, UsageError):
        raise result.exception
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def found(*words: object) -> dict[str, Any]:
    """The JSON that a command prints."""
    answer: dict[str, Any] = json.loads(audit(*words, "--output", "json").stdout)
    return answer


def test_findings_exit_with_1_and_none_with_0(repository: Path) -> None:
    """The exit code tells CI what to do."""
    assert audit(repository).exit_code == 1
    assert audit(repository, "--fail-on", "never").exit_code == 0
    assert audit(repository / "sql" / "days.sql").exit_code == 0


def test_json_lists_findings_pipelines_and_unparsed(repository: Path) -> None:
    """Paths are relative to the audited folder, verdicts are per pipeline."""
    answer = found(repository)
    (finding,) = answer["findings"]
    assert (finding["rule"], finding["path"]) == ("W01", "sql/orders.sql")
    verdicts = {pipeline["path"]: pipeline["verdict"] for pipeline in answer["pipelines"]}
    assert verdicts == {"sql/orders.sql": "unsafe", "sql/days.sql": "safe"}
    assert answer["unparsed"] == []


def test_rules_can_be_selected_and_ignored(repository: Path) -> None:
    """Only the chosen rules are listed and count."""
    assert not found(repository, "--ignore", "W01")["findings"]
    assert found(repository, "--select", "W,T01")["findings"]
    assert audit(repository, "--select", "X").exit_code == 0


def test_an_unknown_rule_is_a_wrong_use_with_a_suggestion(repository: Path) -> None:
    """The exit code is 2 and the message says what was probably meant."""
    with pytest.raises(UsageError, match="Did you mean W01") as caught:
        audit(repository, "--select", "W1")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("words", [(), ("nowhere",), (".", "--write-baseline")])
def test_wrong_use_is_told_with_a_next_step(words: tuple[str, ...]) -> None:
    """A missing path, no path, and a baseline without a file name each say what to type."""
    with pytest.raises(UsageError) as caught:
        audit(*words)
    assert "setpoint audit" in str(caught.value.next_step)


def test_a_baseline_hides_what_was_there_and_not_what_is_new(repository: Path) -> None:
    """Written once, it lets old findings pass and new ones fail."""
    place = repository / "baseline.json"
    assert audit(repository, "--baseline", place, "--write-baseline").exit_code == 0
    assert audit(repository, "--baseline", place).exit_code == 0
    orders = repository / "sql" / "orders.sql"
    orders.write_text("-- moved\n\n" + APPEND)
    assert audit(repository, "--baseline", place).exit_code == 0
    orders.write_text(APPEND + "\n" + APPEND.replace("mart.orders", "mart.again"))
    assert audit(repository, "--baseline", place).exit_code == 1


@pytest.mark.parametrize("output", ["text", "json", "sarif", "html", "markdown"])
def test_every_output_goes_to_a_pipe_or_a_file(repository: Path, output: str) -> None:
    """The same report on standard output and in the file, with a summary beside the file."""
    piped = audit(repository, "--output", output)
    place = repository / "report.out"
    filed = audit(repository, "--output", output, "--output-file", place)
    assert place.read_text(encoding="utf-8") == piped.stdout
    assert not filed.stdout
    assert "1 unsafe" in filed.stderr
    assert filed.exit_code == piped.exit_code == 1


def test_text_ends_with_what_to_type_next(repository: Path) -> None:
    """The last line is a command."""
    assert audit(repository).stdout.splitlines()[-1].startswith("next: setpoint audit")


def test_rules_are_listed_and_explained() -> None:
    """Each rule has a line, and a page of its own."""
    listed = audit("--list-rules").stdout
    assert "W01" in listed
    assert "unguarded-append" in listed
    assert "When to let it be" in audit("--explain-rule", "w01").stdout


def test_owners_come_from_codeowners(repository: Path) -> None:
    """The owner of a pipeline stands in the report."""
    (repository / "CODEOWNERS").write_text("/sql/ @shop/data\n")
    assert {p["owner"] for p in found(repository)["pipelines"]} == {"@shop/data"}


def test_feeds_keeps_what_lies_upstream(repository: Path) -> None:
    """Pipelines that do not feed the table are left out, with their findings."""
    (repository / "sql" / "report.sql").write_text(
        "CREATE OR REPLACE TABLE mart.report AS SELECT * FROM mart.days;\n"
    )
    answer = found(repository, "--feeds", "mart.report")
    assert {p["path"] for p in answer["pipelines"]} == {"sql/report.sql", "sql/days.sql"}
    assert not answer["findings"]


def test_a_second_run_reads_from_the_cache(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only files that changed are read again, and the answer is the same."""
    asked: list[str] = []

    def spy(path: str, text: str, **options: Any) -> object:
        asked.append(path)
        return read_file(path, text, **options)

    monkeypatch.setattr("setpoint.auditing.driver.read_file", spy)
    first = found(repository)
    assert sorted(asked) == ["sql/days.sql", "sql/orders.sql"]
    asked.clear()
    assert found(repository) == first
    assert asked == []
    (repository / "sql" / "days.sql").write_text(SAFE + "-- changed\n")
    found(repository)
    assert asked == ["sql/days.sql"]
    asked.clear()
    found(repository, "--no-cache")
    assert len(asked) == 2


def test_a_cache_inside_the_audited_folder_is_not_trusted(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository cannot bring facts of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository / ".cache"))
    found(repository)
    assert not (repository / ".cache").exists()


def test_exceptions_in_writing_are_listed_apart(repository: Path) -> None:
    """An excused finding does not fail the command, but its reason can be looked up."""
    orders = repository / "sql" / "orders.sql"
    orders.write_text("-- setpoint: ignore[W01] an audit trail\n" + APPEND)
    answer = found(repository)
    assert not answer["findings"]
    assert [(one["rule"], one["reason"]) for one in answer["excused"]] == [
        ("W01", "an audit trail")
    ]
    assert "1 finding, in writing" in audit(repository).stdout


TORN = (
    "-- rebuild a day\n"
    "DELETE FROM mart.sales WHERE day = :ds;\n"
    "INSERT INTO mart.sales SELECT * FROM raw.sales WHERE day = :ds;\n"
)


def test_diff_shows_a_fix_and_writes_nothing(tmp_path: Path) -> None:
    """The delete and the insert get one transaction, on paper."""
    (tmp_path / "day.sql").write_text(TORN)
    shown = audit(tmp_path, "--dialect", "postgres", "--diff")
    assert "+BEGIN TRANSACTION;" in shown.stdout
    assert "+COMMIT;" in shown.stdout
    assert shown.exit_code == 1
    assert (tmp_path / "day.sql").read_text() == TORN


def test_fix_leaves_a_file_that_has_no_such_finding(tmp_path: Path) -> None:
    """What was fixed is gone from the report, in the same run and in the next."""
    (tmp_path / "day.sql").write_text(TORN)
    fixed = audit(tmp_path, "--dialect", "postgres", "--fix")
    assert fixed.exit_code == 0
    assert "Fixed 1 finding in 1 file." in fixed.stderr
    assert (tmp_path / "day.sql").read_text() == (
        "-- rebuild a day\n"
        "BEGIN TRANSACTION;\n"
        "DELETE FROM mart.sales WHERE day = :ds;\n"
        "INSERT INTO mart.sales SELECT * FROM raw.sales WHERE day = :ds;\nCOMMIT;\n"
    )
    assert not found(tmp_path, "--dialect", "postgres")["findings"]


def test_fix_takes_an_exception_away_that_matches_nothing(tmp_path: Path) -> None:
    """A comment on its own line goes with its line, one behind code leaves the code."""
    place = tmp_path / "a.sql"
    place.write_text(
        "-- setpoint: ignore[W01] long gone\r\n" + SAFE.strip() + " -- setpoint: ignore[T01] x\r\n"
    )
    audit(tmp_path, "--fix")
    assert place.read_bytes() == SAFE.strip().encode() + b"\r\n"


def test_a_task_is_drafted_from_a_pipeline(repository: Path) -> None:
    """The draft names the target and the source; an unknown name is answered with a near one."""
    draft = audit(repository, "--emit-task", "orders").stdout
    assert "target: mart.orders" in draft
    assert "table: raw.orders" in draft
    with pytest.raises(UsageError, match="Did you mean orders"):
        audit(repository, "--emit-task", "order")


def test_a_table_that_nothing_writes_is_a_wrong_use(repository: Path) -> None:
    """A slip in the name is not answered with an empty page."""
    with pytest.raises(UsageError, match=r"mart\.nothing"):
        audit(repository, "--feeds", "mart.nothing")


def test_scenario_43_nothing_of_the_repository_is_run_or_imported(tmp_path: Path) -> None:
    """Files that would leave a mark when run or imported are only read."""
    mark = tmp_path / "mark"
    leave = f"open({str(mark)!r}, 'w').write('ran')\n"
    root = tmp_path / "repository"
    for name in ("conftest.py", "setup.py", "sitecustomize.py", "sqlglot.py", "dags/load.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(leave + "df.write.mode('append').saveAsTable('t')\n")
    (root / "dags" / "__init__.py").write_text(leave)
    (root / "dbt_project.yml").write_text(
        f"name: !!python/object/apply:os.system ['touch {mark}']\n"
    )
    (root / "models").mkdir()
    (root / "models" / "a.sql").write_text(
        "{{ ''.__class__.__mro__[1].__subclasses__() }} {% do modules.os.system('x') %} SELECT 1"
    )
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text(f"[core]\n\tfsmonitor = touch {mark}\n")
    code = "from setpoint.cli.app import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", code, "audit", ".", "--output", "json", "--fail-on", "never"],
        cwd=root,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(shown.stdout)["files"] >= 6
    assert not mark.exists()


def test_the_command_works_as_a_process(repository: Path) -> None:
    """Exit codes, standard output and error messages as a shell sees them."""
    command = [str(Path(sys.executable).with_name("setpoint")), "audit"]
    shown = subprocess.run(
        [*command, "."], cwd=repository, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 1
    assert "\x1b[" not in shown.stdout
    wrong = subprocess.run(
        [*command, ".", "--select", "Q9"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert wrong.returncode == 2
    assert "error: There is no rule 'Q9'." in wrong.stderr


def test_a_folder_that_is_missing_is_told_with_what_to_type(repository: Path) -> None:
    """A report for a folder that nobody made yet: the answer says how to make it."""
    place = repository / "reports" / "fleet.html"
    with pytest.raises(UsageError) as told:
        audit(repository, "--output", "html", "--output-file", place)
    assert told.value.next_step == f"mkdir -p {place.parent}"
