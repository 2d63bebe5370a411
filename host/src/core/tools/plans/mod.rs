//! The plan of an agent: the todo list that it works through, kept in the memory under a stable id, versioned, and shared by
//! all agents of a workspace.
//!
//! Not the plan of plan-execute, which is proposed whole and accepted whole; that one is shown in the same form.

mod check;
mod history;
pub mod plan;
mod read;
mod schemas;
mod write;

pub use self::{
    check::PlanRules,
    plan::{SharedPlan, SharedStep, StepStatus},
    read::{PlanRead, TaskView},
    schemas::{plan_read, plan_write},
    write::PlanWrite,
};
