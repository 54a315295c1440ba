"""A recorder of side effects: what a task would send is kept, and nothing leaves the machine."""

from __future__ import annotations

import io
import smtplib
import sys
import threading
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator

READING = ("GET", "HEAD", "OPTIONS")


class Recorder:
    """Remembers effects. Those of tasks reach it through `record`, raw ones through `listening`."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        """What was sent by runs that should have sent nothing."""
        self._thread = threading.local()

    def record(self, what: str) -> None:
        """Remember one effect, such as `POST http://…`."""
        if not getattr(self._thread, "first", False):
            self.sent.append(what)

    @contextmanager
    def first_run(self) -> Iterator[None]:
        """What this thread sends meanwhile is sent for the first time, which is as it should be."""
        self._thread.first = True
        try:
            yield
        finally:
            self._thread.first = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Stand in the doors through which Python sends: web requests that write, and mail.

        Reading goes on as ever: a task may ask a service for its rows.
        """
        patches: list[Any] = [
            mock.patch.object(urllib.request.OpenerDirector, "open", self._urllib()),
            mock.patch.object(smtplib.SMTP, "connect", _greeted),
            mock.patch.object(smtplib.SMTP, "sendmail", self._mail),
            mock.patch.object(smtplib.SMTP, "send_message", self._mail),
            mock.patch.object(smtplib.SMTP, "quit", _accepted),
        ]
        requests: Any = sys.modules.get("requests")
        if requests is not None:
            patches.append(mock.patch.object(requests.Session, "send", self._requests(requests)))
        httpx: Any = sys.modules.get("httpx")
        if httpx is not None:
            patches.append(mock.patch.object(httpx.Client, "send", self._httpx(httpx)))
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in reversed(patches):
                patch.stop()

    def _mail(self, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        self.record("a mail")
        return {}

    def _urllib(self) -> Any:
        genuine = urllib.request.OpenerDirector.open

        def opened(opener: Any, asked: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
            request = asked if isinstance(asked, urllib.request.Request) else None
            method = request.get_method() if request else ("POST" if data else "GET")
            if data is None and method in READING:
                return genuine(opener, asked, data, *args, **kwargs)
            self.record(f"{method} {request.full_url if request else asked}")
            return io.BytesIO(b"{}")

        return opened

    def _requests(self, requests: Any) -> Any:
        genuine = requests.Session.send

        def sent(session: Any, request: Any, **kwargs: Any) -> Any:
            if request.method in READING:
                return genuine(session, request, **kwargs)
            self.record(f"{request.method} {request.url}")
            answer = requests.Response()
            answer.status_code, answer.url, answer.request = 200, request.url, request
            answer.raw = io.BytesIO(b"{}")
            return answer

        return sent

    def _httpx(self, httpx: Any) -> Any:
        genuine = httpx.Client.send

        def sent(client: Any, request: Any, **kwargs: Any) -> Any:
            if request.method in READING:
                return genuine(client, request, **kwargs)
            self.record(f"{request.method} {request.url}")
            return httpx.Response(200, json={}, request=request)

        return sent


def _greeted(*_args: Any, **_kwargs: Any) -> tuple[int, bytes]:
    return 220, b"recorded"


def _accepted(*_args: Any, **_kwargs: Any) -> tuple[int, bytes]:
    return 250, b"recorded"
