//! Wharf: a host runtime for plan-and-execute tasks whose business domain lives in sandboxed WebAssembly plugins.

pub mod business;
pub mod core;
pub mod sqlite;
pub mod technologies;
pub mod words;
