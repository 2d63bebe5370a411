//! Runs one order of the reference domain through the library and prints its report: `outside COMPONENT DIRECTORY`.

use anyhow::{Context as _, bail};
use serde_json::json;
use wharf::{
    Digest, HostBuilder, Outcome, PlanExecute, Planner, PluginLimits, Request, RunOptions, Status,
    StopReason, Task,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let component = std::fs::read(arguments.next().context("which component?")?)?;
    let directory = arguments.next().context("which directory?")?;

    let request = json!({
        "id": "order-1", "tenant": "acme", "principal": "shop", "goal": "Ship the order.",
        "plugin": {"name": "fulfillment", "version": "0.1.0", "digest": Digest::of(&component)},
        "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
        "input": {"orderId": "ORDER-1", "quantity": 2, "maxShippingCents": 500},
    });
    let task = Task::new(Request::read(&request.to_string())?, component).with_seed(
        "INSERT INTO inventory VALUES ('article', 10); INSERT INTO rates VALUES ('standard', 300);",
    );
    let host = HostBuilder::new(&directory)
        .limits(PluginLimits::standard())
        .build()?;
    let pattern = PlanExecute::new(Planner::Search);
    let Outcome::Finished(finished) = host.run(&pattern, task, RunOptions::default()).await? else {
        bail!("nothing asked it to stop");
    };
    assert_eq!(
        (finished.status, finished.stop_reason),
        (Status::Completed, StopReason::Completed)
    );
    println!("{}", finished.report);
    Ok(())
}
