"""The one place where Postgres's errors become Setpoint's. Pure: a code and a text in."""

from __future__ import annotations

import re

from setpoint.errors import (
    CommitConflict,
    EngineFailed,
    GateFailed,
    ResultMisshapen,
    RunError,
    StorageFull,
    Transient,
)

LOST = ("08", "57P")
BUSY = ("40001", "40P01", "55P03", "53300", "25P03", "25P04")
LOST_WORDS = (
    "connection to server",
    "server closed the connection",
    "terminating connection",
    "the connection is lost",
    "connection refused",
    "could not receive data",
    "no connection to the server",
    "ssl syscall error",
    "the connection is closed",
    "the database system is",
)
REFUSED_WORDS = ("authentication failed", "no pg_hba.conf entry", "no password supplied")
MARK = "setpoint-postgres"
STAGING = "setpoint_staging"
MARKED = re.compile(MARK + r" \[(\w{5}|None)\] (.*?)(?:\n\s*\n|\Z)", re.DOTALL)
CODE_IN_TEXT = re.compile(r"SQLSTATE: (\w{5})")
AGAIN = "run the same command again"


def translate(state: str | None, text: str, *, place: str) -> RunError:  # noqa: C901, PLR0911
    """The error in Setpoint's words, by its SQLSTATE where there is one."""
    if state is None and (told := CODE_IN_TEXT.search(text)):
        state = told[1]
    words = first_lines(text)
    low = text.lower()
    if any(mark in low for mark in REFUSED_WORDS) or (state or "").startswith("28"):
        return EngineFailed(
            f"Postgres ({place}) lets nobody in with this user and password: {words}",
            next_step=f"check connections.{place} in setpoint.toml and the environment",
        )
    if state is None and any(mark in low for mark in LOST_WORDS):
        return _lost(place, words)
    code = state or ""
    if code.startswith(LOST) and code != "08P01":
        return _lost(place, words)
    if code in BUSY:
        return CommitConflict(
            f"Postgres ({place}) was busy with the same rows; nothing was committed: {words}",
            next_step=AGAIN,
        )
    if code in ("", "42P01") and STAGING in text and "does not exist" in text:
        return CommitConflict(
            "a newer attempt has taken this scope over and dropped what was staged; "
            "nothing was committed",
            next_step="setpoint status shows it",
        )
    if code == "53100":
        return StorageFull(
            f"Postgres ({place}) has no space left; nothing was committed",
            next_step=f"free some space, then {AGAIN}",
        )
    if code == "23505":
        return _key_taken(text)
    if code.startswith(("22", "23")):
        return ResultMisshapen(
            f"Postgres ({place}) refused the rows; nothing was written: {words}",
            next_step="cast or correct the column in the task",
        )
    if code == "42501":
        return EngineFailed(
            f"Postgres ({place}) does not allow it: {words}",
            next_step="grant the right; Setpoint keeps the schemas setpoint and setpoint_staging",
        )
    return EngineFailed(
        f"Postgres ({place}) failed: {words}", next_step=f"correct it, then {AGAIN}"
    )


def translate_marked(text: str, *, place: str) -> RunError | None:
    """The error of a worker, which reaches the driver as a text; None when it is not one."""
    found = MARKED.search(text)
    if found is None:
        return None
    return translate(None if found[1] == "None" else found[1], found[2].strip(), place=place)


def first_lines(text: str) -> str:
    """What the server said, in one line, without the driver's own words."""
    found = re.search(r"(?:ERROR|FATAL|PANIC):\s*(.*)", text, re.DOTALL)
    text = found[1] if found else text
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("LINE ", "^", "CONTEXT:", ". SQLSTATE"))]
    return " ".join(kept[:2])[:300]


def _lost(place: str, words: str) -> Transient:
    return Transient(f"the connection to Postgres ({place}) was lost: {words}", next_step=AGAIN)


def _key_taken(text: str) -> GateFailed:
    key = re.search(r"Key \((.*?)\)=\((.*?)\)", text)
    return GateFailed(
        "a key is in the table already, outside the rows that this run owns; nothing was written",
        gate="unique",
        expected=f"one row for each {key[1]}" if key else "one row for each key",
        found="a key that repeats",
        samples=[f"{key[1]}={key[2]}"] if key else [],
        next_step="run the window that holds the key first, or add the window's column to the key",
    )
