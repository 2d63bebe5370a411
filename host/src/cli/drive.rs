//! Drives one task for `demo`, `run` and `resume`: host, display, signals, and what comes of it.

use std::{path::Path, sync::Arc};

use tokio::runtime::{Builder, Runtime};
use wharf::{
    Cancellation, Error, Outcome, RunOptions, Task,
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
    way::Way,
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
    let runtime = runtime(1).map_err(|source| CliError::Setup { source })?;
    let outcome = runtime.block_on(run(session, place, task, way));
    // The run has ended. What is left may be a name that is still being looked up, for which nobody waits.
    runtime.shutdown_background();
    match outcome? {
        Outcome::Finished(finished) => results::finished(session, place, &finished),
        Outcome::Checkpoint(checkpoint) => {
            results::checkpoint(session, place, checkpoint, SystemClock.now())
        }
        _ => Ok(results::cancelled(session, place)),
    }
}

/// Shows the run, and lets signals cancel it, from the first moment on.
async fn run(session: &Session, place: Place<'_>, task: Task, way: Way) -> Result<Outcome, Error> {
    let display = Display::start(session, place.task, Arc::new(SystemClock));
    let cancellation = Cancellation::new();
    let on_signal = display.clone();
    signals::watch(cancellation.clone(), move || on_signal.cancelling())
        .map_err(|source| CliError::Setup { source })?;

    let mut options = RunOptions::default();
    options.stop_after = way.stop_after;
    options.cancellation = cancellation;
    options.progress = Some(display.sink());
    let host = way.means.host(place.workspace);
    let outcome = match host.compile_cache(compile_cache(session)).build() {
        Ok(host) => host.run(&way.means.pattern, task, options).await,
        Err(error) => Err(error),
    };

    match &outcome {
        Ok(Outcome::Finished(_) | Outcome::Checkpoint(_)) if session.answers_below_display() => {
            display.give_way();
        }
        _ => display.finish(),
    }
    outcome
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
