//! The engine: what all plugins of a process share.
//!
//! Owns the number of sandboxes, and the runtimes that they run in: one for each stack size and for metering, started when the
//! first plugin asks for it. Never decides what a plugin may do. Made once by the host's wiring, handed to `Plugin::load`.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    fault::LoadError,
    limits::{EngineLimits, PluginLimits},
    runtime::{Compilers, Profile, Runtime, lock},
    slots::{Overloaded, Slot, Slots},
};
use crate::words::error::{Facts, Fault, Kind};

/// The most stack for a plugin's code: it is taken from the calling thread's own, of which Rust gives 2 MiB.
const GUEST_STACK_MOST: usize = 1024 * 1024;

/// The most runtimes: each sets aside the address space of all sandboxes.
const RUNTIMES: usize = 8;

/// Compiles and runs plugins. Cheap to clone; all clones are one engine. Its threads end with the last of them
/// and the last plugin loaded with it.
#[derive(Clone)]
pub struct PluginEngine(Arc<Shared>);

struct Shared {
    limits: EngineLimits,
    runtimes: Mutex<HashMap<Profile, Runtime>>,
    compilers: Compilers,
    sandboxes: Arc<Slots>,
    plugins: AtomicU64,
}

impl PluginEngine {
    /// Starts an engine, with the runtime that plugins with [`PluginLimits::standard`] run in.
    ///
    /// # Errors
    /// The machine does not give the address space or the thread; the guest stack is out of bounds.
    pub fn new(limits: EngineLimits) -> Result<Self, EngineError> {
        if limits.guest_stack_bytes.get() > GUEST_STACK_MOST {
            return Err(EngineError::StackTooLarge {
                asked: limits.guest_stack_bytes.get(),
                most: GUEST_STACK_MOST,
            });
        }
        let engine = Self(Arc::new(Shared {
            sandboxes: Slots::new(limits.sandboxes, limits.queue),
            limits,
            runtimes: Mutex::default(),
            compilers: Compilers::new(),
            plugins: AtomicU64::new(0),
        }));
        engine.started(Profile::of(&PluginLimits::standard()))?;
        Ok(engine)
    }

    /// How many components this engine has compiled; what came from a cache is not counted.
    #[must_use]
    pub fn compiles(&self) -> u64 {
        self.0.compilers.compiled()
    }

    /// What it was made with.
    #[must_use]
    pub fn limits(&self) -> &EngineLimits {
        &self.0.limits
    }

    /// The runtime for plugins with these limits.
    pub(super) fn runtime(&self, limits: &PluginLimits) -> Result<Runtime, LoadError> {
        self.started(Profile::of(limits))
            .map_err(|error| LoadError::NoRuntime(error.into()))
    }

    /// The number of one more plugin.
    pub(super) fn next_plugin(&self) -> u64 {
        self.0.plugins.fetch_add(1, Ordering::Relaxed)
    }

    /// The right to one sandbox for this plugin, at once or in turn.
    pub(super) fn sandbox(&self, plugin: u64) -> Result<Slot, Overloaded> {
        let patience = Duration::from_millis(self.0.limits.queue_millis.get());
        self.0.sandboxes.take(plugin, patience)
    }

    fn started(&self, profile: Profile) -> Result<Runtime, EngineError> {
        let mut runtimes = lock(&self.0.runtimes);
        if let Some(runtime) = runtimes.get(&profile) {
            return Ok(runtime.clone());
        }
        if runtimes.len() >= RUNTIMES {
            return Err(EngineError::TooManyRuntimes);
        }
        let compilers = self.0.compilers.clone();
        let runtime = Runtime::start(&self.0.limits, profile, compilers)?;
        runtimes.insert(profile, runtime.clone());
        Ok(runtime)
    }
}

impl fmt::Debug for PluginEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginEngine")
            .field("limits", &self.0.limits)
            .field("compiles", &self.compiles())
            .finish_non_exhaustive()
    }
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The runtime refused its settings, or the machine the address space.
    #[error("the plugin engine does not start with {limits:?}")]
    NotStarted {
        /// What was asked for.
        limits: Box<EngineLimits>,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The plugin's code would use up the stack of the thread that calls it, which ends the process.
    #[error("the guest stack is {asked} bytes, at most {most} are safe")]
    StackTooLarge {
        /// Bytes asked for.
        asked: usize,
        /// The most.
        most: usize,
    },
    /// The thread that counts time could not be started.
    #[error("the thread that counts the time of plugins does not start")]
    NoThread(#[source] std::io::Error),
    /// Plugins ask for too many different stack sizes.
    #[error(
        "plugins ask for more than {RUNTIMES} different combinations of stack size and metering"
    )]
    TooManyRuntimes,
    /// The imports could not be defined.
    #[error("the imports of plugins could not be defined")]
    Linker(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Fault for EngineError {
    fn facts(&self) -> Facts {
        match self {
            Self::NotStarted { .. } => Facts::new(
                "plugin-engine-not-started",
                Kind::Unavailable,
                "set fewer sandboxes or less memory per sandbox, or allow more address space (ulimit -v)",
            ),
            Self::StackTooLarge { .. } => Facts::new(
                "plugin-engine-stack-too-large",
                Kind::InvalidInput,
                "set a smaller guest stack",
            ),
            Self::NoThread(_) => Facts::new(
                "plugin-engine-no-thread",
                Kind::Unavailable,
                "allow the process more threads",
            ),
            Self::TooManyRuntimes => Facts::new(
                "plugin-engine-too-many-runtimes",
                Kind::InvalidInput,
                "give plugins the same `guest_stack_bytes`",
            ),
            Self::Linker(_) => Facts::new("plugin-engine-linker", Kind::Bug, "report this"),
        }
    }
}
