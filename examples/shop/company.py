"""What happened at the shop: the same orders, customers and events however often one asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

REGIONS = ("east", "north", "south", "west")
COUNTRIES = ("DE", "FR", "NL", "PL", "SE")
TIERS = ("basic", "plus", "gold")
KINDS = ("view", "view", "view", "cart", "purchase")
SECONDS_A_DAY = 86_400
LATE_EVERY = 7
"""Each seventh customer's first change of a day arrives a day late, behind its second one."""
TWICE_EVERY = 5
"""Each fifth change is delivered twice."""
LEAVES_EVERY = 11
"""Each eleventh customer leaves, and each twenty-second comes back two days later."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large the shop is, and how long it has been open."""

    first_day: date = date(2026, 4, 20)
    days: int = 6
    customers: int = 60
    orders_a_day: int = 400
    events_a_day: int = 300
    movements_a_day: int = 40
    skus: int = 12

    def calendar(self) -> list[date]:
        """The days on which the shop was open."""
        return [self.first_day + timedelta(days=n) for n in range(self.days)]


class Customer(NamedTuple):
    """A customer as first signed up; country and day of sign-up never change."""

    customer_id: int
    name: str
    country: str
    signed_up_on: date


class Change(NamedTuple):
    """One delivery of the change feed. `seq` is the change's place in the shop's own log."""

    seq: int
    customer_id: int
    op: str
    name: str
    email: str
    country: str
    tier: str
    changed_at: datetime
    delivered_at: datetime


class Order(NamedTuple):
    """An order."""

    order_id: int
    customer_id: int
    region: str
    amount: Decimal
    ordered_at: datetime


class Event(NamedTuple):
    """Something that a visitor did."""

    event_id: int
    user_id: int
    kind: str
    occurred_at: datetime


class Movement(NamedTuple):
    """Goods that came into the warehouse or left it."""

    movement_id: int
    sku: str
    delta: int
    moved_at: datetime


class Payment(NamedTuple):
    """A payment as its provider tells of it."""

    id: str
    customer_id: int
    amount_cents: int
    status: str
    created: int


def customers(size: Size) -> list[Customer]:
    """Everybody who ever signed up."""
    chance = _chance("customers")
    return [
        Customer(number, f"Customer {number}", chance.choice(COUNTRIES), size.first_day)
        for number in range(1, size.customers + 1)
    ]


def orders(size: Size) -> Iterator[Order]:
    """All orders, day by day."""
    for n, day in enumerate(size.calendar()):
        chance = _chance("orders", day)
        for number, moment in enumerate(_moments(chance, day, size.orders_a_day), start=1):
            yield Order(
                n * size.orders_a_day + number,
                chance.randint(1, size.customers),
                chance.choice(REGIONS),
                Decimal(chance.randint(100, 50_000)) / 100,
                moment,
            )


def events(size: Size) -> Iterator[Event]:
    """All events; on each day some customers stay away."""
    for n, day in enumerate(size.calendar()):
        chance = _chance("events", day)
        awake = chance.sample(range(1, size.customers + 1), k=size.customers * 2 // 3)
        for number, moment in enumerate(_moments(chance, day, size.events_a_day), start=1):
            event_id = n * size.events_a_day + number
            yield Event(event_id, chance.choice(awake), chance.choice(KINDS), moment)


def movements(size: Size) -> Iterator[Movement]:
    """All movements of goods."""
    for n, day in enumerate(size.calendar()):
        chance = _chance("movements", day)
        for number, moment in enumerate(_moments(chance, day, size.movements_a_day), start=1):
            sku = f"sku-{chance.randint(1, size.skus):03}"
            yield Movement(
                n * size.movements_a_day + number, sku, chance.choice((-3, -2, -1, -1, 5)), moment
            )


def opening_stock(size: Size) -> list[tuple[str, int]]:
    """What lay in the warehouse before the first day."""
    return [(f"sku-{number:03}", 1000) for number in range(1, size.skus + 1)]


def payments(size: Size) -> Iterator[Payment]:
    """One payment an order, some minutes later; a few are refused."""
    for order in orders(size):
        chance = _chance("payment", order.order_id)
        yield Payment(
            f"pay_{order.order_id:08}",
            order.customer_id,
            int(order.amount * 100),
            "failed" if chance.random() < 0.03 else "succeeded",  # noqa: PLR2004
            int(order.ordered_at.timestamp()) + chance.randint(5, 900),
        )


def changes(size: Size) -> list[Change]:
    """The change feed as it was delivered: repeats, late changes, deletes and returns in it."""
    log = _log(size)
    delivered: list[Change] = []
    for change, late in log:
        moment = change.changed_at + (timedelta(days=1) if late else timedelta(minutes=1))
        delivered.append(change._replace(delivered_at=moment))
        if change.seq % TWICE_EVERY == 0:
            delivered.append(change._replace(delivered_at=moment + timedelta(minutes=1)))
    return sorted(delivered, key=lambda change: (change.delivered_at, change.seq))


def last_images(size: Size) -> dict[int, Change]:
    """What the dimension must show in the end: the newest change of each customer still there."""
    newest: dict[int, Change] = {}
    for change, _ in _log(size):
        newest[change.customer_id] = change
    return {number: change for number, change in newest.items() if change.op != "D"}


def _log(size: Size) -> list[tuple[Change, bool]]:
    """The shop's own log in its order, and which of its changes are delivered late."""
    log: list[tuple[Change, bool]] = []
    for n, day in enumerate(size.calendar()):
        chance = _chance("changes", day)
        for customer in customers(size):
            for op, late in _ops(size, n, customer.customer_id, chance):
                seq = len(log) + 1
                moment = _midnight(day) + timedelta(hours=8, seconds=seq % 3600)
                change = Change(
                    seq, customer.customer_id, op, customer.name,
                    f"c{customer.customer_id}.{seq}@mail.example", customer.country,
                    TIERS[seq % len(TIERS)], moment, moment,
                )  # fmt: skip
                log.append((change, late))
    return log


def _ops(size: Size, n: int, number: int, chance: Random) -> list[tuple[str, bool]]:
    """What happens to a customer on the n-th day: operations, and whether each is late."""
    if n == 0:
        return [("I", False)]
    leaves = size.days // 2
    if number % LEAVES_EVERY == 0 and n >= leaves:
        if n == leaves:
            return [("D", False)]
        return [("I", False)] if n == leaves + 2 and number % (2 * LEAVES_EVERY) == 0 else []
    if number % LATE_EVERY == 0 and n < size.days - 1:
        return [("U", True), ("U", False)]
    return [("U", False)] if chance.random() < 0.2 else []  # noqa: PLR2004


def _moments(chance: Random, day: date, count: int) -> list[datetime]:
    start = _midnight(day)
    seconds = sorted(chance.randrange(SECONDS_A_DAY) for _ in range(count))
    return [start + timedelta(seconds=second) for second in seconds]


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc)


def _chance(*what: object) -> Random:
    """Chance that is the same each time for the same thing."""
    return Random(" ".join(map(str, what)))  # noqa: S311 — made-up data needs no cryptography
