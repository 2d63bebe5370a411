//! The reference domain: one order, from stock to shipment receipt.
//!
//! The rules are plain Rust: they know neither the component bindings nor SQL, and are tested
//! natively. `guest` is the adapter between them and the contract; it exists only in the component.
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
pub mod violation;

#[cfg(test)]
mod fixture;

#[cfg(target_family = "wasm")]
mod guest;
