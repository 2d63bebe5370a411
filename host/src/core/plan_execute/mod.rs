//! Plan-execute: the Loop that proposes a whole plan, has it accepted whole, performs it step by step and proves the result.

pub mod stop;
pub mod budgets;
pub mod state;
mod stages;
pub mod operations;
pub mod plan_reader;
pub mod structure;
mod evidence;
pub mod report;
mod report_markdown;
mod view;
pub mod workers;
