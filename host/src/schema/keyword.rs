//! The keywords of JSON Schema, draft 2020-12, that a verdict can depend on.
//!
//! Owns which they are, and where further schemas stand in them. Whatever is not listed here is an annotation, and is left
//! out before a schema is compiled; so `format` is one, whatever the library makes of it. Used by all of this folder.

/// What a keyword is to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// Judges by itself.
    Assertion,
    /// Judges by further schemas.
    Applicator(Form, Reach),
    /// Holds schemas that only references reach.
    Definitions,
    /// Stands for another schema.
    Reference,
    /// Says which draft this is.
    Dialect,
    /// Gives a schema an address of its own.
    Identifier,
    /// Would be misunderstood if it were left out: it moves references, or belongs to an older draft.
    Refused,
    /// Decides nothing.
    Annotation,
}

/// How the schemas of an applicator are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    One,
    List,
    Map,
}

/// What the schemas of an applicator are applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The very value.
    Same,
    /// Its items, or its properties.
    Parts,
}

impl Keyword {
    pub(super) fn named(name: &str) -> Self {
        use Keyword::Applicator;
        match name {
            "type" | "enum" | "const" | "multipleOf" | "maximum" | "exclusiveMaximum"
            | "minimum" | "exclusiveMinimum" | "maxLength" | "minLength" | "pattern"
            | "maxItems" | "minItems" | "uniqueItems" | "maxContains" | "minContains"
            | "maxProperties" | "minProperties" | "required" | "dependentRequired" => {
                Self::Assertion
            }
            "allOf" | "anyOf" | "oneOf" => Applicator(Form::List, Reach::Same),
            "not" | "if" | "then" | "else" => Applicator(Form::One, Reach::Same),
            "dependentSchemas" => Applicator(Form::Map, Reach::Same),
            "prefixItems" => Applicator(Form::List, Reach::Parts),
            "items"
            | "contains"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Applicator(Form::One, Reach::Parts),
            "properties" | "patternProperties" => Applicator(Form::Map, Reach::Parts),
            "$defs" | "definitions" => Self::Definitions,
            "$ref" => Self::Reference,
            "$schema" => Self::Dialect,
            "$id" => Self::Identifier,
            "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor"
            | "additionalItems" | "dependencies" => Self::Refused,
            _ => Self::Annotation,
        }
    }
}
