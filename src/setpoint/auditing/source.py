"""A source file as text, and back to the same bytes."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass


class NotText(ValueError):
    """The bytes are no text in any encoding that pipelines are written in."""


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """The text of a file; line ends are kept, so that offsets stay true to the file."""

    text: str
    encoding: str

    def encode(self, text: str) -> bytes:
        """Another text in this file's encoding, its byte order mark included."""
        return text.encode(self.encoding)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(content: bytes, *, python: bool = False) -> Decoded:
    """The text of a file, by its byte order mark, as UTF-8, or as the old Windows encoding."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return Decoded(text=_strict(content, encoding), encoding=encoding)
    if b"\0" in content:
        raise NotText("holds zero bytes: not a text file")
    try:
        return Decoded(text=content.decode("utf-8"), encoding="utf-8")
    except UnicodeDecodeError:
        encoding = (_declared(content) if python else None) or "cp1252"
    try:
        return Decoded(text=content.decode(encoding), encoding=encoding)
    except (UnicodeDecodeError, LookupError):
        # Every byte is a character of Latin-1: comments may look odd, code does not.
        return Decoded(text=content.decode("latin-1"), encoding="latin-1")


def _strict(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText(f"is marked as {encoding} but is not") from error


def _declared(content: bytes) -> str | None:
    """The encoding that a Python file declares in its first two lines."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError:
        return None
    return encoding
