//! SQLite files: opened, hardened, migrated and written to durably in one place.
//!
//! Owns how a connection is opened, which errors SQLite's become, the host's own numbered migrations and the rule by
//! which a commit counts as durable. Knows nothing of what the tables mean. Called by `business` and `technologies`.

pub mod deadline;
pub mod error;
pub mod migrations;
pub mod open;
pub mod probe;
pub mod readers;
pub mod room;
mod shared_sync;
pub mod writer;
