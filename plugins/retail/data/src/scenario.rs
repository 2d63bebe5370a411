//! The benchmark's tasks as scripted plans, and what they must lead to.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Shop;

/// One task: a list of calls, to be made in order whatever each answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// `"0"` to `"113"`.
    pub id: String,
    /// The ground truth.
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

impl Scenario {
    /// Reads `tasks.json`; whatever concerns conversations is left out.
    pub fn parse_all(json: &str) -> Result<Vec<Self>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Task {
            id: String,
            evaluation_criteria: Criteria,
        }
        #[derive(Deserialize)]
        struct Criteria {
            actions: Vec<Call>,
        }
        let tasks: Vec<Task> = serde_json::from_str(json)?;
        Ok(tasks
            .into_iter()
            .map(|task| Self {
                id: task.id,
                calls: task.evaluation_criteria.actions,
            })
            .collect())
    }

    /// Whom the calls that change something concern; all those of one task concern one customer.
    pub fn customer<'s>(&'s self, shop: &'s Shop) -> Option<&'s str> {
        let text = |call: &'s Call, name| call.arguments.get(name).and_then(Value::as_str);
        self.calls
            .iter()
            .filter(|call| call.writes())
            .find_map(|call| text(call, "user_id").or_else(|| shop.owner(text(call, "order_id")?)))
    }

    /// The task's input for the plugin.
    pub fn input(&self, shop: &Shop) -> Value {
        match self.customer(shop) {
            Some(user_id) => json!({"userId": user_id}),
            None => json!({}),
        }
    }

    /// The whole list as one plan, as a planner would answer it. The steps are `s1`, `s2`, ..., each
    /// after the one before it.
    pub fn plan(&self) -> Value {
        let steps: Vec<_> = (1..)
            .zip(&self.calls)
            .map(|(number, call)| {
                let before: Vec<_> = (number > 1)
                    .then(|| format!("s{}", number - 1))
                    .into_iter()
                    .collect();
                json!({
                    "id": format!("s{number}"), "tool": call.name, "dependsOn": before,
                    "expected": "answered", "arguments": call.arguments,
                })
            })
            .collect();
        json!({
            "goal": format!("The calls of task {}.", self.id),
            "status": "ready",
            "reason": "The benchmark's ground truth.",
            "steps": steps,
        })
    }
}

impl Call {
    /// Whether it may change something.
    pub fn writes(&self) -> bool {
        ["cancel_", "exchange_", "return_", "modify_"]
            .iter()
            .any(|verb| self.name.starts_with(verb))
    }
}

/// `gold.json`: what every task must lead to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Gold {
    /// Of the untouched data.
    pub initial_tau2_hash: String,
    /// Of the untouched data.
    #[serde(rename = "initial_canonical")]
    pub initial_canonical_hash: String,
    /// In the order of the scenarios.
    pub tasks: Vec<GoldTask>,
}

/// What one task must lead to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GoldTask {
    /// The task.
    pub id: String,
    /// Of the data after all calls.
    pub tau2_hash: String,
    /// Of the data after all calls.
    #[serde(rename = "canonical_sha256")]
    pub canonical_hash: String,
    /// Call by call.
    pub steps: Vec<GoldStep>,
}

/// How one call must end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GoldStep {
    /// The tool.
    pub name: String,
    /// Whether it succeeds.
    pub ok: bool,
    /// `ValueError: ` and the message.
    pub error: Option<String>,
    /// Whether the data differ afterwards.
    pub changed: bool,
}

impl Gold {
    /// Reads `gold.json`.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

impl GoldStep {
    /// The message alone.
    pub fn message(&self) -> Option<&str> {
        let error = self.error.as_deref()?;
        Some(error.strip_prefix("ValueError: ").unwrap_or(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = r#"[{
        "id": "7", "description": {}, "evaluation_criteria": {"actions": [
            {"action_id": "7_0", "name": "calculate", "arguments": {"expression": "1"}, "info": null},
            {"action_id": "7_2", "name": "modify_user_address", "arguments": {"user_id": "u"}, "info": null}
        ], "nl_assertions": []}
    }]"#;

    #[test]
    fn a_task_becomes_a_chain_of_its_calls() {
        let scenarios = Scenario::parse_all(TASKS).expect("tasks");
        let plan = scenarios[0].plan();
        let steps = plan["steps"].as_array().expect("steps");
        let depends: Vec<_> = steps.iter().map(|step| step["dependsOn"].clone()).collect();
        assert_eq!(depends, [json!([]), json!(["s1"])]);
        assert_eq!(steps[1]["tool"], "modify_user_address");
        assert_eq!(steps[1]["arguments"], json!({"user_id": "u"}));
    }

    #[test]
    fn the_customer_is_the_one_whose_data_are_to_change() {
        let shop = Shop::parse(r#"{"products": {}, "users": {}, "orders": {}}"#).expect("a shop");
        let mut scenario = Scenario::parse_all(TASKS).expect("tasks").remove(0);
        assert_eq!(scenario.input(&shop), json!({"userId": "u"}));
        scenario.calls.pop();
        assert_eq!(scenario.input(&shop), json!({}));
    }
}
