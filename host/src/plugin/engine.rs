//! The engine: the one place that decides how WebAssembly runs.
//!
//! Owns the only `wasmtime::Config`, the ticker thread that time limits are counted with, and the components it has
//! compiled. Never decides what a plugin may do (`linker.rs`) or how much (`limits.rs`). Made once by the host's wiring,
//! handed to `Plugin::load`.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
    component::{Component, Linker},
};

use super::{
    VerifiedBytes,
    cache::CompileCache,
    fault::LoadError,
    limits::{EngineLimits, MEMORIES_PER_SANDBOX},
    linker,
    slots::Slots,
    state::CallState,
};
use crate::words::{
    digest::Digest,
    error::{Facts, Fault, Kind},
};

/// The length of a tick in milliseconds; shorter ones drift.
pub(super) const TICK_MILLIS: u64 = 10;

/// The most stack for a plugin's code: it is taken from the calling thread's own, of which Rust gives 2 MiB.
const GUEST_STACK_MOST: usize = 1024 * 1024;

/// Compiles and runs plugins. Cheap to clone; all clones are one engine. Its ticker thread ends with the last of them
/// and the last plugin loaded with it.
#[derive(Clone)]
pub struct PluginEngine(Arc<Shared>);

struct Shared {
    engine: Engine,
    limits: EngineLimits,
    linker: Linker<CallState>,
    /// Components stay for as long as the engine: loading a digest again compiles nothing.
    components: Mutex<HashMap<Digest, Arc<Mutex<Option<Component>>>>>,
    compiles: AtomicU64,
    slots: Arc<Slots>,
    ticker: Ticker,
}

impl PluginEngine {
    /// Starts an engine and its ticker thread.
    ///
    /// # Errors
    /// The machine does not give the address space or the thread; the guest stack is out of bounds.
    pub fn new(limits: EngineLimits) -> Result<Self, EngineError> {
        Self::named(limits, "wharf-plugin-ticker")
    }

    /// As [`Self::new`], with a name for the ticker's thread.
    pub(super) fn named(limits: EngineLimits, ticker: &str) -> Result<Self, EngineError> {
        if limits.guest_stack_bytes.get() > GUEST_STACK_MOST {
            return Err(EngineError::StackTooLarge {
                asked: limits.guest_stack_bytes.get(),
                most: GUEST_STACK_MOST,
            });
        }
        let engine = Engine::new(&config(&limits)).map_err(|source| EngineError::NotStarted {
            limits: Box::new(limits),
            source: source.into(),
        })?;
        let linker =
            linker::linker(&engine).map_err(|source| EngineError::Linker(source.into()))?;
        let ticker = Ticker::start(engine.clone(), ticker).map_err(EngineError::NoThread)?;
        Ok(Self(Arc::new(Shared {
            engine,
            slots: Slots::new(limits.sandboxes, limits.queue, limits.queue_millis),
            limits,
            linker,
            components: Mutex::default(),
            compiles: AtomicU64::new(0),
            ticker,
        })))
    }

    /// How many components this engine has compiled; what came from a cache is not counted.
    #[must_use]
    pub fn compiles(&self) -> u64 {
        self.0.compiles.load(Ordering::Relaxed)
    }

    /// What it was made with.
    #[must_use]
    pub fn limits(&self) -> &EngineLimits {
        &self.0.limits
    }

    pub(super) fn wasmtime(&self) -> &Engine {
        &self.0.engine
    }

    pub(super) fn linker(&self) -> &Linker<CallState> {
        &self.0.linker
    }

    pub(super) fn slots(&self) -> &Arc<Slots> {
        &self.0.slots
    }

    /// Ticks since the engine started.
    pub(super) fn ticks(&self) -> u64 {
        self.0.ticker.ticks.load(Ordering::Relaxed)
    }

    /// The compiled component: from this engine, from the cache, or compiled now. Several callers that want the same one
    /// at the same time compile it once.
    pub(super) fn component(
        &self,
        bytes: &VerifiedBytes,
        cache: Option<&CompileCache>,
    ) -> Result<Component, LoadError> {
        let slot = {
            let mut components = lock(&self.0.components);
            Arc::clone(components.entry(bytes.digest()).or_default())
        };
        let mut slot = lock(&slot);
        if let Some(component) = &*slot {
            return Ok(component.clone());
        }
        let cached = cache.and_then(|cache| cache.load(&self.0.engine, bytes.digest()));
        let component = match cached.map_or_else(|| self.compile(bytes, cache), Ok) {
            Ok(component) => component,
            Err(error) => {
                // Whoever hands in rubbish takes up no room.
                lock(&self.0.components).remove(&bytes.digest());
                return Err(error);
            }
        };
        *slot = Some(component.clone());
        Ok(component)
    }

    fn compile(
        &self,
        bytes: &VerifiedBytes,
        cache: Option<&CompileCache>,
    ) -> Result<Component, LoadError> {
        self.0.compiles.fetch_add(1, Ordering::Relaxed);
        let component = Component::from_binary(&self.0.engine, bytes.as_slice())
            .map_err(|source| LoadError::NotCompilable(source.into()))?;
        if let Some(cache) = cache {
            cache.store(&self.0.engine, bytes.digest(), &component);
        }
        Ok(component)
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

/// A panic while one of these is held leaves nothing half done: a slot is filled last.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stacks, instances and memories come from a pool of fixed size: a sandbox costs microseconds, and what all sandboxes
/// can take together is known when the engine starts. There is no second strategy to fall back to: a machine that cannot
/// reserve the pool gets smaller [`EngineLimits`].
fn pool(limits: &EngineLimits) -> PoolingAllocationConfig {
    let sandboxes = limits.sandboxes.get();
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(sandboxes)
        .total_core_instances(sandboxes.saturating_mul(limits.instances.get()))
        .total_memories(sandboxes.saturating_mul(MEMORIES_PER_SANDBOX))
        .total_tables(sandboxes.saturating_mul(TABLES_PER_SANDBOX))
        // Calls are synchronous, on the caller's own stack.
        .total_stacks(0)
        .max_core_instances_per_component(limits.instances.get())
        .max_memories_per_component(sandboxes.saturating_mul(MEMORIES_PER_SANDBOX).min(16))
        .max_tables_per_component(sandboxes.saturating_mul(TABLES_PER_SANDBOX).min(64))
        .max_memory_size(limits.memory_bytes.get())
        .table_elements(limits.table_elements.get())
        .max_unused_warm_slots(sandboxes)
        // Zeroing a few pages is cheaper than giving them back to the kernel (39 us against 40 to 56 per instance).
        .linear_memory_keep_resident(64 * 1024)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Tables set aside per sandbox, on average.
const TABLES_PER_SANDBOX: u32 = 4;

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that decides how WebAssembly runs"
)]
fn config(limits: &EngineLimits) -> Config {
    let guest_stack = limits.guest_stack_bytes.get();
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)))
        // Address space for exactly what a memory may grow to, with a small guard, instead of 4 GiB each: an engine
        // starts where address space is rationed (16 GiB instead of 264 GiB). Bounds are then checked by code, which
        // costs guests that do little but read and write memory about a fifth.
        .memory_reservation(limits.memory_bytes.get() as u64)
        .memory_guard_size(64 * 1024)
        .guard_before_linear_memory(false)
        .epoch_interruption(true)
        .max_wasm_stack(guest_stack)
        .async_stack_size(guest_stack.saturating_mul(2))
        .concurrency_support(false)
        .parallel_compilation(true)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(32))
        // The same input gives the same answer, on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true);
    config
}

/// Advances the engine's time by one every [`TICK_MILLIS`].
struct Ticker {
    ticks: Arc<AtomicU64>,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Ticker {
    fn start(engine: Engine, name: &str) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let ticks = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&ticks);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while stopped.recv_timeout(Duration::from_millis(TICK_MILLIS))
                    == Err(mpsc::RecvTimeoutError::Timeout)
                {
                    counter.fetch_add(1, Ordering::Relaxed);
                    engine.increment_epoch();
                }
            })?;
        Ok(Self {
            ticks,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It ends at once, and it does not panic.
            let _ = thread.join();
        }
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
            Self::Linker(_) => Facts::new("plugin-engine-linker", Kind::Bug, "report this"),
        }
    }
}
