from sqlalchemy import create_engine, text

engine = create_engine("postgresql:///stock")


def ship(lines):
    with engine.begin() as conn:
        for line in lines:
            conn.execute(
                text("UPDATE stock SET on_hand = on_hand - :qty WHERE sku = :sku"),
                {"qty": line.qty, "sku": line.sku},
            )


def ship_once(lines):
    with engine.begin() as conn:
        for line in lines:
            done = conn.execute(
                text("INSERT INTO shipped (line_id) VALUES (:id) ON CONFLICT (line_id) DO NOTHING"), {"id": line.id}
            )
            if done.rowcount == 1:
                conn.execute(text("UPDATE stock SET on_hand = on_hand - :qty WHERE sku = :sku"), {"qty": line.qty, "sku": line.sku})
