//! `db.json`, and the SQL that fills the plugin's empty tables with it.

use std::fmt::{self, Write};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

/// The whole database of the benchmark, in the order of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shop {
    products: InOrder<Product>,
    users: InOrder<User>,
    orders: InOrder<Order>,
}

/// Why there is no seed.
#[derive(Debug)]
pub enum SeedError {
    /// The text is no such database.
    Json(serde_json::Error),
    /// It is one, but the tables cannot hold it.
    Unfit(String),
}

impl fmt::Display for SeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("this is not the benchmark's database"),
            Self::Unfit(reason) => write!(f, "the tables cannot hold this database: {reason}"),
        }
    }
}

impl std::error::Error for SeedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Unfit(_) => None,
        }
    }
}

impl Shop {
    /// Reads `db.json`.
    pub fn parse(json: &str) -> Result<Self, SeedError> {
        serde_json::from_str(json).map_err(SeedError::Json)
    }

    /// Whose order it is.
    pub fn owner(&self, order_id: &str) -> Option<&str> {
        let (_, order) = self.orders.0.iter().find(|(id, _)| id == order_id)?;
        Some(&order.user_id)
    }

    /// Statements that fill empty tables: plain inserts of many rows each, none longer than a few
    /// hundred KiB.
    pub fn seed(&self) -> Result<String, SeedError> {
        let mut seed = Seed::default();
        self.products(&mut seed)?;
        self.users(&mut seed)?;
        self.orders(&mut seed)?;
        Ok(seed.sql)
    }

    fn products(&self, seed: &mut Seed) -> Result<(), SeedError> {
        for (id, product) in &self.products.0 {
            same_id(id, &product.product_id)?;
            for (id, variant) in &product.variants.0 {
                same_id(id, &variant.item_id)?;
            }
        }
        seed.table(
            "products (product_id, name)",
            &self.products.0,
            |(id, it)| Ok(format!("{}, {}", text(id)?, text(&it.name)?)),
        )?;
        let variants: Vec<_> = self
            .products
            .0
            .iter()
            .flat_map(|(id, product)| product.variants.0.iter().map(move |(_, it)| (id, it)))
            .collect();
        let columns = "variants (item_id, product_id, options, available, price)";
        seed.table(columns, &variants, |(product_id, it)| {
            let item_id = text(&it.item_id)?;
            let (options, price) = (json(&it.options)?, number(it.price)?);
            let available = u8::from(it.available);
            Ok(format!(
                "{item_id}, {}, {options}, {available}, {price}",
                text(product_id)?
            ))
        })
    }

    fn users(&self, seed: &mut Seed) -> Result<(), SeedError> {
        let columns = "users (user_id, first_name, last_name, \
            address1, address2, city, country, state, zip, email, orders)";
        seed.table(columns, &self.users.0, |(id, it)| {
            same_id(id, &it.user_id)?;
            Ok(format!(
                "{}, {}, {}, {}, {}, {}",
                text(id)?,
                text(&it.name.first_name)?,
                text(&it.name.last_name)?,
                it.address.values()?,
                text(&it.email)?,
                list(&it.orders)?
            ))
        })?;
        let methods: Vec<_> = self
            .users
            .0
            .iter()
            .flat_map(|(id, user)| {
                user.payment_methods
                    .0
                    .iter()
                    .map(move |(key, it)| (id, key, it))
            })
            .collect();
        let columns = "payment_methods (user_id, id, source, brand, last_four, balance)";
        seed.table(columns, &methods, |(user_id, key, it)| {
            let (id, rest) = match it {
                PaymentMethod::CreditCard {
                    id,
                    brand,
                    last_four,
                } => {
                    let (brand, last_four) = (text(brand)?, text(last_four)?);
                    (id, format!("'credit_card', {brand}, {last_four}, NULL"))
                }
                PaymentMethod::GiftCard { id, balance } => (
                    id,
                    format!("'gift_card', NULL, NULL, {}", number(*balance)?),
                ),
                PaymentMethod::Paypal { id } => (id, "'paypal', NULL, NULL, NULL".to_owned()),
            };
            same_id(key, id)?;
            Ok(format!("{}, {}, {rest}", text(user_id)?, text(id)?))
        })
    }

    fn orders(&self, seed: &mut Seed) -> Result<(), SeedError> {
        let columns = "orders (order_id, user_id, \
            address1, address2, city, country, state, zip, status, fulfillments)";
        seed.table(columns, &self.orders.0, |(id, it)| {
            same_id(id, &it.order_id)?;
            Ok(format!(
                "{}, {}, {}, {}, {}",
                text(id)?,
                text(&it.user_id)?,
                it.address.values()?,
                text(&it.status)?,
                json_text(&it.fulfillments)?
            ))
        })?;
        let items: Vec<_> = rows(&self.orders, |order| &order.items).collect();
        let columns = "order_items (order_id, position, name, product_id, item_id, price, options)";
        seed.table(columns, &items, |(order_id, position, it)| {
            Ok(format!(
                "{}, {position}, {}, {}, {}, {}, {}",
                text(order_id)?,
                text(&it.name)?,
                text(&it.product_id)?,
                text(&it.item_id)?,
                number(it.price)?,
                json(&it.options)?
            ))
        })?;
        let payments: Vec<_> = rows(&self.orders, |order| &order.payment_history).collect();
        let columns = "payments (order_id, position, transaction_type, amount, payment_method_id)";
        seed.table(columns, &payments, |(order_id, position, it)| {
            Ok(format!(
                "{}, {position}, {}, {}, {}",
                text(order_id)?,
                text(&it.transaction_type)?,
                number(it.amount)?,
                text(&it.payment_method_id)?
            ))
        })
    }
}

/// Each entry of a list of each order, with the order's id and its position.
fn rows<'s, T: 's>(
    orders: &'s InOrder<Order>,
    list: fn(&Order) -> &Vec<T>,
) -> impl Iterator<Item = (&'s str, usize, &'s T)> {
    orders.0.iter().flat_map(move |(id, order)| {
        let entries = list(order).iter().enumerate();
        entries.map(move |(position, entry)| (id.as_str(), position, entry))
    })
}

#[derive(Default)]
struct Seed {
    sql: String,
}

impl Seed {
    /// Bytes after which a statement ends, and rows.
    const BYTES: usize = 256 * 1024;
    const ROWS: usize = 500;

    fn table<T>(
        &mut self,
        columns: &str,
        rows: &[T],
        values: impl Fn(&T) -> Result<String, SeedError>,
    ) -> Result<(), SeedError> {
        let (mut start, mut count) = (self.sql.len(), 0);
        for row in rows {
            let values = values(row)?;
            if count == Self::ROWS || self.sql.len() - start > Self::BYTES {
                self.sql.push_str(";\n");
                (start, count) = (self.sql.len(), 0);
            }
            let before = if count == 0 {
                format!("INSERT INTO {columns} VALUES\n")
            } else {
                ",\n".to_owned()
            };
            write!(self.sql, "{before}({values})").expect("a string takes everything");
            count += 1;
        }
        if count > 0 {
            self.sql.push_str(";\n");
        }
        Ok(())
    }
}

fn same_id(key: &str, id: &str) -> Result<(), SeedError> {
    if key == id {
        Ok(())
    } else {
        Err(SeedError::Unfit(format!(
            "the key {key:?} holds the id {id:?}"
        )))
    }
}

fn text(text: &str) -> Result<String, SeedError> {
    if text.contains('\0') {
        return Err(SeedError::Unfit("a text holds a NUL".to_owned()));
    }
    Ok(format!("'{}'", text.replace('\'', "''")))
}

fn json(options: &InOrder<String>) -> Result<String, SeedError> {
    let map: std::collections::BTreeMap<_, _> = options.0.iter().map(|(k, v)| (k, v)).collect();
    json_text(&map)
}

fn list(list: &[String]) -> Result<String, SeedError> {
    json_text(&list)
}

fn json_text(value: &impl serde::Serialize) -> Result<String, SeedError> {
    text(&serde_json::to_string(value).map_err(SeedError::Json)?)
}

/// Up to 15 digits SQLite reads back as the very double; more it may not.
fn number(number: f64) -> Result<String, SeedError> {
    let text = format!("{number:?}");
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits > 15 || text.contains('e') || text.starts_with("-0.0") {
        return Err(SeedError::Unfit(format!(
            "{text} would not survive as a literal"
        )));
    }
    Ok(text)
}

/// A map whose entries keep the file's order.
#[derive(Debug, Clone)]
struct InOrder<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = InOrder<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Product {
    name: String,
    product_id: String,
    variants: InOrder<Variant>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    item_id: String,
    options: InOrder<String>,
    available: bool,
    price: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    user_id: String,
    name: Name,
    address: Address,
    email: String,
    payment_methods: InOrder<PaymentMethod>,
    orders: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    first_name: String,
    last_name: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Address {
    address1: String,
    address2: String,
    city: String,
    country: String,
    state: String,
    zip: String,
}

impl Address {
    fn values(&self) -> Result<String, SeedError> {
        let Self {
            address1,
            address2,
            city,
            country,
            state,
            zip,
        } = self;
        let values: Result<Vec<_>, _> = [address1, address2, city, country, state, zip]
            .into_iter()
            .map(|part| text(part))
            .collect();
        Ok(values?.join(", "))
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case", deny_unknown_fields)]
enum PaymentMethod {
    CreditCard {
        id: String,
        brand: String,
        last_four: String,
    },
    GiftCard {
        id: String,
        balance: f64,
    },
    Paypal {
        id: String,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    order_id: String,
    user_id: String,
    address: Address,
    items: Vec<Item>,
    status: String,
    fulfillments: Vec<Fulfillment>,
    payment_history: Vec<Payment>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    name: String,
    product_id: String,
    item_id: String,
    price: f64,
    options: InOrder<String>,
}

#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Fulfillment {
    tracking_id: Vec<String>,
    item_ids: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payment {
    transaction_type: String,
    amount: f64,
    payment_method_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_numbers_keep_their_fraction() {
        assert_eq!(text("O'Brien").ok().as_deref(), Some("'O''Brien'"));
        assert!(text("a\0").is_err());
        assert_eq!(number(5.0).ok().as_deref(), Some("5.0"));
        assert_eq!(number(-17.99).ok().as_deref(), Some("-17.99"));
        assert!(number(3.050_000_000_000_011_4).is_err());
        assert!(number(-0.0).is_err() && number(1e-7).is_err());
    }

    #[test]
    fn a_database_that_is_not_the_benchmarks_is_refused() {
        assert!(Shop::parse(r#"{"products": {}, "users": {}, "orders": {}}"#).is_ok());
        for bad in [
            "{}",
            r#"{"products": {}, "users": {}, "orders": {}, "more": {}}"#,
            r#"{"products": {"1": {}}, "users": {}, "orders": {}}"#,
        ] {
            assert!(Shop::parse(bad).is_err(), "{bad}");
        }
        let swapped = r#"{"products": {"1": {"name": "a", "product_id": "2", "variants": {}}},
            "users": {}, "orders": {}}"#;
        let swapped = Shop::parse(swapped).expect("the form fits");
        assert!(matches!(swapped.seed(), Err(SeedError::Unfit(_))));
    }

    #[test]
    fn many_rows_become_few_statements() {
        let mut seed = Seed::default();
        let rows: Vec<_> = (0..1001).collect();
        seed.table("t (a)", &rows, |row| Ok(row.to_string()))
            .expect("rows");
        assert_eq!(seed.sql.matches("INSERT").count(), 3);
        assert_eq!(seed.sql.matches(";\n").count(), 3);
        assert!(seed.sql.ends_with("VALUES\n(1000);\n"));
    }
}
