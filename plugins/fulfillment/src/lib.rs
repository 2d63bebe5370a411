//! The reference domain: one order, from stock to shipment receipt.
//!
//! The rules are plain Rust and know no SQL; `store` has every statement, and [`Fulfillment`] hands
//! the contract's questions to the rules.
//!
//! What a task is about:
//! - [`input`]: what the request asks for.
//! - [`snapshot`]: where the order stands, and what the world offers.
//! - [`operation`], [`tool`]: what remains to be done, and the ways to do it.
//!
//! What the plugin decides about it:
//! - [`feasibility`]: whether the order can still be completed.
//! - [`plan`]: whether a proposed plan may be executed.
//! - [`perform`]: whether a step may happen now, and the [`record`] that it leaves.
//! - [`conclusion`]: whether the request is fulfilled.

pub mod input;
pub mod snapshot;

pub mod operation;
pub mod tool;

pub mod feasibility;
pub mod plan;

pub mod perform;
pub mod record;
pub mod tracking;

pub mod conclusion;

pub mod descriptor;

mod plugin;
mod store;

#[cfg(test)]
mod fixture;

pub use plugin::Fulfillment;
