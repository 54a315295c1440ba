"""Effects in a transform's own code: nothing keeps them from happening once an attempt."""

from __future__ import annotations

import types
from typing import Any

# Libraries that reach outside → the words by which they act there. Reading is no effect.
ACTS: dict[str, frozenset[str]] = {
    "smtplib": frozenset({"sendmail", "send_message"}),
    "requests": frozenset({"post", "put", "patch", "delete"}),
    "httpx": frozenset({"post", "put", "patch", "delete"}),
    "slack_sdk": frozenset({"chat_postMessage", "send"}),
    "confluent_kafka": frozenset({"produce"}),
    "kafka": frozenset({"send"}),
    "boto3": frozenset({"send_email", "send_message", "publish", "put_record", "put_records"}),
}


def unguarded_effects(function: Any) -> list[str]:
    """The acts outside that a function, or one of its own module that it calls, names."""
    return sorted(_acts(function, set()))


def _acts(function: Any, seen: set[int]) -> set[str]:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return set()
    seen.add(id(function))
    words = _names(function.__code__)
    found: set[str] = set()
    for word in words:
        value = function.__globals__.get(word)
        library = word
        if isinstance(value, types.ModuleType):
            library = value.__name__
        elif value is not None:
            library = getattr(value, "__module__", None) or ""
        root = library.partition(".")[0]
        found |= {f"{root}.{act}" for act in ACTS.get(root, frozenset()) & words}
        if getattr(value, "__module__", None) == function.__module__:
            found |= _acts(value, seen)
    return found


def _names(code: types.CodeType) -> frozenset[str]:
    """Every name that the code, and the functions inside it, mention."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return frozenset(code.co_names).union(*(_names(each) for each in inner))
