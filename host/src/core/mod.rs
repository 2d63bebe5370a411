//! The core: what a task is and how it runs, without a word about any technology.
//!
//! Knows the words below it and nothing above it: no SQL, no WebAssembly, no file, no network. It reaches them
//! through the traits in [`ports`].

pub mod request;
pub mod contract;
pub mod graph;
pub mod chain;
pub mod machine;
pub mod driver;
pub mod worker;
pub mod cancel;
pub mod progress;
pub mod view;
pub mod plan_execute;
pub mod ports;
