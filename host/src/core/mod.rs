//! The core: what a task is and how it runs, without a word about any technology.
//!
//! Knows the words below it and nothing above it: no SQL, no WebAssembly, no file, no network. It reaches them
//! through the traits in [`ports`].

pub mod agent;
pub mod cancel;
pub mod chain;
mod context_worker;
pub mod contract;
pub mod driver;
pub mod graph;
pub mod machine;
pub mod metering;
pub mod node_values;
pub mod outputs;
pub mod plan_execute;
pub mod ports;
pub mod progress;
pub mod request;
pub mod step_call;
pub mod task_request;
pub mod tools;
pub mod view;
pub mod worker;
