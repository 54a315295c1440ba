"""Book a day's inventory movements, take them off the stock, mail the warehouse."""

import os
import smtplib
import sys
from email.message import EmailMessage

import psycopg

DDL = """
CREATE SCHEMA IF NOT EXISTS mart;
CREATE SEQUENCE IF NOT EXISTS mart.txn_id;
CREATE TABLE IF NOT EXISTS mart.daily_inventory_adjustments (
  txn_id          bigint PRIMARY KEY,
  adjustment_date date,
  sku             text,
  delta           integer
);
CREATE TABLE IF NOT EXISTS mart.stock AS SELECT sku, qty FROM shop.opening_stock
"""


def book_adjustments(ds):
    with psycopg.connect(os.environ["SHOP_DB"]) as conn, conn.cursor() as cur:
        cur.execute(DDL)
        cur.execute(
            """
            INSERT INTO mart.daily_inventory_adjustments (txn_id, adjustment_date, sku, delta)
            SELECT nextval('mart.txn_id'), %s, sku, delta
            FROM shop.inventory_movements
            WHERE (moved_at AT TIME ZONE 'UTC')::date = %s
            """,
            (ds, ds),
        )
        booked = cur.rowcount
        cur.execute(
            """
            UPDATE mart.stock AS s
            SET qty = s.qty - m.taken
            FROM (
              SELECT sku, -sum(delta) AS taken
              FROM shop.inventory_movements
              WHERE (moved_at AT TIME ZONE 'UTC')::date = %s
              GROUP BY sku
            ) AS m
            WHERE m.sku = s.sku
            """,
            (ds,),
        )
    return booked


def mail_warehouse(ds, booked):
    message = EmailMessage()
    message["Subject"] = f"Inventory of {ds}: {booked} adjustments"
    message["From"] = "pipelines@shop.example"
    message["To"] = "warehouse@shop.example"
    message.set_content("They are booked and taken off the stock.")
    with smtplib.SMTP(os.environ["SMTP_HOST"], int(os.environ["SMTP_PORT"])) as smtp:
        smtp.send_message(message)


if __name__ == "__main__":
    day = sys.argv[1]
    mail_warehouse(day, book_adjustments(day))
