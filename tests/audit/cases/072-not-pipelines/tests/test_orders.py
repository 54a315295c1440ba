from datetime import datetime
import random


def test_total(db):
    db.execute("INSERT INTO orders (id, at, amount) VALUES (1, %s, 10)", (datetime.now(),))
    assert db.total() == 10


def test_random_order(db):
    db.add(random.random())
