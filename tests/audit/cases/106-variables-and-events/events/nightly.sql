CREATE EVENT age_coupons
    ON SCHEDULE EVERY 1 DAY
    DO
      UPDATE shop.coupons SET days_old = days_old + 1;

CREATE EVENT drop_carts
    ON SCHEDULE EVERY 1 HOUR
    DO
      DELETE FROM shop.carts WHERE touched_at < NOW() - INTERVAL 2 DAY;
