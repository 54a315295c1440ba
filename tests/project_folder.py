"""A project on disk, written by a test a file at a time."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ProjectError
from setpoint.project.project import Project, load_project

if TYPE_CHECKING:
    from pathlib import Path

    from setpoint.errors import Fault
    from setpoint.model.task import Task

TOML = '[project]\nname = "shop"\n'
HEADER = """\
/*
target: lake.shop.{name}
grain: day
write: {{overwrite: {{by: day}}}}
{more}*/
"""
PYTHON = '''\
from setpoint import Allow, Backoff, Source, merge, overwrite, replace, task


@task(target="lake.shop.orders", grain="day", write=overwrite(by="day"){more})
def orders({parameters}):
    """Orders."""
    return None
'''


class ProjectFolder:
    """Writes files and loads them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("setpoint.toml", TOML)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def sql(self, name: str, more: str = "", select: str = "SELECT 1 AS day") -> Path:
        """Write a SQL task whose header says more than the plain one."""
        header = HEADER.format(name=name, more=more and more + "\n")
        return self.write(f"pipelines/{name}.sql", header + select + "\n")

    def python(self, more: str = "", parameters: str = "") -> Path:
        """Write the Python task `orders` whose decorator says more than the plain one."""
        text = PYTHON.format(more=more and ", " + more, parameters=parameters)
        return self.write("pipelines/orders.py", text)

    def load(self) -> Project:
        """The project, loaded whole."""
        return load_project(self.root)

    def task(self, name: str = "orders") -> Task:
        """One task of the loaded project."""
        return self.load().graph.task(name)

    def faults(self) -> list[Fault]:
        """What is wrong with the project."""
        with pytest.raises(ProjectError) as refusal:
            self.load()
        return list(refusal.value.faults)
