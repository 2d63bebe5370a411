//! tau2-bench's retail data: from its files into the plugin's tables, out of them again, and the
//! hashes by which two databases are compared.
//!
//! It knows the plugin's tables and nothing of its code, so that it can tell whether the plugin left
//! them as the benchmark's own tools would have. It opens no file: texts come in, and whatever runs
//! SQL.
//!
//! - [`Shop`]: `db.json`, and [`Shop::seed`], the SQL that fills empty tables with it.
//! - [`Dump`]: the tables as one document, written byte for byte as the benchmark hashes it.
//! - [`Scenario`]: one task of `tasks.json`; [`Gold`]: what it must lead to.

mod dump;
mod scenario;
mod shop;
mod text;

pub use dump::Dump;
pub use scenario::{Call, Gold, GoldStep, GoldTask, Scenario};
pub use shop::{SeedError, Shop};
