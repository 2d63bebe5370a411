//! Wharf: a host runtime for plan-and-execute tasks whose business domain lives in sandboxed WebAssembly plugins.

pub mod core;
pub mod plugin;
pub mod words;
