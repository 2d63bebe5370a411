-- One article and two carriers that never change; what an order takes from the stock comes back when it is shipped, so
-- that every order meets the same world.
INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 10);
INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);
CREATE TRIGGER bench_next_order AFTER UPDATE OF state ON orders WHEN NEW.state = 'shipped'
BEGIN
    UPDATE inventory SET stock = 10;
END;
