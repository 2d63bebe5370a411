//! What is loaded, and what is refused with which words.

use super::{files::component, *};
use crate::core::ports::domain::Declared as _;

fn load_error(bytes: &VerifiedBytes) -> Error {
    Plugin::load(&ENGINE, bytes, PluginLimits::standard(), None).unwrap_err()
}

#[test]
fn a_plain_wasip2_build_is_loaded_and_described() {
    let plugin = probe();
    let descriptor = plugin.descriptor();
    assert_eq!(
        (descriptor.name.as_str(), descriptor.max_steps),
        ("probe", 5)
    );
    let tools = descriptor.tools.iter().map(|tool| &*tool.name);
    assert!(tools.eq(["look", "change", "keyless", "mix"]));
    assert_eq!(descriptor.migrations[0].version, 1);
    assert_eq!(plugin.digest(), PROBE.digest());
}

#[test]
fn arguments_are_compared_with_the_schema_that_the_plugin_declared() {
    let plugin = probe();
    let mut check = plugin.arguments_check();
    let mut faults = |arguments| check.faults("mix", &arguments);
    assert!(faults(serde_json::json!({"colour": "red", "parts": ["a", "b"]})).is_empty());
    assert_eq!(
        faults(serde_json::json!({"parts": ["a", "B"], "size": 1})),
        [
            "arguments/parts/1: \"B\" does not match \"^[a-z]+$\"",
            "arguments: Additional properties are not allowed ('size' was unexpected)",
            "arguments: \"colour\" is a required property",
        ]
    );
    assert!(
        check.faults("look", &serde_json::json!({})).is_empty(),
        "a tool without a schema"
    );
}

#[test]
fn a_schema_that_cannot_be_used_is_found_when_the_plugin_is_loaded() {
    // Text of the same length, so that the component stays one.
    for (written, broken, told) in [
        (
            r#""type": "array""#,
            r#""type": "arrey""#,
            "/properties/parts/type",
        ),
        (
            r##""#/$defs/name"}, "max"##,
            r##""#/$defs/nome"}, "max"##,
            "#/$defs/nome",
        ),
        ("^[a-z]+$", "^[a-z(+$", "regular expression"),
    ] {
        let error = load_error(&files::pinned(edited(written, broken)));
        assert_eq!(error.code(), "plugin-contract-violation");
        let why = error.why();
        assert!(
            why.starts_with("the arguments' schema of mix is refused: "),
            "{why}"
        );
        assert!(why.contains(told), "{why}");
    }
}

/// The probe with one of its texts replaced.
fn edited(text: &str, by: &str) -> Vec<u8> {
    assert_eq!(text.len(), by.len());
    let mut bytes = PROBE.as_slice().to_vec();
    let found: Vec<_> = (0..bytes.len() - text.len())
        .filter(|at| bytes[*at..].starts_with(text.as_bytes()))
        .collect();
    assert_eq!(found.len(), 1, "{text}");
    bytes[found[0]..][..by.len()].copy_from_slice(by.as_bytes());
    bytes
}

#[test]
fn files_of_another_kind_are_named_for_what_they_are() {
    let core = files::pinned(b"\0asm\x01\0\0\0".to_vec());
    assert_eq!(load_error(&core).code(), "plugin-core-module");
    let text = files::pinned(b"(component)".to_vec());
    assert_eq!(load_error(&text).code(), "plugin-not-a-component");
    let nothing = files::pinned(Vec::new());
    assert_eq!(load_error(&nothing).code(), "plugin-not-a-component");
    let cut = files::pinned(PROBE.as_slice()[..5000].to_vec());
    assert_eq!(load_error(&cut).code(), "plugin-not-compilable");
}

/// C1: what was found, what is supported, and what to do.
#[test]
fn another_version_of_the_contract_is_refused_with_found_and_supported() {
    let newer = component(
        &["wharf:domain/log@0.2.0"],
        &["wharf:domain/validator@0.2.0", "wharf:domain/tools@0.2.0"],
    );
    let error = load_error(&newer);
    assert_eq!(error.code(), "plugin-contract-version");
    assert_eq!(
        error.to_string(),
        "the component uses version 0.2.0 of the contract, this host speaks 0.1.0"
    );
    let mixed = component(
        &["wharf:domain/log@0.1.0"],
        &["wharf:domain/validator@0.1.0", "wharf:domain/tools@0.2.0"],
    );
    assert_eq!(load_error(&mixed).code(), "plugin-contract-version");
    let bare = component(&["wharf:domain/log"], &["wharf:domain/validator"]);
    assert_eq!(load_error(&bare).code(), "plugin-contract-version");
}

/// C2: another 0.2 release of WASI links, the rest is named in full.
#[test]
fn every_missing_import_is_named_at_once() {
    let greedy = component(
        &[
            "wasi:http/outgoing-handler@0.2.0",
            "wharf:domain/log@0.1.0",
            "wasi:cli/exit@0.3.0",
            "wasi:cli/exit@0.2.77",
            "acme:mail/send@1.0.0",
        ],
        &["wharf:domain/validator@0.1.0", "wharf:domain/tools@0.1.0"],
    );
    let error = load_error(&greedy);
    assert_eq!(error.code(), "plugin-missing-imports");
    assert_eq!(
        error.to_string(),
        "the component imports what no plugin gets: wasi:http/outgoing-handler@0.2.0, wasi:cli/exit@0.3.0, \
         acme:mail/send@1.0.0"
    );
}

#[test]
fn a_component_that_is_no_plugin_is_refused_with_what_it_lacks() {
    let stranger = component(&["acme:mail/send@1.0.0"], &[]);
    let error = load_error(&stranger);
    assert_eq!(error.code(), "plugin-missing-exports");
    assert!(error.to_string().contains("wharf:domain/tools@0.1.0"));
    let half = component(&["wasi:cli/exit@0.2.0"], &["wharf:domain/validator@0.1.0"]);
    assert_eq!(
        load_error(&half).to_string(),
        "the component does not export wharf:domain/tools@0.1.0"
    );
    let hollow = component(
        &["wasi:cli/exit@0.2.0"],
        &["wharf:domain/validator@0.1.0", "wharf:domain/tools@0.1.0"],
    );
    assert_eq!(load_error(&hollow).code(), "plugin-other-interfaces");
}

#[test]
fn limits_that_the_engine_cannot_keep_are_refused() {
    let most = EngineLimits::standard();
    let more = |bytes: std::num::NonZeroUsize| bytes.checked_add(1).unwrap();
    let standard = PluginLimits::standard();
    for limits in [
        PluginLimits {
            memory_bytes: more(most.memory_bytes),
            ..standard
        },
        PluginLimits {
            table_elements: more(most.table_elements),
            ..standard
        },
        PluginLimits {
            instances: most.instances.checked_add(1).unwrap(),
            ..standard
        },
        PluginLimits {
            json_depth: 101.try_into().unwrap(),
            ..standard
        },
    ] {
        assert_eq!(code(try_load(limits)), "plugin-limit-too-high");
    }
}

#[test]
fn an_inspection_tells_everything_even_of_a_component_that_cannot_be_loaded() {
    let inspection = Inspection::of(&ENGINE, &PROBE, PluginLimits::standard(), None).unwrap();
    assert_eq!(inspection.contract_versions, ["0.1.0"]);
    assert_eq!(inspection.bytes, PROBE.as_slice().len());
    assert!(inspection.imports.len() > 10 && inspection.imports.iter().all(|i| i.offered));
    assert_eq!(inspection.descriptor.unwrap().name, "probe");

    let stranger = component(&["acme:mail/send@1.0.0"], &[]);
    let inspection = Inspection::of(&ENGINE, &stranger, PluginLimits::standard(), None).unwrap();
    assert!(inspection.contract_versions.is_empty());
    assert!(!inspection.imports[0].offered);
    assert_eq!(code(inspection.descriptor), "plugin-missing-exports");
}
