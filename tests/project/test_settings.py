"""setpoint.toml: nothing in it is needed, and every fault in it is named with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ProjectError
from setpoint.project.project import open_settings
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.errors import Fault
    from setpoint.model.settings import Settings


def read(folder: Path, text: str) -> Settings:
    """The settings of a file with this text."""
    (folder / "setpoint.toml").write_text(text, encoding="utf-8")
    return read_settings(folder)


def faults(folder: Path, text: str) -> list[Fault]:
    """What is wrong with a file of this text."""
    with pytest.raises(ProjectError) as refusal:
        read(folder, text)
    return list(refusal.value.faults)


def test_an_empty_file_is_a_project(tmp_path: Path) -> None:
    """Everything has a default: a lake in a folder, a ledger in a file."""
    settings = read(tmp_path, "")
    assert settings.name == tmp_path.name
    assert settings.pipelines == tmp_path / "pipelines"
    assert settings.ledger_url == "sqlite:///.setpoint/ledger.db"
    assert settings.catalogs["lake"].warehouse == tmp_path / "warehouse"
    assert settings.development_date is None


def test_every_setting_is_read(tmp_path: Path) -> None:
    """Dotted keys need no quotes, numbers and booleans become text as Spark wants it."""
    settings = read(
        tmp_path,
        """
        [project]
        name = "shop"
        pipelines = "jobs"
        development_date = "2026-04-25"
        [spark]
        master = "local[2]"
        packages = ["g:a:1"]
        [spark.conf]
        spark.sql.shuffle.partitions = 4
        "spark.ui.enabled" = false
        [ledger]
        url = "memory:"
        [catalogs.lake]
        warehouse = "data"
        [catalogs.corporate]
        warehouse = "s3://x"
        conf = {type = "rest", uri = "https://catalog.example"}
        """,
    )
    assert (settings.name, settings.pipelines) == ("shop", tmp_path / "jobs")
    assert settings.spark.master == "local[2]"
    assert settings.spark.packages == ("g:a:1",)
    assert settings.spark.conf == {
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    assert settings.catalogs["lake"].warehouse == tmp_path / "data"
    corporate = settings.catalogs["corporate"]
    assert not corporate.embedded
    assert corporate.conf == {
        "warehouse": "s3://x",
        "type": "rest",
        "uri": "https://catalog.example",
    }


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`${NAME}` is taken from outside; one that is not set is a fault that names it."""
    text = '[catalogs.lake.conf]\nuri = "https://${HOST_OF_CATALOG}/x"\n'
    monkeypatch.setenv("HOST_OF_CATALOG", "catalog.example")
    conf = read(tmp_path, text).catalogs["lake"].conf
    assert conf["uri"] == "https://catalog.example/x"
    monkeypatch.delenv("HOST_OF_CATALOG")
    (fault,) = faults(tmp_path, text)
    assert fault.line == 2
    assert "needs $HOST_OF_CATALOG, which is not set" in fault.message


@pytest.mark.parametrize(
    ("text", "line"),
    [('[project]\nname = "shop\n', 2), ("[project\n", 1), ("[a]\nb =", 2), ("x = 1\nx = 2\n", 2)],
)
def test_a_file_that_is_not_toml_is_named_with_the_line(
    tmp_path: Path, text: str, line: int
) -> None:
    """Also where the fault is the end of the file."""
    (fault,) = faults(tmp_path, text)
    assert fault.place == f"setpoint.toml:{line}"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a fault of the file, not of Setpoint."""
    (tmp_path / "setpoint.toml").write_bytes(b"name = '\xff'\n")
    with pytest.raises(ProjectError, match=r"setpoint\.toml cannot be read"):
        read_settings(tmp_path)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    """A folder by that name is said to be one."""
    (tmp_path / "setpoint.toml").mkdir()
    with pytest.raises(ProjectError, match="cannot be read: Is a directory"):
        read_settings(tmp_path)


WRONG = """\
[projcet]
name = "shop"
[project]
name = 5
development_date = "soon"
[spark]
master = "local"
remote = "sc://x"
conf = {a = [1]}
[ledger]
ulr = "memory:"
[catalogs."odd-name"]
[catalogs.lake]
type = "papyrus"
[catalogs]
flat = 1
"""


def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    """Unknown words with a suggestion, wrong types, contradictions, unknown kinds."""
    found = {fault.message: fault for fault in faults(tmp_path, WRONG)}
    lines = {message: fault.line for message, fault in found.items()}
    assert lines == {
        "[projcet] is not a setting": 1,
        "project.name must be text, found 5": 2,
        "development_date 'soon' is not a date": 5,
        "spark has both master and remote": None,
        "spark.conf.a must be text, found [1]": None,
        "ledger.ulr is not a setting": 11,
        "'odd-name' cannot be a catalog's name": 12,
        "catalogs.lake.type 'papyrus' is not one of: iceberg, delta, parquet": 14,
        "catalogs.flat must be a table": 16,
    }
    assert found["[projcet] is not a setting"].fix == "did you mean 'project'?"
    assert found["ledger.ulr is not a setting"].fix == "did you mean 'url'?"


@pytest.mark.parametrize("section", ["project", "spark", "ledger", "catalogs"])
def test_a_section_must_be_a_table(tmp_path: Path, section: str) -> None:
    """`spark = 5` is answered with how to write it."""
    (fault,) = faults(tmp_path, f"{section} = 5\n")
    assert fault.message == f"{section} must be a table"
    assert (fault.fix or "").startswith(f"[{section}")


def test_a_development_date_that_is_not_in_the_calendar_is_refused(tmp_path: Path) -> None:
    """Found when the file is read, not at the first run."""
    (fault,) = faults(tmp_path, '[project]\ndevelopment_date = "2026-02-30"\n')
    assert fault.line == 2
    assert "'2026-02-30' is not a date" in fault.message


def test_a_date_without_quotes_is_answered_with_the_quotes(tmp_path: Path) -> None:
    """TOML has dates of its own; what to type is shown, not what Python calls them."""
    (fault,) = faults(tmp_path, "[project]\ndevelopment_date = 2026-04-25\n")
    assert fault.message == "project.development_date must be text, found 2026-04-25"
    assert fault.fix == 'development_date = "2026-04-25"'


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    """Some editors begin a file with one."""
    assert read(tmp_path, '\ufeff[project]\nname = "shop"\n').name == "shop"


def test_pipelines_outside_the_project_are_refused(tmp_path: Path) -> None:
    """Task files are named relative to the project, so they must lie in it."""
    (fault,) = faults(tmp_path, '[project]\npipelines = "/elsewhere"\n')
    assert "pipelines" in fault.message
    assert fault.line == 2


def test_a_package_is_named_by_group_artifact_and_version(tmp_path: Path) -> None:
    """What cannot be resolved is refused when the file is read."""
    (fault,) = faults(tmp_path, '[spark]\npackages = ["iceberg", 7]\n')
    assert "group:artifact:version" in (fault.fix or "")


def test_the_project_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    """Commands work from anywhere below setpoint.toml; elsewhere they say how to begin."""
    (tmp_path / "setpoint.toml").write_text("")
    inside = tmp_path / "pipelines" / "deep"
    inside.mkdir(parents=True)
    assert open_settings(inside).root == tmp_path.resolve()
    (tmp_path / "setpoint.toml").unlink()
    with pytest.raises(ProjectError, match=r"no setpoint\.toml") as refusal:
        open_settings(inside)
    assert "setpoint init" in (refusal.value.next_step or "")


def test_the_password_of_a_ledger_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Odd characters and all; and it is in nothing that is printed."""
    monkeypatch.setenv("LEDGER_PASSWORD", "p@ss/word")
    settings = read(
        tmp_path,
        '[ledger]\nurl = "postgresql://me@db/x"\npassword = "${LEDGER_PASSWORD}"\n'
        "lease_seconds = 5\n",
    )
    assert settings.ledger_url == "postgresql://me@db/x?password=p%40ss%2Fword"
    assert settings.lease_seconds == 5
    assert "p%40ss" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('url = "postgresql://me:secret@db/x"', "holds a password"),
        ('password = "secret"', "is written out"),
        ("lease_seconds = 0", "must be 1 or more"),
    ],
)
def test_a_ledger_that_is_set_wrongly_is_a_fault(tmp_path: Path, text: str, words: str) -> None:
    """A password stands in no file; a lease has a length."""
    (fault,) = faults(tmp_path, f"[ledger]\n{text}\n")
    assert words in fault.message
    assert "secret" not in str(fault)
