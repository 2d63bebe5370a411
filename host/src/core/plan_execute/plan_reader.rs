//! From a model's answer to a plan: exactly one JSON object, or a typed refusal. Never repaired, never replaced.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    core::contract::{Plan, PlanStatus, Step, Violation},
    words::json::{self, JsonBounds},
};

/// The most a model's answer may take.
pub const ANSWER_BOUNDS: JsonBounds = JsonBounds {
    bytes: 256 * 1024,
    depth: 32,
};

/// Reads the plan in an answer.
///
/// # Errors
/// The one violation that says why the answer is no plan.
pub fn read(text: &str, finish_reason: &str) -> Result<Plan, Violation> {
    if finish_reason != "stop" {
        return Err(refused(
            "answer-incomplete",
            format!(
                "the answer ended with the finish reason {finish_reason:?}; only `stop` is a complete answer"
            ),
        ));
    }
    let text = without_fence(text.trim());
    let value = json::parse_strict(text, ANSWER_BOUNDS).map_err(|error| {
        refused(
            "answer-not-json",
            format!("the answer is not exactly one JSON object: {error}"),
        )
    })?;
    if !value.is_object() {
        return Err(refused(
            "answer-not-json",
            "the answer is JSON, but not an object".to_owned(),
        ));
    }
    let fields: Fields = serde_json::from_value(value)
        .map_err(|error| refused("plan-form", format!("the answer is not a plan: {error}")))?;
    Ok(Plan {
        goal: fields.goal,
        status: fields.status,
        reason: fields.reason,
        steps: fields.steps,
    })
}

/// A plan as a model writes it: unknown fields at the top level are ignored, those inside a step are not.
#[derive(Deserialize)]
struct Fields {
    goal: String,
    status: PlanStatus,
    reason: String,
    steps: Vec<Step>,
}

/// Removes one code fence that surrounds the whole text.
fn without_fence(text: &str) -> &str {
    let Some(inner) = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
    else {
        return text;
    };
    match inner.split_once('\n') {
        // The rest of the opening line is a language tag.
        Some((tag, body)) if tag.trim().chars().all(|c| c.is_ascii_alphanumeric()) => body.trim(),
        _ => text,
    }
}

fn refused(code: &str, message: String) -> Violation {
    Violation {
        code: code.to_owned(),
        message,
        step_id: None,
    }
}

/// The value a plan has in a report.
#[must_use]
pub fn written(plan: &Plan) -> Value {
    serde_json::to_value(plan).expect("a plan can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"{"goal":"g","status":"ready","reason":"r","steps":[{"id":"a","tool":"t","dependsOn":[],"expected":"e"}]}"#;

    fn code(text: &str) -> String {
        read(text, "stop").unwrap_err().code
    }

    #[test]
    fn exactly_one_object_is_a_plan_bare_or_in_one_fence() {
        let plain = read(PLAN, "stop").unwrap();
        assert_eq!(plain.steps.len(), 1);
        for wrapped in [
            format!("  {PLAN}\n"),
            format!("```json\n{PLAN}\n```"),
            format!("```\n{PLAN}\n```\n"),
            format!("\n```JSON\n\n{PLAN}\n\n```"),
        ] {
            assert_eq!(read(&wrapped, "stop").unwrap(), plain, "{wrapped}");
        }
    }

    #[test]
    fn unknown_fields_at_the_top_are_ignored_and_not_kept() {
        let text = PLAN.replacen('{', r#"{"thoughts":"hm","#, 1);
        assert_eq!(
            written(&read(&text, "stop").unwrap()),
            written(&read(PLAN, "stop").unwrap())
        );
    }

    #[test]
    fn back_ticks_inside_strings_are_only_text() {
        let text = PLAN.replace("\"r\"", "\"use ``` and `x`\"");
        assert_eq!(
            read(&format!("```\n{text}\n```"), "stop").unwrap().reason,
            "use ``` and `x`"
        );
    }

    #[test]
    fn anything_but_one_object_is_refused() {
        for bad in [
            "",
            "null",
            &format!("Here is the plan: {PLAN}"),
            &format!("{PLAN} Good luck!"),
            &format!("{PLAN}{PLAN}"),
            &format!("```json\n{PLAN}\n```\n```json\n{PLAN}\n```"),
            &format!("```json\n```json\n{PLAN}\n```\n```"),
            &format!("``` not a tag\n{PLAN}\n```"),
            &format!("[{PLAN}]"),
            &format!("\u{feff}{PLAN}"),
            &PLAN[..PLAN.len() - 2],
            &PLAN.replace("\"g\"", "\"g\ng\""),
            &PLAN.replace("\"goal\":\"g\"", "\"goal\":\"g\",\"goal\":\"h\""),
            &PLAN.replace("\"id\":\"a\"", "\"id\":\"a\",\"id\":\"b\""),
            &PLAN.replace("\"r\"", "NaN"),
        ] {
            assert_eq!(code(bad), "answer-not-json", "{bad}");
        }
    }

    #[test]
    fn a_field_that_is_missing_or_of_the_wrong_form_is_refused() {
        for bad in [
            PLAN.replace("\"goal\":\"g\",", ""),
            PLAN.replace("\"ready\"", "\"done\""),
            PLAN.replace("\"expected\":\"e\"", "\"expected\":\"e\",\"extra\":1"),
            PLAN.replace("\"dependsOn\":[]", "\"dependsOn\":null"),
            PLAN.replace("\"a\"", "\"\""),
            PLAN.replace("\"a\"", &format!("\"{}\"", "x".repeat(81))),
            PLAN.replace("\"a\"", "\"а\""),
        ] {
            assert_eq!(code(&bad), "plan-form", "{bad}");
        }
    }

    #[test]
    fn only_the_finish_reason_stop_is_a_plan() {
        for reason in ["length", "content_filter", "tool_calls", "", "STOP"] {
            assert_eq!(read(PLAN, reason).unwrap_err().code, "answer-incomplete");
        }
    }
}
