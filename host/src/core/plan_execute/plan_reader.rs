//! From a model's answer to a plan: exactly one JSON object, or a typed refusal. Never repaired, never replaced.

use serde::Deserialize;
use serde_json::Value;

use super::structure::{Order, shown};
use crate::{
    core::contract::{Plan, PlanStatus, Step, Violation},
    words::{
        id::{InvalidId, StepId, is_identifier},
        json::{self, JsonBounds, JsonText, embedded},
    },
};

/// The finish reason of an answer that the provider held back.
pub const CONTENT_FILTER: &str = "content_filter";

/// The finish reason of an answer in which a model calls tools.
pub const TOOL_CALLS: &str = "tool_calls";

/// The finish reason of an answer in which a model says that it does not answer.
pub const REFUSAL: &str = "refusal";

/// The most a model's answer may take.
pub const ANSWER_BOUNDS: JsonBounds = JsonBounds {
    bytes: 256 * 1024,
    depth: 32,
};

/// Reads the plan in an answer.
///
/// # Errors
/// The one violation that says why the answer is no plan; of a plan whose steps have names that are no identifiers, all that
/// is wrong with its ids and dependencies.
pub fn read(text: &str, finish_reason: &str) -> Result<Plan, Vec<Violation>> {
    let fields = read_fields(text, finish_reason).map_err(|violation| vec![violation])?;
    let faults = faults_of_ids(&fields.steps);
    let steps: Option<Vec<_>> = fields.steps.into_iter().map(Draft::named).collect();
    let Some(steps) = steps else {
        return Err(faults);
    };
    Ok(Plan {
        goal: fields.goal,
        status: fields.status,
        reason: fields.reason,
        steps,
    })
}

fn read_fields(text: &str, finish_reason: &str) -> Result<Fields, Violation> {
    if finish_reason != "stop" {
        return Err(unfinished(finish_reason));
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
    serde_json::from_value(value)
        .map_err(|error| refused("plan-form", format!("the answer is not a plan: {error}")))
}

/// Why an answer with another finish reason than `stop` is no plan, whatever its text says.
fn unfinished(finish_reason: &str) -> Violation {
    let (code, why) = match finish_reason {
        "length" => (
            "answer-incomplete",
            "the answer reached the limit of its length",
        ),
        CONTENT_FILTER => (
            "answer-filtered",
            "the provider's filter held the answer back",
        ),
        REFUSAL => ("answer-declined", "the model declined to answer"),
        TOOL_CALLS | "function_call" => (
            "answer-tool-call",
            "the model called a tool instead of answering with a plan",
        ),
        _ => ("answer-incomplete", "the answer is not complete"),
    };
    refused(
        code,
        format!("{why}: its finish reason is {finish_reason:?}, and only `stop` makes a plan"),
    )
}

/// A plan as a model writes it: unknown fields at the top level are ignored, those inside a step are not.
#[derive(Deserialize)]
struct Fields {
    goal: String,
    status: PlanStatus,
    reason: String,
    steps: Vec<Draft>,
}

/// A step whose ids may be anything, so that all that is wrong with them can be told at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Draft {
    id: String,
    tool: String,
    depends_on: Vec<String>,
    expected: String,
    #[serde(default, with = "embedded")]
    arguments: Option<JsonText>,
}

impl Draft {
    /// None: an id is no identifier.
    fn named(self) -> Option<Step> {
        let depends_on: Result<_, _> = self.depends_on.into_iter().map(StepId::try_from).collect();
        Some(Step {
            id: self.id.try_into().ok()?,
            tool: self.tool,
            depends_on: depends_on.ok()?,
            expected: self.expected,
            arguments: self.arguments,
        })
    }
}

/// Names that are no identifiers, and what the host checks of ids in every plan. A dependency that is no identifier is either
/// the name of a step, and found there, or of none.
fn faults_of_ids(steps: &[Draft]) -> Vec<Violation> {
    let mut order = Order::of(steps.iter().map(|step| &*step.id));
    let mut found = Vec::new();
    for step in steps {
        let mut fault = |code: &str, message: String| {
            found.push(Violation {
                code: code.to_owned(),
                message,
                step_id: Some(shown(&step.id)),
            });
        };
        if !is_identifier(&step.id) {
            let message = format!("`{}` is no step id: {InvalidId}", shown(&step.id));
            fault("invalid-step-id", message);
        }
        for (code, message) in order.faults(&step.id, step.depends_on.iter().map(|id| &**id)) {
            fault(code, message);
        }
    }
    found
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
        let [violation] = &read(text, "stop").unwrap_err()[..] else {
            panic!("{text}: one violation")
        };
        violation.code.clone()
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
            PLAN.replace("\"a\"", "7"),
        ] {
            assert_eq!(code(&bad), "plan-form", "{bad}");
        }
    }

    #[test]
    fn only_the_finish_reason_stop_is_a_plan() {
        for (reason, code) in [
            ("length", "answer-incomplete"),
            ("content_filter", "answer-filtered"),
            (REFUSAL, "answer-declined"),
            ("tool_calls", "answer-tool-call"),
            ("function_call", "answer-tool-call"),
            ("", "answer-incomplete"),
            ("STOP", "answer-incomplete"),
        ] {
            assert_eq!(read(PLAN, reason).unwrap_err()[0].code, code, "{reason}");
        }
    }

    #[test]
    fn all_that_is_wrong_with_ids_and_dependencies_is_listed_at_once() {
        let step = |id: &str, depends_on: &[&str]| serde_json::json!({"id": id, "tool": "t", "dependsOn": depends_on, "expected": "e"});
        let long = "x".repeat(81);
        let steps = [
            step("a", &["a"]),
            // Cyrillic.
            step("а", &["b"]),
            step("b", &["а", "nowhere", "a", "a"]),
            step("", &["\u{1b}[2J"]),
            step(&long, &[]),
            step("a", &[&long]),
        ];
        let mut plan: Value = serde_json::from_str(PLAN).unwrap();
        plan["steps"] = steps.into();
        let found = read(&plan.to_string(), "stop").unwrap_err();
        let found: Vec<_> = found
            .iter()
            .map(|violation| (&*violation.code, violation.step_id.as_deref().unwrap()))
            .collect();
        let cut = format!("{}…", "x".repeat(80));
        assert_eq!(
            found,
            [
                ("self-dependency", "a"),
                ("invalid-step-id", "а"),
                ("late-dependency", "а"),
                ("unknown-dependency", "b"),
                ("duplicate-dependency", "b"),
                ("invalid-step-id", ""),
                ("unknown-dependency", ""),
                ("invalid-step-id", &*cut),
                ("duplicate-step", "a"),
            ]
        );
    }

    #[test]
    fn an_id_is_shown_without_control_characters_and_not_at_its_full_length() {
        let text = PLAN.replace("[]", &format!(r#"["\u001b[2J{}"]"#, "x".repeat(1000)));
        let [violation] = &read(&text, "stop").unwrap_err()[..] else {
            panic!("one violation")
        };
        assert!(violation.message.len() < 200, "{violation:?}");
        assert!(!violation.message.contains('\u{1b}'), "{violation:?}");
    }
}
