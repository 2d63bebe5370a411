//! Drives one task for `demo`, `run`, `resume` and `agent`: host, display, signals, and what comes of it.

use std::{path::Path, sync::Arc};

use tokio::runtime::{Builder, Runtime};
use wharf::{
    Cancellation, Error, Host, Outcome, RunOptions, Task,
    plugin::CompileCache,
    words::clock::{Clock, SystemClock},
};

use super::{
    Session,
    answer::Reply,
    error::CliError,
    progress::Display,
    results::{self, Place},
    signals,
    way::{Means, Way},
};

/// Runs a task in a workspace, named by an absolute path.
pub(super) fn drive(
    session: &Session,
    workspace: &Path,
    task: Task,
    way: Way,
) -> Result<Reply, Error> {
    let id = task.id().clone();
    let place = Place {
        workspace,
        task: &id,
    };
    let (pattern, stop_after) = (way.means.pattern.clone(), way.stop_after);
    let run = async |host: Host, mut options: RunOptions| {
        options.stop_after = stop_after;
        let outcome = host.run(&pattern, task, options).await?;
        let shows_answer = matches!(outcome, Outcome::Finished(_) | Outcome::Checkpoint(_));
        Ok(Driven {
            outcome,
            shows_answer,
        })
    };
    match driven(session, place, &way.means, run)? {
        Outcome::Finished(finished) => results::finished(session, place, &finished),
        Outcome::Checkpoint(checkpoint) => {
            results::checkpoint(session, place, checkpoint, SystemClock.now())
        }
        _ => Ok(results::cancelled(session, place)),
    }
}

/// How a run ended.
pub(super) struct Driven<T> {
    /// As the library tells it.
    pub(super) outcome: T,
    /// What is answered says all that the display says.
    pub(super) shows_answer: bool,
}

/// Runs something on a host of the workspace: shows the run, and lets signals cancel it, from the first moment on.
pub(super) fn driven<T>(
    session: &Session,
    place: Place<'_>,
    means: &Means,
    run: impl AsyncFnOnce(Host, RunOptions) -> Result<Driven<T>, Error>,
) -> Result<T, Error> {
    let runtime = runtime(1).map_err(|source| CliError::Setup { source })?;
    let outcome = runtime.block_on(shown(session, place, means, run));
    // The run has ended. What is left may be a name that is still being looked up, for which nobody waits.
    runtime.shutdown_background();
    outcome
}

async fn shown<T>(
    session: &Session,
    place: Place<'_>,
    means: &Means,
    run: impl AsyncFnOnce(Host, RunOptions) -> Result<Driven<T>, Error>,
) -> Result<T, Error> {
    let display = Display::start(session, place.task, Arc::new(SystemClock));
    let cancellation = Cancellation::new();
    let on_signal = display.clone();
    signals::watch(cancellation.clone(), move || on_signal.cancelling())
        .map_err(|source| CliError::Setup { source })?;

    let mut options = RunOptions::default();
    options.cancellation = cancellation;
    options.progress = Some(display.sink());
    let host = means.host(place.workspace);
    let driven = match host.compile_cache(compile_cache(session)).build() {
        Ok(host) => run(host, options).await,
        Err(error) => Err(error),
    };

    match &driven {
        Ok(driven) if driven.shows_answer && session.answers_below_display() => display.give_way(),
        _ => display.finish(),
    }
    driven.map(|driven| driven.outcome)
}

/// With one worker, signals are heard whatever the run does to the thread that waits for it.
pub(super) fn runtime(workers: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name("wharf")
        .enable_all()
        .build()
}

/// The compile cache, where it can be used: it saves time, and nothing else depends on it.
pub(super) fn compile_cache(session: &Session) -> Option<std::path::PathBuf> {
    let folder = session.environment.compile_cache.clone()?;
    match CompileCache::open(&folder) {
        Ok(_) => Some(folder),
        Err(error) => {
            let error = Error::from(error);
            tracing::warn!(why = error.why(), fix = %error.hint(), "{error}; compiled plugins are not kept");
            None
        }
    }
}
