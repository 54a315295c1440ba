from __future__ import annotations

import pytest

from setpoint.auditing.source import NotText, decode


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"SELECT 'caf\xc3\xa9'\r\n", "SELECT 'café'\r\n"),
        (b"\xef\xbb\xbfSELECT 1", "SELECT 1"),
        ("SELECT 1".encode("utf-16"), "SELECT 1"),
        (b"SELECT 'caf\xe9'", "SELECT 'café'"),
        (b"SELECT '\x81'", "SELECT '\x81'"),
    ],
)
def test_text_comes_back_in_the_bytes_that_it_came_from(content: bytes, text: str) -> None:
    """Byte order marks, old encodings and line ends survive a round trip."""
    decoded = decode(content)
    assert decoded.text == text
    assert decoded.encode(decoded.text) == content


def test_python_may_declare_its_encoding() -> None:
    """The coding line of a Python file is obeyed."""
    assert decode("# coding: koi8-r\nx = 'да'".encode("koi8-r"), python=True).text.endswith("'да'")


def test_bytes_that_are_no_text_are_refused() -> None:
    """Zero bytes and broken marks have a reason of their own."""
    with pytest.raises(NotText):
        decode(b"SQLite format 3\0")
    with pytest.raises(NotText):
        decode(b"\xef\xbb\xbf\xff")
