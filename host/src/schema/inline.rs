//! Puts the target of each reference in its place.
//!
//! Owns what a reference may be, and that the result is bounded: a schema of a few lines can stand for one of billions. What
//! is compiled afterwards holds no reference, so that nothing recurs and nothing is fetched. Called by `mod.rs`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    MAX_DEPTH, MAX_NODES, SchemaFault,
    keyword::{Form, Keyword},
    size,
};

/// The only dialect, if a schema names one.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Bytes of a reference.
const MAX_REFERENCE: usize = 1_000;

/// The schema without references and annotations; what no reference reaches of its definitions is left out unread.
pub(super) fn inlined(root: &Value) -> Result<Value, SchemaFault> {
    let mut inliner = Inliner {
        root,
        anchors: BTreeMap::new(),
        open: Vec::new(),
        nodes_left: MAX_NODES,
    };
    inliner.note_anchors(root)?;
    inliner.schema(root)
}

struct Inliner<'a> {
    root: &'a Value,
    anchors: BTreeMap<&'a str, &'a Value>,
    /// The schemas around the one at hand, those of references included.
    open: Vec<&'a Value>,
    nodes_left: u64,
}

impl<'a> Inliner<'a> {
    fn schema(&mut self, schema: &'a Value) -> Result<Value, SchemaFault> {
        let Value::Object(keywords) = schema else {
            return self.copy(schema);
        };
        self.spend(1)?;
        if self.open.len() == MAX_DEPTH {
            return Err(SchemaFault::TooDeep);
        }
        self.open.push(schema);
        let mut result = Map::new();
        let mut target = None;
        for (name, value) in keywords {
            match Keyword::named(name) {
                Keyword::Assertion => {
                    result.insert(name.clone(), self.copy(value)?);
                }
                Keyword::Applicator(form, _) => {
                    result.insert(name.clone(), self.applicator(form, value)?);
                }
                Keyword::Reference => target = Some(self.target(value)?),
                Keyword::Dialect => check_dialect(value)?,
                // The address of the whole schema moves nothing, since no reference may use it.
                Keyword::Identifier if self.open.len() == 1 => (),
                Keyword::Identifier | Keyword::Refused => {
                    return Err(SchemaFault::Keyword(name.clone()));
                }
                Keyword::Definitions | Keyword::Annotation => (),
            }
        }
        self.open.pop();
        Ok(match target {
            Some(target) if result.is_empty() => target,
            Some(target) => Value::Object(with_target(result, target)),
            None => Value::Object(result),
        })
    }

    /// A value of another form than the keyword asks for is kept, and found when the schema is compiled.
    fn applicator(&mut self, form: Form, value: &'a Value) -> Result<Value, SchemaFault> {
        match (form, value) {
            (Form::One, schema) => self.schema(schema),
            (Form::List, Value::Array(schemas)) => {
                let schemas: Result<_, _> =
                    schemas.iter().map(|schema| self.schema(schema)).collect();
                Ok(Value::Array(schemas?))
            }
            (Form::Map, Value::Object(schemas)) => {
                let mut result = Map::new();
                for (name, schema) in schemas {
                    self.spend(size::of_text(name))?;
                    result.insert(name.clone(), self.schema(schema)?);
                }
                Ok(Value::Object(result))
            }
            (Form::List | Form::Map, other) => self.copy(other),
        }
    }

    fn target(&mut self, reference: &Value) -> Result<Value, SchemaFault> {
        let text = reference.as_str().unwrap_or_default();
        let fragment = text
            .strip_prefix('#')
            .filter(|_| text.len() <= MAX_REFERENCE)
            .ok_or_else(|| SchemaFault::Outside(reference.to_string()))?;
        let unknown = || SchemaFault::Unknown(text.to_owned());
        let fragment = decoded(fragment).ok_or_else(unknown)?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            subschema(self.root, &fragment)
        } else {
            self.anchors.get(fragment.as_str()).copied()
        };
        let target = target.ok_or_else(unknown)?;
        if self.open.iter().any(|open| std::ptr::eq(*open, target)) {
            return Err(SchemaFault::Recursion(text.to_owned()));
        }
        self.schema(target)
    }

    fn note_anchors(&mut self, schema: &'a Value) -> Result<(), SchemaFault> {
        let Value::Object(keywords) = schema else {
            return Ok(());
        };
        if let Some(Value::String(name)) = keywords.get("$anchor")
            && self.anchors.insert(name, schema).is_some()
        {
            return Err(SchemaFault::Anchor(name.clone()));
        }
        for (name, value) in keywords {
            match (Keyword::named(name), value) {
                (Keyword::Applicator(Form::One, _), schema) => self.note_anchors(schema)?,
                (Keyword::Applicator(Form::List, _), Value::Array(schemas)) => {
                    for schema in schemas {
                        self.note_anchors(schema)?;
                    }
                }
                (
                    Keyword::Applicator(Form::Map, _) | Keyword::Definitions,
                    Value::Object(schemas),
                ) => {
                    for schema in schemas.values() {
                        self.note_anchors(schema)?;
                    }
                }
                _ => (),
            }
        }
        Ok(())
    }

    fn copy(&mut self, value: &Value) -> Result<Value, SchemaFault> {
        self.spend(size::of(value))?;
        Ok(value.clone())
    }

    fn spend(&mut self, nodes: u64) -> Result<(), SchemaFault> {
        self.nodes_left = self
            .nodes_left
            .checked_sub(nodes)
            .ok_or(SchemaFault::TooLarge)?;
        Ok(())
    }
}

/// In draft 2020-12 the neighbours of a reference hold as well, and see what it has evaluated: that is `allOf`.
fn with_target(mut neighbours: Map<String, Value>, target: Value) -> Map<String, Value> {
    const ALL: &str = "allOf";
    let mut all = vec![target];
    match neighbours.remove(ALL) {
        None => (),
        Some(Value::Array(others)) => all.extend(others),
        Some(malformed) => all.push(Value::Object(Map::from_iter([(ALL.to_owned(), malformed)]))),
    }
    neighbours.insert(ALL.to_owned(), Value::Array(all));
    neighbours
}

/// What a JSON pointer leads to, if it leads there through schemas alone.
fn subschema<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    let (mut value, mut within) = (root, None);
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        (value, within) = match within.take() {
            None => {
                let within = match Keyword::named(&token) {
                    Keyword::Applicator(Form::One, _) => None,
                    Keyword::Applicator(form, _) => Some(form),
                    Keyword::Definitions => Some(Form::Map),
                    _ => return None,
                };
                (value.as_object()?.get(&token)?, within)
            }
            Some(Form::List) => (value.as_array()?.get(token.parse::<usize>().ok()?)?, None),
            Some(Form::One | Form::Map) => (value.as_object()?.get(&token)?, None),
        };
    }
    within.is_none().then_some(value)
}

/// A URI fragment, `%` sequences resolved.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

fn check_dialect(value: &Value) -> Result<(), SchemaFault> {
    match value.as_str().map(|uri| uri.trim_end_matches('#')) {
        Some(DIALECT) => Ok(()),
        _ => Err(SchemaFault::Dialect(value.to_string())),
    }
}
