//! Agents: a native tool, the tools of a plugin, and two agents that share a plan. Their model is a script, so that it runs anywhere;
//! `ModelPlanner` takes its place with a server of chat completions.
//!
//! Run it after `cargo xtask guests`:
//! `cargo run -p wharf-examples --bin agents -- target/plugins/fulfillment.wasm DIRECTORY [CACHE]`
//! Started again, it goes on where it was.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example is a program"
)]

use std::{
    fs,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use anyhow::Context as _;
use serde_json::{Value, json};
use wharf::{
    Digest, Host, HostBuilder, PlanExecute, Planner, Request, RunOptions, Task,
    core::{
        agent::request::{AgentBudgets, AgentFields, AgentRequest},
        tools::{Tool, ToolBody, ToolCall, ToolDescriptor, ToolEffect, ToolError},
    },
    host::{Agent, AgentOutcome, AgentTask},
    technologies::script_planner::ScriptPlanner,
};

/// A native tool: what the application knows, and no plugin.
struct Weather;

impl Tool for Weather {
    fn run<'a>(
        &'a self,
        call: &'a ToolCall<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send + 'a>> {
        Box::pin(async move {
            match call.arguments["city"].as_str() {
                Some("Rostock") => Ok(json!({ "sky": "windy" })),
                _ => Err(ToolError::new("unknown-city", "only Rostock is known")),
            }
        })
    }
}

fn weather() -> ToolDescriptor {
    let input = json!({
        "type": "object",
        "properties": { "city": { "type": "string" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    ToolDescriptor::new("weather", "Tells the weather of a city.", input)
        .with_effect(ToolEffect::Read)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let component = fs::read(arguments.next().context("which component?")?)?;
    let directory = arguments.next().context("which directory?")?;
    let host = HostBuilder::new(&directory)
        // Without it each start compiles the plugin.
        .compile_cache(arguments.next().map(PathBuf::from))
        .register_tool(weather(), ToolBody::Native(Arc::new(Weather)))
        .build()?;

    // The trusted side fills the plugin's tables; an order of a task of its own.
    let order = |id: &str, order: &str| {
        let request = json!({
            "id": id, "tenant": "acme", "principal": "shop", "goal": "Ship the order.",
            "plugin": {"name": "fulfillment", "version": "0.1.0", "digest": Digest::of(&component)},
            "budgets": {"maxPlans": 3, "maxActions": 12, "deadlineSeconds": 600},
            "input": {"orderId": order, "quantity": 2, "maxShippingCents": 500},
        });
        Request::read(&request.to_string())
    };
    let first = Task::new(order("order-1", "ORDER-1")?, component.clone()).with_seed(
        "INSERT INTO inventory VALUES ('article', 10); INSERT INTO rates VALUES ('standard', 300), ('economy', 400);",
    );
    host.run(
        &PlanExecute::new(Planner::Search),
        first,
        RunOptions::default(),
    )
    .await?;

    let scripts = Path::new(&directory).with_extension("scripts");
    fs::create_dir_all(&scripts)?;

    // One agent plans and begins, with the native tool.
    let step =
        |id: &str, status: &str| json!({"id": id, "title": format!("Do: {id}."), "status": status});
    let plan = json!({"plan": {"steps": [step("look", "in_progress"), step("pack", "pending")]}});
    let alice = [
        calls(&[
            ("plan_write", plan),
            ("weather", json!({"city": "Rostock"})),
        ]),
        calls(&[("plan_write", json!({"step": step("look", "completed")}))]),
        json!({"text": "It is windy; somebody else may pack.", "finishReason": "stop"}),
    ];
    let agent = agent(&host, &scripts.join("alice.jsonl"), &alice)?;
    println!("alice: {}", run(&host, &agent, "alice").await?);

    // Another one reads the plan, and goes on with the tools of the plugin, each call one business transaction.
    let bob = [
        calls(&[("plan_read", json!({}))]),
        calls(&[("reserve_stock", json!({})), ("pack_order", json!({}))]),
        calls(&[(
            "plan_write",
            json!({"step": step("pack", "completed"), "expectedVersion": 2}),
        )]),
        json!({"text": "It is packed.", "finishReason": "stop"}),
    ];
    let agent = self::agent(&host, &scripts.join("bob.jsonl"), &bob)?.register_plugin(
        &host,
        order("unused", "ORDER-2")?,
        component,
    )?;
    println!("bob: {}", run(&host, &agent, "bob").await?);
    Ok(())
}

/// What a model says when it calls tools.
fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| json!({"id": format!("c{at}"), "name": name, "arguments": arguments}))
        .collect();
    json!({"toolCalls": calls, "finishReason": "tool_calls"})
}

fn agent(host: &Host, script: &Path, lines: &[Value]) -> anyhow::Result<Agent> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(script, text)?;
    Ok(host.make_agent(Arc::new(ScriptPlanner::read(script)?)))
}

async fn run(host: &Host, agent: &Agent, name: &str) -> anyhow::Result<String> {
    let request = AgentRequest::new(&AgentFields {
        id: format!("task-of-{name}").parse()?,
        tenant: "acme".parse()?,
        principal: "shop".parse()?,
        agent: name.parse()?,
        prompt: "Pack the order if the weather allows it.".into(),
        budgets: AgentBudgets::STANDARD,
        ask: Vec::new(),
        deny: Vec::new(),
    })?;
    let outcome = host
        .run_agent(agent, AgentTask::new(request), RunOptions::default())
        .await?;
    Ok(match outcome {
        AgentOutcome::Finished(finished) => match finished.answer {
            Some(answer) => answer,
            None => format!("{:?}", finished.stop_reason),
        },
        other => format!("{other:?}"),
    })
}
