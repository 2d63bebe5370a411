//! The generated bindings of contract 0.1.0.
//!
//! Owns nothing of its own: the text in `wit/0.1.0` is the source. Used by the files beside it, never outside this folder.

#![allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    reason = "generated code; the WIT files carry the documentation"
)]

wasmtime::component::bindgen!({
    path: "wit/0.1.0",
    world: "domain",
    imports: { default: trappable },
    with: { "wharf:domain/business.transaction": super::state::Transaction },
    require_store_data_send: true,
});
