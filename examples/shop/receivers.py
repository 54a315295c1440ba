"""Who hears from the shop: a chat, a broker and a mail server on the loopback, which remember."""

from __future__ import annotations

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class Receivers:
    """Listens while the `with` block lasts."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, Any]] = []
        """Path and body of each HTTP post."""
        self.mails: list[str] = []
        """Each mail as it was sent."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _poster(self))
        self._smtp = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _mailbox(self))
        self._smtp.daemon_threads = True
        servers = (self._http, self._smtp)
        self._threads = [
            threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in servers
        ]

    @property
    def environment(self) -> dict[str, str]:
        """Where the jobs find them."""
        http = f"http://127.0.0.1:{self._http.server_port}"
        return {
            "SLACK_WEBHOOK_URL": f"{http}/slack",
            "BROKER_URL": http,
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(self._smtp.server_address[1]),
        }

    def posts_to(self, path: str) -> list[Any]:
        """The bodies that were posted to a path."""
        return [body for where, body in self.posts if where == path]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        for server in (self._http, self._smtp):
            server.shutdown()
            server.server_close()


def _poster(receivers: Receivers) -> type[BaseHTTPRequestHandler]:
    class Poster(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            receivers.posts.append((self.path, json.loads(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            """Nothing: the posts are remembered instead."""

    return Poster


def _mailbox(receivers: Receivers) -> type[socketserver.StreamRequestHandler]:
    class Mailbox(socketserver.StreamRequestHandler):
        """As much of SMTP as it takes to be handed a mail."""

        def handle(self) -> None:
            self._say("220 shop")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self._say("354 go on")
                    receivers.mails.append(self._content())
                self._say("221 bye" if verb == b"QUIT" else "250 ok")
                if verb == b"QUIT":
                    return

        def _content(self) -> str:
            lines = []
            while (line := self.rfile.readline()) not in {b".\r\n", b""}:
                lines.append(line.decode())
            return "".join(lines)

        def _say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    return Mailbox
