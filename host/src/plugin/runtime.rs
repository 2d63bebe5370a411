//! A runtime: wasmtime's engine in one of the settings that a plugin can ask for, and what it has compiled.
//!
//! Owns the only `wasmtime::Config`, the ticker thread that time limits are counted with, and the compiled components. Never
//! decides what a plugin may do (`linker.rs`) or how much (`limits.rs`). Made by `engine.rs`.

use std::{
    collections::HashMap,
    num::{NonZeroU32, NonZeroU64},
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
    engine::EngineError,
    fault::LoadError,
    limits::{EngineLimits, MEMORIES_PER_SANDBOX, PluginLimits},
    linker,
    slots::Slots,
    state::CallState,
};
use crate::words::{digest::Digest, scrub::excerpt};

/// The length of a tick in milliseconds; shorter ones drift.
pub(super) const TICK_MILLIS: u64 = 10;

/// What a plugin can ask for that wasmtime decides per engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Profile {
    stack_bytes: usize,
    metered: bool,
}

impl Profile {
    pub(super) const fn of(limits: &PluginLimits) -> Self {
        Self {
            stack_bytes: limits.guest_stack_bytes.get(),
            metered: limits.fuel.is_some(),
        }
    }
}

/// Cheap to clone; all clones are one. Its ticker thread ends with the last of them.
#[derive(Clone)]
pub(super) struct Runtime(Arc<Shared>);

struct Shared {
    engine: Engine,
    linker: Linker<CallState>,
    /// Components stay for as long as the runtime: loading a digest again compiles nothing.
    components: Mutex<HashMap<Digest, Arc<Mutex<Option<Component>>>>>,
    compilers: Compilers,
    ticker: Ticker,
}

/// Whoever compiles, over all runtimes of an engine.
#[derive(Debug, Clone)]
pub(super) struct Compilers {
    slots: Arc<Slots>,
    compiled: Arc<AtomicU64>,
}

impl Compilers {
    /// Two at the same time: one that takes too long does not keep all others waiting.
    const SLOTS: NonZeroU32 = NonZeroU32::new(2).expect("not zero");
    const QUEUE: NonZeroU32 = NonZeroU32::new(1_000).expect("not zero");

    pub(super) fn new() -> Self {
        Self {
            slots: Slots::new(Self::SLOTS, Self::QUEUE),
            compiled: Arc::default(),
        }
    }

    pub(super) fn compiled(&self) -> u64 {
        self.compiled.load(Ordering::Relaxed)
    }
}

impl Runtime {
    pub(super) fn start(
        limits: &EngineLimits,
        profile: Profile,
        compilers: Compilers,
    ) -> Result<Self, EngineError> {
        let engine =
            Engine::new(&config(limits, profile)).map_err(|source| EngineError::NotStarted {
                limits: Box::new(*limits),
                source: source.into(),
            })?;
        let linker =
            linker::linker(&engine).map_err(|source| EngineError::Linker(source.into()))?;
        let ticker = Ticker::start(engine.clone()).map_err(EngineError::NoThread)?;
        Ok(Self(Arc::new(Shared {
            engine,
            linker,
            components: Mutex::default(),
            compilers,
            ticker,
        })))
    }

    pub(super) fn wasmtime(&self) -> &Engine {
        &self.0.engine
    }

    pub(super) fn linker(&self) -> &Linker<CallState> {
        &self.0.linker
    }

    /// Ticks since it started.
    pub(super) fn ticks(&self) -> u64 {
        self.0.ticker.ticks.load(Ordering::Relaxed)
    }

    /// The compiled component: from this runtime, from the cache, or compiled now. Several callers that want the same one
    /// at the same time compile it once.
    pub(super) fn component(
        &self,
        bytes: &VerifiedBytes,
        cache: Option<&CompileCache>,
        most: NonZeroU64,
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
        let component = match cached.map_or_else(|| self.compile(bytes, cache, most), Ok) {
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

    /// On a thread of its own, which is left to itself when the time is over: what it makes still gets into the cache, and its
    /// place is free when it ends.
    fn compile(
        &self,
        bytes: &VerifiedBytes,
        cache: Option<&CompileCache>,
        most: NonZeroU64,
    ) -> Result<Component, LoadError> {
        let patience = Duration::from_millis(most.get());
        let too_long = || LoadError::CompileTime { millis: most.get() };
        let compilers = &self.0.compilers;
        let place = compilers.slots.take(0, patience).map_err(|_| too_long())?;
        compilers.compiled.fetch_add(1, Ordering::Relaxed);
        let (engine, bytes, cache) = (self.0.engine.clone(), bytes.clone(), cache.cloned());
        let (say, said) = mpsc::sync_channel(1);
        let compile = move || {
            let compiled = Component::from_binary(&engine, bytes.as_slice());
            if let (Some(cache), Ok(component)) = (cache, &compiled) {
                cache.store(&engine, bytes.digest(), component);
            }
            // Nobody may be waiting any more.
            let _ = say.send(compiled);
            drop(place);
        };
        thread::Builder::new()
            .name("wharf-plugin-compiler".into())
            .spawn(compile)
            .map_err(|source| LoadError::NotCompilable(source.into()))?;
        match said.recv_timeout(patience) {
            // The compiler's words may hold names of the component.
            Ok(compiled) => compiled
                .map_err(|error| LoadError::NotCompilable(excerpt(&format!("{error:#}")).into())),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(too_long()),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(LoadError::NotCompilable("the compiler panicked".into()))
            }
        }
    }
}

/// A panic while one of these is held leaves nothing half done: a slot is filled last.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
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
        // Zeroing a few pages is cheaper than giving them back to the kernel: of a memory, and above all of a table, which takes
        // a task with seventeen sandboxes from 2.65 to 2.35 ms of processor time.
        .linear_memory_keep_resident(64 * 1024)
        .table_keep_resident(64 * 1024)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Tables set aside per sandbox, on average.
const TABLES_PER_SANDBOX: u32 = 4;

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that decides how WebAssembly runs"
)]
fn config(limits: &EngineLimits, profile: Profile) -> Config {
    let guest_stack = profile.stack_bytes;
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
        .consume_fuel(profile.metered)
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
    fn start(engine: Engine) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let ticks = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&ticks);
        let thread = thread::Builder::new()
            .name("wharf-plugin-ticker".into())
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
