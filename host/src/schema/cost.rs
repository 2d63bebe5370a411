//! What validating against a schema costs at most.
//!
//! Owns the model behind the bounds: each subschema meets each part of a value once, save where `unevaluatedItems` or
//! `unevaluatedProperties` stands above it, which looks again at everything beside it. Called by `mod.rs`.

use serde_json::Value;

use super::{
    SchemaFault,
    keyword::{Form, Keyword, Reach},
    pattern::Patterns,
    size,
};

/// The checks of `multipleOf`, which computes with fractions of hundreds of digits.
const MULTIPLE_OF: u64 = 240;

/// The checks of `uniqueItems`, which compares each with each if there are few, and hashes them if there are many.
const UNIQUE_ITEMS: u64 = 8;

/// For a unit of the value that is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cost {
    /// Keywords and values of the schema, each as often as it is visited: no more faults can be found.
    pub(super) nodes: u64,
    /// The same, weighed: one is about 5 ns of work.
    pub(super) checks: u64,
    /// Subschemas inside each other. To list faults, the library judges a branch before it looks into it, at each level anew.
    pub(super) levels: u64,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.checks = self.checks.saturating_add(other.checks);
        self.levels = self.levels.max(other.levels);
    }

    const fn plain(nodes: u64) -> Self {
        Self {
            nodes,
            checks: nodes,
            levels: 0,
        }
    }

    const fn checks(checks: u64) -> Self {
        Self {
            nodes: 0,
            checks,
            levels: 0,
        }
    }
}

/// Of a schema without references. A value of another form than its keyword asks for is found when it is compiled.
pub(super) fn of(schema: &Value, patterns: &mut Patterns) -> Result<Cost, SchemaFault> {
    Ok(visits(schema, patterns)?.first)
}

#[derive(Clone, Copy, Default)]
struct Visits {
    /// Validating.
    first: Cost,
    /// Finding out, for an `unevaluated...` keyword, what was evaluated.
    again: Cost,
}

fn visits(schema: &Value, patterns: &mut Patterns) -> Result<Visits, SchemaFault> {
    let mut visits = Visits::default();
    visits.own(Cost::plain(1));
    let Value::Object(keywords) = schema else {
        return Ok(visits);
    };
    for (name, value) in keywords {
        match (Keyword::named(name), value) {
            (Keyword::Applicator(Form::List, reach), Value::Array(schemas)) => {
                for schema in schemas {
                    visits.subschema(reach, schema, patterns)?;
                }
            }
            (Keyword::Applicator(Form::Map, reach), Value::Object(schemas)) => {
                for (key, schema) in schemas {
                    visits.own(Cost::plain(size::of_text(key)));
                    if name == "patternProperties" {
                        visits.own(matching(key, patterns)?);
                    }
                    visits.subschema(reach, schema, patterns)?;
                }
            }
            (Keyword::Applicator(_, reach), schema) => visits.subschema(reach, schema, patterns)?,
            (_, value) => {
                visits.own(Cost::plain(size::of(value)));
                visits.own(beyond_its_size(name, value, patterns)?);
            }
        }
    }
    let again = visits.again;
    for name in ["unevaluatedItems", "unevaluatedProperties"] {
        if keywords.contains_key(name) {
            visits.first.add(again);
        }
    }
    visits.first.levels += 1;
    Ok(visits)
}

fn beyond_its_size(
    name: &str,
    value: &Value,
    patterns: &mut Patterns,
) -> Result<Cost, SchemaFault> {
    match (name, value) {
        ("pattern", Value::String(pattern)) => matching(pattern, patterns),
        ("multipleOf", _) => Ok(Cost::checks(MULTIPLE_OF)),
        ("uniqueItems", _) => Ok(Cost::checks(UNIQUE_ITEMS)),
        _ => Ok(Cost::default()),
    }
}

fn matching(pattern: &str, patterns: &mut Patterns) -> Result<Cost, SchemaFault> {
    patterns.cost(pattern).map(Cost::checks)
}

impl Visits {
    fn own(&mut self, cost: Cost) {
        self.first.add(cost);
        self.again.add(cost);
    }

    fn subschema(
        &mut self,
        reach: Reach,
        schema: &Value,
        patterns: &mut Patterns,
    ) -> Result<(), SchemaFault> {
        let of_it = visits(schema, patterns)?;
        self.own(of_it.first);
        if reach == Reach::Same {
            self.again.add(of_it.again);
        }
        Ok(())
    }
}
