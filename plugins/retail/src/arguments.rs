//! What a step gives for a tool's parameters: declared as JSON Schema, and enforced here.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wharf_plugin::{Fields, Violation};

/// The longest text, in characters: long enough for every name, address and summary, and short enough
/// for a record to stay within the host's bounds.
pub const MAX_TEXT: usize = 500;

/// The longest list.
pub const MAX_LIST: usize = 50;

/// One parameter. All are required.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// For the planning model.
    pub description: &'static str,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A list of texts, not empty; the same text may stand there more than once.
    List,
}

impl Parameter {
    /// A text.
    pub const fn text(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Text,
            description,
        }
    }

    /// A list of texts.
    pub const fn list(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            kind: Kind::List,
            description,
        }
    }

    fn schema(&self) -> Value {
        let text = json!({"type": "string", "maxLength": MAX_TEXT});
        let mut schema = match self.kind {
            Kind::Text => text,
            Kind::List => {
                json!({"type": "array", "items": text, "minItems": 1, "maxItems": MAX_LIST})
            }
        };
        schema["description"] = self.description.into();
        schema
    }
}

/// The JSON Schema of these parameters.
pub fn schema(parameters: &[Parameter]) -> String {
    let names: Vec<_> = parameters.iter().map(|each| each.name).collect();
    let properties: BTreeMap<_, _> = parameters
        .iter()
        .map(|each| (each.name, each.schema()))
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
    .to_string()
}

/// Arguments that fit their parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    texts: BTreeMap<&'static str, String>,
    lists: BTreeMap<&'static str, Vec<String>>,
}

impl Arguments {
    /// Reads what a step gives, or lists everything that is wrong with it.
    pub fn parse(parameters: &[Parameter], json: &str) -> Result<Self, Vec<Violation>> {
        let mut fields = Fields::of_arguments(json)?;
        let mut arguments = Self {
            texts: BTreeMap::new(),
            lists: BTreeMap::new(),
        };
        for parameter in parameters {
            let name = parameter.name;
            match parameter.kind {
                Kind::Text => {
                    let rule = format!("a text of at most {MAX_TEXT} characters");
                    let taken = fields.take(name, &rule, text);
                    arguments.texts.extend(taken.map(|text| (name, text)));
                }
                Kind::List => {
                    let rule = format!("a list of 1 to {MAX_LIST} texts");
                    let taken = fields.take(name, &rule, list);
                    arguments.lists.extend(taken.map(|list| (name, list)));
                }
            }
        }
        fields.finish(|| Some(arguments))
    }

    /// All arguments for parameters of kind text.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.texts.iter().map(|(name, text)| (*name, text.as_str()))
    }

    /// All arguments for parameters of kind list.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.lists
            .iter()
            .map(|(name, list)| (*name, list.as_slice()))
    }

    /// The argument for a parameter of kind text.
    ///
    /// # Panics
    /// If the tool has no such parameter.
    pub fn text(&self, name: &str) -> &str {
        let text = self.texts.get(name);
        text.expect("a tool asks for its own parameters")
    }

    /// The argument for a parameter of kind list.
    ///
    /// # Panics
    /// If the tool has no such parameter.
    pub fn list(&self, name: &str) -> &[String] {
        let list = self.lists.get(name);
        list.expect("a tool asks for its own parameters")
    }
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    (text.chars().count() <= MAX_TEXT).then(|| text.to_owned())
}

fn list(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array()?;
    if !(1..=MAX_LIST).contains(&list.len()) {
        return None;
    }
    list.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 2] = [
        Parameter::text("order_id", "The order."),
        Parameter::list("item_ids", "The items."),
    ];

    fn faults(arguments: Value) -> Vec<String> {
        let faults = Arguments::parse(&PARAMETERS, &arguments.to_string());
        let faults = faults.expect_err("refused arguments");
        assert!(faults.iter().all(|fault| fault.code == "invalid-arguments"));
        faults.into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn arguments_are_read_by_name_and_lists_keep_their_order() {
        let json = r##"{"item_ids": ["2", "1", "2"], "order_id": "#W1"}"##;
        let arguments = Arguments::parse(&PARAMETERS, json).expect("fitting arguments");
        assert_eq!(arguments.text("order_id"), "#W1");
        assert_eq!(arguments.list("item_ids"), ["2", "1", "2"]);
    }

    #[test]
    fn everything_that_is_wrong_is_listed_at_once() {
        let order_id = "`order_id` must be a text of at most 500 characters";
        let item_ids = "`item_ids` must be a list of 1 to 50 texts";
        assert_eq!(faults(json!({})), [order_id, item_ids]);
        assert_eq!(
            faults(json!({"order_id": 1, "item_ids": ["1", 2], "reason": "x"})),
            [order_id, item_ids, r#"there is no argument "reason""#]
        );
        assert_eq!(
            faults(json!("#W1")),
            ["the arguments must be a JSON object"]
        );
    }

    #[test]
    fn the_bounds_are_those_of_the_schema() {
        let fits = |text: &str, length: usize| {
            let arguments = json!({"order_id": text, "item_ids": vec!["1"; length]});
            Arguments::parse(&PARAMETERS, &arguments.to_string()).is_ok()
        };
        assert!(fits("", 1) && fits(&"ä".repeat(500), 50));
        assert!(!fits(&"ä".repeat(501), 1) && !fits("", 0) && !fits("", 51));

        let schema: Value = serde_json::from_str(&schema(&PARAMETERS)).expect("valid JSON");
        assert_eq!(schema["required"], json!(["order_id", "item_ids"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        let fields = &schema["properties"];
        assert_eq!(fields["order_id"]["maxLength"], 500);
        assert_eq!(fields["item_ids"]["minItems"], 1);
        assert_eq!(fields["item_ids"]["maxItems"], 50);
        assert_eq!(fields["item_ids"]["items"]["maxLength"], 500);
    }
}
