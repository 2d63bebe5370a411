//! Embedding Wharf: one order of the reference domain, from request to verified report.
//!
//! Run it after `cargo xtask guests`:
//! `cargo run -p wharf-examples --bin embed -- target/plugins/fulfillment.wasm DIRECTORY`
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example is a program"
)]

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;
use wharf::{
    Digest, HostBuilder, Outcome, PlanExecute, Planner, ProgressBody, Request, RunOptions, Task,
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
        "INSERT INTO inventory VALUES ('article', 10); INSERT INTO rates VALUES ('standard', 300), ('economy', 400);",
    );

    let mut options = RunOptions::default();
    options.progress = Some(Arc::new(|progress| {
        if let ProgressBody::Record { kind, view } = progress.body {
            println!("{:>4} {kind:<9} {}", progress.sequence, view.stage);
        }
    }));
    let host = HostBuilder::new(&directory).build()?;
    match host
        .run(&PlanExecute::new(Planner::Search), task, options)
        .await?
    {
        Outcome::Finished(finished) => println!("{:?}: {}", finished.status, finished.report),
        other => println!("{other:?}: `wharf resume --dir {directory}` goes on"),
    }
    Ok(())
}
