//! Schemas that plugins may declare and may not, and what they have against arguments.

use serde_json::{Map, Value, json};

use super::*;
use crate::core::ports::domain::ArgumentsCheck as _;

fn compiled(schema: &Value) -> Result<ArgumentsSchemas, SchemaFault> {
    let mut schemas = ArgumentsSchemas::default();
    schemas.add("mix", &JsonText::of(schema), &mut SchemaCompiler::default())?;
    Ok(schemas)
}

fn refused(schema: Value) -> SchemaFault {
    match compiled(&schema) {
        Ok(_) => panic!("accepted: {schema}"),
        Err(fault) => fault,
    }
}

fn faults(schema: &Value, arguments: &Value) -> Vec<String> {
    compiled(schema).unwrap().check().faults("mix", arguments)
}

fn fits(schema: &Value, arguments: &Value) -> bool {
    faults(schema, arguments).is_empty()
}

#[test]
fn arguments_that_fit_have_no_fault() {
    let schema = json!({
        "type": "object",
        "properties": {
            "colour": {"enum": ["red", "blue"]},
            "litres": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
            "names": {"type": "array", "items": {"pattern": "^[a-z]+$"}, "uniqueItems": true, "maxItems": 2},
        },
        "required": ["colour"],
        "additionalProperties": false,
    });
    assert!(fits(&schema, &json!({"colour": "red"})));
    let whole = json!({"colour": "blue", "litres": 1.5, "names": ["a", "b"]});
    assert!(fits(&schema, &whole));
    assert!(fits(&json!(true), &whole));
    assert_eq!(
        faults(&json!(false), &whole),
        ["arguments: False schema does not allow the object"]
    );
    let mut check = compiled(&schema).unwrap();
    assert!(check.check().faults("another", &json!({})).is_empty());
    check = ArgumentsSchemas::default();
    assert!(check.check().faults("mix", &json!({})).is_empty());
}

#[test]
fn every_fault_is_told_with_its_place_and_its_reason() {
    let schema = json!({
        "properties": {
            "colour": {"enum": ["red", "blue"]},
            "litres": {"type": "number", "minimum": 1},
            "names": {"items": {"pattern": "^[a-z]+$", "maxLength": 3}},
            "a/b": {"anyOf": [{"type": "null"}, {"minProperties": 1}]},
        },
        "required": ["colour", "size"],
        "additionalProperties": false,
    });
    let arguments =
        json!({"litres": 0, "names": ["a", "BCDE", 7], "a/b": {}, "extra": [1], "colour": "green"});
    assert_eq!(
        faults(&schema, &arguments),
        [
            "arguments: \"size\" is a required property",
            "arguments/a~1b: the object has less than 1 property",
            "arguments/colour: \"green\" is not one of \"red\" or \"blue\"",
            "arguments/litres: 0 is less than the minimum of 1",
            "arguments/names/1: \"BCDE\" is longer than 3 characters",
            "arguments/names/1: \"BCDE\" does not match \"^[a-z]+$\"",
            "arguments: Additional properties are not allowed ('extra' was unexpected)",
        ]
    );
}

#[test]
fn a_fault_that_several_subschemas_find_is_told_once() {
    let schema = json!({"allOf": [{"required": ["a"]}, {"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(
        faults(&schema, &json!({})),
        [
            "arguments: \"a\" is a required property",
            "arguments: \"b\" is a required property"
        ]
    );
}

#[test]
fn references_lead_to_subschemas_of_the_same_schema_by_place_or_anchor() {
    for reference in [
        "#/$defs/a~1b%20c",
        "#/%24defs/a~1b%20c",
        "#here",
        "#/properties/other",
        "#/allOf/1",
        "#/definitions/old/items",
    ] {
        let schema = json!({
            "properties": {"x": {"$ref": reference}, "other": {"type": "null"}},
            "$defs": {"a/b c": {"type": "null"}, "named": {"$anchor": "here", "$ref": "#/allOf/1"}},
            "definitions": {"old": {"items": {"const": null}}},
            "allOf": [true, {"type": ["null", "object"], "maxProperties": 1}],
        });
        assert!(fits(&schema, &json!({"x": null})), "{reference}");
        assert!(!fits(&schema, &json!({"x": 1})), "{reference}");
    }
}

#[test]
fn what_stands_beside_a_reference_holds_as_well_and_sees_what_it_evaluates() {
    let schema = json!({
        "$defs": {"named": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "$ref": "#/$defs/named",
        "allOf": [{"properties": {"size": {"type": "integer"}}}],
        "unevaluatedProperties": false,
    });
    assert!(fits(&schema, &json!({"name": "a", "size": 1})));
    assert_eq!(
        faults(&schema, &json!({"name": 1, "size": "a", "other": true})).len(),
        3
    );
}

#[test]
fn a_property_may_have_the_name_of_a_keyword() {
    let schema = json!({
        "properties": {
            "$ref": {"const": "a"}, "$id": {"type": "string"}, "$dynamicRef": true, "properties": {"const": 1}
        },
        "default": {"$ref": "https://example.org/other"},
        "enum": [{"$ref": "a", "$id": "b"}, {"$ref": "b"}],
    });
    assert!(fits(&schema, &json!({"$ref": "a", "$id": "b"})));
    assert_eq!(faults(&schema, &json!({"$ref": "b"})).len(), 1);
}

#[test]
fn a_reference_that_leaves_the_schema_or_leads_nowhere_is_refused() {
    for outside in [
        json!("https://example.org/schema.json"),
        json!("other.json#/a"),
        json!("file:///etc/passwd"),
        json!(""),
        json!(7),
        json!("#/".to_owned() + &"a".repeat(1000)),
    ] {
        let fault = refused(json!({"properties": {"a": {"$ref": outside}}}));
        assert!(matches!(fault, SchemaFault::Outside(_)), "{fault:?}");
    }
    for unknown in [
        "#/$defs/b",
        "#b",
        "#/$defs",
        "#/properties",
        "#/$defs/a/const",
        "#/$defs/a/const/x",
        "#/x-own/a",
        "#/enum/0",
        "#/allOf/1",
        "#/allOf/x",
        "#/$defs/a%",
        "#/$defs/%ff",
    ] {
        let schema = json!({
            "$defs": {"a": {"const": {"x": {}}}},
            "x-own": {"a": {}},
            "allOf": [{}],
            "enum": [{}],
            "items": {"$ref": unknown},
        });
        assert_eq!(refused(schema), SchemaFault::Unknown(unknown.to_owned()));
    }
    let twice = json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}});
    assert_eq!(refused(twice), SchemaFault::Anchor("x".to_owned()));
}

#[test]
fn a_schema_that_recurs_is_refused() {
    for schema in [
        json!({"properties": {"next": {"$ref": "#"}}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}),
        json!({"$anchor": "x", "anyOf": [true, {"contains": {"$ref": "#x"}}]}),
    ] {
        let fault = refused(schema.clone());
        assert!(
            matches!(fault, SchemaFault::Recursion(_)),
            "{schema}: {fault:?}"
        );
    }
    // What no reference reaches is left unread.
    assert!(compiled(&json!({"$defs": {"a": {"$ref": "#/$defs/a"}}})).is_ok());
}

/// Each definition stands for several of the one before it.
fn multiplied(times: usize, several: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::from_iter([("d0".to_owned(), json!({"type": "null"}))]);
    for level in 1..=times {
        let before = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        definitions.insert(format!("d{level}"), several(before));
    }
    json!({"$defs": definitions, "$ref": format!("#/$defs/d{times}")})
}

#[test]
fn a_few_lines_that_stand_for_a_billion_are_refused() {
    for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
        let schema = |times| multiplied(times, |before| json!({key: vec![before; 10]}));
        assert!(compiled(&schema(3)).is_ok(), "{key}");
        assert_eq!(refused(schema(9)), SchemaFault::TooLarge, "{key}");
    }
    let named = |before: &Value| (0..10).map(|at| (at.to_string(), before.clone())).collect();
    let schema = multiplied(9, |before| {
        Value::Object(Map::from_iter([(
            "properties".to_owned(),
            Value::Object(named(&before)),
        )]))
    });
    assert_eq!(refused(schema), SchemaFault::TooLarge);
    let mut long = multiplied(2, |before| json!({"allOf": vec![before; 10]}));
    assert!(compiled(&long).is_ok());
    long["$defs"]["d0"] = json!({"const": "x".repeat(10_000)});
    assert_eq!(refused(long), SchemaFault::TooLarge);
}

#[test]
fn what_an_unevaluated_keyword_looks_at_again_counts_again() {
    let nested = |levels: usize, keyword: &str| {
        let mut schema = json!({"type": "object"});
        for _ in 0..levels {
            schema = json!({"anyOf": [schema], keyword: false});
        }
        schema
    };
    let nodes = |schema| compiled_cost(&schema).nodes;
    assert!(nodes(nested(1, "unevaluatedProperties")) < 20);
    assert!(nodes(nested(3, "unevaluatedItems")) > nodes(nested(2, "unevaluatedItems")) * 2);
    assert_eq!(
        refused(nested(12, "unevaluatedProperties")),
        SchemaFault::TooLarge
    );
}

fn compiled_cost(schema: &Value) -> Cost {
    let schema = JsonText::of(schema);
    SchemaCompiler::default().compile(&schema).unwrap().cost
}

#[test]
fn subschemas_stand_inside_each_other_to_a_bounded_depth() {
    let nested = |levels: usize| (1..levels).fold(json!({}), |schema, _| json!({"not": schema}));
    assert_eq!(compiled_cost(&nested(MAX_DEPTH)).levels, MAX_DEPTH as u64);
    assert_eq!(refused(nested(MAX_DEPTH + 1)), SchemaFault::TooDeep);
    let chain = multiplied(MAX_DEPTH, |before| json!({"items": before}));
    assert_eq!(refused(chain), SchemaFault::TooDeep);
}

#[test]
fn all_schemas_of_a_plugin_share_its_bounds() {
    let half: Vec<_> = (0..6_000).collect();
    let half = JsonText::of(&json!({"enum": half}));
    let mut compiler = SchemaCompiler::default();
    compiler.check(&half).unwrap();
    assert_eq!(compiler.check(&half), Err(SchemaFault::TooLarge));

    let pattern = |text: &str| JsonText::of(&json!({"pattern": text.repeat(1_500)}));
    let mut compiler = SchemaCompiler::default();
    compiler.check(&pattern("a")).unwrap();
    compiler.check(&pattern("a")).unwrap();
    compiler.check(&pattern("b")).unwrap();
    assert_eq!(
        compiler.check(&pattern("c")),
        Err(SchemaFault::PatternBytes)
    );
}

#[test]
fn a_pattern_is_matched_in_time_that_grows_with_the_text_alone() {
    // An engine that goes back would need longer than the universe is old.
    let schema = json!({"properties": {"a": {"pattern": "^(a+)+(a|aa)+$"}}});
    let text = "a".repeat(20_000);
    assert!(fits(&schema, &json!({"a": text})));
    assert!(!fits(&schema, &json!({"a": text + "!"})));
}

#[test]
fn a_pattern_that_the_engine_does_not_match_in_that_time_is_refused() {
    for pattern in [
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"(?<x>a)\k<x>",
        "(",
        "[z-a]",
        "a{1000000}",
        "((a{99}){99}){99}",
        r"(\p{L}{40}x){3}",
    ] {
        let fault = SchemaFault::Pattern(pattern.to_owned());
        assert_eq!(refused(json!({"pattern": pattern})), fault);
        let names = json!({"patternProperties": {pattern: true}});
        assert_eq!(refused(names), fault);
    }
}

#[test]
fn a_pattern_costs_the_more_the_larger_it_is_compiled() {
    let checks = |pattern: &str| compiled_cost(&json!({"pattern": pattern})).checks;
    assert!(checks("^[a-z]+$") < 100);
    let uuid = checks("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$");
    assert!((3_000..4_000).contains(&uuid), "{uuid}");
    assert!(checks(r"^\p{L}+$") > 10_000);
    assert!(checks("[ab]*a[ab]{100}c") > 5_000);
}

#[test]
fn formats_and_contents_are_annotations() {
    let schema = json!({
        "properties": {"a": {
            "format": "email", "contentEncoding": "base64", "contentMediaType": "application/json",
            "contentSchema": false, "title": 5, "x-own": {"$ref": "https://example.org"},
        }},
    });
    assert!(fits(&schema, &json!({"a": "no mail, no base64"})));
}

#[test]
fn only_draft_2020_12_is_spoken() {
    let schema = |dialect: &str| json!({"$schema": dialect, "$id": "https://example.org/a"});
    for spoken in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
    ] {
        assert!(compiled(&schema(spoken)).is_ok());
    }
    for other in [
        "http://json-schema.org/draft-07/schema#",
        "https://example.org/own",
        "",
    ] {
        let fault = refused(schema(other));
        assert!(matches!(fault, SchemaFault::Dialect(_)), "{fault:?}");
    }
    for (keyword, value) in [
        ("$id", json!("https://example.org/b")),
        ("$dynamicRef", json!("#a")),
        ("$dynamicAnchor", json!("a")),
        ("$recursiveRef", json!("#")),
        ("$recursiveAnchor", json!(true)),
        ("dependencies", json!({})),
        ("additionalItems", json!(false)),
    ] {
        let fault = refused(json!({"properties": {"a": {keyword: value}}}));
        assert_eq!(fault, SchemaFault::Keyword(keyword.to_owned()));
    }
}

#[test]
fn a_schema_that_does_not_compile_is_refused_with_place_and_reason() {
    for (schema, place) in [
        (json!({"type": "strin"}), "/type"),
        (
            json!({"properties": {"a": {"maxLength": -1}}}),
            "/properties/a/maxLength",
        ),
        (json!({"properties": []}), "/properties"),
        (json!({"items": [{}]}), "/items"),
        (json!({"items": "x"}), "/items"),
        (json!({"allOf": {}}), "/allOf"),
        (json!({"required": "a"}), "/required"),
        (json!({"pattern": 1}), "/pattern"),
        (
            json!({"$ref": "#/$defs/a", "allOf": 1, "$defs": {"a": {}}}),
            "/allOf/1/allOf",
        ),
    ] {
        match refused(schema.clone()) {
            SchemaFault::Invalid { place: at, reason } => {
                assert_eq!(at, place, "{schema}: {reason}");
                assert!(!reason.is_empty());
            }
            other => panic!("{schema}: {other:?}"),
        }
    }
}

#[test]
fn faults_are_few_short_and_safe_to_show() {
    let schema =
        json!({"properties": {"a": {"items": {"type": "null"}}}, "additionalProperties": false});
    let many = faults(&schema, &json!({"a": vec![0; 5_000]}));
    assert_eq!(many.len(), 21);
    assert_eq!(many[19], "arguments/a/19: 0 is not of type \"null\"");
    assert_eq!(many[20], "there is more, which is not listed");

    let name = "\u{1b}[31m".to_owned() + &"é".repeat(5_000);
    let long = json!({"a": ["x".repeat(100_000), ["x".repeat(1_000)], "\u{202e}"], name: 1});
    let told = faults(&schema, &long);
    assert_eq!(told.len(), 4);
    assert_eq!(told[0], "arguments/a/0: the text is not of type \"null\"");
    assert_eq!(told[1], "arguments/a/1: the list is not of type \"null\"");
    assert_eq!(
        told[2],
        r#"arguments/a/2: "\u{202e}" is not of type "null""#
    );
    assert!(told[3].contains(r"\u{1b}[31mé"), "{}", told[3]);
    let deep = json!({"properties": {"x".repeat(3_000): {"enum": ["y".repeat(3_000)]}}});
    let told = faults(&deep, &json!({"x".repeat(3_000): 1}));
    assert!(told[0].len() < 700, "{}", told[0]);
}

#[test]
fn the_same_fault_found_often_is_not_looked_for_without_end() {
    let same = vec![json!({"required": ["a"]}); 3_000];
    let told = faults(&json!({"allOf": same}), &json!({}));
    assert_eq!(
        told,
        [
            "arguments: \"a\" is a required property",
            "there is more, which is not listed"
        ]
    );
}

#[test]
fn a_plan_whose_validation_could_take_too_long_is_refused_instead() {
    let branches = vec![json!({"type": "null"}); 4_000];
    let schemas = compiled(&json!({"properties": {"a": {"items": {"anyOf": branches}}}})).unwrap();
    let mut check = schemas.check();
    let mut told = |items: usize| check.faults("mix", &json!({"a": vec![0; items]}));
    assert_eq!(
        told(3_000),
        ["the arguments of this plan are too large to be checked against their schemas"]
    );
    assert_eq!(
        told(200),
        [
            "the arguments do not fit the schema of `mix`; this plan's are too large to list what is wrong"
        ]
    );
    assert_eq!(told(1).len(), 1);
    assert!(told(1)[0].starts_with("arguments/a/0: 0 is not valid"));
    // The steps of a plan share its bound.
    let last = (0..100).map(|_| told(200)).last().unwrap();
    assert!(last[0].contains("too large to be checked"), "{last:?}");
}
