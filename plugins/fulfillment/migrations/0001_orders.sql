-- The article that is sold. The first one by `sku` counts: an order names no article.
CREATE TABLE inventory (
    sku   TEXT    NOT NULL PRIMARY KEY,
    stock INTEGER NOT NULL CHECK (stock >= 0)
) STRICT;

-- What each carrier takes for one shipment, now. A carrier without a row does not ship.
CREATE TABLE rates (
    carrier TEXT    NOT NULL PRIMARY KEY,
    cents   INTEGER NOT NULL CHECK (cents >= 0)
) STRICT;

-- One row per order that was begun; an order without a row is new. It has carrier and cost once it is
-- shipped, not before.
CREATE TABLE orders (
    order_id TEXT    NOT NULL PRIMARY KEY,
    state    TEXT    NOT NULL CHECK (state IN ('new', 'reserved', 'packed', 'shipped')),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    carrier  TEXT    CHECK (carrier IN ('standard', 'economy')),
    cost     INTEGER CHECK (cost >= 0),
    CHECK ((carrier IS NOT NULL) = (state = 'shipped')),
    CHECK ((cost IS NOT NULL) = (state = 'shipped'))
) STRICT;
