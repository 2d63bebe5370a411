//! Domain plugins: WebAssembly components that implement the contract in `wit/`, run in sandboxes.
//!
//! Owns everything that touches wasmtime. Never touches a database, a file beyond its compile cache, or the network:
//! a plugin reaches the world only through the [`Sql`](crate::core::ports::business::Sql) that a call is given. Called by
//! the host's wiring, and by the core through [`Domain`](crate::core::ports::domain::Domain).
//!
//! In reading order: bytes become a [`VerifiedBytes`], an engine compiles them, `loading` links and describes them, and each
//! call of the resulting [`Plugin`] runs in a fresh sandbox under its [`PluginLimits`].

mod bytes;
mod limits;

mod cache;
mod engine;
mod runtime;

mod domain;
mod inspect;
mod loading;

mod call;
mod inert;
mod linker;
mod log;
mod slots;
mod state;

mod bindings;
mod contract;
mod description;
mod fault;

mod probe;

#[cfg(test)]
mod tests;

pub use bytes::{BytesError, VerifiedBytes};
pub use cache::{CacheError, CompileCache};
pub use domain::Plugin;
pub use engine::{EngineError, PluginEngine};
pub use fault::{CallError, CallFault, LoadError};
pub use inspect::{Import, Inspection};
pub use limits::{EngineLimits, MEMORIES_PER_SANDBOX, PluginLimits};
pub use probe::{CompileTimes, SandboxTimes, compile_times, sandbox_times};
