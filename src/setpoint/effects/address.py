"""Where a message may go: https to a public address, unless the author allowed more.

The name is looked up once, every answer is judged, and the connection goes to the address that was
judged: a name that answers differently the second time cannot lead inside.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from setpoint.errors import EffectRefused, Transient

if TYPE_CHECKING:
    from collections.abc import Collection

    Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = {"https": 443, "http": 80}
# Addresses that carry an IPv4 address inside, and reach it through a translator.
NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A URL whose host was looked up and found fit."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]

    @property
    def origin(self) -> tuple[str, str, int]:
        """Who answers: what secrets may be told to."""
        return (self.scheme, self.host, self.port)

    @property
    def host_header(self) -> str:
        """The host as the request names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def find_place(url: str, *, allow: Collection[str]) -> Place:
    """Judge a URL and look up its host; refuse what may not be reached."""
    # The URL itself may be a secret: no error repeats it.
    if not url.isprintable() or " " in url:
        raise EffectRefused("the URL holds a line break, space or control character")
    if not url.isascii():
        raise EffectRefused(
            "the URL holds characters outside ASCII", next_step="percent-encode the path"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EffectRefused("the URL cannot be read") from None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if scheme not in PORTS or not host:
        raise EffectRefused("the URL is not an https:// address")
    if scheme == "http" and "http" not in allow:
        raise EffectRefused(
            "the URL is http://, which anyone on the way can read and change",
            next_step='use https://, or allow=["http"]',
        )
    if parts.username is not None or parts.password is not None:
        raise EffectRefused(
            "the URL holds a user name or password",
            next_step='put it into a header: headers={"Authorization": "Basic ${NAME}"}',
        )
    port = port or PORTS[scheme]
    addresses = _looked_up(host, port)
    if "private" not in allow:
        for address in addresses:
            if not is_public(address):
                raise EffectRefused(
                    f"the URL leads to {address}, which is not a public address",
                    next_step='allow=["private"] if that is meant',
                )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Place(scheme=scheme, host=host, port=port, path=path, addresses=addresses)


def is_public(address: str) -> bool:
    """Whether the address is one of the open internet, in whatever dress it comes."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    inner = _inside(ip)
    if inner is not None:
        return is_public(str(inner))
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def _inside(ip: Ip) -> Ip | None:
    if not isinstance(ip, ipaddress.IPv6Address):
        return None
    if ip in NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)


def _looked_up(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Transient(f"the host of the URL is not found: {error}") from None
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in found))
