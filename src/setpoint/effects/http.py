"""Sending over HTTP: webhooks, payment-like APIs, and Slack."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from setpoint.effects.address import Place, find_place
from setpoint.effects.deadline import cut_at
from setpoint.effects.secret import expanded, scrubbed
from setpoint.errors import EffectRefused, Transient
from setpoint.ledger.instant import utc_now
from setpoint.model.idempotency_key import canonical_json
from setpoint.model.verdict import Verdict, http_verdict
from setpoint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.model.delivery import Delivery

MOST_HOPS = 5
READ = 4096
REDIRECTS = range(300, 400)
# The only two that repeat the request as it was.
SAME_REQUEST = (307, 308)

Address = tuple[str, str, int, str]
Answer = tuple[int, str | None, float | None, str]


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What is asked, wherever it is asked."""

    method: str
    headers: Mapping[str, str]
    body: bytes
    until: float

    def without_secrets(self, key_header: str) -> _Request:
        """The request for another server than the author named."""
        kept = {key_header, "Content-Type", "User-Agent"}
        headers = {name: value for name, value in self.headers.items() if name in kept}
        return replace(self, headers=headers)


class HttpSender:
    """Sends one request a message; connections are kept where a key makes a repeat harmless."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._tls: ssl.SSLContext | None = None

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt."""
        content = delivery.content
        until = time.monotonic() + delivery.terms.timeout
        try:
            url = expanded(str(content["url"]), what=f"the URL of effect {delivery.effect}")
            request = _Request(
                method=str(content.get("method", "POST")),
                headers=_headers(delivery),
                body=_body(delivery),
                until=until,
            )
            return self._follow(delivery, url, request)
        except EffectRefused as error:
            return Verdict(arrival="refused", reason=scrubbed(error.message, content))
        except Transient as error:
            return Verdict(arrival="again", reason=scrubbed(error.message, content))

    def close(self) -> None:
        """Close the calling thread's connections."""
        for connection in vars(self._here).pop("kept", {}).values():
            connection.close()

    def _follow(self, delivery: Delivery, url: str, request: _Request) -> Verdict:
        allow = delivery.content.get("allow", ())
        place = find_place(url, allow=allow)
        for _ in range(MOST_HOPS):
            answer = self._ask(delivery, place, request)
            if isinstance(answer, Verdict):
                return answer
            status, location, retry_after, said = answer
            if status not in REDIRECTS:
                said = scrubbed(said, delivery.content)
                return http_verdict(status, retry_after=retry_after, said=said)
            if "redirects" not in allow or status not in SAME_REQUEST or not location:
                reason = f"HTTP {status}: it redirects elsewhere, which is not followed"
                return Verdict(arrival="refused", reason=reason, status=status)
            following = find_place(location, allow=allow)
            if following.origin != place.origin:
                request = request.without_secrets(str(delivery.content.get("key_header")))
            place = following
        return Verdict(arrival="refused", reason=f"more than {MOST_HOPS} redirects")

    def _ask(self, delivery: Delivery, place: Place, request: _Request) -> Verdict | Answer:
        try:
            connection, used = self._connection(place, request.until, keep=delivery.honours_key)
        except (OSError, ssl.SSLError) as error:
            # Nothing was sent yet: it is certain that nothing arrived.
            what = f"no connection to the receiver: {_words(error)}"
            verified = not isinstance(error, ssl.SSLCertVerificationError)
            return Verdict(
                arrival="again" if verified else "refused", reason=scrubbed(what, delivery.content)
            )
        done = False
        try:
            answer, done = _exchange(connection, place, request)
        except (OSError, http.client.HTTPException, ValueError) as error:
            over = time.monotonic() >= request.until
            if used and not over:
                # Receivers close what they have kept open long enough. The key makes it harmless.
                self._forget(connection)
                return self._ask(delivery, place, request)
            what = f"no answer within {delivery.terms.timeout:g} s" if over else _words(error)
            return Verdict(arrival="unclear", reason=scrubbed(what, delivery.content))
        finally:
            if not (done and delivery.honours_key):
                self._forget(connection)
        return answer

    def _connection(
        self, place: Place, until: float, *, keep: bool
    ) -> tuple[http.client.HTTPConnection, bool]:
        """A connection to one of the judged addresses, and whether it was used before."""
        kept: dict[Address, http.client.HTTPConnection] = vars(self._here).setdefault("kept", {})
        for address in place.addresses:
            found = kept.get((*place.origin, address)) if keep else None
            if found is not None and found.sock is not None:
                return found, True
        error: OSError | None = None
        for address in place.addresses:
            try:
                opened = self._opened(place, address, until)
            except OSError as fault:
                error = fault
                continue
            if keep:
                where = (*place.origin, address)
                kept[where] = opened
            return opened, False
        raise error or OSError("no address to connect to")

    def _opened(self, place: Place, address: str, until: float) -> http.client.HTTPConnection:
        left = max(0.01, until - time.monotonic())
        raw = socket.create_connection((address, place.port), timeout=left)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = http.client.HTTPConnection(place.host, place.port)
        try:
            connection.sock = (
                self._context().wrap_socket(raw, server_hostname=place.host)
                if place.scheme == "https"
                else raw
            )
        except BaseException:
            raw.close()
            raise
        # The address was judged; a connection opened anew behind our back would not be.
        connection.auto_open = 0
        return connection

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _forget(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        kept = vars(self._here).get("kept", {})
        for key in [key for key, each in kept.items() if each is connection]:
            del kept[key]


def _exchange(
    connection: http.client.HTTPConnection, place: Place, request: _Request
) -> tuple[Answer, bool]:
    """Ask and read the answer; also whether the connection can serve once more."""
    connection.sock.settimeout(max(0.01, request.until - time.monotonic()))
    with cut_at(connection.sock, request.until):
        connection.putrequest(request.method, place.path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", place.host_header)
        for name, value in request.headers.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        response = connection.getresponse()
        said, whole = _read(response, request.until)
    retry_after = _seconds(response.getheader("Retry-After"))
    answer = (response.status, response.getheader("Location"), retry_after, said)
    return answer, whole and not response.will_close


def _headers(delivery: Delivery) -> dict[str, str]:
    content = delivery.content
    headers = {"Content-Type": "application/json", "User-Agent": f"setpoint/{__version__}"}
    for name, template in dict(content.get("headers", {})).items():
        value = expanded(str(template), what=f"header {name} of effect {delivery.effect}")
        if not value.isprintable() or not value.isascii():
            raise EffectRefused(f"header {name} holds a line break or a character outside ASCII")
        headers[name] = value
    if content.get("key_header"):
        headers[str(content["key_header"])] = delivery.wire_key
    return headers


def _body(delivery: Delivery) -> bytes:
    body: Any = delivery.content.get("body")
    if delivery.kind == "slack":
        body = body if isinstance(body, dict) else {"text": str(body)}
    return canonical_json(body).encode()


def _read(response: http.client.HTTPResponse, until: float) -> tuple[str, bool]:
    """The beginning of the answer, and whether that was all of it."""
    said = response.read(READ)
    while not response.isclosed() and response.length and time.monotonic() < until:
        if not response.read(READ):
            break
    whole = response.isclosed() or response.length == 0
    return said[:200].decode(errors="replace"), whole


def _seconds(text: str | None) -> float | None:
    """`Retry-After`, in seconds or as a date."""
    if text is None:
        return None
    if text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - utc_now()).total_seconds())
    except (TypeError, ValueError):
        return None


def _words(error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
