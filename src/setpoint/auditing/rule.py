"""A rule: what it finds, why that matters, how it is fixed and when to let it be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.auditing.finding import Severity


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The words of one rule. Its docs page is generated from them."""

    id: str
    name: str
    """Kebab case, for SARIF and the docs page's file name: `unguarded-append`."""
    severity: Severity
    what: str
    why: str
    before: str
    """A short broken example, with its language as the first line: `sql` or `python`."""
    after: str
    ignore_when: str
