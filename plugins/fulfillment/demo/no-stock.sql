-- Sold out before the order came.
UPDATE inventory SET stock = 0;
