UPSERT = """
    INSERT INTO {table} ({columns}) VALUES ({marks})
    ON CONFLICT ({key}) DO UPDATE SET {updates}
"""
INSERT = "INSERT INTO {table} ({columns}) VALUES ({marks})"


def write(cur, table, columns, key, rows):
    marks = ", ".join(["%s"] * len(columns))
    updates = ", ".join(f"{c} = EXCLUDED.{c}" for c in columns if c != key)
    cur.executemany(UPSERT.format(table=table, columns=", ".join(columns), marks=marks, key=key, updates=updates), rows)


def add(cur, table, columns, rows):
    marks = ", ".join(["%s"] * len(columns))
    cur.executemany(INSERT.format(table=table, columns=", ".join(columns), marks=marks), rows)
