-- As `price-change.sql`, but both carriers become too dear.
CREATE TRIGGER unavailable AFTER UPDATE OF state ON orders WHEN NEW.state = 'packed'
BEGIN
    UPDATE rates SET cents = 900;
END;
