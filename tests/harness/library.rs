//! Wharf as a program embeds it.

use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use wharf::{
    Error, Host, HostBuilder, Outcome, PlanExecute, Planner, RunOptions, Task,
    core::ports::model::{Answer, Model, Prompt},
    host::Finished,
    words::clock::Clock,
};

use super::command::compile_cache;

/// A host with the tests' compile cache.
pub fn builder(directory: impl AsRef<Path>) -> HostBuilder {
    HostBuilder::new(directory.as_ref()).compile_cache(Some(compile_cache()))
}

pub fn host(directory: impl AsRef<Path>) -> Host {
    builder(directory).build().unwrap()
}

/// Runs a task as the options say.
pub fn run(
    host: &Host,
    planner: Planner,
    task: Task,
    options: RunOptions,
) -> Result<Outcome, Error> {
    block_on(host.run(&PlanExecute::new(planner), task, options))
}

/// Waits for what the library does, as a program with a runtime of its own does.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs a task to its end.
#[track_caller]
pub fn finish(host: &Host, planner: Planner, task: Task) -> Finished {
    match run(host, planner, task, RunOptions::default()).unwrap() {
        Outcome::Finished(finished) => finished,
        other => panic!("{other:?}"),
    }
}

/// A model that gives prepared answers and keeps what it was asked.
#[derive(Default)]
pub struct Scripted {
    answers: Vec<Answer>,
    asked: Mutex<Vec<Value>>,
}

impl Scripted {
    /// Complete answers with these texts.
    pub fn saying<T: ToString>(texts: impl IntoIterator<Item = T>) -> Arc<Self> {
        let answer = |text: T| Answer::Text {
            text: text.to_string(),
            finish_reason: "stop".to_owned(),
            usage: None,
        };
        Arc::new(Self {
            answers: texts.into_iter().map(answer).collect(),
            asked: Mutex::default(),
        })
    }

    /// As a planner.
    pub fn planner(self: &Arc<Self>) -> Planner {
        Planner::Model(Arc::clone(self) as Arc<dyn Model>)
    }

    /// The working set of each call so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn check(&self, _: &Prompt<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn sample<'a>(
        &'a self,
        prompt: &'a Prompt<'a>,
        _: &'a (dyn Fn(&str) + Sync),
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send + 'a>> {
        let working_set = serde_json::from_str(prompt.working_set).unwrap();
        self.asked.lock().unwrap().push(working_set);
        let answer = self.answers.get(prompt.answers).cloned();
        Box::pin(async move { Ok(answer.expect("the script has an answer for each call")) })
    }
}

/// A clock that moves only when it is told to.
pub struct TestClock(Mutex<Timestamp>);

impl TestClock {
    pub fn at(time: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(time.parse().unwrap())))
    }

    pub fn advance_seconds(&self, seconds: i64) {
        *self.0.lock().unwrap() += SignedDuration::from_secs(seconds);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}
