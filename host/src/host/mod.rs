//! The wiring: from a directory, a plugin and a request to a run.
//!
//! Chooses the technologies behind the core's ports and decides nothing else. Edges (command line, servers) and embedders
//! call it.

mod admission;
mod agent;
mod audit;
mod blocking;
mod builder;
mod config;
mod doctor;
mod document;
mod known_digests;
mod limits;
mod preflight;
mod opening;
mod retention;
mod run;
mod status;
mod stores;
mod task;
mod tools;
mod workspace_context;

pub use agent::{Agent, AgentFinished, AgentOutcome, AgentTask};
pub use audit::{AuditReport, Finding, TaskAudit, audit};
pub use builder::{Host, HostBuilder, standard_tenant};
pub use config::{
    Config, ConfigError, Defaults, MAX_CONFIG_BYTES, Overrides, PlannerName, config_schema,
};
pub use doctor::{Examination, Probe};
pub use document::{RunDocument, StatusDocument};
pub use limits::{Allowance, HostLimits};
pub use retention::{DamagedTask, GcReport, KeptTasks, RemovedTask, gc};
pub use status::{TaskStatus, status, tasks};
pub use stores::tenant;
pub use task::{Finished, Outcome, PlanExecute, Planner, RunOptions, Task};
pub use tools::{ToolOptions, ToolProgress, ToolRequest};
