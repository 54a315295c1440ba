import snowflake.connector


def run(account):
    with snowflake.connector.connect(account=account) as conn:
        cur = conn.cursor()
        cur.execute("CREATE TEMPORARY TABLE in_orders AS SELECT * FROM @landing/orders")
        cur.execute("INSERT INTO core.orders SELECT * FROM in_orders")
        cur.execute("INSERT OVERWRITE INTO core.currencies SELECT * FROM @landing/currencies")
        for statement in ("TRUNCATE TABLE core.regions", "INSERT INTO core.regions SELECT * FROM @landing/regions"):
            cur.execute(statement)
