"""Jupyter and Databricks notebooks → one Python text, other languages' cells kept as calls."""

from __future__ import annotations

import json
import re

_DATABRICKS = "# Databricks notebook source"
_MAGIC_LINE = re.compile(r"^# MAGIC ?(.*)$")
_SHELL = re.compile(r"^\s*(?:[!%]|\?)")


def is_databricks(text: str) -> bool:
    """Whether a .py or .sql file is an exported Databricks notebook."""
    return text.startswith((_DATABRICKS, "-- Databricks notebook source"))


def python_of_databricks(text: str) -> str:
    """The notebook as Python, line for line; SQL cells become `spark.sql` calls."""
    out: list[str] = []
    cell: list[str] = []
    for line in text.split("\n"):
        if line.startswith("# COMMAND"):
            out.extend(_cell_lines(cell))
            out.append(line)
            cell = []
        else:
            cell.append(line)
    out.extend(_cell_lines(cell))
    return "\n".join(out)


def _cell_lines(lines: list[str]) -> list[str]:
    magics = [_MAGIC_LINE.match(line) for line in lines]
    if not any(magics):
        return [_without_magic(line) for line in lines]
    content = [match.group(1) if match else "" for match in magics]
    first = next((one for one in content if one.strip()), "")
    language = first.strip().split(" ")[0].split("\n")[0] if first else ""
    if language != "%sql":
        return ["#" for _ in lines]
    return _as_call(
        [one.replace("%sql", "    ", 1) if one.startswith("%sql") else one for one in content]
    )


def _as_call(lines: list[str]) -> list[str]:
    """The lines of a SQL cell as one call that keeps their line numbers."""
    body = [line.replace('"""', "'''").replace("\\", "/") for line in lines]
    if not any(line.strip() for line in body):
        return [""] * len(lines)
    body[0] = f'spark.sql("""{body[0]}'
    body[-1] = f'{body[-1]} """)'
    return body


def _without_magic(line: str) -> str:
    return "pass  # magic" if _SHELL.match(line) and not line.startswith((" ", "\t")) else line


def cells_of_notebook(text: str) -> tuple[str, list[int]] | None:
    """A Jupyter notebook's code as Python, and for each of its lines the line in the file.

    None when the file is no notebook.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        return None
    finder = _LineFinder(text)
    lines: list[str] = []
    origin: list[int] = []
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        rows = "".join(source).split("\n") if isinstance(source, list) else str(source).split("\n")
        at = finder.find(rows)
        converted = _converted(rows)
        for offset, row in enumerate(converted):
            lines.append(row)
            origin.append(at[min(offset, len(at) - 1)] if at else 1)
    return "\n".join(lines), origin


def _converted(rows: list[str]) -> list[str]:
    first = next((row for row in rows if row.strip()), "").strip()
    if first.startswith("%%sql") or (first.startswith("%sql") and len(rows) > 1):
        cleared = [
            re.sub(r"^\s*%%?sql.*$", "", row) if row.strip().startswith(("%%sql", "%sql")) else row
            for row in rows
        ]
        return _as_call(cleared)
    if first.startswith("%sql "):
        return [f'spark.sql("""{first[5:]}""")', *[""] * (len(rows) - 1)]
    if first.startswith("%%") and not first.startswith(
        ("%%time", "%%capture", "%%pyspark", "%%spark", "%%python")
    ):
        return ["" for _ in rows]
    return [_soft(row) for row in rows]


def _soft(row: str) -> str:
    if _SHELL.match(row):
        indent = row[: len(row) - len(row.lstrip())]
        return f"{indent}pass  # magic"
    return row


class _LineFinder:
    """Finds the lines of the JSON file on which a cell's source lines stand, in order."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def find(self, rows: list[str]) -> list[int]:
        found: list[int] = []
        for row in rows:
            wanted = json.dumps(row, ensure_ascii=False)[1:-1]
            ascii_wanted = json.dumps(row)[1:-1]
            if not row.strip():
                found.append(found[-1] + 1 if found else self._at + 1)
                continue
            for index in range(self._at, len(self._lines)):
                line = self._lines[index]
                if wanted in line or ascii_wanted in line:
                    found.append(index + 1)
                    self._at = index + 1 if len(line) < 2000 else index  # noqa: PLR2004 - one-line notebooks
                    break
            else:
                found.append(found[-1] if found else self._at + 1)
        return found
