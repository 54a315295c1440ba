import duckdb

con = duckdb.connect("shop.duckdb")
con.execute("INSERT INTO raw_orders SELECT * FROM read_csv('orders.csv')")
con.execute("INSERT OR REPLACE INTO customers SELECT * FROM read_csv('customers.csv')")
con.execute("CREATE OR REPLACE TABLE products AS SELECT * FROM read_parquet('products.parquet')")
con.execute("DROP TABLE IF EXISTS prices")
con.execute("CREATE TABLE prices AS SELECT * FROM read_csv('prices.csv')")
con.execute("INSERT INTO prices SELECT * FROM read_csv('prices_old.csv')")
con.execute("CREATE TEMP TABLE scratch AS SELECT 1 AS n")
con.execute("INSERT INTO scratch SELECT range FROM range(10)")
con.execute("COPY (SELECT * FROM customers) TO 'customers.parquet' (FORMAT parquet)")
