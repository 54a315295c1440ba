"""Receivers for what a command sends: a web server and a mail server that only remember."""

from __future__ import annotations

import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

READING = ("GET", "HEAD", "OPTIONS")


class Receivers:
    """Listens on the loopback while a `with` block lasts, and remembers what it was sent.

    `addresses` names the environment variables that the command reads an address from:
    `SLACK_WEBHOOK_URL` for the address of the web server, `SMTP_HOST:SMTP_PORT` for the two
    variables of a mail server.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        self.sent: list[str] = []
        self._addresses = addresses
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _web(self.sent))
        self._smtp = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _mailbox(self.sent))
        self._smtp.daemon_threads = True

    @property
    def variables(self) -> dict[str, str]:
        """What the command finds in its environment."""
        found: dict[str, str] = {}
        for address in self._addresses:
            host, colon, port = address.partition(":")
            if not host.isidentifier() or (colon and not port.isidentifier()):
                raise UsageError(
                    f"--record {address} names no environment variable",
                    next_step="--record SLACK_WEBHOOK_URL, or --record SMTP_HOST:SMTP_PORT",
                )
            if colon:
                found |= {host: "127.0.0.1", port: str(self._smtp.server_address[1])}
            else:
                found[host] = f"http://127.0.0.1:{self._http.server_port}"
        return found

    def __enter__(self) -> Self:
        for server in (self._http, self._smtp):
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        for server in (self._http, self._smtp):
            server.shutdown()
            server.server_close()


def _web(sent: list[str]) -> type[BaseHTTPRequestHandler]:
    class Web(BaseHTTPRequestHandler):
        """Says yes to everything."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.command not in READING:
                shown = body.decode(errors="replace")[:200]
                sent.append(f"{self.command} {self.path} {shown}".rstrip())
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(b"{}")

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815

        def log_message(self, *_words: object) -> None:
            """Nothing: what matters is remembered."""

    return Web


def _mailbox(sent: list[str]) -> type[socketserver.StreamRequestHandler]:
    class Mailbox(socketserver.StreamRequestHandler):
        """As much of SMTP as it takes to be handed a mail."""

        def handle(self) -> None:
            self._say("220 setpoint")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self._say("354 go on")
                    sent.append(self._mail())
                    self._say("250 kept")
                elif verb == b"QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 yes")

        def _mail(self) -> str:
            subject = to = ""
            while (line := self.rfile.readline()) not in (b"", b".\r\n"):
                text = line.decode(errors="replace").strip()
                subject = text if text.lower().startswith("subject:") else subject
                to = text if text.lower().startswith("to:") else to
            return f"mail {to} {subject}".strip()

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    return Mailbox
