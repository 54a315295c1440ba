import uuid


def merge_orders(cur, rows):
    stage = f"tmp_orders_{uuid.uuid4().hex}"
    cur.execute(f"CREATE TEMP TABLE {stage} (order_id int, amount numeric)")
    cur.executemany(f"INSERT INTO {stage} VALUES (%s, %s)", rows)
    cur.execute(
        f"INSERT INTO orders SELECT DISTINCT ON (order_id) * FROM {stage} ORDER BY order_id "
        "ON CONFLICT (order_id) DO UPDATE SET amount = EXCLUDED.amount"
    )
