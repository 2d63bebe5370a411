-- The standard carrier becomes dearer in the very transaction that packs the order: after the plan was made,
-- before it can ship.
CREATE TRIGGER price_change AFTER UPDATE OF state ON orders WHEN NEW.state = 'packed'
BEGIN
    UPDATE rates SET cents = 900 WHERE carrier = 'standard';
END;
