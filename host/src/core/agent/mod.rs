//! The agent: the Loop in which a model calls tools until it answers. Same driver, same journal as plan-execute.

pub mod budgets;
pub mod conversation;
pub mod operations;
mod prompt;
pub mod report;
pub mod request;
mod stages;
pub mod state;
pub mod stop;
mod transitions;
mod view;
pub mod workers;

#[cfg(test)]
mod tests;
