"""Receivers on loopback that count what they get, and misbehave when told to."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aiosmtpd.controller import Controller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiosmtpd.smtp import SMTP, Envelope, Session


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What a receiver does instead of a plain 200."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = "ok"
    act: bool = True
    """Whether it does what was asked before it answers."""
    hang: bool = False
    """Whether it never answers."""
    drop: bool = False
    """Whether it closes the connection without an answer."""


class HttpReceiver:
    """Acts on requests: once for each key where it honours keys, each time where it does not."""

    def __init__(self, *, honours_keys: bool = True) -> None:
        self.honours_keys = honours_keys
        self.ahead: list[Fault] = []
        """What the coming requests meet, in order."""
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.acted: Counter[str] = Counter()
        """How often something was done, by key (or by body where there is none)."""
        self.let_go = threading.Event()
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                receiver.serve(self)

            def log_message(self, *_args: Any) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request, or meet it with the fault that lies ahead."""
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        with self._lock:
            fault = self.ahead.pop(0) if self.ahead else Fault()
            document = json.loads(body) if body else None
            self.requests.append((request.path, dict(request.headers), document))
            if fault.act and fault.status < 400:
                self._act(request.headers.get("Idempotency-Key"), body)
        if fault.hang:
            self.let_go.wait(60)
        if fault.hang or fault.drop:
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        request.send_response(fault.status)
        for name, value in fault.headers.items():
            request.send_header(name, value)
        answer = fault.body.encode()
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)

    def _act(self, key: str | None, body: bytes) -> None:
        name = key or body.decode()
        if not (self.honours_keys and key and self.acted[name]):
            self.acted[name] += 1

    def close(self) -> None:
        """Stop."""
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()


class MailReceiver:
    """A mail server that keeps its mail, and answers as told."""

    def __init__(self) -> None:
        self.mail: list[bytes] = []
        self.recipients: list[list[str]] = []
        self.ahead: list[str] = []
        """What the coming messages are answered with after DATA; `hang` and `drop` are silences."""
        self.refuse: dict[str, str] = {}
        """Answers to RCPT by address."""
        self.let_go = threading.Event()
        # Not port 0: the controller looks for itself there when it starts.
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._controller = Controller(self, hostname="127.0.0.1", port=port)
        self._controller.start()

    @property
    def server(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._controller.port}"

    async def handle_RCPT(  # noqa: N802 — aiosmtpd's name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],  # noqa: ARG002
    ) -> str:
        """Take the recipient, or refuse it."""
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802
        """Keep the message, and answer."""
        answer = self.ahead.pop(0) if self.ahead else "250 OK"
        if answer in ("hang", "drop") or answer.startswith("2"):
            content = envelope.content or b""
            self.mail.append(content if isinstance(content, bytes) else content.encode())
            self.recipients.append(list(envelope.rcpt_tos))
        if answer == "hang":
            await asyncio.get_running_loop().run_in_executor(None, self.let_go.wait, 30)
        if answer in ("hang", "drop") and isinstance(server.transport, asyncio.Transport):
            server.transport.abort()
        return answer if answer not in ("hang", "drop") else "250 OK"

    def close(self) -> None:
        """Stop."""
        if not self.let_go.is_set():
            self.let_go.set()
            self._controller.stop(no_assert=True)
