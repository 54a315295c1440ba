"""A payment provider on the loopback: pages, a rate limit, and faults when asked for.

GET /v1/payments?created_gte=…&created_lt=…&starting_after=pay_…&limit=100
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from bisect import bisect_left
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from examples.shop import company

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

PAGE = 100
TOO_MANY = 429


class PaymentsApi:
    """The provider, listening while the `with` block lasts."""

    def __init__(
        self,
        payments: Iterable[company.Payment],
        *,
        port: int = 0,
        page: int = PAGE,
        rate: int = 0,
    ) -> None:
        self.payments = sorted(payments, key=lambda one: (one.created, one.id))
        self.page = page
        self.rate = rate
        """Requests that are answered in a second; 0 is no limit."""
        self.faults: deque[int] = deque()
        """Status codes with which the next requests are answered, one each."""
        self.answers: list[int] = []
        """The status of each answer that was given."""
        self._asked: deque[float] = deque()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """The status and body for one request."""
        with self._lock:
            status, body = self._answer(query)
            self.answers.append(status)
        return status, body

    def _answer(self, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        if self.faults:
            return self.faults.popleft(), {"error": {"type": "api_error"}}
        if self._is_too_fast():
            return TOO_MANY, {"error": {"type": "rate_limit"}}
        try:
            first = bisect_left(self.payments, int(query["created_gte"][0]), key=_created)
            last = bisect_left(self.payments, int(query["created_lt"][0]), key=_created)
            limit = min(int(query.get("limit", [str(self.page)])[0]), self.page)
        except (KeyError, ValueError):
            return 400, {"error": {"type": "invalid_request"}}
        known = self.payments[first:last]
        after = query.get("starting_after", [""])[0]
        start = next((n + 1 for n, one in enumerate(known) if one.id == after), 0)
        data = [one._asdict() for one in known[start : start + limit]]
        return 200, {"data": data, "has_more": start + limit < len(known)}

    def _is_too_fast(self) -> bool:
        if not self.rate:
            return False
        now = time.monotonic()
        while self._asked and self._asked[0] <= now - 1:
            self._asked.popleft()
        if len(self._asked) >= self.rate:
            return True
        self._asked.append(now)
        return False


def _created(payment: company.Payment) -> int:
    return payment.created


def _handler(api: PaymentsApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path != "/v1/payments":
                self.send_error(404)
                return
            status, body = api.answer(parse_qs(asked.query))
            content = json.dumps(body).encode()
            self.send_response(status)
            if status in {TOO_MANY, 503}:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_words: object) -> None:
            """Nothing: the answers are counted instead."""

    return Handler


def main() -> None:
    """Serve the payments of a shop of the usual size until Ctrl-C."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--port", type=int, default=8787)
    options.add_argument("--rate", type=int, default=20, help="requests a second")
    options.add_argument("--faults", type=int, default=0, help="how many requests fail at first")
    given = options.parse_args()
    with PaymentsApi(
        company.payments(company.Size()), port=given.port, rate=given.rate
    ) as provider:
        provider.faults.extend([503] * given.faults)
        print(provider.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
