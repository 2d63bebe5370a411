//! Many tasks at once over one host, in one process; each is acknowledged as soon as it is finished.
//!
//! `many-at-once COMPONENT TASKS DIRECTORY CACHE NUMBER`: `TASKS` is a JSON array of requests, each with the operation whose response
//! is lost, if any; so many run at once, and whenever one is finished the next begins. Started again, it goes on with all of them.
#![allow(
    clippy::disallowed_methods,
    reason = "the program is given what to do as arguments"
)]

use std::{
    fs,
    io::{Write as _, stdout},
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::{runtime, sync::Semaphore};
use wharf::{
    HostBuilder, Outcome, PlanExecute, Planner, Request, RunOptions, Task,
    core::contract::OperationKey,
};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let mut argument = |name: &'static str| arguments.next().context(name);
    let component = fs::read(argument("which component?")?)?;
    let tasks: Vec<Value> = serde_json::from_slice(&fs::read(argument("which tasks?")?)?)?;
    let host = HostBuilder::new(argument("which directory?")?)
        .compile_cache(Some(argument("which compile cache?")?))
        .build()?;
    let number = argument("how many at once?")?;
    let number = number.to_str().context("how many at once?")?.parse()?;
    let free = Arc::new(Semaphore::new(number));
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let runs: Vec<_> = tasks
        .iter()
        .map(|described| {
            let request = Request::read(&described["request"].to_string())?;
            let mut task = Task::new(request, component.clone());
            if let Some(key) = described["loseResponseOf"].as_str() {
                task = task.losing_response_of(
                    OperationKey::new(key.to_owned()).context("which operation?")?,
                );
            }
            let (host, free) = (host.clone(), Arc::clone(&free));
            Ok(runtime.spawn(async move {
                let _place = free.acquire().await?;
                let id = task.id().clone();
                let pattern = PlanExecute::new(Planner::Search);
                match host.run(&pattern, task, RunOptions::default()).await? {
                    // A line is one write.
                    Outcome::Finished(_) => writeln!(stdout(), "{id} finished")?,
                    other => bail!("{id}: {other:?}"),
                }
                Ok(())
            }))
        })
        .collect::<anyhow::Result<_>>()?;
    // All come to their end, also where one fails.
    let ends: Vec<anyhow::Result<()>> = runs
        .into_iter()
        .map(|run| runtime.block_on(run).map_err(anyhow::Error::from).flatten())
        .collect();
    ends.into_iter().collect()
}
