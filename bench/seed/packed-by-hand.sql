-- As `stable.sql`, but somebody packs each order by hand as soon as it is reserved: the step that would pack it finds the
-- world changed. Each order changes its own row alone, so that any number of them run at once.
INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 5000000);
INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);
CREATE TRIGGER bench_packed_by_hand AFTER INSERT ON orders WHEN NEW.state = 'reserved'
BEGIN
    UPDATE orders SET state = 'packed' WHERE order_id = NEW.order_id;
END;
CREATE TRIGGER bench_next_order AFTER UPDATE OF state ON orders WHEN NEW.state = 'shipped'
BEGIN
    UPDATE inventory SET stock = stock + NEW.quantity;
END;
