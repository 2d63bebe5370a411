//! The fixed texts by which the plugin introduces itself.

/// The domain's rules, for the planning model.
pub const INSTRUCTIONS: &str = include_str!("../descriptor/instructions.md");

/// JSON Schema of `task.input`: what [`Input::parse`](crate::input::Input::parse) enforces.
pub const INPUT_SCHEMA: &str = include_str!("../descriptor/input.schema.json");

/// The plugin's tables, version by version, from 1. A released one never changes; a later one follows.
pub const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_orders.sql")];

/// The most steps that a plan may have: one for each [tool](crate::tool::Tool).
pub const MAX_STEPS: u32 = 5;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::input::{MAX_SHIPPING_CENTS, ORDER_ID_LENGTH, QUANTITY};
    use crate::snapshot::State;
    use crate::tool::Tool;

    #[test]
    fn the_schema_states_the_bounds_that_the_code_enforces() {
        let schema: Value = serde_json::from_str(INPUT_SCHEMA).expect("valid JSON");
        let fields = &schema["properties"];
        assert_eq!(
            fields["orderId"]["pattern"],
            format!("^[A-Za-z0-9_-]{{1,{ORDER_ID_LENGTH}}}$")
        );
        for (field, bounds) in [
            ("quantity", QUANTITY),
            ("maxShippingCents", MAX_SHIPPING_CENTS),
        ] {
            assert_eq!(fields[field]["minimum"], *bounds.start());
            assert_eq!(fields[field]["maximum"], *bounds.end());
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(
            schema["required"],
            json!(["orderId", "quantity", "maxShippingCents"])
        );
    }

    #[test]
    fn the_instructions_name_every_tool_and_every_state() {
        for tool in Tool::ALL {
            assert!(INSTRUCTIONS.contains(&format!("`{}`", tool.name())));
        }
        for state in [State::New, State::Reserved, State::Packed, State::Shipped] {
            assert!(INSTRUCTIONS.contains(&format!("`{state}`")));
        }
    }

    #[test]
    fn a_plan_may_have_one_step_for_each_tool() {
        assert_eq!(MAX_STEPS as usize, Tool::ALL.len());
    }
}
