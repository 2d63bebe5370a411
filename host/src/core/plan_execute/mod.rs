//! Plan-execute: the Loop that proposes a whole plan, has it accepted whole, performs it step by step and proves the result.

pub mod budgets;
mod evidence;
pub mod operations;
pub mod plan_check;
pub mod plan_reader;
pub mod plan_schema;
pub mod prompt;
pub mod report;
mod report_markdown;
mod stages;
pub mod state;
mod transitions;
pub mod stop;
pub mod structure;
mod view;
pub mod workers;

#[cfg(test)]
mod tests;
