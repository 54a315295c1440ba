"""An effect: something done to the outside world, once for a task, window and business id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from setpoint.model.key import surrogate_key_of
from setpoint.model.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setpoint.model.encoding import KeyValue
    from setpoint.model.window import Window

Kind = Literal["email", "slack", "http", "publish", "call"]
Resend = Literal["never", "on_change"]
# `usual` sends, and leaves skipped what was skipped; `send` sends that too.
Policy = Literal["usual", "send", "skip", "record"]

# Where a message goes and how; all else is what it says. A server that moved is no new message.
SETTINGS = frozenset(
    {"server", "tls", "username", "password", "sender", "headers", "allow", "key_header", "config"}
)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How hard to try: each attempt's time, the pace, and what to do after a fault."""

    timeout: float = 30.0
    """Seconds that one attempt may take, all in all."""
    rate: float | None = None
    """The most attempts a second; None for as many as the receiver takes."""
    concurrency: int = 1
    retries: int = 5
    backoff: Backoff = field(default_factory=Backoff)

    def document(self) -> dict[str, float | int | None]:
        """The terms as they are kept with a delivery."""
        wait = self.backoff
        return {
            "timeout": self.timeout,
            "rate": self.rate,
            "concurrency": self.concurrency,
            "retries": self.retries,
            "first": wait.first,
            "factor": wait.factor,
            "longest": wait.longest,
            "jitter": wait.jitter,
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Terms:
        """The terms that `document` wrote."""
        kept = {name: float(document[name]) for name in ("first", "factor", "longest", "jitter")}
        rate = document["rate"]
        return cls(
            timeout=float(document["timeout"]),
            rate=None if rate is None else float(rate),
            concurrency=int(document["concurrency"]),
            retries=int(document["retries"]),
            backoff=Backoff(**kept),
        )


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What is sent, to whom, for which rows of the committed result."""

    name: str
    kind: Kind
    template: Mapping[str, Any]
    """What each message says and where it goes, with `{column}` for values of the result."""
    function: Callable[..., Any] | None = field(default=None, compare=False)
    """What `call` calls, or the producer that `publish` hands its messages to."""
    each: tuple[str, ...] = ()
    """The columns of the business id: one message for each row. Empty: one for the window."""
    summary: Mapping[str, str] = field(default_factory=dict)
    """Aggregates in SQL over the committed rows, by name: one message for the window."""
    where: str | None = None
    limit: int = 10_000
    """The most rows that one window may hand to the effect."""
    honours_key: bool = False
    """Whether the receiver drops a message whose key it has seen."""
    resend: Resend = "never"
    terms: Terms = field(default_factory=Terms)

    @property
    def words(self) -> str:
        """The effect in a line for a person."""
        what = f"each {', '.join(self.each)}" if self.each else "each window"
        twice = (
            "the receiver drops repeats by key"
            if self.honours_key
            else "held for a person when it is unknown whether it arrived"
        )
        return f"{self.name}: {self.kind}, once for {what}; {twice}"


def effect_key(
    task: str, window: Window | None, effect: str, business_id: tuple[KeyValue, ...] = ()
) -> str:
    """The key of one delivery: the same whenever, wherever and however often it is asked for."""
    return surrogate_key_of(task, window.key if window else None, effect, *business_id)
