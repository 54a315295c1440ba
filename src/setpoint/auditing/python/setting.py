"""What kind of code a file is: a pipeline, or an application, a test, a migration, a sample."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.auditing.python.modules import Module

_TEST_FOLDERS = frozenset(
    {
        "tests",
        "test",
        "testing",
        "fixtures",
        "mocks",
        "e2e",
        "site-packages",
        "node_modules",
        ".venv",
        "venv",
        "__tests__",
        "unittests",
        "unit_tests",
        "integration_tests",
        "spec",
    }
)
_TEST_FILE = re.compile(r"^(?:test_.*|.*_test|conftest|setup|noxfile|conf)\.py$")
_SCHEMA_FOLDERS = frozenset(
    {
        "migrations",
        "migration",
        "alembic",
        "flyway",
        "liquibase",
        "versions",
        "ddl",
        "schema",
        "schemas",
        "seeds",
        "seed",
        "fixtures",
        "docker-entrypoint-initdb.d",
        "initdb",
        "db_migrations",
        "init",
        "initdb.d",
        "sampledata",
        "sample_data",
    }
)
_SCHEMA_FILE = re.compile(
    r"^(?:v\d+[._]\d*_?_.*|\d{8,14}_.*|(?:create|init|setup|schema|ddl|seed|bootstrap|install"
    r"|grant|drop)(?:[_-].*)?|.*[_-](?:ddl|schema|seed|init|setup|dump|fixtures?|sample_data"
    r"|migration))\.(?:sql|py|hql)$",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    r"(?:^|[_/-])(?:fake|faker|mock|dummy|synthetic|simulat\w*|generat\w*[_-]?(?:data|events?"
    r"|orders?|logs?|fake)|data[_-]?generat\w*|seed(?:s|er|_\w+)?|sample[_-]?data|populate\w*"
    r"|load[_-]?test\w*|benchmark\w*|playground)(?:[_./-]|$)",
    re.IGNORECASE,
)
_APPLICATIONS = (
    "flask", "fastapi", "django", "starlette", "sanic", "bottle", "tornado", "streamlit", "dash",
    "tkinter", "PyQt5", "PyQt6", "PySide6", "discord", "telebot", "aiogram", "telegram", "kivy",
    "rest_framework", "flask_sqlalchemy", "gradio", "nicegui", "quart", "falcon", "pygame",
    "customtkinter", "flask_login", "aiohttp.web", "wtforms", "litestar",
)  # fmt: skip
_ORCHESTRATORS = (
    "airflow", "dagster", "prefect", "luigi", "kfp", "metaflow", "mage_ai", "celery", "setpoint",
)  # fmt: skip


def setting_of(path: str, text: str, module: Module) -> str:
    """What kind of code a Python file is."""
    of_path = setting_of_path(path)
    if of_path == "test" or module.imported("pytest", "unittest"):
        return "test"
    if module.imported("alembic", "south") or (of_path == "schema" and "migrations" in path):
        return "schema"
    if module.imported(*_ORCHESTRATORS):
        return "pipeline"
    if module.imported("faker", "mimesis") or of_path == "sample":
        return "sample"
    if module.imported(*_APPLICATIONS):
        return "application"
    if of_path == "schema":
        return "schema"
    del text
    return "pipeline"


def setting_of_path(path: str) -> str:
    """What a path alone tells of a file."""
    pure = PurePosixPath(path)
    folders = {part.lower() for part in pure.parts[:-1]}
    name = pure.name
    if folders & _TEST_FOLDERS or _TEST_FILE.match(name):
        return "test"
    if folders & _SCHEMA_FOLDERS or _SCHEMA_FILE.match(name):
        return "schema"
    if _SAMPLE.search(path):
        return "sample"
    return "pipeline"
