//! Wharf: a host runtime for plan-and-execute tasks whose business domain lives in sandboxed WebAssembly plugins.
//!
//! Layers, lowest first; arrows only go down:
//! - [`words`]: identifiers, digests, JSON text, time, errors
//! - [`core`]: Graph, Loop, driver, plan-execute, and the ports to the world
//! - [`schema`]: JSON Schemas, within bounds
//! - [`sqlite`]: opening and migrating SQLite files
//! - [`plugin`], [`business`], [`technologies`]: what stands behind the ports
//! - [`host`]: the wiring; begin with [`HostBuilder`]
//! - `cli`: the command line
//!
//! One task, from request to report:
//!
//! ```no_run
//! use wharf::{Error, HostBuilder, Outcome, PlanExecute, Planner, Request, RunOptions, Task};
//!
//! async fn run(request: &str, component: Vec<u8>) -> Result<(), Error> {
//!     let host = HostBuilder::new("workspace").build()?;
//!     let task = Task::new(Request::read(request)?, component);
//!     let pattern = PlanExecute::new(Planner::Search);
//!     if let Outcome::Finished(finished) = host.run(&pattern, task, RunOptions::default()).await? {
//!         println!("{:?}: {}", finished.status, finished.report);
//!     }
//!     Ok(())
//! }
//! ```

pub mod words;
pub mod core;
pub mod schema;
pub mod sqlite;
pub mod plugin;
pub mod business;
pub mod technologies;
pub mod host;

pub use crate::{
    core::{
        cancel::Cancellation,
        machine::Checkpoint,
        plan_execute::stop::{Status, StopReason},
        progress::{Progress, ProgressBody},
        request::Request,
    },
    host::{
        Config, Host, HostBuilder, HostLimits, Outcome, PlanExecute, Planner, RunOptions, Task,
    },
    plugin::PluginLimits,
    words::{
        digest::Digest,
        error::{Error, Kind},
        id::TaskId,
    },
};
