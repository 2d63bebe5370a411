//! The adapter: the contract's exports, answered by the rules.
//!
//! The only code that knows the generated bindings. It translates and decides nothing.

mod bindings;
mod sql;
mod store;
mod tools;
mod translate;
mod validator;

/// What the component exports.
struct Fulfillment;
