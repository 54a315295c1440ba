songplay_table_create = """
    CREATE TABLE IF NOT EXISTS songplays (
        songplay_id SERIAL PRIMARY KEY,
        start_time TIMESTAMP NOT NULL,
        user_id INT,
        song_id VARCHAR
    )
"""

songplay_table_insert = """
    INSERT INTO songplays (start_time, user_id, song_id)
    VALUES (%s, %s, %s)
"""

user_table_insert = """
    INSERT INTO users (user_id, level) VALUES (%s, %s)
    ON CONFLICT (user_id) DO UPDATE SET level = EXCLUDED.level
"""

song_select = "SELECT song_id FROM songs WHERE title = %s AND duration = %s"
