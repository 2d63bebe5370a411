-- Money is a double, kept exactly as it was computed, down to the sign of zero: a REAL column would store -0.0 as 0.0,
-- so its columns take any value and insist on a double.

CREATE TABLE products (
    product_id TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE
) STRICT;

-- `options` is a JSON object of texts.
CREATE TABLE variants (
    item_id    TEXT    NOT NULL PRIMARY KEY,
    product_id TEXT    NOT NULL REFERENCES products,
    options    TEXT    NOT NULL CHECK (json_type(options) = 'object'),
    available  INTEGER NOT NULL CHECK (available IN (0, 1)),
    price      ANY     NOT NULL CHECK (typeof(price) = 'real')
) STRICT;

CREATE INDEX variants_of_product ON variants (product_id);

-- In the order in which they were added; the first match of a search counts. `orders` is a JSON list of order ids.
CREATE TABLE users (
    number     INTEGER NOT NULL PRIMARY KEY,
    user_id    TEXT    NOT NULL UNIQUE,
    first_name TEXT    NOT NULL,
    last_name  TEXT    NOT NULL,
    address1   TEXT    NOT NULL,
    address2   TEXT    NOT NULL,
    city       TEXT    NOT NULL,
    country    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    zip        TEXT    NOT NULL,
    email      TEXT    NOT NULL,
    orders     TEXT    NOT NULL CHECK (json_type(orders) = 'array')
) STRICT;

CREATE INDEX users_by_zip ON users (zip);
CREATE INDEX users_by_email ON users (lower(email));

-- Which columns have a value depends on `source`.
CREATE TABLE payment_methods (
    user_id   TEXT NOT NULL REFERENCES users (user_id),
    id        TEXT NOT NULL,
    source    TEXT NOT NULL CHECK (source IN ('credit_card', 'gift_card', 'paypal')),
    brand     TEXT CHECK ((brand IS NOT NULL) = (source = 'credit_card')),
    last_four TEXT CHECK ((last_four IS NOT NULL) = (source = 'credit_card')),
    balance   ANY  CHECK (typeof(balance) = iif(source = 'gift_card', 'real', 'null')),
    PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;

-- The seven columns after `fulfillments` (a JSON list) have no value before the operation that sets them; a list of item
-- ids is JSON.
CREATE TABLE orders (
    order_id                   TEXT NOT NULL PRIMARY KEY,
    user_id                    TEXT NOT NULL,
    address1                   TEXT NOT NULL,
    address2                   TEXT NOT NULL,
    city                       TEXT NOT NULL,
    country                    TEXT NOT NULL,
    state                      TEXT NOT NULL,
    zip                        TEXT NOT NULL,
    status                     TEXT NOT NULL CHECK (status IN (
        'pending', 'processed', 'delivered', 'cancelled',
        'pending (item modified)', 'exchange requested', 'return requested'
    )),
    fulfillments               TEXT NOT NULL CHECK (json_type(fulfillments) = 'array'),
    cancel_reason              TEXT,
    exchange_items             TEXT CHECK (json_type(exchange_items) = 'array'),
    exchange_new_items         TEXT CHECK (json_type(exchange_new_items) = 'array'),
    exchange_payment_method_id TEXT,
    exchange_price_difference  ANY  CHECK (typeof(exchange_price_difference) IN ('real', 'null')),
    return_items               TEXT CHECK (json_type(return_items) = 'array'),
    return_payment_method_id   TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX orders_of_user ON orders (user_id);

-- An order may hold the same item more than once; `position` counts from 0.
CREATE TABLE order_items (
    order_id   TEXT    NOT NULL REFERENCES orders,
    position   INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    product_id TEXT    NOT NULL,
    item_id    TEXT    NOT NULL,
    price      ANY     NOT NULL CHECK (typeof(price) = 'real'),
    options    TEXT    NOT NULL CHECK (json_type(options) = 'object'),
    PRIMARY KEY (order_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE payments (
    order_id          TEXT    NOT NULL REFERENCES orders,
    position          INTEGER NOT NULL,
    transaction_type  TEXT    NOT NULL CHECK (transaction_type IN ('payment', 'refund')),
    amount            ANY     NOT NULL CHECK (typeof(amount) = 'real'),
    payment_method_id TEXT    NOT NULL,
    PRIMARY KEY (order_id, position)
) STRICT, WITHOUT ROWID;

-- One row per operation that was carried out, written with it: what a task has changed. Nothing here forbids two rows of
-- one operation, so that an operation that was carried out twice shows.
CREATE TABLE operations (
    number        INTEGER NOT NULL PRIMARY KEY,
    task_id       TEXT    NOT NULL,
    operation_key TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    changed       INTEGER NOT NULL CHECK (changed IN (0, 1))
) STRICT;

CREATE INDEX operations_of_task ON operations (task_id);
