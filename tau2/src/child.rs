//! One run of a task, in a process of its own: the library, embedded as any program would embed it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use tracing_subscriber::layer::SubscriberExt as _;
use wharf::{
    Host, HostBuilder, Outcome, PlanExecute, Planner, Progress, ProgressBody, Request, RunOptions,
    Status, Task, technologies::script_planner::ScriptPlanner,
};

use crate::{
    calls::Calls,
    kill::{Hold, Kill},
};

/// What a child is told: a file, so that nothing is too long for a command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) component: PathBuf,
    pub(crate) compile_cache: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) request: String,
    pub(crate) seed: PathBuf,
    pub(crate) script: PathBuf,
    /// Gets a line for each call of the plugin that performs a step.
    pub(crate) calls: PathBuf,
    /// Where to wait for the end.
    pub(crate) kill: Option<Kill>,
}

/// What a child that came to the end prints.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// From the admission, which the preparation of the workspace goes before, to the report.
    pub(crate) millis: f64,
}

impl Job {
    const CHILD: &str = "child";

    /// The words that make a process the child for the job in this file.
    pub(crate) fn words(file: &Path) -> [&std::ffi::OsStr; 2] {
        [Self::CHILD.as_ref(), file.as_os_str()]
    }

    /// The job of this process, if it is a child.
    pub(crate) fn given() -> Option<Result<Self>> {
        let mut words = std::env::args_os().skip(1);
        if words.next()? != Self::CHILD {
            return None;
        }
        let file = PathBuf::from(words.next()?);
        let read = || -> Result<Self> { Ok(serde_json::from_slice(&fs::read(&file)?)?) };
        Some(read().with_context(|| file.display().to_string()))
    }
}

/// Does a job and prints how it ended.
pub(crate) fn serve(job: &Job) -> Result<()> {
    let hold = Arc::new(Hold::new(job.kill.clone()));
    let calls = Calls::new(&job.calls, Arc::clone(&hold))?;
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(calls))?;

    let component = fs::read(&job.component)?;
    let task = Task::new(Request::read(&job.request)?, component)
        .with_seed(fs::read_to_string(&job.seed)?);
    let planner = Planner::Model(Arc::new(ScriptPlanner::read(&job.script)?));
    let host = HostBuilder::new(&job.workspace)
        .compile_cache(Some(job.compile_cache.clone()))
        .build()?;
    let millis = run(&host, &PlanExecute::new(planner), task, hold)?;
    println!("{}", serde_json::to_string(&Ended { millis })?);
    Ok(())
}

fn run(host: &Host, pattern: &PlanExecute, task: Task, hold: Arc<Hold>) -> Result<f64> {
    let admitted = Arc::new(Mutex::new(None));
    let mut options = RunOptions::default();
    options.progress = Some(Arc::new({
        let admitted = Arc::clone(&admitted);
        move |progress: Progress| {
            if let ProgressBody::Record { view, .. } = &progress.body {
                admitted
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert_with(Instant::now);
                hold.recorded(&view.steps);
            }
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    match runtime.block_on(host.run(pattern, task, options))? {
        Outcome::Finished(finished) if finished.status == Status::Completed => {
            let admitted = *admitted.lock().unwrap_or_else(PoisonError::into_inner);
            let admitted = admitted.context("the run told nobody of its progress")?;
            Ok(admitted.elapsed().as_secs_f64() * 1e3)
        }
        Outcome::Finished(finished) => bail!("the task ended otherwise: {}", finished.report),
        other => bail!("the run did not come to its end: {other:?}"),
    }
}
