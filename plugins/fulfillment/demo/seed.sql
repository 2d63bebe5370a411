-- The world of every scenario: one article on stock, two carriers, no order yet.
INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 10);
INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);
