//! The contender that is measured: Wharf, embedded as any program would embed it.

use std::{fs, num::NonZeroUsize, path::Path, sync::Arc, thread, time::Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use wharf::{
    Digest, Host, HostBuilder, Outcome, PlanExecute, Planner, Request, RunOptions, Status, Task,
    host::Finished, technologies::script_planner::ScriptPlanner,
};

use crate::{
    contender::{Contender, Setup, Timed},
    lanes::Queue,
    scenario::{Names, Scenario},
};

/// One host with one workspace, which runs any number of orders at once.
pub(crate) struct Embedded {
    host: Host,
    pattern: PlanExecute,
    component: Arc<[u8]>,
    digest: Digest,
    scenario: Scenario,
    runtime: Runtime,
}

impl Embedded {
    pub(crate) fn open(setup: &Setup, workspace: &Path) -> Result<Self> {
        Self::open_with(setup, workspace, true)
    }

    pub(crate) fn open_with(setup: &Setup, workspace: &Path, sync_outputs: bool) -> Result<Self> {
        let component: Arc<[u8]> = fs::read(&setup.component)
            .with_context(|| format!("no component at {}", setup.component.display()))?
            .into();
        let cpus = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Self {
            host: HostBuilder::new(workspace)
                .compile_cache(Some(setup.compile_cache()))
                .sync_outputs(sync_outputs)
                .build()?,
            pattern: PlanExecute::new(Planner::Model(Arc::new(ScriptPlanner::read(
                &setup.script(),
            )?))),
            digest: Digest::of(&component),
            component,
            scenario: setup.scenario,
            runtime: Builder::new_multi_thread().worker_threads(cpus).build()?,
        })
    }

    /// The plugin of all orders.
    pub(crate) fn component(&self) -> Arc<[u8]> {
        Arc::clone(&self.component)
    }

    /// Runs orders over that many lanes at once. What `begin` takes to make an order a task is part of the order's time.
    pub(crate) fn drive<O: Send + 'static>(
        &self,
        orders: Vec<O>,
        lanes: u32,
        begin: impl Fn(O) -> Result<(Task, RunOptions)> + Send + Sync + 'static,
    ) -> Result<Vec<Timed<Finished>>> {
        let shared = Arc::new((Queue::new(orders), begin));
        let lanes: Vec<_> = (0..lanes)
            .map(|_| {
                let (host, pattern) = (self.host.clone(), self.pattern.clone());
                let shared = Arc::clone(&shared);
                self.runtime.spawn(async move {
                    let (queue, begin) = &*shared;
                    let mut done = Vec::new();
                    while let Some(order) = queue.next() {
                        let begun = Instant::now();
                        let (task, options) = begin(order)?;
                        let outcome = host.run(&pattern, task, options).await?;
                        let micros = begun.elapsed().as_secs_f64() * 1e6;
                        match outcome {
                            Outcome::Finished(done_now) => done.push(Timed {
                                micros,
                                done: done_now,
                            }),
                            other => bail!("the task did not finish: {other:?}"),
                        }
                    }
                    Ok(done)
                })
            })
            .collect();
        let mut done = Vec::new();
        for lane in lanes {
            done.extend(self.runtime.block_on(lane)??);
        }
        Ok(done)
    }
}

/// A request as it comes from outside, and what goes with the first one.
pub(crate) struct Order {
    request: String,
    seed: Option<&'static str>,
}

impl Order {
    pub(crate) fn task(self, component: &Arc<[u8]>) -> Result<Task> {
        let task = Task::new(Request::read(&self.request)?, Arc::clone(component));
        Ok(match self.seed {
            Some(seed) => task.with_seed(seed),
            None => task,
        })
    }
}

impl Contender for Embedded {
    type Order = Order;
    type Done = Finished;

    fn prepare(&self, number: u32) -> Result<Order> {
        Ok(Order {
            request: self.scenario.request(&Names::of(number), &self.digest),
            seed: (number == 0).then(|| self.scenario.seed()),
        })
    }

    fn run(&self, orders: Vec<Order>, lanes: u32) -> Result<Vec<Timed<Finished>>> {
        let component = self.component();
        self.drive(orders, lanes, move |order: Order| {
            Ok((order.task(&component)?, RunOptions::default()))
        })
    }

    fn check(&self, finished: &Finished) -> Result<()> {
        let report: Value = serde_json::from_str(&finished.report)?;
        let list = |name: &str| report[name].as_array().map_or(&[][..], Vec::as_slice);
        let (plans, changes) = (self.scenario.plans().len(), list("changes"));
        ensure!(
            finished.status == Status::Completed
                && list("plans").len() == plans
                && changes.len() == plans - 1
                && changes
                    .iter()
                    .all(|change| change["code"] == "environment-changed"),
            "the task went another way than its scenario: {}",
            finished.report
        );
        Ok(())
    }
}
