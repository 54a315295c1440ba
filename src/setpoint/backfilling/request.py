"""What a person asks of a backfill, as data that is kept with it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.ledger.record import Detail

Reprocess = Literal["none", "failed", "completed"]
Only = Literal["missing", "failed", "stale"]
Effects = Literal["send", "skip", "record"]
# How it is done, and who asks why: another one of these is still the same request.
MANNER = ("max_active_runs", "pool", "batch_size", "effects", "tags", "requested_by", "reason")


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which windows of which tasks, in what order, how many at once, and who asks for it."""

    tasks: tuple[str, ...]
    start: str
    end: str
    with_upstream: bool = False
    with_downstream: bool = False
    backwards: bool = False
    max_active_runs: int | None = None
    pool: str | None = None
    batch_size: int | None = None
    reprocess: Reprocess | None = None
    """Which windows are run: those never run, also those that failed, or all. Default failed."""
    only: tuple[Only, ...] = ()
    """Run just these kinds of windows."""
    shadow: bool = False
    effects: Effects = "skip"
    """What becomes of the messages of the windows: by default nobody is told of old days again."""
    tags: Mapping[str, str] = field(default_factory=dict)
    requested_by: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if not self.tasks:
            raise UsageError(
                "no task is named", next_step="setpoint backfill TASK --start … --end …"
            )
        if self.reprocess is not None and self.reprocess not in get_args(Reprocess):
            raise UsageError(
                f"--reprocess-behavior {self.reprocess!r} is not one of: none, failed, completed"
            )
        if self.effects not in get_args(Effects):
            raise UsageError(f"--effects {self.effects!r} is not one of: send, skip, record")
        unknown = [each for each in self.only if each not in get_args(Only)]
        if unknown:
            raise UsageError(f"{unknown[0]!r} is not one of: missing, failed, stale")
        if self.only and self.reprocess is not None:
            raise UsageError(
                "--reprocess-behavior and --missing/--failed/--stale exclude each other",
                next_step="give one of them",
            )
        if self.shadow and (self.only or self.reprocess in ("none", "failed")):
            raise UsageError(
                "--shadow writes the whole range aside, so that it can be published in one commit",
                next_step="leave --missing, --failed, --stale and --reprocess-behavior out",
            )
        if self.shadow and self.effects != "skip":
            raise UsageError(
                "--shadow tells nobody outside of rows that no reader sees yet",
                next_step="leave --effects out",
            )
        for name, count in (
            ("--max-active-runs", self.max_active_runs),
            ("--batch-size", self.batch_size),
        ):
            if count is not None and count < 1:
                raise UsageError(f"{name} must be 1 or more, found {count}")

    @property
    def key(self) -> str:
        """The same for the same request; how fast it goes, and who asks why, does not count."""
        asked = self.document()
        for name in MANNER:
            asked.pop(name)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]

    def document(self) -> dict[str, Any]:
        """As kept in the ledger."""
        found = asdict(self)
        return {**found, "tasks": sorted(self.tasks), "only": sorted(self.only)}

    @classmethod
    def of_document(cls, document: Detail) -> Request:
        """Read back what `document` wrote."""
        known = {each.name for each in fields(cls)}
        given: dict[str, Any] = {name: v for name, v in document.items() if name in known}
        return cls(**given | {"tasks": tuple(given["tasks"]), "only": tuple(given["only"])})


def parse_tags(given: tuple[str, ...]) -> dict[str, str]:
    """Tags as people write them, `key=value`."""
    tags = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--tag {text!r} is not key=value", next_step="--tag quarter=2026Q1")
        tags[key.strip()] = value.strip()
    return tags
