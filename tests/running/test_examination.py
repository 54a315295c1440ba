"""`setpoint doctor --quick`: faults that are seen without Spark, each with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.engine.spark.postgres.connection_check import ConnectionFacts
from setpoint.running.examination import Finding, examine


def _examined(root: Path, toml: str) -> dict[str, Finding]:
    (root / "setpoint.toml").write_text('[project]\nname = "shop"\n' + toml)
    return {f.name: f for f in examine(root, start_spark=False, say=lambda _text: None)}


def test_a_warehouse_that_the_first_run_could_not_make_is_a_fault(tmp_path: Path) -> None:
    """The folder is not there yet, and nobody could make it."""
    if not Path("/proc/self").exists():
        pytest.skip("needs a folder in which nothing can be made")
    found = _examined(tmp_path, '[catalogs.lake]\nwarehouse = "/proc/ware"\n')["catalog lake"]
    assert found.state == "fault"
    assert "/proc/ware cannot be written" in found.found
    assert "warehouse" in str(found.next_step)
    assert list(tmp_path.glob("**/.setpoint-probe*")) == []


def test_a_warehouse_that_is_not_there_yet_is_no_fault(tmp_path: Path) -> None:
    """Looking makes nothing."""
    found = _examined(tmp_path, '[catalogs.lake]\nwarehouse = "deep/ware"\n')["catalog lake"]
    assert found.state != "fault"
    assert "made by the first run" in found.found
    assert [path.name for path in tmp_path.iterdir()] == ["setpoint.toml"]


@pytest.mark.parametrize("content", [b"not a database at all " * 40, b"SQLite format 3\0" * 99])
def test_a_damaged_catalog_file_is_named(tmp_path: Path, content: bytes) -> None:
    """Which file, and that the tables' own files are not lost with it."""
    (tmp_path / "ware").mkdir()
    (tmp_path / "ware" / "catalog.db").write_bytes(content)
    found = _examined(tmp_path, '[catalogs.lake]\nwarehouse = "ware"\n')["catalog lake"]
    assert found.state == "fault"
    assert str(tmp_path / "ware" / "catalog.db") in found.found
    assert "register_table" in str(found.next_step)


def test_a_connection_that_nobody_answers_is_a_fault_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by its connection, never by its password."""
    monkeypatch.setenv("MART_PASSWORD", "hidden-one")
    toml = '[connections.mart]\nurl = "postgresql://me@127.0.0.1:1/shop"\n'
    toml += 'password = "${MART_PASSWORD}"\n'
    found = _examined(tmp_path, toml)["connection mart"]
    assert found.state == "fault"
    assert "mart" in found.found
    assert "hidden-one" not in repr(found)


FACTS = ConnectionFacts(
    version="18.1",
    number=180001,
    database="shop",
    user="me",
    readonly=False,
    may_create=True,
    schemas={},
)


def test_a_sound_connection_has_no_fault() -> None:
    """New enough, writable, and the schemas can be made."""
    assert FACTS.fault() is None
    assert FACTS.found == "Postgres 18.1, database shop, user me"


@pytest.mark.parametrize(
    ("changes", "found", "next_step"),
    [
        ({"number": 120000}, "too old", "13 or newer"),
        ({"readonly": True}, "replica", "primary"),
        ({"may_create": False}, "schema setpoint", 'GRANT CREATE ON DATABASE "shop" TO "me"'),
        (
            {"schemas": {"setpoint": True, "setpoint_staging": False}},
            "setpoint_staging",
            'GRANT USAGE, CREATE ON SCHEMA setpoint_staging TO "me"',
        ),
    ],
    ids=["version", "replica", "database", "schema"],
)
def test_what_a_connection_lacks_is_said_with_the_statement_that_gives_it(
    changes: dict[str, object], found: str, next_step: str
) -> None:
    """Rights are told as the statement to type."""
    fault = ConnectionFacts(**{**vars(FACTS), **changes}).fault()
    assert fault is not None
    assert found in fault[0]
    assert next_step in fault[1]
