"""The shop's own database: its tables, filled with what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from examples.shop import company

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLES = """
CREATE SCHEMA shop;
CREATE TABLE shop.customers (
  customer_id integer PRIMARY KEY, name text, country text, signed_up_on date);
CREATE TABLE shop.customer_changes (
  seq bigint, customer_id integer, op text, name text, email text, country text, tier text,
  changed_at timestamptz, delivered_at timestamptz);
CREATE TABLE shop.orders (
  order_id bigint PRIMARY KEY, customer_id integer, region text, amount numeric(10, 2),
  ordered_at timestamptz);
CREATE TABLE shop.events (
  event_id bigint PRIMARY KEY, user_id integer, kind text, occurred_at timestamptz);
CREATE TABLE shop.inventory_movements (
  movement_id bigint PRIMARY KEY, sku text, delta integer, moved_at timestamptz);
CREATE TABLE shop.opening_stock (sku text PRIMARY KEY, qty integer)
"""


def fill(url: str, size: company.Size) -> None:
    """Create the shop's tables in an empty database and fill them."""
    rows: dict[str, Iterable[tuple[object, ...]]] = {
        "customers": company.customers(size),
        "customer_changes": company.changes(size),
        "orders": company.orders(size),
        "events": company.events(size),
        "inventory_movements": company.movements(size),
        "opening_stock": company.opening_stock(size),
    }
    with psycopg.connect(url) as connection:
        connection.execute(TABLES)
        for table, content in rows.items():
            with connection.cursor().copy(f"COPY shop.{table} FROM STDIN".encode()) as copy:
                for row in content:
                    copy.write_row(row)
