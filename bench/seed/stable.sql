-- One article and two carriers that never change. What an order takes from the stock comes back when it is shipped, and
-- there is enough for as many orders at once as anybody runs.
INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 5000000);
INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);
CREATE TRIGGER bench_next_order AFTER UPDATE OF state ON orders WHEN NEW.state = 'shipped'
BEGIN
    UPDATE inventory SET stock = stock + NEW.quantity;
END;
