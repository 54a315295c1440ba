"""Whatever a file holds, the audit answers: no exception, no hang, everything unread listed."""

from __future__ import annotations

import json
import pickle
import random
import time

import pytest
from tests.auditing.asking import audit, rules, spots

from setpoint.auditing import audit as auditing
from setpoint.auditing.context import build_context
from setpoint.auditing.draft import draft_task

CONTEXT = build_context({})
SEEDS = {
    "a.sql": "BEGIN; DELETE FROM t WHERE d = 1; INSERT INTO t SELECT 'x' FROM s; COMMIT;",
    "b.sql": (
        "{{ config(materialized='incremental') }} select * from {{ ref('a') }} where d > now()"
    ),
    "c.py": (
        "from datetime import date\nday = date.today()\nfor i in [1, 2]:\n"
        "    cur.execute(f\"INSERT INTO t SELECT * FROM s WHERE d = '{day}'\", (i,))\n"
        'df.filter("a = 1").write.mode("append").saveAsTable("t")\n'
    ),
    "d.py": (
        "from airflow.decorators import dag, task\n@dag(schedule='@daily')\ndef d():\n    @task\n"
        "    def t(ds):\n        df.to_sql('t', e, if_exists='append')\n    t()\nd()\n"
    ),
}
SPLICES = (
    "'", '"""', "(", "))", "{{", "}}", "{%", "%}", ";", "--", "/*", "$$", "\x00", "\\", "%s",
    "BEGIN", "END", "é", "[", "`", "lambda:", 'f"{', "::", "CASE WHEN", "\n", "    ",
)  # fmt: skip


def mutated(text: str, chance: random.Random) -> str:
    """The text after a few random cuts, copies and splices."""
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.randrange(1, 40))
        text = chance.choice(
            (
                text[:at] + text[to:],
                text[:at] + text[at:to] * 3 + text[to:],
                text[:at] + chance.choice(SPLICES) + text[at:],
            )
        )
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_never_raise(seed: int) -> None:
    """The readers themselves bear broken text; the safety net around them is not needed."""
    chance = random.Random(seed)
    for _ in range(60):
        path = chance.choice(sorted(SEEDS))
        facts = auditing._read(path, mutated(SEEDS[path], chance), CONTEXT)
        auditing.judge([facts], CONTEXT)


PATHOLOGICAL = {
    "nots": "INSERT INTO t SELECT " + "NOT " * 3000 + "1 FROM s",
    "brackets": "INSERT INTO t SELECT " + "(" * 2000 + "1" + ")" * 2000,
    "conditions": "INSERT INTO t SELECT a FROM s WHERE " + " OR ".join(["a = 1"] * 1200),
    "unions": "INSERT INTO t " + " UNION ALL ".join(["SELECT 1 FROM s"] * 500),
    "values": "INSERT INTO t VALUES " + ",".join(["(1, 'a')"] * 4000),
    "jinja": "{{ ref('a') }} now() " + "{{ '" * 2000,
}


@pytest.mark.parametrize("text", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
def test_pathological_statements_take_no_time(text: str) -> None:
    """A statement made to be slow is given up, and said to be."""
    begin = time.perf_counter()
    auditing.read_file("etl/x.sql", text, context=CONTEXT)
    assert time.perf_counter() - begin < 2


def test_calls_that_multiply_are_bounded() -> None:
    """Functions that call two others each are not followed without end."""
    text = "\n".join(
        f"def f{n}():\n    f{n + 1}()\n    f{n + 2}()\n    df.to_sql('t', e, if_exists='append')"
        for n in range(200)
    )
    begin = time.perf_counter()
    auditing.read_file("etl/x.py", text, context=CONTEXT)
    assert time.perf_counter() - begin < 2


def test_a_bad_statement_costs_only_itself() -> None:
    """The statements around one that cannot be parsed are still judged."""
    text = (
        "INSERT INTO a SELECT 1 FROM s;\nINSERT INTO b SELECT ((;\nINSERT INTO c SELECT 1 FROM s;"
    )
    report = audit({"a.sql": text})
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 1), ("W01", 3)]
    assert [one.line for one in report.unparsed] == [2]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "cur.execute('INSERT INTO t SELECT a FROM s'\nx ="),
        ("a.ipynb", "{not json"),
        ("a.sql", "INSERT INTO t SELECT 'never closed"),
    ],
)
def test_what_cannot_be_read_is_listed(path: str, text: str) -> None:
    """Nothing is skipped in silence."""
    report = audit({path: text})
    assert [one.path for one in report.unparsed] == [path]


def test_facts_survive_a_cache() -> None:
    """What was read can be pickled and judged later, with the same outcome."""
    facts = [auditing.read_file(path, text, context=CONTEXT) for path, text in SEEDS.items()]
    again = pickle.loads(pickle.dumps(facts))  # noqa: S301 - our own facts
    assert auditing.judge(again, CONTEXT) == auditing.judge(facts, CONTEXT)


def test_no_code_of_the_repository_runs() -> None:
    """A module that would raise on import is only read."""
    assert rules("raise SystemExit\ndf.to_sql('t', e, if_exists='append')", "x.py") == {"W01"}


def notebook(*cells: str) -> str:
    """A Jupyter notebook with these code cells."""
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": made}, indent=1)


def test_cells_of_a_notebook_are_one_unit_with_lines_of_the_file() -> None:
    """A cell above guards a cell below; the line is that of the .ipynb file."""
    append = 'df.to_sql("t", e, if_exists="append")'
    assert spots(notebook("import pandas as pd", append), "n.ipynb") == [("W01", 12)]
    assert spots(notebook('cur.execute("TRUNCATE TABLE t")', append), "n.ipynb") == []


def test_magics_of_notebooks() -> None:
    """SQL cells are read as SQL, shell and settings are passed over."""
    cells = ("%pip install x", "%%sql\nINSERT INTO t SELECT a FROM s", "%%bash\nINSERT INTO u")
    assert [rule for rule, _ in spots(notebook(*cells), "n.ipynb")] == ["W01"]


def test_databricks_notebooks() -> None:
    """Exported notebooks keep their line numbers."""
    text = (
        "# Databricks notebook source\nx = 1\n\n# COMMAND ----------\n\n# MAGIC %sql\n"
        "# MAGIC INSERT INTO t\n# MAGIC SELECT a FROM s\n\n# COMMAND ----------\n\n# MAGIC "
        "%md\n# MAGIC # now()\n"
    )
    assert spots(text, "n.py") == [("W01", 7)]


IGNORES = {
    "on the line": ("INSERT INTO t SELECT a FROM s; -- setpoint: ignore[W01] once only", set()),
    "above": ("-- setpoint: ignore[W01] once only\nINSERT INTO t SELECT a FROM s;", set()),
    "no reason": ("INSERT INTO t SELECT a FROM s; -- setpoint: ignore[W01]", {"I01"}),
    "other rule": ("INSERT INTO t SELECT a FROM s; -- setpoint: ignore[W02] x", {"W01", "I02"}),
    "unused": ("TRUNCATE TABLE t; -- setpoint: ignore[W01] x", {"I02"}),
}


@pytest.mark.parametrize(("text", "found"), IGNORES.values(), ids=IGNORES.keys())
def test_exceptions_in_writing(text: str, found: set[str]) -> None:
    """A comment with a reason excuses; without one, or without use, it is a finding itself."""
    assert rules(text) == found


def test_a_task_is_drafted_from_an_unsafe_model() -> None:
    """The draft is a SQL file with a YAML header that says target, pattern and sources."""
    report = audit({"a.sql": "INSERT INTO mart.sales SELECT * FROM raw.sales"})
    text = draft_task(report.pipelines[0])
    assert "target: mart.sales" in text
    assert "table: raw.sales" in text
    assert text.startswith("/*\n")
