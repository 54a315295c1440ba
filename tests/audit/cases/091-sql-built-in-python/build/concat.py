def load(cur, table, day):
    sql = "INSERT INTO " + table + " (day, total) "
    sql += "SELECT day, SUM(amount) FROM sales WHERE day = %s GROUP BY day"
    cur.execute(sql, (day,))


def load_clean(cur, table, day):
    cur.execute("DELETE FROM " + table + " WHERE day = %s", (day,))
    cur.execute("INSERT INTO " + table + " (day, total) SELECT day, SUM(amount) FROM sales WHERE day = %s GROUP BY day", (day,))
    cur.connection.commit()
