"""How a value that is pasted into a SQL text, or bound to it, is written before parsing."""

from __future__ import annotations

import re

HOLE = re.compile(r"__h(\d+)__(?:_*(?=__h\d)|_*)", re.IGNORECASE)
"""A name like `__h12__`, padded with underscores to the length of what stood there."""
