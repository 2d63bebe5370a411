//! The targets of `cargo xtask fuzz`, and what they need of Wharf: its two lowest layers, compiled from their own sources. The
//! layers above bring a compiler for WebAssembly with them, which takes minutes to build and decides nothing here.

#[path = "../../host/src/core/mod.rs"]
pub mod core;
#[path = "../../host/src/words/mod.rs"]
pub mod words;

pub mod targets;
