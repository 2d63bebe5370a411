//! The core: what a task is and how it runs, without a word about any technology.
//!
//! Knows the words below it and nothing above it: no SQL, no WebAssembly, no file, no network. It reaches them
//! through the traits in [`ports`].

pub mod contract;
pub mod ports;
pub mod request;
