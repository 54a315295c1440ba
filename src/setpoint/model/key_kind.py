"""What kind of key a task has, and whether it can be trusted to stay the same."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# What stands for something, rather than being it: `email_id`, `name_hash`, `CityCode`.
STANDING = frozenset({"id", "key", "sk", "uuid", "guid", "hash", "code", "no", "nr", "number"})
SURROGATE = STANDING - {"code", "no", "nr", "number"}
MUTABLE = frozenset(
    {"email", "mail", "phone", "telephone", "mobile", "fax", "address", "street", "city", "zip"}
    | {"zipcode", "postcode", "name", "firstname", "lastname", "surname", "fullname", "nickname"}
    | {"username", "displayname", "login", "handle", "title", "status", "url"}
)


class KeyKind(str, Enum):
    """The kinds of key."""

    NATURAL = "natural"
    SURROGATE = "surrogate"
    COMPOSITE = "composite"


def key_kind(columns: Sequence[str]) -> KeyKind | None:
    """The kind of a key, by the names of its columns; None when there is no key."""
    if not columns:
        return None
    if len(columns) > 1:
        return KeyKind.COMPOSITE
    return KeyKind.SURROGATE if _last_word(columns[0]) in SURROGATE else KeyKind.NATURAL


def mutable_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of a key whose value people change: an e-mail address, a name."""
    return tuple(name for name in columns if _mutable(name))


def key_warning(columns: Sequence[str]) -> str | None:
    """What there is to say against a key, in one line."""
    mutable = mutable_columns(columns)
    if not mutable:
        return None
    named = " and ".join(mutable)
    return (
        f"the key has {named}, which can change: a changed one is a new row, and the old one "
        "stays; use an id that never changes, or surrogate_key(…) of columns that do not"
    )


def _mutable(name: str) -> bool:
    return _last_word(name) not in STANDING and any(word in MUTABLE for word in _words(name))


def _last_word(name: str) -> str:
    return next(reversed(_words(name)), "")


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORDS.findall(name)]
