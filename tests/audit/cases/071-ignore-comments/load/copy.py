def copy(frame, engine):
    frame.to_sql("audit_trail_rows", engine, if_exists="append")  # setpoint: ignore[W01] one row a call is wanted, callers pass new rows only


def replace(frame, engine):
    frame.to_sql("countries", engine, if_exists="replace")  # setpoint: ignore[W01] small table


def append(frame, engine):
    frame.to_sql("cities", engine, if_exists="append")  # setpoint: ignore[W01]
