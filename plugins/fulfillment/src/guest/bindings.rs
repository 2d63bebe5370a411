//! Generated from `wit/0.1.0`, the contract.
#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated code"
)]

use super::Fulfillment;

wit_bindgen::generate!({
    path: "../../wit/0.1.0",
    world: "domain",
});

export!(Fulfillment);
