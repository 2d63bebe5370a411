//! Guides as documentation tests: what they show compiles.
#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "`file=NAME` is for the test that follows a guide"
)]

#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

#[doc = include_str!("../docs/agents.md")]
pub mod agents {}

#[doc = include_str!("../docs/contract.md")]
pub mod contract {}
