//! The server as a client sees it, byte by byte.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests of real time and of a real process, with helpers of their own; they are no product"
)]

mod client;

mod answers;
mod misbehaviour;
mod proxy;
mod replies;
mod requests;
mod stopping;
mod tls;
