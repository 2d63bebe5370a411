//! What this machine offers, tried out.
//!
//! Owns the list of probes and what each is called. Each one does what a run does, and measures it; none changes a workspace.
//! Called by edges and embedders.

use std::{fmt::Display, path::PathBuf, sync::Arc, time::Duration};

use serde::Serialize;

use crate::{
    plugin,
    sqlite::probe::commit_times,
    technologies::{
        chat::ChatClient,
        disk_probe::sync_times,
        file_error::{Action, FileError},
        redis_address::RedisAddress,
        redis_context::RedisContext,
        redis_probe::redis_times,
    },
    words::{
        clock::{Clock, SystemClock},
        error::{Error, Facts, Fault, Kind},
        id::RunId,
        stopwatch::Stopwatch,
    },
};

/// A sync that is faster than this did not wait for a disk.
const PLAUSIBLE_SYNC: Duration = Duration::from_micros(20);

/// What the probe of a server of models is called.
const MODEL: &str = "model-endpoint";

/// For a server of models, which has only a list to give.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct Examination {
    /// Where workspaces are to be; files are made there and removed again.
    pub directory: PathBuf,
    /// Where compiled plugins are to be kept, if anywhere.
    pub compile_cache: Option<PathBuf>,
    /// A Redis, if one is wanted.
    pub redis: Option<RedisAddress>,
    /// Servers of models by their names, as far as clients of them could be made.
    pub models: Vec<(String, Result<ChatClient, Error>)>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Probe {
    /// What, in kebab-case; stable.
    pub name: &'static str,
    /// Whether it works; none: it was not asked for.
    pub ok: Option<bool>,
    /// What was measured.
    pub value: Option<f64>,
    /// In which unit: `ms`, `us` or `threads`.
    pub unit: Option<&'static str>,
    /// The circumstances, or why it does not work.
    pub detail: String,
}

impl Examination {
    /// Of a directory, without a compile cache, a Redis or a model.
    #[must_use]
    pub fn of(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            compile_cache: None,
            redis: None,
            models: Vec::new(),
        }
    }

    /// Tries everything, one after the other, so that no measurement disturbs another. Ten seconds at the most, unless the disk
    /// hangs; and ten more for each server of models.
    pub async fn run(mut self) -> Vec<Probe> {
        let models = std::mem::take(&mut self.models);
        let examination = Arc::new(self);
        let mut probes = vec![examination.redis().await];
        for probe in [
            Self::disk,
            Self::database,
            Self::compile_cache,
            Self::sandbox,
            Self::processor,
        ] {
            let examination = Arc::clone(&examination);
            match tokio::task::spawn_blocking(move || probe(&examination)).await {
                Ok(probe) => probes.push(probe),
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime ends; nobody reads this.
                    Err(_) => break,
                },
            }
        }
        if models.is_empty() {
            probes.push(Probe::not_asked(MODEL, "no provider is configured"));
        }
        for (name, client) in models {
            probes.push(model(&name, client).await);
        }
        probes
    }

    async fn redis(&self) -> Probe {
        const NAME: &str = "redis";
        let Some(address) = &self.redis else {
            return Probe::not_asked(NAME, "not asked for");
        };
        let context = RedisContext::new(address.clone());
        let run = RunId::beginning_at(SystemClock.now());
        Probe::of(NAME, redis_times(&context, run).await, |times| {
            let version = match times.version {
                Some(version) => format!("version {version}"),
                None => "version not told".into(),
            };
            let detail = format!(
                "round trip to {address}, {version}; first answer after {}, a working set stored in {}",
                millis(times.first_answer),
                millis(times.store)
            );
            (times.round_trip, "ms", detail)
        })
    }

    fn disk(&self) -> Probe {
        Probe::of("disk-durability", sync_times(&self.directory), |times| {
            let mut detail = format!(
                "one sync in {}; middle of {}, longest {}",
                self.directory.display(),
                times.syncs,
                micros(times.longest)
            );
            if times.median < PLAUSIBLE_SYNC {
                detail += "; no disk is that fast: this one may ignore syncs, and lose at a power cut what was committed";
            }
            (times.median, "us", detail)
        })
    }

    fn database(&self) -> Probe {
        let commits = || {
            let folder = tempfile::Builder::new()
                .prefix("wharf-doctor-")
                .tempdir_in(&self.directory)
                .map_err(|source| FileError::new(&self.directory, Action::Create, source))?;
            Ok::<_, Error>(commit_times(folder.path())?)
        };
        Probe::of("database", commits(), |times| {
            let detail = format!(
                "one synced commit of SQLite {} in {}; middle of {}, longest {}",
                times.version,
                self.directory.display(),
                times.commits,
                micros(times.longest)
            );
            (times.median, "us", detail)
        })
    }

    fn compile_cache(&self) -> Probe {
        const NAME: &str = "compile-cache";
        let Some(folder) = &self.compile_cache else {
            return Probe::not_asked(NAME, "there is no place for one");
        };
        Probe::of(NAME, plugin::compile_times(folder), |times| {
            let detail = format!(
                "smallest component found in {}, which this user alone can write: {} entries of {} KiB; compiled in {}",
                folder.display(),
                times.entries,
                times.bytes / 1024,
                millis(times.compiled)
            );
            (times.loaded, "ms", detail)
        })
    }

    fn sandbox(&self) -> Probe {
        Probe::of("sandbox", plugin::sandbox_times(), |times| {
            let detail = format!(
                "a guest that spins was stopped, {} were allowed; engine started in {}",
                millis(times.allowed),
                millis(times.engine_start)
            );
            (times.stopped, "ms", detail)
        })
    }

    fn processor(&self) -> Probe {
        let threads = std::thread::available_parallelism();
        let threads = threads.map_or(1, std::num::NonZeroUsize::get);
        Probe {
            name: "processor",
            ok: Some(true),
            value: u32::try_from(threads).ok().map(f64::from),
            unit: Some("threads"),
            detail: format!("{}: {}", std::env::consts::ARCH, features().join(", ")),
        }
    }
}

impl Probe {
    fn not_asked(name: &'static str, detail: &str) -> Self {
        Self {
            name,
            ok: None,
            value: None,
            unit: None,
            detail: detail.to_owned(),
        }
    }

    fn of<T, E: Into<Error>>(
        name: &'static str,
        tried: Result<T, E>,
        measured: impl FnOnce(T) -> (Duration, &'static str, String),
    ) -> Self {
        let (time, unit, detail) = match tried {
            Ok(found) => measured(found),
            Err(error) => {
                let error = error.into();
                let detail = format!(
                    "{}: {error}: {}; {}",
                    error.code(),
                    error.why(),
                    error.hint()
                );
                return Self {
                    ok: Some(false),
                    ..Self::not_asked(name, &detail)
                };
            }
        };
        // Finer than that, nothing was measured.
        let value = match unit {
            "ms" => (time.as_secs_f64() * 1e6).round() / 1e3,
            _ => (time.as_secs_f64() * 1e7).round() / 1e1,
        };
        Self {
            name,
            ok: Some(true),
            value: Some(value),
            unit: Some(unit),
            detail,
        }
    }
}

/// Asks a server for its list of models, which costs no tokens.
async fn model(name: &str, client: Result<ChatClient, Error>) -> Probe {
    let watch = Stopwatch::start();
    let tried = match &client {
        Err(_) => None,
        Ok(client) => Some(tokio::time::timeout(PATIENCE, client.probe()).await),
    };
    let time = watch.elapsed();
    let tried = match (client, tried) {
        (Err(error), _) => Err(error),
        (Ok(client), Some(Ok(Ok(found)))) => Ok((client, found)),
        (Ok(_), Some(Ok(Err(fault)))) => Err(fault.into()),
        (Ok(_), Some(Err(_)) | None) => Err(NoAnswer.into()),
    };
    let mut probe = Probe::of(MODEL, tried, |(client, found)| {
        let settings = client.settings();
        let model = &settings.model;
        let detail = match (found.models, found.listed) {
            (Some(count), Some(false)) => {
                format!("lists {count} models, and `{model}` is not among them")
            }
            (Some(count), _) => format!("lists {count} models, `{model}` among them"),
            (None, _) => format!("has no list of models; whether it has `{model}` was not tried"),
        };
        (time, "ms", format!("{} {detail}", settings.base_url))
    });
    probe.detail = format!("{name}: {}", probe.detail);
    probe
}

/// A server of models did not answer a doctor in time.
#[derive(Debug, thiserror::Error)]
#[error("the model's server does not answer")]
struct NoAnswer;

impl Fault for NoAnswer {
    fn facts(&self) -> Facts {
        Facts::new(
            "model-no-answer",
            Kind::Unavailable,
            "check `base_url` and the network",
        )
    }

    fn why(&self) -> Option<String> {
        Some(format!("nothing came for {} s", PATIENCE.as_secs()))
    }
}

fn millis(time: Duration) -> impl Display {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn micros(time: Duration) -> impl Display {
    format!("{:.0} us", time.as_secs_f64() * 1e6)
}

/// What the processor has of that which compiled plugins and hashing are faster with.
fn features() -> Vec<&'static str> {
    let mut found = Vec::new();
    macro_rules! look {
        ($detected:ident: $($feature:tt)*) => {
            $(if std::arch::$detected!($feature) { found.push($feature); })*
        };
    }
    #[cfg(target_arch = "x86_64")]
    look!(is_x86_feature_detected: "sse4.2" "popcnt" "bmi1" "bmi2" "lzcnt" "avx" "avx2" "fma" "avx512f" "sha");
    #[cfg(target_arch = "aarch64")]
    look!(is_aarch64_feature_detected: "neon" "lse" "fp16" "sha2" "paca" "bti");
    if found.is_empty() {
        found.push("no feature that is known here");
    }
    found
}
