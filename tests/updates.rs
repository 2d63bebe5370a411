//! Components that cannot be loaded: each is told by itself, and none gets in the way of what runs.

use std::fs;

use serde_json::{Value, json};
use wharf_tests::{
    Workspace, built, demo,
    halfway::{HALFWAY, assert_goes_on},
    probe, sha256, wharf,
};

/// Files that are no plugin, and how each is refused.
fn broken() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let sound = demo::component();
    vec![
        (
            "cut",
            sound[..sound.len() / 2].to_vec(),
            "plugin-not-compilable",
        ),
        ("empty", Vec::new(), "plugin-not-a-component"),
        ("module", b"\0asm\x01\0\0\0".to_vec(), "plugin-core-module"),
        (
            "nothing",
            b"\0asm\x0d\0\x01\0".to_vec(),
            "plugin-missing-exports",
        ),
    ]
}

/// C5: an update that does not load changes nothing, and the run goes on with the component that it pinned.
#[test]
fn an_update_that_does_not_load_changes_nothing() {
    let workspace = HALFWAY.copy();
    let before = workspace.content();
    for (_, component, code) in broken() {
        let mut request = demo::request();
        request["id"] = "updated".into();
        request["plugin"]["digest"] = sha256(&component).into();
        let run = |request: &Value| {
            wharf("run")
                .arg("--plugin")
                .arg(workspace.handed_in("updated.wasm", &component))
                .arg("--request")
                .arg(workspace.handed_in("updated.json", request.to_string()))
                .dir(workspace.path())
        };
        let _ = run(&request).run().refusal(2, code);
        // A missing file and one that is another than the request says.
        request["plugin"]["digest"] = sha256(b"another").into();
        let _ = run(&request).run().refusal(2, "component-mismatch");
    }
    assert_eq!(workspace.content(), before);
    assert_goes_on(&workspace);
}

/// C8: the others load, and each broken one is listed with its cause.
#[test]
fn one_broken_plugin_of_a_folder_does_not_hide_the_others() {
    let workspace = Workspace::new();
    for (name, component, _) in broken() {
        workspace.handed_in(&format!("{name}.wasm"), component);
    }
    for name in ["fulfillment", "retail"] {
        let component = fs::read(built::plugin(name)).unwrap();
        workspace.handed_in(&format!("{name}.wasm"), component);
    }
    workspace.handed_in("probe.wasm", fs::read(probe::component()).unwrap());
    workspace.handed_in("notes.txt", "no component");

    let inspect = || wharf("plugin inspect").arg(workspace.folder());
    let listed = inspect().json().run().exits(2).document();
    let verdict = |entry: &Value| {
        let file = entry["component"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap();
        json!([file, entry["descriptor"]["name"], entry["problem"]["code"]])
    };
    let verdicts: Vec<_> = listed["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(verdict)
        .collect();
    assert_eq!(
        verdicts,
        [
            json!(["cut.wasm", null, "plugin-not-compilable"]),
            json!(["empty.wasm", null, "plugin-not-a-component"]),
            json!(["fulfillment.wasm", "fulfillment", null]),
            json!(["module.wasm", null, "plugin-core-module"]),
            json!(["nothing.wasm", null, "plugin-missing-exports"]),
            json!(["probe.wasm", "probe", null]),
            json!(["retail.wasm", "retail", null]),
        ]
    );
    let text = inspect().run().exits(2).stdout;
    assert!(text.ends_with("3 of 7 components can be used\n"), "{text}");

    for (name, ..) in broken() {
        fs::remove_file(workspace.folder().join(format!("{name}.wasm"))).unwrap();
    }
    let text = inspect().run().exits(0).stdout;
    assert!(text.ends_with("3 of 3 components can be used\n"), "{text}");
}
