"""The fingerprint changes when a task's meaning may, and not when its layout does."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.project_folder import ProjectFolder

PLAIN = """\
from datetime import date
from decimal import Decimal
from functools import lru_cache
from setpoint import overwrite, task
import _fp_module
from _fp_names import clean, RATE

LIMIT = 3
NAMES = {"a", "b", "c"}


def wrapped(function):
    import functools

    @functools.wraps(function)
    def inner(*args):
        return function(*args)

    return inner


@wrapped
def tidy(x):
    return x + 1


STEPS = [clean, tidy]


def make(offset):
    def add(x):
        return x + offset
    return add


add = make(1)


class Shape:
    side = 4


TABLE = {
    "double": lambda x: [y * 2 for y in x],
}
SINCE = [date(2026, 1, 1), Decimal("1.5")]


@lru_cache
def cached():
    return 7


@task(target="lake.shop.orders", grain="day", write=overwrite(by="day"))
def orders():
    \"\"\"Orders.\"\"\"
    rows = [n for n in range(LIMIT) if n in NAMES]
    return clean(tidy(add(rows))), RATE, _fp_module.answer(), STEPS, Shape, TABLE, SINCE, cached
"""
NAMES = "RATE = 5\ndef deep(x):\n    return x * 2\ndef clean(x):\n    return deep(x)\n"
MODULE = "import _fp_inner\nOTHER = 1\ndef answer():\n    return _fp_inner.VALUE\n"
INNER = "VALUE = 42\n"
FILES = {
    "orders.py": PLAIN,
    "_fp_names.py": NAMES,
    "_fp_module.py": MODULE,
    "_fp_inner.py": INNER,
}


def fingerprint_of(folder: ProjectFolder, **changed: str) -> str:
    """The fingerprint of the task, with some of its files changed."""
    for module in [name for name in sys.modules if name.startswith("_fp_")]:
        del sys.modules[module]
    for name, text in FILES.items():
        path = folder.root / "pipelines" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(changed.get(path.stem, text))
        # Python trusts a cached module by the second and size of its file.
        cached = path.parent / "__pycache__"
        if cached.is_dir():
            for file in cached.iterdir():
                file.unlink()
    return folder.task().fingerprint


SAME = {
    "comments": PLAIN.replace("LIMIT = 3", "LIMIT = 3  # three\n\n"),
    "docstring": PLAIN.replace('"""Orders."""', '"""All orders of a day."""'),
    "no docstring": PLAIN.replace('    """Orders."""\n', ""),
    "layout": PLAIN.replace(
        "rows = [n for n in range(LIMIT)", "rows = [\n        n for n in range( LIMIT )"
    ),
    "retries": PLAIN.replace('by="day")', 'by="day"), retries=5, development_date="2026-01-01"'),
    "things beside it": PLAIN + "\nUNUSED = 1\ndef unused():\n    return 2\n",
}
OTHER = {
    "a constant": ("orders", PLAIN.replace("LIMIT = 3", "LIMIT = 4")),
    "a set": ("orders", PLAIN.replace('{"a", "b", "c"}', '{"a", "b"}')),
    "its own code": ("orders", PLAIN.replace("in NAMES", "not in NAMES")),
    "a wrapped helper": ("orders", PLAIN.replace("return x + 1", "return x + 2")),
    "a helper's wrapper": (
        "orders",
        PLAIN.replace("return function(*args)", "return function(*args) * 2"),
    ),
    "a closure's value": ("orders", PLAIN.replace("make(1)", "make(2)")),
    "a closure's code": ("orders", PLAIN.replace("x + offset", "x - offset")),
    "a lambda": ("orders", PLAIN.replace("y * 2", "y * 3")),
    "a date": ("orders", PLAIN.replace("2026, 1, 1", "2026, 1, 2")),
    "a cached helper": ("orders", PLAIN.replace("return 7", "return 8")),
    "a class": ("orders", PLAIN.replace("side = 4", "side = 5")),
    "the target": ("orders", PLAIN.replace("lake.shop.orders", "lake.shop.other")),
    "the grain": ("orders", PLAIN.replace('"day", write', '"hour", write')),
    "the key": ("orders", PLAIN.replace('grain="day"', 'grain="day", unique_key="id"')),
    "an imported constant": ("_fp_names", NAMES.replace("RATE = 5", "RATE = 6")),
    "an imported function": ("_fp_names", NAMES.replace("return deep(x)", "return deep(x) + 1")),
    "what it calls in turn": ("_fp_names", NAMES.replace("x * 2", "x * 3")),
    "an imported module": ("_fp_module", MODULE.replace("OTHER = 1", "OTHER = 2")),
    "a module's module": ("_fp_inner", INNER.replace("42", "43")),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_what_does_not_change_the_result_keeps_the_fingerprint(
    folder: ProjectFolder, text: str
) -> None:
    """Comments, layout, docstrings, retries and things that the task does not use."""
    assert text != PLAIN
    assert fingerprint_of(folder, orders=text) == fingerprint_of(folder)


@pytest.mark.parametrize(("name", "text"), OTHER.values(), ids=OTHER.keys())
def test_what_may_change_the_result_changes_the_fingerprint(
    folder: ProjectFolder, name: str, text: str
) -> None:
    """Constants, helpers and modules of the project, however far down, and what it declares."""
    assert text not in FILES.values()
    assert fingerprint_of(folder, **{name: text}) != fingerprint_of(folder)


def test_a_key_of_one_long_column_is_not_a_key_of_its_letters(folder: ProjectFolder) -> None:
    """`unique_key="ab"` and `["a", "b"]` differ; `"ab"` and `["ab"]` do not."""
    keys = ['"ab"', '["a", "b"]', '["ab"]']
    text, listed, single = (
        fingerprint_of(folder, orders=PLAIN.replace('"day")', f'"day"), unique_key={key}'))
        for key in keys
    )
    assert text == single != listed


def test_the_fingerprint_is_the_same_in_every_process(folder: ProjectFolder) -> None:
    """Neither the order of a set nor the address of a function is part of it."""
    here = fingerprint_of(folder)
    probe = (
        "import sys; from pathlib import Path; from setpoint.project.project import load_project;"
        "print(load_project(Path(sys.argv[1])).graph.task('orders').fingerprint)"
    )
    for seed in ("1", "2", "3"):
        shown = subprocess.run(
            [sys.executable, "-c", probe, str(folder.root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert shown.strip() == here


def test_a_sql_task_is_known_by_its_words(folder: ProjectFolder) -> None:
    """Comments and line breaks do not count; a changed word or check does."""

    def of(more: str, select: str) -> str:
        folder.sql("daily", more, select)
        return load_project(folder.root).graph.task("daily").fingerprint

    plain = of("", "SELECT a, 'x' AS b FROM t")
    assert of("retries: 3", "SELECT a,\n 'x' AS b -- why\nFROM t") == plain
    assert of("", "SELECT a, x AS b FROM t") != plain
    assert of("checks: {positive: a > 0}", "SELECT a, 'x' AS b FROM t") != plain
    assert of("min_rows: 1", "SELECT a, 'x' AS b FROM t") != plain
