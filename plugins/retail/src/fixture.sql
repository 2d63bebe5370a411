INSERT INTO products (product_id, name) VALUES ('10', 'Mug'), ('20', 'Bowl');
INSERT INTO variants (item_id, product_id, options, available, price) VALUES
    ('11', '10', '{"color": "red"}', 1, 10.1),
    ('12', '10', '{"color": "blue"}', 1, 12.2),
    ('13', '10', '{"color": "gold"}', 0, 99.0),
    ('14', '10', '{"color": "grey"}', 1, 8.05),
    ('21', '20', '{"size": "S"}', 1, 5.0),
    ('22', '20', '{"size": "L"}', 1, 7.5),
    ('23', '20', '{"size": "XL"}', 1, 500.0);
INSERT INTO users
    (user_id, first_name, last_name, address1, address2, city, country, state, zip, email, orders)
VALUES
    ('mei', 'Mei', 'Kovács', '1 Old Road', 'Flat 2', 'Denver', 'USA', 'CO', '80201', 'Mei@Example.com', '["#W2", "#W1"]'),
    ('otto', 'Otto', 'Hahn', '2 Old Road', '', 'Denver', 'USA', 'CO', '80201', 'otto@example.com', '["#W3"]');
INSERT INTO payment_methods (user_id, id, source, brand, last_four, balance) VALUES
    ('mei', 'gift_card_1', 'gift_card', NULL, NULL, 10.0),
    ('mei', 'credit_card_1', 'credit_card', 'visa', '1234', NULL),
    ('mei', 'paypal_1', 'paypal', NULL, NULL, NULL),
    ('otto', 'paypal_2', 'paypal', NULL, NULL, NULL);
INSERT INTO orders
    (order_id, user_id, address1, address2, city, country, state, zip, status, fulfillments)
VALUES
    ('#W1', 'mei', '1 Old Road', 'Flat 2', 'Denver', 'USA', 'CO', '80201', 'pending', '[]'),
    ('#W2', 'mei', '1 Old Road', 'Flat 2', 'Denver', 'USA', 'CO', '80201', 'delivered',
        '[{"tracking_id": ["9"], "item_ids": ["12", "21"]}]'),
    ('#W3', 'otto', '2 Old Road', '', 'Denver', 'USA', 'CO', '80201', 'pending', '[]');
INSERT INTO order_items (order_id, position, name, product_id, item_id, price, options) VALUES
    ('#W1', 0, 'Mug', '10', '11', 10.1, '{"color": "red"}'),
    ('#W1', 1, 'Bowl', '20', '21', 5.0, '{"size": "S"}'),
    ('#W1', 2, 'Mug', '10', '11', 10.1, '{"color": "red"}'),
    ('#W2', 0, 'Mug', '10', '12', 12.2, '{"color": "blue"}'),
    ('#W2', 1, 'Bowl', '20', '21', 5.0, '{"size": "S"}'),
    ('#W3', 0, 'Bowl', '20', '22', 7.5, '{"size": "L"}');
INSERT INTO payments (order_id, position, transaction_type, amount, payment_method_id) VALUES
    ('#W1', 0, 'payment', 25.2, 'credit_card_1'),
    ('#W2', 0, 'payment', 17.2, 'paypal_1'),
    ('#W3', 0, 'payment', 7.5, 'paypal_2');
