//! What the core needs from the world: one trait a technology can implement, at most eight methods each, each
//! saying what is durable when it returns.

pub mod agent_model;
pub mod archive;
pub mod business;
pub mod context;
pub mod domain;
pub mod journal;
pub mod memories;
pub mod model;
pub mod permission;
pub mod schemas;
