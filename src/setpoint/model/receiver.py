"""Who is told: `email`, `slack`, `webhook`, `http`, `publish` and `call` declare an effect each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.errors import UsageError
from setpoint.model.effect import Effect, Kind, Resend, Terms
from setpoint.model.retry import Backoff

ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*\Z")
HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
SECRET_HEADER = re.compile(r"auth|token|secret|key|cookie|password|signature", re.IGNORECASE)
METHODS = ("POST", "PUT", "PATCH", "DELETE")
ALLOWED = ("private", "http", "redirects")
TLS = ("starttls", "implicit", "none")

Text = str | Callable[..., str]


def email(
    name: str,
    *,
    server: str,
    sender: str,
    to: str | Sequence[str] | Callable[..., Any],
    subject: Text,
    text: Text,
    tls: str = "starttls",
    username: str | None = None,
    password: str | None = None,
    **options: Any,
) -> Effect:
    """An e-mail, its Message-ID made of the key. Mail servers drop no repeats: unknown is held.

    Args:
        name: The effect's name, part of its key.
        server: `host:port` of the mail server; `${NAME}` is taken from the environment.
        sender: The address that it comes from.
        to: The address or addresses; `{column}` is filled in.
        subject: The subject; `{column}` is filled in, or a function of (rows, window).
        text: The text, likewise.
        tls: `starttls`, `implicit` (port 465) or `none`.
        username: The name to log in with, if any.
        password: `${NAME}`: the password by its name in the environment.
        options: See `http`.
    """
    _one_of(name, "tls", tls, TLS)
    if password is not None and not ENVIRONMENT.fullmatch(password):
        raise _written_out(name, "password")
    if password is not None and tls == "none":
        raise _fault(name, "a password would go over an open line", 'tls="starttls"')
    _printable(name, server=server, sender=sender, username=username)
    given = to if callable(to) or isinstance(to, str) else list(to)
    template = {
        "server": server,
        "tls": tls,
        "username": username,
        "password": password,
        "sender": sender,
        "to": given,
        "subject": subject,
        "text": text,
    }
    return _effect(name, "email", template, honours_key=False, **options)


def slack(name: str, *, url: str, text: Text, **options: Any) -> Effect:
    """A post to Slack's incoming webhook. Slack drops no repeats: unknown is held.

    `url` is `${NAME}`: the address is itself a secret. `text` is filled in as for `email`.
    """
    if not ENVIRONMENT.search(url):
        raise _written_out(name, "url")
    allow = _allowed(name, options.pop("allow", ()))
    template = {"url": url, "allow": allow, "body": text}
    return _effect(name, "slack", template, honours_key=False, **options)


def webhook(name: str, *, url: str, body: Any = None, **options: Any) -> Effect:
    """A POST of JSON that carries its key in the header `Idempotency-Key`. See `http`."""
    return http(name, url=url, body=body, method="POST", **options)


def http(
    name: str,
    *,
    url: str,
    body: Any = None,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    key_header: str | None = "Idempotency-Key",
    honours_key: bool | None = None,
    allow: Sequence[str] = (),
    **options: Any,
) -> Effect:
    """A call of an HTTP API that carries an idempotency key.

    Args:
        name: The effect's name, part of its key.
        url: The address; `{column}` is filled in, percent-encoded; `${NAME}` comes from the
            environment.
        body: What is sent as JSON, with `{column}` filled in, or a function of (rows, window);
            the row itself (or all rows) when left out.
        method: POST, PUT, PATCH or DELETE.
        headers: More headers; secrets as `${NAME}`.
        key_header: The header that carries the key; None to send none.
        honours_key: Whether the receiver drops a key that it has seen; by default what
            `key_header` says. Where it does not, a call that may have arrived is held for a person.
        allow: What is refused otherwise: `private` addresses, plain `http`, `redirects`.
        options: `each` (columns of the business id: a message a row), `summary` (aggregates in
            SQL, by name), `where` (a condition in SQL), `limit` (most rows), `resend`
            (`on_change`), `timeout`, `rate` (a second), `concurrency`, `retries`, `backoff`.
    """
    method = method.upper()
    _one_of(name, "method", method, METHODS)
    named = dict(headers or {})
    for header, value in named.items():
        if not HEADER.match(header) or not str(value).isprintable():
            raise _fault(name, f"{header!r} is no header, or its value breaks the line")
        if SECRET_HEADER.search(header) and not ENVIRONMENT.search(value):
            raise _written_out(name, f"header {header}")
    if key_header is not None and not HEADER.match(key_header):
        raise _fault(name, f"{key_header!r} is no header")
    honours = key_header is not None if honours_key is None else honours_key
    if honours and key_header is None:
        raise _fault(name, "no key is sent, so none can be honoured", "key_header=…")
    template = {
        "url": url,
        "method": method,
        "headers": named,
        "key_header": key_header,
        "allow": _allowed(name, allow),
        "body": body,
    }
    _printable(name, url=url)
    return _effect(name, "http", template, honours_key=honours, **options)


def publish(
    name: str,
    *,
    topic: str,
    servers: str | None = None,
    producer: Callable[..., Any] | None = None,
    message_key: str | None = None,
    value: Any = None,
    config: Mapping[str, str] | None = None,
    honours_key: bool = True,
    **options: Any,
) -> Effect:
    """A message to Kafka, or to any producer, with its key in the header `idempotency-key`.

    Args:
        name: The effect's name, part of its key.
        topic: The topic.
        servers: Kafka's `host:port,…`.
        producer: Instead of Kafka, a function of (topic, key, value, headers).
        message_key: The message's key, with `{column}` filled in; the business id when left out.
        value: What is published as JSON, as `body` of `http`.
        config: More settings of the Kafka client; secrets as `${NAME}`.
        honours_key: Whether the consumers drop repeats, as `once` does. If not, a message that may
            have arrived is held for a person.
        options: See `http`.
    """
    if (servers is None) == (producer is None):
        raise _fault(name, "give servers (for Kafka) or a producer", 'servers="broker:9092"')
    named = dict(config or {})
    for setting, given in named.items():
        secret = SECRET_HEADER.search(setting) and "location" not in setting
        if secret and not ENVIRONMENT.search(str(given)):
            raise _written_out(name, f"config {setting}")
    each = options.get("each", ())
    columns = (each,) if isinstance(each, str) else tuple(each)
    key = message_key if message_key is not None else "/".join(f"{{{c}}}" for c in columns)
    template = {
        "topic": topic,
        "server": servers,
        "config": named,
        "message_key": key or "{task}/{window}",
        "value": value,
    }
    return _effect(name, "publish", template, honours_key=honours_key, function=producer, **options)


def call(
    name: str,
    function: Callable[..., Any],
    *,
    values: Any = None,
    honours_key: bool = False,
    **options: Any,
) -> Effect:
    """A call of your own function, `function(values, key)`, once for each key.

    It raises `Transient` when nothing was done and another try is worth it, `EffectRefused` when
    nothing was done and none is; anything else leaves it unknown.
    """
    if not callable(function):
        raise _fault(name, f"{function!r} cannot be called", "call(name, function)")
    template = {"values": values}
    return _effect(name, "call", template, honours_key=honours_key, function=function, **options)


def _effect(
    name: str,
    kind: Kind,
    template: Mapping[str, Any],
    *,
    honours_key: bool,
    function: Callable[..., Any] | None = None,
    each: str | Sequence[str] = (),
    summary: Mapping[str, str] | None = None,
    where: str | None = None,
    limit: int = 10_000,
    resend: Resend = "never",
    timeout: float = 30.0,
    rate: float | None = None,
    concurrency: int | None = None,
    retries: int = 5,
    backoff: Backoff | None = None,
) -> Effect:
    if not isinstance(name, str) or not NAME.match(name):
        raise UsageError(f"{name!r} cannot be an effect's name", next_step="letters, digits, _, -")
    _one_of(name, "resend", resend, ("never", "on_change"))
    columns = (each,) if isinstance(each, str) else tuple(each)
    if columns and summary:
        raise _fault(name, "each and summary exclude each other", "keep one of them")
    numbers = {"timeout": timeout, "limit": limit, "rate": rate, "concurrency": concurrency}
    for word, number in numbers.items():
        if number is not None and not number > 0:
            raise _fault(name, f"{word} must be above 0, found {number!r}")
    if retries < 0:
        raise _fault(name, f"retries must be 0 or more, found {retries!r}")
    return Effect(
        name=name,
        kind=kind,
        template=template,
        function=function,
        each=columns,
        summary=dict(summary or {}),
        where=where,
        limit=limit,
        honours_key=honours_key,
        resend=resend,
        terms=Terms(
            timeout=float(timeout),
            rate=rate,
            # What has no key is sent one by one: at most one is unknown when a process dies.
            concurrency=concurrency or (8 if honours_key else 1),
            retries=retries,
            backoff=backoff or Backoff(longest=60.0),
        ),
    )


def _allowed(name: str, allow: Sequence[str]) -> list[str]:
    for word in allow:
        _one_of(name, "allow", word, ALLOWED)
    return sorted(set(allow))


def _one_of(name: str, word: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise _fault(name, f"{word} {value!r} is not one of: {', '.join(known)}")


def _printable(name: str, **texts: str | None) -> None:
    for word, text in texts.items():
        if text is not None and not (isinstance(text, str) and text.isprintable()):
            raise _fault(name, f"{word} holds a line break or control character")


def _written_out(name: str, what: str) -> UsageError:
    return _fault(
        name,
        f"its {what} is written out: it would be in every copy of the file",
        'give it by its name in the environment: "${NAME}"',
    )


def _fault(name: str, message: str, fix: str | None = None) -> UsageError:
    return UsageError(f"effect {name}: {message}", next_step=fix)
