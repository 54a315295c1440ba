def clear_day(cur, table, day):
    cur.execute(f"DELETE FROM {table} WHERE day = %s", (day,))
