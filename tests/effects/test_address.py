"""Where a message may go: public addresses over TLS, and what the author allowed."""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.effects.conftest import AT_ONCE, LOOPBACK, Desk
from tests.effects.receivers import Fault

from setpoint.effects.address import find_place, is_public
from setpoint.errors import EffectFault, EffectRefused, UsageError
from setpoint.model.receiver import email, http, publish, slack

if TYPE_CHECKING:
    from pathlib import Path

    from tests.effects.receivers import HttpReceiver


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 — an address to refuse
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_scenario_41_private_addresses_are_known_in_every_dress(address: str, public: bool) -> None:
    """Loopback, private, link-local, shared, mapped and translated ones."""
    assert is_public(address) is public


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://169.254.169.254/latest/meta-data",
        "http://93.184.216.34/",
        "ftp://93.184.216.34/",
        "file:///etc/passwd",
        "https://user:word@93.184.216.34/",
        "https://93.184.216.34/a\r\nX-Evil: 1",
        "https://93.184.216.34/a b",
        "https:///nowhere",
        "https://93.184.216.34:99999/",
        "gopher://x",
        "",
    ],
)
def test_scenario_41_such_urls_are_refused(url: str) -> None:
    """Nothing is connected to."""
    with pytest.raises(EffectRefused):
        find_place(url, allow=())


def test_scenario_41_a_name_that_leads_inside_is_refused_and_pinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every answer is judged, and the judged ones are connected to: no second lookup."""
    answers = [["93.184.216.34", "10.0.0.1"], ["93.184.216.34"]]

    def lookup(host: str, port: int, **_more: Any) -> list[Any]:  # noqa: ARG001
        return [(socket.AF_INET, 1, 6, "", (each, port)) for each in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(EffectRefused, match=r"10\.0\.0\.1"):
        find_place("https://rebound.example/", allow=())
    place = find_place("https://rebound.example/", allow=())
    assert place.addresses == ("93.184.216.34",)
    assert answers == []


def test_scenario_41_a_private_webhook_is_not_called(desk: Desk, web: HttpReceiver) -> None:
    """Refused without a request, for good; the error says how to allow it."""
    for allow in (["http"], ["private"]):
        effect = http(f"told-{allow[0]}", url=web.url, each="id", allow=allow, backoff=AT_ONCE)
        assert desk.do(effect, {"id": 1}).counts == {"failed": 1}
    assert web.requests == []


def test_scenario_41_a_url_from_a_row_cannot_leave_its_place(desk: Desk, web: HttpReceiver) -> None:
    """Values in a URL are percent-encoded; a line break in a URL's template is refused."""
    effect = http("told", url=web.url + "/{id}", each="id", allow=LOOPBACK)
    desk.do(effect, {"id": "../../x?y=1#z\r\nHost: evil"})
    assert web.requests[0][0] == "/hook/..%2F..%2Fx%3Fy%3D1%23z%0D%0AHost%3A%20evil"
    with pytest.raises(UsageError, match="line break"):
        http("told", url="https://a.example/\r\nX: 1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_scenario_41_redirects_are_refused_unless_allowed(
    desk: Desk, web: HttpReceiver, keyless: HttpReceiver, status: int
) -> None:
    """Not followed; where allowed, only by those that repeat the request, without its secrets."""
    web.ahead = [Fault(status=status, headers={"Location": keyless.url}, act=False)] * 2
    plain = http("told", url=web.url, each="id", allow=LOOPBACK)
    assert desk.do(plain, {"id": 1}).counts == {"failed": 1}
    assert keyless.requests == []
    allowed = http(
        "followed",
        url=web.url,
        each="id",
        allow=[*LOOPBACK, "redirects"],
        headers={"X-Plain": "to the first server only"},
    )
    followed = desk.do(allowed, {"id": 1}).counts == {"sent": 1}
    assert followed == (status in (307, 308))
    for _, headers, _ in keyless.requests:
        assert "X-Plain" not in headers
        assert "Idempotency-Key" in headers


def test_tls_is_verified(desk: Desk, tmp_path: Path) -> None:
    """A certificate that nobody vouches for: nothing is said to the receiver, and no retry."""
    import ssl
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *made, *files], check=True, capture_output=True)
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    ).start()
    url = f"https://localhost:{server.server_address[1]}/"
    effect = http("told", url=url, each="id", allow=["private"], backoff=AT_ONCE)
    assert desk.do(effect, {"id": 1}).counts == {"failed": 1}
    assert "certificate" in (desk.only().error or "").lower()
    assert seen == []
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "declare",
    [
        lambda: slack("a", url="https://hooks.example/T0/B0/x", text="t"),
        lambda: http("a", url="https://a.example", headers={"Authorization": "Bearer abc"}),
        lambda: http("a", url="https://a.example", headers={"X-Api-Key": "abc"}),
        lambda: http("a", url="https://a.example", headers={"X-A": "b\r\nX-C: d"}),
        lambda: http("a", url="https://a.example", headers={"X A": "b"}),
        lambda: publish("a", topic="t", servers="b:9092", config={"sasl.password": "abc"}),
        lambda: email(
            "a",
            server="m:25",
            sender="a@b.example",
            to="c@d.example",
            subject="s",
            text="t",
            username="u",
            password="abc",
        ),
        lambda: email(
            "a",
            server="m:25",
            sender="a@b.example",
            to="c@d.example",
            subject="s",
            text="t",
            username="u",
            password="${P}",
            tls="none",
        ),
    ],
)
def test_a_secret_that_is_written_out_is_refused(declare: Any) -> None:
    """Secrets come from the environment, by name; and headers are single lines."""
    with pytest.raises(UsageError):
        declare()


def test_a_value_of_a_row_is_never_taken_for_the_name_of_a_secret(
    desk: Desk, web: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`${NAME}` in the data stays what it is."""
    monkeypatch.setenv("WEBHOOK_TOKEN", "s3cret-value")
    effect = http("told", url=web.url + "/{id}", each="id", body={"x": "{id}"}, allow=LOOPBACK)
    desk.do(effect, {"id": "${WEBHOOK_TOKEN}"})
    assert "s3cret-value" not in str(web.requests)
    with pytest.raises(EffectFault):
        desk.do(
            email(
                "m", server="x", sender="a@b.example", to="{id}", subject="s", text="t", each="id"
            ),
            {"id": "${WEBHOOK_TOKEN}@b.example"},
        )
