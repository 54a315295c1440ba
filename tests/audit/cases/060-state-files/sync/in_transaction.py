import sqlite3


def load_file(path, rows):
    conn = sqlite3.connect("warehouse.db")
    with conn:
        seen = conn.execute("SELECT 1 FROM loaded_file WHERE path = ?", (path,)).fetchone()
        if seen:
            return
        conn.executemany("INSERT INTO sale (ticket, amount) VALUES (?, ?)", rows)
        conn.execute("INSERT INTO loaded_file (path) VALUES (?)", (path,))
