//! What a server's list of models says about ours.

use serde_json::Value;

/// A server that answers, and lets us in as far as its list of models needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// How many models it lists; none, if it has no list.
    pub models: Option<usize>,
    /// Whether the model of the settings is among them; none, if it has no list.
    pub listed: Option<bool>,
}

impl Probe {
    pub(super) fn without_list() -> Self {
        Self {
            models: None,
            listed: None,
        }
    }

    /// By the answer to `GET /models`: an object with `data`, or the list alone.
    pub(super) fn of(answer: &Value, model: &str) -> Self {
        let list = answer.get("data").unwrap_or(answer);
        let Some(list) = list.as_array() else {
            return Self::without_list();
        };
        let mut ids = list.iter().filter_map(|entry| entry.get("id")?.as_str());
        Self {
            models: Some(list.len()),
            listed: Some(ids.any(|id| is_same(id, model))),
        }
    }
}

/// Whether an id of a list is the name by which a model is asked, or another writing of it: Gemini's list has `models/NAME`, and
/// Ollama's `NAME:latest`.
fn is_same(id: &str, model: &str) -> bool {
    id == model
        || id.strip_prefix("models/") == Some(model)
        || id.strip_suffix(":latest") == Some(model)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_found_by_its_id() {
        for (answer, models, listed) in [
            (
                json!({ "data": [{ "id": "a" }, { "id": "m" }] }),
                Some(2),
                Some(true),
            ),
            (json!([{ "id": "m" }]), Some(1), Some(true)),
            (
                json!({ "data": [{ "id": "models/m" }] }),
                Some(1),
                Some(true),
            ),
            (
                json!({ "data": [{ "id": "m:latest" }] }),
                Some(1),
                Some(true),
            ),
            (
                json!({ "data": [{ "id": "mm" }, { "name": "m" }, 3] }),
                Some(3),
                Some(false),
            ),
            (json!({ "data": [] }), Some(0), Some(false)),
            (json!({ "models": [] }), None, None),
            (json!("m"), None, None),
        ] {
            assert_eq!(
                Probe::of(&answer, "m"),
                Probe { models, listed },
                "{answer}"
            );
        }
    }
}
