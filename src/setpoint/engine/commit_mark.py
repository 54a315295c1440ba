"""What a commit says about itself, and which commits came too late. Pure: no table is asked here.

An attempt that was paused may wake after another one took its scope over. Its commit is refused
where the two wrote the same rows. Where the newer one had nothing to write over nothing, there is
nothing to collide with, and the old commit goes through: late. The table's own history shows it,
without any clock: the commit began before a newer fence's commit, and follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setpoint.model.window import Window

WHOLE = "*"


@dataclass(frozen=True, kw_only=True)
class CommitMark:
    """One commit of Setpoint in a table's history."""

    place: int
    """Where it stands; a later commit has a higher one."""
    base: int
    """Where the commit stands that its attempt started from; -1 when that is not kept."""
    run_id: str
    fence: int
    scope: str
    at: datetime
    snapshot: str
    inputs: Mapping[str, str] = field(default_factory=dict)

    def overlaps(self, other: CommitMark) -> bool:
        """Whether the two set rows in common."""
        if WHOLE in (self.scope, other.scope):
            return True
        start, end = edges(self.scope)
        begun, ended = edges(other.scope)
        return start < ended and begun < end

    def covers(self, other: CommitMark) -> bool:
        """Whether nothing of the other is left."""
        if WHOLE in (self.scope, other.scope):
            return self.scope == WHOLE
        start, end = edges(self.scope)
        begun, ended = edges(other.scope)
        return start <= begun and ended <= end


@dataclass(frozen=True, kw_only=True)
class LateCommit:
    """A commit over a newer one that it should have been refused for."""

    commit: CommitMark
    over: CommitMark

    @property
    def words(self) -> str:
        """What happened, when, and by which runs."""
        late, newer = self.commit, self.over
        return (
            f"run {late.run_id} (fence {late.fence}) committed late, at "
            f"{late.at.isoformat(timespec='seconds').replace('+00:00', 'Z')}, over run "
            f"{newer.run_id} (fence {newer.fence}), which had taken {scope_words(late.scope)} over"
        )


def late_commits(marks: Sequence[CommitMark]) -> list[LateCommit]:
    """The late commits whose rows still stand: no commit since has set their scope again."""
    ordered = sorted(marks, key=lambda mark: mark.place)
    late = {mark.place: over for mark in ordered if (over := _overtaken(mark, ordered))}
    return [
        LateCommit(commit=mark, over=late[mark.place])
        for mark in ordered
        if mark.place in late and not any(_repairs(other, mark, late) for other in ordered)
    ]


def adoptable(mark: CommitMark, marks: Sequence[CommitMark]) -> bool:
    """Whether a commit's rows are those that stand: it is not late, and no late one is over it."""
    return not any(late.commit.overlaps(mark) for late in late_commits(marks))


def scope_name(window: Window | None) -> str:
    """The name under which a commit keeps its scope."""
    return WHOLE if window is None else f"{window.start.isoformat()}/{window.end.isoformat()}"


def edges(scope: str) -> tuple[datetime, datetime]:
    """The window of a scope's name."""
    start, _, end = scope.partition("/")
    return datetime.fromisoformat(start), datetime.fromisoformat(end)


def scope_words(scope: str) -> str:
    """The scope for a person."""
    return "the whole table" if scope == WHOLE else "the window " + scope.replace("+00:00", "Z")


def _overtaken(mark: CommitMark, marks: Sequence[CommitMark]) -> CommitMark | None:
    """The newest fence's commit that came after this one began and before it was done."""
    over = [
        other
        for other in marks
        if mark.base < other.place < mark.place
        and other.fence > mark.fence
        and other.overlaps(mark)
    ]
    return max(over, key=lambda other: other.fence, default=None)


def _repairs(other: CommitMark, mark: CommitMark, late: Mapping[int, CommitMark]) -> bool:
    return other.place > mark.place and other.place not in late and other.covers(mark)
