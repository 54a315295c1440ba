"""The layers hold: only the engine knows Spark, and what needs no Spark starts without it."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import setpoint
from setpoint.ledger.sqlite import SqliteLedger

SOURCE = Path(setpoint.__file__).parent
TEMPLATES = {SOURCE / "project" / "starter", SOURCE / "demo" / "project"}
"""Files that are written into a user's project: Setpoint itself never imports them."""
SPARK = {"pyspark", "py4j"}
BY_CALL = ("import_module", "__import__")
PROBE = """\
import json, sys
sys.argv = ["setpoint", *sys.argv[1:]]
try:
    from setpoint.cli.app import main
    main()
except SystemExit as stop:
    code = stop.code or 0
with open("modules.json", "w") as file:
    json.dump([code, sorted(sys.modules)], file)
"""


def imported_packages(text: str) -> set[str]:
    """The first name of each import, wherever it stands in a file."""
    packages = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            packages.add((node.module or "").partition(".")[0])
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", ""))
            in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            packages.add(str(node.args[0].value).partition(".")[0])
    return packages


def source_files() -> list[Path]:
    """Every Python file of the package, templates aside."""
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in TEMPLATES)
    ]


def outside_engine() -> list[Path]:
    """The files that must not know Spark."""
    return [path for path in source_files() if not path.is_relative_to(SOURCE / "engine")]


@pytest.mark.parametrize("path", outside_engine(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_engine_imports_spark(path: Path) -> None:
    """No import of pyspark, at the top or inside a function, outside `engine/`."""
    assert not imported_packages(path.read_text(encoding="utf-8")) & SPARK


def test_the_search_for_imports_sees_what_it_looks_for() -> None:
    """The engine itself imports Spark, and every way to import is recognised."""
    assert imported_packages((SOURCE / "engine/spark/session.py").read_text()) & SPARK
    hidden = "def f():\n    import pyspark.sql as p\n"
    assert imported_packages(hidden) == {"pyspark"}
    assert imported_packages("from pyspark.sql import functions") == {"pyspark"}
    assert imported_packages("import importlib\nimportlib.import_module('pyspark')") >= {"pyspark"}
    assert len(outside_engine()) > 40


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose ledger holds one run."""
    (tmp_path / "setpoint.toml").write_text('[ledger]\nurl = "sqlite:///ledger.db"\n')
    with SqliteLedger(tmp_path / "ledger.db") as ledger:
        started = ledger.begin(
            "orders", None, None, target="lake.a.b", fingerprint="code", pid=1, host="here"
        )
        ledger.succeed(started.run_id, started.fence, rows=5)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], "Commands"),
        (["run", "--help"], "--select"),
        (["status"], "orders"),
        (["status", "--output", "json"], '"rows": 5'),
        (["history"], "orders"),
        (["effects", "list"], "no effects were recorded yet"),
        (["history", "orders", "--output", "json"], '"tries"'),
    ],
)
def test_reading_commands_never_import_spark(shop: Path, words: list[str], shown: str) -> None:
    """`--help`, `status` and `history` work where Spark is not even installed."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words], cwd=shop, capture_output=True, text=True, check=True
    )
    assert shown in done.stdout
    code, modules = json.loads((shop / "modules.json").read_text())
    assert code == 0
    assert not SPARK & set(modules)


def test_importing_setpoint_imports_next_to_nothing(tmp_path: Path) -> None:
    """`import setpoint` loads no module of its own but itself: names come when asked for."""
    probe = (
        "import sys; import setpoint; "
        "print(sorted(n for n in sys.modules if n.startswith(('setpoint', 'pyspark', 'py4j'))))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown.strip() == "['setpoint', 'setpoint.version']"


def test_the_public_names_need_no_spark_but_one(tmp_path: Path) -> None:
    """Only `surrogate_key`, a Spark column, brings Spark in."""
    probe = (
        "import sys; import setpoint\n"
        "for name in setpoint.__all__:\n"
        "    if name != 'surrogate_key': getattr(setpoint, name)\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, check=True)


def test_every_public_name_is_exported_from_its_home() -> None:
    """What `__all__` promises is there, from the module that defines it, and nothing else is."""
    assert sorted(setpoint.__all__) == sorted(setpoint._HOMES)
    for name, home in setpoint._HOMES.items():
        assert getattr(setpoint, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="no attribute 'append'"):
        _ = setpoint.append


@pytest.mark.parametrize("path", source_files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_stay_small_and_rooms_are_named_after_concepts(path: Path) -> None:
    """No file above 500 lines, no folder or file for leftovers."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500
    assert not {"utils", "helpers", "common", "misc", "core"} & {path.stem, path.parent.name}
