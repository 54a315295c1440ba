"""What the whole repository says before any file is read: dbt projects, macros, dialects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing.sql.dialects import known_dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MACRO = re.compile(r"\{%-?\s*macro\s+(\w+)\s*\((.*?)\)\s*-?%\}(.*?)\{%-?\s*endmacro", re.DOTALL)
_CLOCK_IN_MACRO = re.compile(
    r"\bcurrent_date\b|\bcurrent_timestamp\b|\bgetdate\s*\(|\bnow\(\)|\bsysdate\b|run_started_at"
    r"|datetime\.now",
    re.IGNORECASE,
)
_RANDOM_IN_MACRO = re.compile(
    r"\b(?:rand|random)\(\)|\buuid_string\(|\bgenerate_uuid\(", re.IGNORECASE
)
_ADAPTER = re.compile(r"^\s*type\s*:\s*['\"]?(\w+)", re.MULTILINE)
_SQLFLUFF = re.compile(r"^\s*dialect\s*=\s*['\"]?(\w+)", re.MULTILINE)
_MODEL_SETTINGS = re.compile(r"materialized|unique_key|incremental_strategy|\+?enabled\s*:")
_CONTEXT_NAMES = frozenset(
    {
        "dbt_project.yml",
        "dbt_project.yaml",
        "profiles.yml",
        "profiles.yaml",
        ".sqlfluff",
        "packages.yml",
        "setup.cfg",
        "tox.ini",
    }
)
_ADAPTER_PACKAGE = re.compile(
    r"\bdbt[-_](snowflake|bigquery|postgres|redshift|databricks|spark|duckdb|trino|athena"
    r"|sqlserver|synapse|clickhouse|mysql|fabric)\b"
)


@dataclass(frozen=True, kw_only=True)
class DbtProject:
    """One `dbt_project.yml` and the folder that it rules."""

    root: str
    """Relative to the audited root, without a trailing slash; empty for the root itself."""
    name: str = ""
    models: tuple[str, ...] = ("models",)
    macros: tuple[str, ...] = ("macros",)
    snapshots: tuple[str, ...] = ("snapshots",)
    configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Settings by folder below the project, `/`-joined; the longest match wins key by key."""
    adapter: str = ""


@dataclass(frozen=True, kw_only=True)
class ProjectContext:
    """Facts that reading one file may need from others."""

    dialect: str = ""
    projects: tuple[DbtProject, ...] = ()
    model_configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Settings from properties files, by model name."""
    macros: Mapping[str, str] = field(default_factory=dict)
    """Macros that hide a clock or a random value."""
    paths: frozenset[str] = frozenset()

    def project_of(self, path: str) -> DbtProject | None:
        """The innermost dbt project that holds the file."""
        inside = [one for one in self.projects if not one.root or path.startswith(f"{one.root}/")]
        return max(inside, key=lambda one: len(one.root), default=None)


def wants_text(path: str) -> bool:
    """Whether `build_context` should be given the text of this file."""
    pure = PurePosixPath(path)
    if pure.name in _CONTEXT_NAMES or pure.name.startswith("requirements"):
        return True
    if pure.suffix in {".yml", ".yaml"}:
        return any(part in {"models", "snapshots"} for part in pure.parts)
    return pure.suffix == ".sql" and "macros" in pure.parts


def build_context(
    texts: Mapping[str, str], *, paths: Iterable[str] = (), dialect: str | None = None
) -> ProjectContext:
    """The context of a repository, from the texts of its small configuration files.

    Pass every file for which `wants_text` is true. Pure: nothing is opened or run.
    """
    adapter = _adapter(texts)
    projects = tuple(
        project
        for path, text in sorted(texts.items())
        if PurePosixPath(path).stem == "dbt_project"
        and (project := _project(path, text, adapter)) is not None
    )
    configs: dict[str, Mapping[str, object]] = {}
    macros: dict[str, str] = {}
    for path, text in sorted(texts.items()):
        if path.endswith((".yml", ".yaml")) and _MODEL_SETTINGS.search(text):
            configs.update(_properties(text))
        elif path.endswith(".sql"):
            macros.update(_macros(text))
    hint = known_dialect(dialect) if dialect else None
    return ProjectContext(
        dialect=hint if hint is not None else _hint(texts, adapter),
        projects=projects,
        model_configs=configs,
        macros=macros,
        paths=frozenset(paths),
    )


def _load_yaml(text: str) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe ones
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _adapter(texts: Mapping[str, str]) -> str:
    for path, text in sorted(texts.items()):
        if PurePosixPath(path).stem == "profiles":
            found = _ADAPTER.search(text)
            if found is not None:
                return found.group(1).lower()
    for path, text in sorted(texts.items()):
        if PurePosixPath(path).name.startswith("requirements"):
            package = _ADAPTER_PACKAGE.search(text)
            if package is not None:
                return package.group(1).lower()
    return ""


def _hint(texts: Mapping[str, str], adapter: str) -> str:
    for path, text in sorted(texts.items()):
        if PurePosixPath(path).name in {".sqlfluff", "setup.cfg", "tox.ini"}:
            found = _SQLFLUFF.search(text)
            if found is not None:
                return known_dialect(found.group(1)) or ""
    return known_dialect(adapter) or "" if adapter else ""


def _names(value: object, default: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value.strip("/"),)
    if isinstance(value, list) and value:
        return tuple(str(one).strip("/") for one in value)
    return default


def _project(path: str, text: str, adapter: str) -> DbtProject | None:
    data = _load_yaml(text)
    if not isinstance(data, dict):
        return DbtProject(root=_folder(path), adapter=adapter)
    name = str(data.get("name") or "")
    configs: dict[str, Mapping[str, object]] = {}
    models = data.get("models")
    if isinstance(models, dict):
        inner = models.get(name)
        _walk_configs({key: value for key, value in models.items() if key != name}, "", configs)
        if isinstance(inner, dict):
            _walk_configs(inner, "", configs)
    return DbtProject(
        root=_folder(path),
        name=name,
        models=_names(data.get("model-paths") or data.get("source-paths"), ("models",)),
        macros=_names(data.get("macro-paths"), ("macros",)),
        snapshots=_names(data.get("snapshot-paths"), ("snapshots",)),
        configs=configs,
        adapter=adapter,
    )


def _folder(path: str) -> str:
    parent = str(PurePosixPath(path).parent)
    return "" if parent == "." else parent


_SETTINGS = frozenset(
    {"materialized", "unique_key", "incremental_strategy", "partition_by", "enabled", "pre_hook"}
)
_DEEPEST = 12


def _walk_configs(
    node: Mapping[object, object],
    folder: str,
    found: dict[str, Mapping[str, object]],
    depth: int = 0,
) -> None:
    if depth > _DEEPEST:
        return
    own = dict(found.get(folder, {}))
    for raw, value in node.items():
        key = str(raw).lstrip("+").replace("-", "_")
        if key in _SETTINGS:
            own[key] = value
        elif isinstance(value, dict) and not str(raw).startswith("+"):
            below = f"{folder}/{raw}" if folder else str(raw)
            _walk_configs(value, below, found, depth + 1)
    if own:
        found[folder] = own


def _properties(text: str) -> dict[str, Mapping[str, object]]:
    data = _load_yaml(text)
    found: dict[str, Mapping[str, object]] = {}
    if not isinstance(data, dict):
        return found
    for section in ("models", "snapshots"):
        entries = data.get(section)
        for entry in entries if isinstance(entries, list) else ():
            config = entry.get("config") if isinstance(entry, dict) else None
            if isinstance(config, dict) and entry.get("name"):
                found[str(entry["name"]).lower()] = config
    return found


def _macros(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _MACRO.finditer(text):
        name, _, body = match.groups()
        if _CLOCK_IN_MACRO.search(body):
            found[name] = "clock"
        elif _RANDOM_IN_MACRO.search(body):
            found[name] = "random"
    return found


def settings_of(context: ProjectContext, path: str, name: str) -> dict[str, object]:
    """The dbt settings of a model from project and properties files, nearest last."""
    settings: dict[str, object] = {}
    project = context.project_of(path)
    if project is not None:
        inside = path[len(project.root) + 1 :] if project.root else path
        for folder in project.models:
            if inside.startswith(f"{folder}/"):
                inside = inside[len(folder) + 1 :]
                break
        parts = inside.removesuffix(".sql").split("/")
        for depth in range(len(parts) + 1):
            settings.update(project.configs.get("/".join(parts[:depth]), {}))
    for key, value in context.model_configs.get(name.lower(), {}).items():
        settings[str(key).replace("-", "_")] = value
    return settings
