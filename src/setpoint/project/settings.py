"""Reading setpoint.toml: every fault at once, each with its line."""

from __future__ import annotations

import difflib
import os
import re
import sys
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

from setpoint.errors import Fault, ProjectError
from setpoint.model.settings import (
    STATE_FOLDER,
    CatalogSettings,
    ConnectionSettings,
    Settings,
    SparkSettings,
)
from setpoint.model.target import DATABASES, FOLDERS, PATTERNS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "setpoint.toml"
SECTIONS: dict[str, dict[str, type]] = {
    "project": {"name": str, "pipelines": str, "development_date": str},
    "spark": {"master": str, "remote": str, "packages": list, "conf": dict},
    "ledger": {"url": str, "password": str, "lease_seconds": int},
}
CONNECTION: dict[str, type] = {"url": str, "password": str, "read_partitions": int}
CATALOG: dict[str, type] = {"type": str, "warehouse": str, "conf": dict}
WORDS: dict[type, str] = {str: "text", list: "a list", dict: "a table", int: "a whole number"}
ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
DATABASE_URL = re.compile(r"postgres(ql)?://", re.IGNORECASE)
URL_PASSWORD = re.compile(r"(?<=://)[^/@]*:[^@]+(?=@)|password=[^&]+", re.IGNORECASE)
PACKAGE = re.compile(r"[^:\s,]+:[^:\s,]+:[^:\s,]+\Z")
CATALOG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def find_root(start: Path) -> Path:
    """The folder with setpoint.toml: `start` or the nearest one above it."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder
    raise ProjectError(
        f"no {FILE} in {start} or above it", next_step="setpoint init NAME && cd NAME"
    )


def read_settings(root: Path) -> Settings:
    """The settings of the project in this folder."""
    path = root / FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
        raw = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        fault = Fault(path=Path(FILE), message=str(error), line=_line_of(error, path))
        raise ProjectError(f"{FILE} cannot be read", faults=[fault]) from None
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}") from None
    reading = _Reading(text=text, root=root)
    settings = reading.settings(raw)
    if reading.faults:
        raise ProjectError(f"{FILE} is wrong", faults=reading.faults)
    return settings


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _line_of(error: ValueError, path: Path) -> int | None:
    """The line that a parser complains about; the last one when it met the end too soon."""
    line = re.search(r"at line (\d+)", str(error))
    if line:
        return int(line[1])
    if "end of document" in str(error):
        return len(path.read_text(encoding="utf-8").splitlines())
    return None


def _with_password(url: str, password: str | None) -> str:
    if not password:
        return url
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}password={quote(password, safe='')}"


class _Reading:
    """One pass over the parsed file that gathers faults instead of stopping at the first."""

    def __init__(self, *, text: str, root: Path) -> None:
        self.lines = text.splitlines()
        self.root = root
        self.faults: list[Fault] = []

    def settings(self, raw: dict[str, Any]) -> Settings:
        self.unknown(raw, {*SECTIONS, "catalogs", "connections"}, "")
        sections = {name: self.section(raw, name, kinds) for name, kinds in SECTIONS.items()}
        project, spark = sections["project"], sections["spark"]
        if spark.get("master") and spark.get("remote"):
            self.fault("spark.remote", "spark has both master and remote", "keep one of them")
        day = project.get("development_date")
        if day is not None and not _is_date(day):
            self.fault("development_date", f"development_date {day!r} is not a date", "2026-04-25")
        pipelines = project.get("pipelines", "pipelines")
        if not (self.root / pipelines).is_relative_to(self.root):
            message = f"project.pipelines {pipelines!r} lies outside the project"
            self.fault("pipelines", message, 'pipelines = "pipelines"')
        packages = spark.get("packages", [])
        if not all(isinstance(name, str) and PACKAGE.match(name) for name in packages):
            message = f"spark.packages {packages!r} are not all packages"
            self.fault("packages", message, 'packages = ["group:artifact:version"]')
        ledger = sections["ledger"]
        self.secrets(raw.get("ledger"), "ledger")
        lease_seconds = ledger.get("lease_seconds", 60)
        if lease_seconds < 1:
            self.fault("lease_seconds", "ledger.lease_seconds must be 1 or more")
        return Settings(
            root=self.root,
            name=project.get("name", self.root.name),
            pipelines=self.root / pipelines,
            development_date=day,
            ledger_url=_with_password(
                ledger.get("url", f"sqlite:///{STATE_FOLDER}/ledger.db"), ledger.get("password")
            ),
            lease_seconds=lease_seconds,
            catalogs=self.catalogs(raw.get("catalogs", {"lake": {}})),
            connections=self.connections(raw.get("connections", {}), raw.get("catalogs", {})),
            spark=SparkSettings(
                master=spark.get("master"),
                remote=spark.get("remote"),
                packages=tuple(packages),
                conf=self.conf(spark.get("conf", {}), "spark.conf"),
            ),
        )

    def section(self, raw: dict[str, Any], name: str, kinds: dict[str, type]) -> dict[str, Any]:
        value = raw.get(name, {})
        if not isinstance(value, dict):
            self.fault(name, f"{name} must be a table", f"[{name}]")
            return {}
        self.unknown(value, set(kinds), name)
        return self.typed(value, kinds, name)

    def typed(self, value: dict[str, Any], kinds: dict[str, type], where: str) -> dict[str, Any]:
        kept = {}
        for key, kind in kinds.items():
            if key not in value:
                continue
            if not isinstance(value[key], kind):
                quotes = f'{key} = "{value[key]}"' if isinstance(value[key], date) else None
                self.fault(key, f"{where}.{key} must be {WORDS[kind]}, found {value[key]}", quotes)
            else:
                kept[key] = self.expanded(value[key], f"{where}.{key}")
        return kept

    def catalogs(self, raw: Any) -> dict[str, CatalogSettings]:
        if not isinstance(raw, dict):
            self.fault("catalogs", "catalogs must be a table", "[catalogs.lake]")
            return {}
        catalogs = {}
        for name, value in raw.items():
            where = f"catalogs.{name}"
            if not CATALOG_NAME.match(name):
                self.fault(name, f"{name!r} cannot be a catalog's name", "use letters and digits")
                continue
            if not isinstance(value, dict):
                self.fault(name, f"{where} must be a table", f"[{where}]")
                continue
            self.unknown(value, set(CATALOG), where)
            kept = self.typed(value, CATALOG, where)
            kind = kept.get("type", "iceberg")
            known = [name for name in PATTERNS if name not in DATABASES]
            if kind not in known:
                self.fault("type", f"{where}.type {kind!r} is not one of: {', '.join(known)}")
            if kind in FOLDERS:
                catalogs[name] = self.folder(name, kind, kept)
                continue
            conf = self.conf(kept.get("conf", {}), f"{where}.conf")
            served = bool({"type", "catalog-impl", "uri"} & set(conf))
            warehouse = None if served else self.root / kept.get("warehouse", "warehouse")
            if served and "warehouse" in kept:
                conf = {"warehouse": kept["warehouse"], **conf}
            catalogs[name] = CatalogSettings(name=name, type=kind, warehouse=warehouse, conf=conf)
        return catalogs

    def folder(self, name: str, kind: str, kept: dict[str, Any]) -> CatalogSettings:
        """A catalog that is nothing but a folder of tables."""
        given = kept.get("warehouse", kind)
        scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):(?://(?=/))?", given)
        if scheme and scheme[1].lower() != "file":
            self.fault(
                "warehouse",
                f"catalogs.{name}.warehouse {given!r} is not a folder of a file system",
                "tables of this type are set by Setpoint on local or mounted folders only",
            )
        if kept.get("conf"):
            self.fault("conf", f"catalogs.{name}: a {kind} catalog has no conf", "set spark.conf")
        path = given[scheme.end() :] if scheme else given
        return CatalogSettings(name=name, type=kind, warehouse=self.root / path)

    def connections(self, raw: Any, catalogs: Any) -> dict[str, ConnectionSettings]:
        if not isinstance(raw, dict):
            self.fault("connections", "connections must be a table", "[connections.mart]")
            return {}
        connections = {}
        for name, value in raw.items():
            where = f"connections.{name}"
            if not CATALOG_NAME.match(name) or name in (catalogs or {"lake": {}}):
                fix = "use letters and digits, and a name that no catalog has"
                self.fault(name, f"{name!r} cannot be a connection's name", fix)
                continue
            if not isinstance(value, dict):
                self.fault(name, f"{where} must be a table", f"[{where}]")
                continue
            self.unknown(value, set(CONNECTION), where)
            self.secrets(value, where)
            kept = self.typed(value, CONNECTION, where)
            url = kept.get("url", "")
            if not DATABASE_URL.match(url):
                fix = 'url = "postgresql://user@host/database"'
                self.fault(name, f"{where}.url is not the address of a Postgres database", fix)
            count = kept.get("read_partitions", 4)
            if count < 1:
                self.fault("read_partitions", f"{where}.read_partitions must be 1 or more")
            connections[name] = ConnectionSettings(
                name=name, url=url, password=kept.get("password"), read_partitions=count
            )
        return connections

    def secrets(self, raw: Any, where: str) -> None:
        """A password in the file itself would be in every copy of it and in its history."""
        if not isinstance(raw, dict):
            return
        fix = 'password = "${MART_PASSWORD}", with the password in the environment'
        found = URL_PASSWORD.search(str(raw.get("url", "")))
        if found and not ENVIRONMENT.search(found[0]):
            self.fault("url", f"{where}.url holds a password", fix)
        given = raw.get("password")
        if isinstance(given, str) and not ENVIRONMENT.fullmatch(given):
            self.fault("password", f"{where}.password is written out", fix)

    def conf(self, raw: dict[str, Any], where: str) -> dict[str, str]:
        conf: dict[str, str] = {}
        for key, value in raw.items():
            if isinstance(value, dict):  # an unquoted dotted key: spark.sql.shuffle.partitions
                conf |= {f"{key}.{k}": v for k, v in self.conf(value, f"{where}.{key}").items()}
            elif isinstance(value, (str, int, float, bool)):
                text = str(value).lower() if isinstance(value, bool) else str(value)
                conf[key] = self.expanded(text, f"{where}.{key}")
            else:
                self.fault(key, f"{where}.{key} must be text, found {value!r}")
        return conf

    def expanded(self, value: Any, where: str) -> Any:
        """Text with `${NAME}` taken from the environment, which is where secrets live."""
        if not isinstance(value, str):
            return value

        def lookup(match: re.Match[str]) -> str:
            found = os.environ.get(match[1])
            if found is None:
                self.fault(where.rpartition(".")[2], f"{where} needs ${match[1]}, which is not set")
            return found or ""

        return ENVIRONMENT.sub(lookup, value)

    def unknown(self, value: dict[str, Any], known: set[str], where: str) -> None:
        for key in sorted(set(value) - known):
            near = difflib.get_close_matches(key, known, n=1)
            place = f"{where}.{key}" if where else f"[{key}]"
            fix = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
            self.fault(key, f"{place} is not a setting", fix)

    def fault(self, key: str, message: str, fix: str | None = None) -> None:
        pattern = re.compile(rf"^\s*(\[.*\b)?{re.escape(key)}\b")
        line = next((n for n, text in enumerate(self.lines, 1) if pattern.match(text)), None)
        self.faults.append(Fault(path=Path(FILE), line=line, message=message, fix=fix))
