//! Honest answers: a table of things, a tool that adds one, and a tool that looks at them.

use crate::{
    Answer, Artifact, Completed, Conclusion, Descriptor, Effect, Failure, Migration, Outcome, Plan,
    Step, Task, Tool, Transaction, Value, Violation, violation,
};

pub fn describe() -> Descriptor {
    Descriptor {
        name: "hostile".into(),
        version: "0.1.0".into(),
        instructions: "Plan one `add`.".into(),
        input_schema: "{}".into(),
        tools: vec![
            tool("add", Effect::Write, "added"),
            tool("look", Effect::Read, "seen"),
        ],
        migrations: vec![Migration {
            version: 1,
            sql: "CREATE TABLE things (id TEXT PRIMARY KEY, content TEXT)".into(),
        }],
        max_steps: 3,
    }
}

pub fn tool(name: &str, effect: Effect, postcondition: &str) -> Tool {
    Tool {
        name: name.into(),
        description: name.into(),
        effect,
        postcondition: postcondition.into(),
        arguments: None,
    }
}

pub fn check_task() -> Result<String, Vec<Violation>> {
    Ok("subject".into())
}

pub fn operation_key(tool: &str) -> Option<String> {
    (tool == "add").then(|| tool.into())
}

pub fn check_plan(plan: &Plan) -> Result<(), Vec<Violation>> {
    if plan.steps.len() == 1 {
        Ok(())
    } else {
        Err(vec![violation("not-one-step", "one step was asked for")])
    }
}

pub fn conclude(completed: &[Completed]) -> Result<Conclusion, Vec<Violation>> {
    Ok(Conclusion {
        result: format!("{{\"steps\":{}}}", completed.len()),
        summary: "It is done.".into(),
        artifacts: vec![artifact("thing.json")],
    })
}

pub fn artifact(name: &str) -> Artifact {
    Artifact {
        name: name.into(),
        media_type: "application/json".into(),
        content: b"{}".into(),
    }
}

pub fn snapshot(tx: &Transaction) -> Result<String, Failure> {
    let rows = tx
        .query("SELECT count(*) AS things FROM things", &[])
        .map_err(Failure::from)?;
    match rows.rows.first().and_then(|row| row.first()) {
        Some(Value::Integer(things)) => Ok(format!("{{\"things\":{things}}}")),
        _ => Err(Failure::Rejected("the count is no number".into())),
    }
}

pub fn perform(task: &Task, step: &Step, tx: &Transaction) -> Result<Answer, Failure> {
    if step.tool == "look" {
        return Ok(done("seen", &snapshot(tx)?));
    }
    add(task, tx)?;
    Ok(done("added", "{\"done\":true}"))
}

/// Adds the thing that the task is about.
pub fn add(task: &Task, tx: &Transaction) -> Result<(), Failure> {
    tx.execute(
        "INSERT INTO things (id) VALUES (?1)",
        &[Value::Text(task.id.clone())],
    )
    .map(drop)
    .map_err(Failure::from)
}

pub fn done(state: &str, data: &str) -> Answer {
    Answer::Done(Outcome {
        state: state.into(),
        data: data.into(),
    })
}
