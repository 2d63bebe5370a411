//! What stands behind the ports: files, both Contexts, the planners that need no network, and the client of those that do.
//!
//! Each file is one technology or one of its parts; they know the words and the ports, and nothing above them.
//! Databases and plugins have folders of their own.

pub mod admission;
mod append_queue;
pub mod archive;
pub mod chat;
#[cfg(test)]
pub(crate) mod context_conformance;
pub mod disk_probe;
pub mod durable_file;
pub mod durable_folder;
pub mod embedded_context;
pub mod faults_file;
pub mod file_error;
#[cfg(test)]
mod fixtures;
pub mod journal;
pub mod memories;
#[allow(
    clippy::unwrap_used,
    reason = "checks for the tests of whoever implements a memory: they panic where one fails"
)]
pub mod memories_conformance;
pub mod memory_database;
pub mod model_planner;
pub mod policy_file;
pub mod redis_address;
pub mod redis_context;
pub mod redis_fault;
pub mod redis_probe;
#[cfg(test)]
#[path = "../../../tests/harness/redis.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the harness of other tests as well"
)]
mod redis_server;
pub mod script_planner;
pub mod search_planner;
pub mod task_lock;
pub mod tool_sequences;
pub mod tombstones;
pub mod workspace;
