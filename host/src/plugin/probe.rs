//! Whether sandboxes work on this machine: an engine starts, code is compiled and kept, and a guest that never stops is
//! stopped.
//!
//! Owns the smallest guest there is. Called by the doctor.

use std::{num::NonZeroU64, path::Path, sync::mpsc, thread, time::Duration};

use wasmtime::Trap;

use super::{
    VerifiedBytes,
    cache::CompileCache,
    call,
    engine::PluginEngine,
    limits::{EngineLimits, PluginLimits},
    log::GuestLog,
};
use crate::words::{
    error::{Error, Facts, Fault, Kind},
    scrub::excerpt,
    stopwatch::Stopwatch,
};

/// A component whose one core module starts with a function that loops for ever.
const SPINNING: &[u8] = b"\0asm\x0d\0\x01\0\
    \x01\x20\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x08\x01\0\x0a\x09\x01\x07\0\x03\x40\x0c\0\x0b\x0b\
    \x02\x04\x01\0\0\0";

/// How long the guest may spin.
const SPIN: NonZeroU64 = NonZeroU64::new(50).expect("not zero");

/// How long the smallest component may take to compile.
const COMPILING: NonZeroU64 = NonZeroU64::new(10_000).expect("not zero");

/// How long is waited for its end before it is taken for endless.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was measured of a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct SandboxTimes {
    /// Until an engine had started, with what it sets aside for a host.
    pub engine_start: Duration,
    /// How long a guest that spins was allowed.
    pub allowed: Duration,
    /// After how long it was stopped.
    pub stopped: Duration,
}

/// What was measured of a compile cache.
#[derive(Debug, Clone, Copy)]
pub struct CompileTimes {
    /// Compiled components in the cache.
    pub entries: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Until the smallest component was compiled.
    pub compiled: Duration,
    /// Until it was found in the cache.
    pub loaded: Duration,
}

/// Starts an engine and lets a guest spin in it until its deadline.
///
/// # Errors
/// The engine does not start; the guest ends otherwise, or not at all.
pub fn sandbox_times() -> Result<SandboxTimes, Error> {
    let watch = Stopwatch::start();
    let engine = PluginEngine::new(EngineLimits::standard())?;
    let engine_start = watch.elapsed();
    let runtime = engine.runtime(&PluginLimits::standard())?;
    let component = runtime.component(&spinning(), None, COMPILING)?;
    let (sender, ended) = mpsc::channel();
    let run = move || {
        let limits = PluginLimits {
            call_millis: SPIN,
            ..PluginLimits::standard()
        };
        let log = GuestLog::new("doctor".into(), "start", &limits);
        let mut store = call::store(&runtime, limits, log);
        let watch = Stopwatch::start();
        let end = runtime.linker().instantiate(&mut store, &component);
        // Nobody may be waiting any more.
        let _ = sender.send((watch.elapsed(), end.map(drop)));
    };
    thread::Builder::new()
        .name("wharf-doctor-guest".into())
        .spawn(run)
        .map_err(ProbeError::NoThread)?;
    match ended.recv_timeout(PATIENCE) {
        Ok((stopped, Err(error))) if error.downcast_ref() == Some(&Trap::Interrupt) => {
            Ok(SandboxTimes {
                engine_start,
                allowed: Duration::from_millis(SPIN.get()),
                stopped,
            })
        }
        Ok((_, Err(error))) => Err(ProbeError::EndedOtherwise {
            how: excerpt(&format!("{error:#}")),
        }
        .into()),
        Ok((_, Ok(()))) => Err(ProbeError::EndedOtherwise {
            how: "it returned".into(),
        }
        .into()),
        Err(_) => Err(ProbeError::Endless.into()),
    }
}

/// Compiles the smallest component, keeps it and finds it again. Its entry stays.
///
/// # Errors
/// The folder cannot be written, or others can write there; what was kept is not found.
pub fn compile_times(folder: &Path) -> Result<CompileTimes, Error> {
    let cache = CompileCache::open(folder)?;
    let bytes = spinning();
    let engine = || PluginEngine::new(EngineLimits::small());
    let timed = |engine: &PluginEngine, cache| {
        let watch = Stopwatch::start();
        let runtime = engine.runtime(&PluginLimits::standard())?;
        let component = runtime.component(&bytes, cache, COMPILING)?;
        drop(component);
        Ok::<_, Error>(watch.elapsed())
    };
    let compiled = timed(&engine()?, None)?;
    timed(&engine()?, Some(&cache))?;
    let fresh = engine()?;
    let loaded = timed(&fresh, Some(&cache))?;
    if fresh.compiles() > 0 {
        return Err(ProbeError::NotKept.into());
    }
    let (entries, bytes) = cache.content();
    Ok(CompileTimes {
        entries,
        bytes,
        compiled,
        loaded,
    })
}

fn spinning() -> VerifiedBytes {
    let most = PluginLimits::standard().component_bytes;
    VerifiedBytes::pin(SPINNING, most).expect("48 bytes are not too many")
}

/// What a sandbox did not do.
#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error("the thread of a guest does not start")]
    NoThread(#[source] std::io::Error),
    #[error("a guest that spins was not stopped")]
    Endless,
    #[error("a guest that spins did not end by its deadline")]
    EndedOtherwise { how: String },
    #[error("a compiled component was not found again in the compile cache")]
    NotKept,
}

impl Fault for ProbeError {
    fn facts(&self) -> Facts {
        match self {
            Self::NoThread(_) => Facts::new(
                "doctor-no-thread",
                Kind::Unavailable,
                "allow the process more threads",
            ),
            Self::Endless | Self::EndedOtherwise { .. } => Facts::new(
                "sandbox-broken",
                Kind::Bug,
                "run no plugin on this machine, and report this with its processor and kernel",
            ),
            Self::NotKept => Facts::new(
                "plugin-cache-unusable",
                Kind::Unavailable,
                "look at the warnings in the log; make room where the cache is, or name another folder",
            ),
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::NoThread(_) => None,
            Self::Endless => Some(format!("it still ran {} seconds later", PATIENCE.as_secs())),
            Self::EndedOtherwise { how } => Some(how.clone()),
            Self::NotKept => Some("it was compiled again".into()),
        }
    }
}
