//! The targets of `cargo xtask fuzz`, and what they need of Wharf: its lower layers, compiled from their own sources. Those
//! above bring a compiler for WebAssembly with them, which takes minutes to build and decides nothing here.

#[path = "../../host/src/core/mod.rs"]
pub mod core;
#[path = "../../host/src/words/mod.rs"]
pub mod words;

#[path = "../../host/src/sqlite/mod.rs"]
pub mod sqlite;
#[path = "../../host/src/business/mod.rs"]
pub mod business;

pub mod sql;
pub mod targets;
