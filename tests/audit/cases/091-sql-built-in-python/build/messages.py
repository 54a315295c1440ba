import logging

HELP = "Use INSERT INTO carefully; never write NOW() in a filter"


def explain(table):
    logging.info("would run: INSERT INTO %s SELECT * FROM stage", table)
    print(f"DELETE FROM {table} and INSERT INTO {table} are skipped in a dry run")
    raise NotImplementedError("UPDATE t SET n = n + 1 is not supported here")
