//! The contender that is measured: Wharf, embedded as any program would embed it.

use std::{fs, path::Path, sync::Arc};

use anyhow::{Context as _, Result, bail};
use tokio::runtime::Runtime;
use wharf::{
    Digest, Host, HostBuilder, Outcome, PlanExecute, Planner, Request, RunOptions, Status, Task,
    technologies::script_planner::ScriptPlanner,
};

use crate::{
    contender::{Contender, Setup},
    scenario::{Names, Scenario},
};

/// One host with one workspace, which runs one order after another.
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
        let component: Arc<[u8]> = fs::read(&setup.component)
            .with_context(|| format!("no component at {}", setup.component.display()))?
            .into();
        Ok(Self {
            host: HostBuilder::new(workspace)
                .compile_cache(Some(setup.compile_cache()))
                .build()?,
            pattern: PlanExecute::new(Planner::Model(Arc::new(ScriptPlanner::read(
                &setup.script(),
            )?))),
            digest: Digest::of(&component),
            component,
            scenario: setup.scenario,
            runtime: tokio::runtime::Builder::new_current_thread().build()?,
        })
    }
}

/// A request as it comes from outside, and what goes with the first one.
pub(crate) struct Order {
    request: String,
    seed: Option<&'static str>,
}

impl Contender for Embedded {
    type Order = Order;

    fn prepare(&self, number: u32) -> Result<Order> {
        Ok(Order {
            request: self.scenario.request(&Names::of(number), &self.digest),
            seed: (number == 0).then(|| self.scenario.seed()),
        })
    }

    fn run(&mut self, order: Order) -> Result<()> {
        let request = Request::read(&order.request)?;
        let mut task = Task::new(request, Arc::clone(&self.component));
        if let Some(seed) = order.seed {
            task = task.with_seed(seed);
        }
        let run = self.host.run(&self.pattern, task, RunOptions::default());
        match self.runtime.block_on(run)? {
            Outcome::Finished(finished) if finished.status == Status::Completed => Ok(()),
            other => bail!("the task did not complete: {other:?}"),
        }
    }
}
