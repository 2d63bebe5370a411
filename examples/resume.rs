//! Cancelling a run and going on with it: nothing that is done is done again.
//!
//! Run it after `cargo xtask guests`:
//! `cargo run -p wharf-examples --bin resume -- target/plugins/fulfillment.wasm DIRECTORY`
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example is a program"
)]

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;
use wharf::{
    Cancellation, Digest, HostBuilder, HostLimits, Outcome, PlanExecute, Planner, ProgressBody,
    Request, RunOptions, Task, core::view::StepState, host,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let component = std::fs::read(arguments.next().context("which component?")?)?;
    let directory = arguments.next().context("which directory?")?;

    let request = Request::read(
        &json!({
            "id": "order-1", "tenant": "acme", "principal": "shop", "goal": "Ship the order.",
            "plugin": {"name": "fulfillment", "version": "0.1.0", "digest": Digest::of(&component)},
            "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
            "input": {"orderId": "ORDER-1", "quantity": 2, "maxShippingCents": 500},
        })
        .to_string(),
    )?;
    let id = request.id.clone();
    let task = Task::new(request, component).with_seed(
        "INSERT INTO inventory VALUES ('article', 10); INSERT INTO rates VALUES ('standard', 300), ('economy', 400);",
    );
    let host = HostBuilder::new(&directory).build()?;
    let pattern = PlanExecute::new(Planner::Search);

    // The first completed step cancels the run, as a person or a shutdown might.
    let cancellation = Cancellation::new();
    let mut options = RunOptions::default();
    options.cancellation = cancellation.clone();
    options.progress = Some(Arc::new(move |progress| {
        if let ProgressBody::Record { view, .. } = progress.body
            && view
                .steps
                .iter()
                .any(|step| step.state == StepState::Completed)
        {
            cancellation.cancel();
        }
    }));
    let outcome = host.run(&pattern, task, options).await?;
    println!("first run: {outcome:?}");

    match host
        .run(&pattern, Task::Saved(id.clone()), RunOptions::default())
        .await?
    {
        Outcome::Finished(finished) => println!("second run: {:?}", finished.status),
        other => println!("second run: {other:?}"),
    }
    let audit = host::audit(directory.as_ref(), Some(&id), None, &HostLimits::standard())?;
    println!("clean: {}", audit.is_clean());
    Ok(())
}
