//! Every statement that the plugin runs.

use serde::Deserialize;
use wharf_plugin::{Json, SqlError, Tx, Value, params};

use crate::entity::{
    Address, Fulfillment, Item, Name, Options, Order, Payment, PaymentMethod, Product, Status,
    User, Variant,
};
use crate::refusal::{Stop, refused};
use crate::snapshot::Committed;

/// The shop's tables, in the open transaction.
#[derive(Clone, Copy)]
pub struct Store<'a> {
    tx: Tx<'a>,
}

/// Looking up. What must exist and does not is refused.
impl<'a> Store<'a> {
    /// The tables as this transaction sees them.
    pub fn over(tx: &Tx<'a>) -> Self {
        Self { tx: *tx }
    }

    /// The order, or `Order not found`.
    pub fn order(&self, order_id: &str) -> Result<Order, Stop> {
        self.find_order(order_id)?
            .ok_or_else(|| refused("order-not-found", "Order not found"))
    }

    /// The customer, or `User not found`.
    pub fn user(&self, user_id: &str) -> Result<User, Stop> {
        self.find_user(user_id)?.ok_or_else(user_not_found)
    }

    /// One of a customer's payment methods, or `User not found`, `Payment method not found`.
    pub fn payment_method(&self, user_id: &str, id: &str) -> Result<PaymentMethod, Stop> {
        self.user(user_id)?
            .payment_methods
            .remove(id)
            .ok_or_else(|| refused("payment-method-not-found", "Payment method not found"))
    }

    /// The product, or `Product not found`.
    pub fn product(&self, product_id: &str) -> Result<Product, Stop> {
        self.find_product(product_id)?
            .ok_or_else(|| refused("product-not-found", "Product not found"))
    }

    /// A variant of any product, or `Item not found`.
    pub fn item(&self, item_id: &str) -> Result<Variant, Stop> {
        const SQL: &str =
            "SELECT item_id, options, available, price FROM variants WHERE item_id = ?1";
        self.tx
            .optional::<VariantRow>(SQL, params![item_id])?
            .map(Variant::from)
            .ok_or_else(|| refused("item-not-found", "Item not found"))
    }

    /// The first customer with this name, in any case, and exactly this postal code in the address.
    pub fn user_named(&self, first: &str, last: &str, zip: &str) -> Result<String, Stop> {
        const SQL: &str =
            "SELECT user_id, first_name, last_name FROM users WHERE zip = ?1 ORDER BY number";
        let wanted = (first.to_lowercase(), last.to_lowercase());
        let rows: Vec<(String, String, String)> = self.tx.rows(SQL, params![zip])?;
        rows.into_iter()
            .find(|(_, first, last)| (first.to_lowercase(), last.to_lowercase()) == wanted)
            .map(|(user_id, ..)| user_id)
            .ok_or_else(user_not_found)
    }

    /// The first customer with this e-mail address, in any case.
    pub fn user_with_email(&self, email: &str) -> Result<String, Stop> {
        const SQL: &str =
            "SELECT user_id FROM users WHERE lower(email) = ?1 ORDER BY number LIMIT 1";
        self.tx
            .optional(SQL, params![email.to_lowercase()])?
            .ok_or_else(user_not_found)
    }

    /// Name and id of all products.
    pub fn product_names(&self) -> Result<Vec<(String, String)>, SqlError> {
        self.tx
            .rows("SELECT name, product_id FROM products ORDER BY name", &[])
    }
}

/// Reading whole entities.
impl Store<'_> {
    /// The customer, if there is one.
    pub fn find_user(&self, user_id: &str) -> Result<Option<User>, SqlError> {
        const USER: &str = "SELECT user_id, first_name, last_name, email, orders, \
            address1, address2, city, country, state, zip FROM users WHERE user_id = ?1";
        const METHODS: &str = "SELECT id, source, brand, last_four, balance \
            FROM payment_methods WHERE user_id = ?1";
        let Some(user) = self.tx.optional::<UserRow>(USER, params![user_id])? else {
            return Ok(None);
        };
        let methods = self.tx.rows::<MethodRow>(METHODS, params![user_id])?;
        let methods: Result<_, SqlError> = methods.into_iter().map(MethodRow::read).collect();
        Ok(Some(User {
            user_id: user.user_id,
            name: user.name,
            address: user.address,
            email: user.email,
            payment_methods: methods?,
            orders: user.orders.0,
        }))
    }

    /// The order, if there is one.
    pub fn find_order(&self, order_id: &str) -> Result<Option<Order>, SqlError> {
        const ORDER: &str = "SELECT order_id, user_id, \
            address1, address2, city, country, state, zip, status, fulfillments, cancel_reason, \
            exchange_items, exchange_new_items, exchange_payment_method_id, \
            exchange_price_difference, return_items, return_payment_method_id \
            FROM orders WHERE order_id = ?1";
        const ITEMS: &str = "SELECT name, product_id, item_id, price, options \
            FROM order_items WHERE order_id = ?1 ORDER BY position";
        const PAYMENTS: &str = "SELECT transaction_type, amount, payment_method_id \
            FROM payments WHERE order_id = ?1 ORDER BY position";
        let Some(order) = self.tx.optional::<OrderRow>(ORDER, params![order_id])? else {
            return Ok(None);
        };
        let items = self.tx.rows::<ItemRow>(ITEMS, params![order_id])?;
        Ok(Some(Order {
            order_id: order.order_id,
            user_id: order.user_id,
            address: order.address,
            items: items.into_iter().map(Item::from).collect(),
            status: order.status,
            fulfillments: order.fulfillments.0,
            payment_history: self.tx.rows(PAYMENTS, params![order_id])?,
            cancel_reason: order.cancel_reason,
            exchange_items: order.exchange_items.map(|list| list.0),
            exchange_new_items: order.exchange_new_items.map(|list| list.0),
            exchange_payment_method_id: order.exchange_payment_method_id,
            exchange_price_difference: order.exchange_price_difference,
            return_items: order.return_items.map(|list| list.0),
            return_payment_method_id: order.return_payment_method_id,
        }))
    }

    /// A customer's orders, by id.
    pub fn orders_of(&self, user_id: &str) -> Result<Vec<Order>, SqlError> {
        const SQL: &str = "SELECT order_id FROM orders WHERE user_id = ?1 ORDER BY order_id";
        let ids: Vec<String> = self.tx.rows(SQL, params![user_id])?;
        let mut orders = Vec::with_capacity(ids.len());
        for id in ids {
            orders.extend(self.find_order(&id)?);
        }
        Ok(orders)
    }

    /// The product, if there is one.
    pub fn find_product(&self, product_id: &str) -> Result<Option<Product>, SqlError> {
        const PRODUCT: &str = "SELECT name FROM products WHERE product_id = ?1";
        const VARIANTS: &str = "SELECT item_id, options, available, price \
            FROM variants WHERE product_id = ?1";
        let Some(name) = self.tx.optional(PRODUCT, params![product_id])? else {
            return Ok(None);
        };
        let variants = self.tx.rows::<VariantRow>(VARIANTS, params![product_id])?;
        Ok(Some(Product {
            name,
            product_id: product_id.to_owned(),
            variants: variants
                .into_iter()
                .map(|row| (row.item_id.clone(), Variant::from(row)))
                .collect(),
        }))
    }

    /// What a task has carried out, in order.
    pub fn operations_of(&self, task_id: &str) -> Result<Vec<Committed>, SqlError> {
        const SQL: &str = "SELECT operation_key, tool, changed \
            FROM operations WHERE task_id = ?1 ORDER BY number";
        self.tx.rows(SQL, params![task_id])
    }
}

/// Changing.
impl Store<'_> {
    /// Notes that a task has carried out an operation, and whether that changed anything.
    pub fn record_operation(&self, task_id: &str, done: &Committed) -> Result<(), SqlError> {
        const SQL: &str = "INSERT INTO operations (task_id, operation_key, tool, changed) \
            VALUES (?1, ?2, ?3, ?4)";
        let Committed {
            operation_key,
            tool,
            changed,
        } = done;
        self.tx
            .change_one(SQL, params![task_id, operation_key, tool, *changed])
    }

    /// Where an order stands.
    pub fn set_status(&self, order_id: &str, status: Status) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE orders SET status = ?2 WHERE order_id = ?1";
        self.tx.change_one(SQL, params![order_id, status.as_str()])
    }

    /// Why an order was cancelled.
    pub fn set_cancel_reason(&self, order_id: &str, reason: &str) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE orders SET cancel_reason = ?2 WHERE order_id = ?1";
        self.tx.change_one(SQL, params![order_id, reason])
    }

    /// What an order's customer wants instead of what.
    pub fn set_exchange(&self, order_id: &str, exchange: Exchange<'_>) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE orders SET exchange_items = ?2, exchange_new_items = ?3, \
            exchange_payment_method_id = ?4, exchange_price_difference = ?5 WHERE order_id = ?1";
        let Exchange {
            items,
            new_items,
            payment_method_id,
            price_difference,
        } = exchange;
        let params = params![
            order_id,
            Json(items),
            Json(new_items),
            payment_method_id,
            price_difference
        ];
        self.tx.change_one(SQL, params)
    }

    /// What an order's customer sends back.
    pub fn set_return(
        &self,
        order_id: &str,
        items: Vec<String>,
        payment_method_id: &str,
    ) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE orders SET return_items = ?2, return_payment_method_id = ?3 \
            WHERE order_id = ?1";
        self.tx
            .change_one(SQL, params![order_id, Json(items), payment_method_id])
    }

    /// Where an order goes.
    pub fn set_order_address(&self, order_id: &str, address: &Address) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE orders SET address1 = ?2, address2 = ?3, city = ?4, \
            country = ?5, state = ?6, zip = ?7 WHERE order_id = ?1";
        self.tx.change_one(SQL, &addressed(order_id, address))
    }

    /// Where a customer lives.
    pub fn set_user_address(&self, user_id: &str, address: &Address) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE users SET address1 = ?2, address2 = ?3, city = ?4, \
            country = ?5, state = ?6, zip = ?7 WHERE user_id = ?1";
        self.tx.change_one(SQL, &addressed(user_id, address))
    }

    /// What is left on a gift card.
    pub fn set_balance(&self, user_id: &str, id: &str, balance: f64) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE payment_methods SET balance = ?3 WHERE user_id = ?1 AND id = ?2";
        self.tx.change_one(SQL, params![user_id, id, balance])
    }

    /// Makes another variant of the item at this position.
    pub fn set_item(&self, order_id: &str, position: usize, item: &Item) -> Result<(), SqlError> {
        const SQL: &str = "UPDATE order_items SET item_id = ?3, price = ?4, options = ?5 \
            WHERE order_id = ?1 AND position = ?2";
        let position = i64::try_from(position).expect("an order has few items");
        let options = Json(item.options.clone());
        let params = params![order_id, position, &item.item_id, item.price, options];
        self.tx.change_one(SQL, params)
    }

    /// Appends to an order's payments.
    pub fn add_payment(&self, order_id: &str, payment: &Payment) -> Result<(), SqlError> {
        const SQL: &str = "INSERT INTO payments \
            (order_id, position, transaction_type, amount, payment_method_id) \
            SELECT ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4 FROM payments WHERE order_id = ?1";
        let Payment {
            transaction_type,
            amount,
            payment_method_id,
        } = payment;
        let kind = transaction_type.as_str();
        self.tx
            .change_one(SQL, params![order_id, kind, *amount, payment_method_id])
    }
}

/// What [`Store::set_exchange`] keeps.
pub struct Exchange<'a> {
    /// What goes back, sorted.
    pub items: Vec<String>,
    /// What comes instead, sorted on its own.
    pub new_items: Vec<String>,
    /// How the difference is settled.
    pub payment_method_id: &'a str,
    /// What the customer pays on top, rounded.
    pub price_difference: f64,
}

fn user_not_found() -> Stop {
    refused("user-not-found", "User not found")
}

fn addressed(id: &str, address: &Address) -> [Value; 7] {
    let Address {
        address1,
        address2,
        city,
        country,
        state,
        zip,
    } = address;
    [
        id.into(),
        address1.into(),
        address2.into(),
        city.into(),
        country.into(),
        state.into(),
        zip.into(),
    ]
}

#[derive(Deserialize)]
struct UserRow {
    user_id: String,
    #[serde(flatten)]
    name: Name,
    #[serde(flatten)]
    address: Address,
    email: String,
    orders: Json<Vec<String>>,
}

#[derive(Deserialize)]
struct MethodRow {
    id: String,
    source: String,
    brand: Option<String>,
    last_four: Option<String>,
    balance: Option<f64>,
}

impl MethodRow {
    /// By its source, whatever its id looks like.
    fn read(self) -> Result<(String, PaymentMethod), SqlError> {
        let id = self.id.clone();
        let method = match (
            self.source.as_str(),
            self.brand,
            self.last_four,
            self.balance,
        ) {
            ("credit_card", Some(brand), Some(last_four), None) => PaymentMethod::CreditCard {
                id: self.id,
                brand,
                last_four,
            },
            ("gift_card", None, None, Some(balance)) => PaymentMethod::GiftCard {
                id: self.id,
                balance,
            },
            ("paypal", None, None, None) => PaymentMethod::Paypal { id: self.id },
            _ => {
                let message = format!("the payment method {id} is of no known kind");
                return Err(SqlError::Failed(message));
            }
        };
        Ok((id, method))
    }
}

#[derive(Deserialize)]
struct OrderRow {
    order_id: String,
    user_id: String,
    #[serde(flatten)]
    address: Address,
    status: Status,
    fulfillments: Json<Vec<Fulfillment>>,
    cancel_reason: Option<String>,
    exchange_items: Option<Json<Vec<String>>>,
    exchange_new_items: Option<Json<Vec<String>>>,
    exchange_payment_method_id: Option<String>,
    exchange_price_difference: Option<f64>,
    return_items: Option<Json<Vec<String>>>,
    return_payment_method_id: Option<String>,
}

#[derive(Deserialize)]
struct ItemRow {
    name: String,
    product_id: String,
    item_id: String,
    price: f64,
    options: Json<Options>,
}

impl From<ItemRow> for Item {
    fn from(row: ItemRow) -> Self {
        Self {
            name: row.name,
            product_id: row.product_id,
            item_id: row.item_id,
            price: row.price,
            options: row.options.0,
        }
    }
}

#[derive(Deserialize)]
struct VariantRow {
    item_id: String,
    options: Json<Options>,
    available: bool,
    price: f64,
}

impl From<VariantRow> for Variant {
    fn from(row: VariantRow) -> Self {
        Self {
            item_id: row.item_id,
            options: row.options.0,
            available: row.available,
            price: row.price,
        }
    }
}
