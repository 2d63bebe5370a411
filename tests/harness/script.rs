//! Answers of a model, as lines of a script.

use std::{fmt::Write as _, path::PathBuf};

use serde_json::{Value, json};

use super::Workspace;

/// The tools of the reference domain's shortest order, which ships with the carrier that a planner prefers.
pub const WHOLE: [&str; 4] = [
    "reserve_stock",
    "pack_order",
    "ship_standard",
    "read_receipt",
];

/// A `ready` plan of the reference domain: these tools in this order, each step after the one before it, and named after its
/// tool.
pub fn ready(tools: &[&str]) -> Value {
    let step = |at: usize, tool: &str| {
        let before = at.checked_sub(1).map(|before| tools[before]);
        json!({"id": tool, "tool": tool, "dependsOn": Vec::from_iter(before), "expected": expected(tool)})
    };
    let steps: Vec<_> = tools
        .iter()
        .enumerate()
        .map(|(at, tool)| step(at, tool))
        .collect();
    json!({"goal": "Ship it.", "status": "ready", "reason": "This is what remains.", "steps": steps})
}

/// A plan that asks for a person.
pub fn needs_human() -> Value {
    json!({"goal": "Ship it.", "status": "needs-human", "reason": "Somebody must decide.", "steps": []})
}

/// What each tool of the reference domain leads to.
pub fn expected(tool: &str) -> &str {
    match tool {
        "reserve_stock" => "reserved",
        "pack_order" => "packed",
        "ship_standard" | "ship_economy" => "shipped",
        "read_receipt" => "receipt",
        _ => "nothing",
    }
}

/// A complete answer with this text.
pub fn says(text: impl ToString) -> Value {
    ends("stop", text)
}

/// An answer that ended for this reason.
pub fn ends(finish_reason: &str, text: impl ToString) -> Value {
    json!({"text": text.to_string(), "finishReason": finish_reason})
}

/// A failure of the model.
pub fn fails(code: &str, retryable: bool) -> Value {
    json!({"error": {"code": code, "message": "The model has failed.", "retryable": retryable}})
}

impl Workspace {
    /// A script of these lines, beside the workspace.
    pub fn script(&self, lines: &[Value]) -> PathBuf {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        self.handed_in("script.jsonl", text)
    }
}
