//! The demo's files fit together. What they lead to is tested by the host, which runs them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

fn demo_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("demo")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn demo_json(name: &str) -> Value {
    serde_json::from_str(&demo_file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key]
        .as_array()
        .unwrap_or_else(|| panic!("`{key}` is a list"))
}

#[test]
fn the_scenarios_stand_in_their_documented_order_and_one_is_the_default() {
    let demo = demo_json("demo.json");
    let names: Vec<_> = list(&demo, "scenarios")
        .iter()
        .map(|scenario| &scenario["name"])
        .collect();
    assert_eq!(
        names,
        [
            "stable",
            "price-change",
            "unavailable",
            "no-stock",
            "lost-response"
        ]
    );
    assert_eq!(demo["defaultScenario"], "price-change");
}

#[test]
fn every_seed_file_exists_and_every_sql_file_is_used() {
    let demo = demo_json("demo.json");
    let used: HashSet<String> = list(&demo, "scenarios")
        .iter()
        .flat_map(|scenario| list(scenario, "seed"))
        .map(|name| name.as_str().expect("a file name").to_owned())
        .collect();
    for name in &used {
        assert!(!demo_file(name).is_empty());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
    let present: HashSet<String> = fs::read_dir(folder)
        .expect("the demo folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a plain name")
        })
        .filter(|name| name.ends_with(".sql"))
        .collect();
    assert_eq!(present, used);
}

#[test]
fn every_option_points_at_a_field_of_the_request() {
    let demo = demo_json("demo.json");
    let request = demo_json(demo["request"].as_str().expect("a file name"));
    for (option, pointer) in demo["options"].as_object().expect("options") {
        let pointer = pointer.as_str().expect("a JSON pointer");
        assert!(request.pointer(pointer).is_some(), "{option}: {pointer}");
    }
}

#[test]
fn the_request_names_this_plugin_and_leaves_its_digest_to_the_host() {
    let plugin = json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "digest": "",
    });
    assert_eq!(demo_json("request.json")["plugin"], plugin);
}
