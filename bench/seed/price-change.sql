-- As `stable.sql`, but the standard carrier becomes dearer while an order is packed, and takes its old rate again once
-- that order is shipped.
INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 10);
INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);
CREATE TRIGGER bench_price_change AFTER UPDATE OF state ON orders WHEN NEW.state = 'packed'
BEGIN
    UPDATE rates SET cents = 900 WHERE carrier = 'standard';
END;
CREATE TRIGGER bench_next_order AFTER UPDATE OF state ON orders WHEN NEW.state = 'shipped'
BEGIN
    UPDATE inventory SET stock = 10;
    UPDATE rates SET cents = 300 WHERE carrier = 'standard';
END;
