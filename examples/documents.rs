//! The guide for embedders as documentation tests: what it shows compiles.

#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}
