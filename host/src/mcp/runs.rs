//! The runs of tasks in this server: how many there may be, who may cancel them, and how the last ones ended.
//!
//! A run outlives the request that began it where the client said so. Nothing here is durable: what a run did, the journal
//! knows.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use tokio::{
    sync::{Semaphore, watch},
    task::JoinHandle,
};
use wharf::{Cancellation, Error, Outcome, TaskId};

use super::{error::McpError, result::ErrorTold};

/// The most tasks that run at once.
pub(super) const MAX_RUNS: usize = 32;
/// How many ends are remembered.
const MAX_ENDS: usize = 32;

/// All runs of a server.
#[derive(Debug)]
pub(super) struct Runs {
    room: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    begun: u64,
    /// No run goes on from now on.
    closed: bool,
    running: Vec<Running>,
    ended: VecDeque<RunTold>,
}

#[derive(Debug)]
struct Running {
    number: u64,
    task: TaskId,
    cancellation: Cancellation,
    /// Closed when the run has ended.
    end: watch::Receiver<()>,
}

/// A run that was begun.
pub(super) struct Run {
    /// Asks it to stop.
    pub(super) cancellation: Cancellation,
    /// What comes of it.
    pub(super) end: JoinHandle<Result<Outcome, Error>>,
}

/// A run, as a client is told of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunTold {
    task: TaskId,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorTold>,
}

impl RunTold {
    /// A task that is running, or whose run ended so.
    pub(super) const fn new(task: TaskId, state: &'static str) -> Self {
        Self {
            task,
            state,
            error: None,
        }
    }

    fn ended(task: TaskId, end: &Result<Outcome, Error>) -> Self {
        let state = match end {
            Ok(Outcome::Finished(_)) => "finished",
            Ok(Outcome::Checkpoint(_)) => "stopped",
            Ok(_) => "cancelled",
            Err(_) => "failed",
        };
        Self {
            error: end.as_ref().err().map(ErrorTold::from),
            ..Self::new(task, state)
        }
    }
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(MAX_RUNS)),
            state: Mutex::default(),
        }
    }
}

impl Runs {
    /// Begins a run, which `run` makes of its cancellation. Of one task several may be begun: that one runner owns it, the
    /// host sees to.
    pub(super) fn begin<F>(
        self: &Arc<Self>,
        task: &TaskId,
        run: impl FnOnce(Cancellation) -> F,
    ) -> Result<Run, McpError>
    where
        F: Future<Output = Result<Outcome, Error>> + Send + 'static,
    {
        let room = Arc::clone(&self.room)
            .try_acquire_owned()
            .map_err(|_| McpError::TooManyRuns { limit: MAX_RUNS })?;
        let cancellation = Cancellation::new();
        let (ending, end) = watch::channel(());
        let mut state = self.state();
        state.begun += 1;
        let entry = Entry {
            runs: Arc::clone(self),
            number: state.begun,
        };
        if state.closed {
            cancellation.cancel();
        }
        state.running.push(Running {
            number: entry.number,
            task: task.clone(),
            cancellation: cancellation.clone(),
            end,
        });
        drop(state);
        let run = run(cancellation.clone());
        let task = task.clone();
        let end = tokio::spawn(async move {
            // In this order: whoever sees the end finds the run gone, its end told, and room for another.
            let _ending = ending;
            let _room = room;
            let entry = entry;
            let end = run.await;
            entry.runs.remember(RunTold::ended(task, &end));
            end
        });
        Ok(Run { cancellation, end })
    }

    /// Asks all runs of a task to stop and waits until they have; how the last one ended. None: there is none.
    pub(super) async fn cancel(&self, task: &TaskId) -> Option<RunTold> {
        let ends: Vec<_> = self
            .state()
            .running
            .iter()
            .filter(|run| run.task == *task)
            .map(|run| {
                run.cancellation.cancel();
                run.end.clone()
            })
            .collect();
        if ends.is_empty() {
            return None;
        }
        for mut end in ends {
            // An error says that the run's own side is gone.
            while end.changed().await.is_ok() {}
        }
        let state = self.state();
        state.ended.iter().rfind(|run| run.task == *task).cloned()
    }

    /// What runs, and how the last runs ended, the newest last.
    pub(super) fn told(&self, task: Option<&TaskId>) -> Vec<RunTold> {
        let state = self.state();
        let running = |run: &Running| RunTold::new(run.task.clone(), "running");
        state
            .ended
            .iter()
            .cloned()
            .chain(state.running.iter().map(running))
            .filter(|run| task.is_none_or(|task| run.task == *task))
            .collect()
    }

    /// Asks all runs to stop, and every later one before it begins.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        for run in &state.running {
            run.cancellation.cancel();
        }
    }

    /// Waits until nothing runs.
    pub(super) async fn settled(&self) {
        // The semaphore is never closed.
        let _ = self.room.acquire_many(MAX_RUNS as u32).await;
    }

    fn remember(&self, end: RunTold) {
        let mut state = self.state();
        state.ended.retain(|other| other.task != end.task);
        if state.ended.len() == MAX_ENDS {
            state.ended.pop_front();
        }
        state.ended.push_back(end);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run's place among the running, until it ends, however it ends.
struct Entry {
    runs: Arc<Runs>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let number = self.number;
        self.runs.state().running.retain(|run| run.number != number);
    }
}
