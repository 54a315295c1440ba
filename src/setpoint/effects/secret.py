"""Secrets: taken from the environment when a message is sent, and out of every text after it."""

from __future__ import annotations

import os
import re

from setpoint.errors import EffectRefused
from setpoint.model.receiver import ENVIRONMENT

SHORTEST = 4
LOOKS_SECRET = re.compile(r"pass|token|secret|key|auth|credential|webhook", re.IGNORECASE)
LONGEST_ERROR = 300


def expanded(text: str, *, what: str) -> str:
    """The text with each `${NAME}` taken from the environment."""

    def lookup(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise EffectRefused(
                f"{what} needs ${match[1]}, which is not set",
                next_step=f"export {match[1]}=…, then: setpoint effects send --failed",
            )
        return found

    return ENVIRONMENT.sub(lookup, text)


def scrubbed(text: str, *templates: object) -> str:
    """The text in one line, with every value that a template or a telling name stands for hidden.

    A receiver may well answer with the token that it was sent.
    """
    named = {name for template in templates for name in ENVIRONMENT.findall(str(template))}
    named |= {name for name in os.environ if LOOKS_SECRET.search(name)}
    values = {os.environ[name]: name for name in named if len(os.environ.get(name, "")) >= SHORTEST}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "${" + values[value] + "}")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_ERROR else line[: LONGEST_ERROR - 1] + "…"
