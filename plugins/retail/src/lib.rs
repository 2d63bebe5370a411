//! Retail customer support: the domain of tau2-bench, over the tables of one shop.
//!
//! Sixteen tools look things up for a customer and cancel, return, exchange and change orders. What
//! they do, down to their quirks and to the order in which they check, is the benchmark's, so that
//! its published end states are met byte for byte.
//!
//! What there is:
//! - [`entity`]: customers, products, orders, as tools answer them.
//! - [`store`]: every statement that the plugin runs.
//! - [`money`]: doubles, and how they are rounded.
//!
//! What may be done:
//! - [`tool`]: the sixteen tools, their parameters and what they call.
//! - [`arguments`]: what a step gives for the parameters.
//! - [`reads`], [`calculator`]: the tools that change nothing.
//! - [`writes`]: the seven that do.
//! - [`refusal`]: how a tool says no.
//!
//! What the plugin decides:
//! - [`input`], [`snapshot`]: what a task is about, and what its plan is made from.
//! - [`plan`], [`operation`]: whether a plan may be executed; when two steps are one operation.
//! - [`conclusion`]: what may be claimed.

pub mod entity;
pub mod money;
pub mod store;

pub mod arguments;
pub mod calculator;
pub mod reads;
pub mod refusal;
pub mod tool;
pub mod writes;

pub mod conclusion;
pub mod input;
pub mod operation;
pub mod plan;
pub mod snapshot;

mod plugin;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod gold;

pub use plugin::Retail;
