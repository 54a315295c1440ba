"""Open the shop: its database, filled; its payment provider; and those who hear from it.

From the repository's top: `python -m examples.shop.open_shop`, then `. ./shop.env` elsewhere.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import threading
from pathlib import Path
from urllib.parse import quote

from examples.shop import company, database, event_stream
from examples.shop.payments_api import PaymentsApi
from examples.shop.receivers import Receivers
from tests.postgres_server import PostgresServer


def main() -> None:
    """Open the shop until Ctrl-C."""
    given = _options().parse_args()
    size = company.Size(
        days=given.days,
        customers=given.customers,
        orders_a_day=given.orders_a_day,
        events_a_day=given.events_a_day,
    )
    closing = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: closing.set())
    signal.signal(signal.SIGINT, lambda *_: closing.set())
    server = PostgresServer()
    try:
        _serve(server, size, given, closing)
    finally:
        server.close()


def _options() -> argparse.ArgumentParser:
    usual = company.Size()
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--days", type=int, default=usual.days, help="from 2026-04-20 on")
    options.add_argument("--customers", type=int, default=usual.customers)
    options.add_argument("--orders-a-day", type=int, default=usual.orders_a_day)
    options.add_argument("--events-a-day", type=int, default=usual.events_a_day)
    options.add_argument("--rate", type=int, default=20, help="the provider's requests a second")
    options.add_argument("--env", type=Path, default=Path("shop.env"), help="where to write how")
    options.add_argument("--lake", type=Path, default=Path("shop-lake"), help="for before/ only")
    return options


def _serve(
    server: PostgresServer,
    size: company.Size,
    given: argparse.Namespace,
    closing: threading.Event,
) -> None:
    password = quote(server.password, safe="")
    url = f"postgresql://postgres:{password}@127.0.0.1:{server.port}/postgres"
    database.fill(url, size)
    event_stream.land(given.lake, size)
    with PaymentsApi(company.payments(size), rate=given.rate) as api, Receivers() as receivers:
        environment = {
            "SHOP_DB": url,
            "SHOP_LAKE": str(given.lake.absolute()),
            "PAYMENTS_URL": api.url,
            **receivers.environment,
        }
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()]
        # The file holds a password, if only to a server that is gone when this ends.
        with os.fdopen(os.open(given.env, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as f:
            f.writelines(lines)
        print(f"the shop is open; in another terminal: . {given.env}", flush=True)
        closing.wait()
        given.env.unlink()
        print(f"heard: {len(receivers.posts)} posts, {len(receivers.mails)} mails")


if __name__ == "__main__":
    main()
