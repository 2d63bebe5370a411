//! The target of `cargo xtask fuzz --components`.

pub mod target;
