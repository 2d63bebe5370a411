//! The business database: the plugin's own tables, and beside them, out of its reach, the ledger.
//!
//! Owns `business.sqlite`: the one write transaction in which an operation and its ledger row become durable together,
//! the confinement of a plugin's SQL, and a plugin's schema changes. Never decides what an operation means, calls no
//! plugin itself and keeps no task state. The host's wiring opens a [`BusinessStore`]; the core calls it through
//! [`crate::core::ports::business::Business`].

pub mod store;

pub mod error;
pub mod limits;

mod added_column;
mod anchors;
mod bytecode;
mod catalog;
mod confinement;
mod denials;
mod functions;
mod ledger;
mod migrations;
mod own_schema;
mod plugin_sql;
mod quota;
mod removal;
mod returned;
mod script;
mod search;
mod seed;
mod statements;
mod transaction;
mod workspace;

#[cfg(test)]
mod tests;

pub use error::BusinessError;
pub use limits::{CallSqlLimits, DatabaseLimits, SqlLimits};
pub use migrations::Installed;
pub use seed::{Seeded, check_seed};
pub use store::BusinessStore;
pub use workspace::Workspace;
