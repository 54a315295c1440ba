"""Names that a file imports from another file of the audited folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from setpoint.auditing import naming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.auditing.facts import FileFacts, Unit, Write

_HELD = re.compile(r"\{([\w.]+)\}")


@dataclass(frozen=True, kw_only=True)
class Modules:
    """The Python files of the audited folder, by every name that an import may call them."""

    files: Mapping[str, Sequence[FileFacts]] = field(default_factory=dict)

    def named(self, dotted: str, path: str) -> FileFacts | None:
        """The module that a file at `path` means; of several the one that lies nearest."""
        found = self.files.get(dotted.strip("."), ())
        if len(found) < 2:  # noqa: PLR2004 - nothing to choose from
            return found[0] if found else None
        near = sorted(found, key=lambda one: _shared(one.path, path), reverse=True)
        first, second = (_shared(one.path, path) for one in near[:2])
        return near[0] if first > second else None

    def holds(self, dotted: str, path: str) -> bool:
        """Whether a function of this dotted name is defined in the audited folder."""
        parts = dotted.strip(".").split(".")
        return any(
            ".".join(parts[:length]) in self.files for length in range(1, len(parts) + 1)
        ) and path not in {one.path for one in self.files.get(".".join(parts[:-1]), ())}

    def constant(self, name: str, target: str, path: str) -> str | None:
        """The text behind a name such as `target` or `settings.target`."""
        whole = target + name[name.index(".") :] if "." in name else target
        module, _, constant = whole.rpartition(".")
        file = self.named(module, path)
        if file is None:
            return None
        return next(
            (text for known, text in file.constants if known.lower() == constant.lower()), None
        )


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(PurePosixPath(one).parent.parts, PurePosixPath(other).parent.parts, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def modules_of(files: Sequence[FileFacts]) -> Modules:
    """Every Python file under its dotted name and the ends of it."""
    found: dict[str, list[FileFacts]] = {}
    for file in files:
        pure = PurePosixPath(file.path)
        if pure.suffix != ".py":
            continue
        parts = pure.parent.parts if pure.stem == "__init__" else (*pure.parent.parts, pure.stem)
        for start in range(len(parts)):
            found.setdefault(".".join(parts[start:]), []).append(file)
    return Modules(files=found)


def with_imported_names(files: Sequence[FileFacts], modules: Modules) -> list[FileFacts]:
    """The files, their tables called by what imported constants say."""
    return [_named(file, modules) if file.imports else file for file in files]


def _named(file: FileFacts, modules: Modules) -> FileFacts:
    known = dict(file.imports)

    def filled(match: re.Match[str]) -> str:
        name = match.group(1)
        target = known.get(name.split(".")[0])
        text = modules.constant(name, target, file.path) if target else None
        return text.lower() if text is not None else match.group(0)

    def write(one: Write) -> Write:
        table = _HELD.sub(filled, one.table)
        if table == one.table:
            return one
        temporary = one.temporary or naming.is_temporary_table(table)
        return replace(one, table=table, temporary=temporary)

    def unit(one: Unit) -> Unit:
        return replace(
            one,
            writes=tuple(write(each) for each in one.writes),
            draws=tuple(replace(each, table=_HELD.sub(filled, each.table)) for each in one.draws),
            reads=tuple(_HELD.sub(filled, each) for each in one.reads),
        )

    return replace(file, units=tuple(unit(one) for one in file.units))
