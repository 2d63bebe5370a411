//! Bad input is exit code 2, an error of three lines, and nothing written.

use std::{fs, path::Path};

use serde_json::{Value, json};
use wharf_tests::{
    Wharf, Workspace, built, changes,
    demo::{self, TASK},
    sha256, wharf,
};

/// What is done to a good request.
type Change = fn(&mut Value);

/// `wharf run` with a request file.
fn run(workspace: &Workspace, request: impl AsRef<[u8]>) -> Wharf {
    run_with(workspace, request, &built::plugin("fulfillment"))
}

fn run_with(workspace: &Workspace, request: impl AsRef<[u8]>, plugin: &Path) -> Wharf {
    let request = workspace.handed_in("request.json", request);
    wharf("run")
        .arg("--plugin")
        .arg(plugin)
        .arg("--request")
        .arg(request)
        .dir(workspace.path())
}

/// The command is refused in both formats, and the workspace's directory is as it was, or not there at all.
#[track_caller]
fn refused(workspace: &Workspace, code: &str, command: impl Fn() -> Wharf) -> [String; 3] {
    let there = workspace.path().exists();
    let before = workspace.files();
    let as_text = command().run().refusal(2, code);
    let as_json = command().json().run().refusal(2, code);
    assert_eq!(as_text, as_json);
    assert_eq!(changes(&before, &workspace.files()), [""; 0]);
    assert_eq!(workspace.path().exists(), there);
    as_text
}

#[track_caller]
fn refused_request(code: &str, change: impl FnOnce(&mut Value)) -> [String; 3] {
    let mut request = demo::request();
    change(&mut request);
    let workspace = Workspace::new();
    refused(&workspace, code, || run(&workspace, request.to_string()))
}

#[test]
fn every_budget_and_text_of_a_request_has_bounds() {
    let out: [(&str, Change); 10] = [
        ("1 to 5", |request| {
            request["budgets"]["maxPlans"] = 0.into()
        }),
        ("1 to 5", |request| {
            request["budgets"]["maxPlans"] = 6.into()
        }),
        ("0 to 30", |request| {
            request["budgets"]["maxActions"] = 31.into()
        }),
        ("1 to 3600", |request| {
            request["budgets"]["deadlineSeconds"] = 0.into()
        }),
        ("1 to 3600", |request| {
            request["budgets"]["deadlineSeconds"] = 3601.into()
        }),
        ("1 to 1000", |request| request["goal"] = "".into()),
        ("1 to 1000", |request| request["goal"] = " \n\t".into()),
        ("1 to 1000", |request| {
            request["goal"] = "é".repeat(1001).into()
        }),
        ("1 to 1000", |request| request["goal"] = "a\0b".into()),
        ("1 to 1000", |request| {
            request["plugin"]["version"] = "".into()
        }),
    ];
    for (allowed, change) in out {
        let [_, why, _] = refused_request("request-out-of-bounds", change);
        assert!(why.contains(allowed), "{why}");
    }
    // The bounds themselves are allowed; what is refused then is the digest, which comes later.
    let within: [Change; 2] = [
        |request| {
            request["budgets"] = json!({"maxPlans": 5, "maxActions": 30, "deadlineSeconds": 3600});
            request["goal"] = "é".repeat(1000).into();
            request["id"] = "a".repeat(80).into();
        },
        |request| {
            request["budgets"] = json!({"maxPlans": 1, "maxActions": 0, "deadlineSeconds": 1});
            request["goal"] = "x".into();
            request["id"] = "Z-_9".into();
        },
    ];
    for change in within {
        refused_request("component-mismatch", |request| {
            change(request);
            request["plugin"]["digest"] = "0".repeat(64).into();
        });
    }
}

#[test]
fn identifiers_have_few_characters_and_never_reach_a_path() {
    for id in [
        "",
        "../x",
        "a/b",
        "a b",
        "é",
        ".",
        "a.b",
        "a\u{0}",
        &"x".repeat(81),
    ] {
        for field in ["id", "tenant", "principal"] {
            refused_request("request-form", |request| request[field] = id.into());
        }
    }
}

#[test]
fn unknown_missing_and_mistyped_fields_of_a_request_are_refused() {
    let changes: [Change; 9] = [
        |request| request["urgent"] = true.into(),
        |request| request["budgets"]["maxTokens"] = 5.into(),
        |request| request["plugin"]["path"] = "p.wasm".into(),
        |request| drop(request.as_object_mut().unwrap().remove("principal")),
        |request| drop(request["plugin"].as_object_mut().unwrap().remove("digest")),
        |request| request["budgets"]["maxPlans"] = "3".into(),
        |request| request["budgets"]["maxPlans"] = (-1).into(),
        |request| request["budgets"]["maxPlans"] = 1.5.into(),
        |request| request["plugin"]["digest"] = "abc".into(),
    ];
    for change in changes {
        refused_request("request-form", change);
    }
}

#[test]
fn a_request_is_one_strict_json_document() {
    let request = demo::request().to_string();
    for text in [
        String::new(),
        "{".to_owned(),
        format!("{request}{request}"),
        format!("{request} // done"),
        format!("\u{feff}{request}"),
        request.replace("\"goal\"", "\"goal\":\"x\",\"goal\""),
        request.replace("\"quantity\"", "\"quantity\":1,\"quantity\""),
        request.replace("\"maxPlans\"", "\"maxPlans\":1,\"maxPlans\""),
        request.replace("500", "9007199254740993"),
    ] {
        let workspace = Workspace::new();
        refused(&workspace, "request-not-json", || run(&workspace, &text));
    }
}

#[test]
fn the_plugin_lists_everything_that_is_wrong_with_its_input_at_once() {
    let [_, why, _] = refused_request("task-refused", |request| {
        request["input"] = json!({"orderId": "a b", "quantity": 101, "gift": true});
    });
    for fault in ["orderId", "quantity", "maxShippingCents", "gift"] {
        assert!(why.contains(fault), "{fault}: {why}");
    }
    let changes: [Change; 5] = [
        |request| request["input"]["quantity"] = 0.into(),
        |request| request["input"]["maxShippingCents"] = (-1).into(),
        |request| request["input"]["maxShippingCents"] = 100_001.into(),
        |request| request["input"]["quantity"] = "2".into(),
        |request| request["input"] = json!([]),
    ];
    for change in changes {
        refused_request("task-refused", change);
    }
}

#[test]
fn a_file_that_cannot_be_read_or_is_too_large_is_named() {
    let workspace = Workspace::new();
    let missing = workspace.path().with_file_name("missing");
    let good = demo::request().to_string();
    let [what, ..] = refused(&workspace, "file-unreadable", || {
        wharf("run")
            .arg("--plugin")
            .arg(built::plugin("fulfillment"))
            .arg("--request")
            .arg(&missing)
            .dir(workspace.path())
    });
    assert!(what.contains(&*missing.to_string_lossy()), "{what}");
    refused(&workspace, "file-unreadable", || {
        run_with(&workspace, &good, &missing)
    });
    refused(&workspace, "file-unreadable", || {
        run(&workspace, &good).arg("--seed").arg(&missing)
    });
    refused(&workspace, "script-unreadable", || {
        run(&workspace, &good).script(&missing)
    });
    refused(&workspace, "file-too-large", || {
        run(&workspace, " ".repeat(256 * 1024 + 1))
    });
    refused(&workspace, "file-not-text", || run(&workspace, b"\"\xff\""));
}

#[test]
fn only_the_component_that_the_request_names_is_run() {
    let workspace = Workspace::new();
    let [_, why, _] = refused_request("component-mismatch", |request| {
        request["plugin"]["digest"] = sha256(b"another").into();
    });
    assert!(why.contains(&sha256(b"another")) && why.contains(&sha256(&demo::component())));
    refused_request("plugin-mismatch", |request| {
        request["plugin"]["name"] = "other".into()
    });
    refused_request("plugin-mismatch", |request| {
        request["plugin"]["version"] = "9.9.9".into()
    });
    for bytes in [&b""[..], b"(module)", b"\0asm\x01\0\0\0"] {
        let plugin = workspace.handed_in("plugin.wasm", bytes);
        let mut request = demo::request();
        request["plugin"]["digest"] = sha256(bytes).into();
        let ran = run_with(&workspace, request.to_string(), &plugin).run();
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(ran.stdout, "");
        assert!(!workspace.path().exists());
    }
}

#[test]
fn a_seed_is_sql_for_the_plugins_own_tables() {
    for seed in [
        "nonsense;",
        "INSERT INTO nowhere VALUES (1);",
        "DELETE FROM wharf_ledger;",
        "CREATE TRIGGER t AFTER UPDATE ON orders BEGIN DELETE FROM wharf_ledger; END;",
        "UPDATE wharf_workspace SET tenant = 'me';",
        "ATTACH DATABASE 'x.sqlite' AS x;",
        "PRAGMA journal_mode = DELETE;",
    ] {
        let workspace = Workspace::new();
        let file = workspace.handed_in("seed.sql", seed);
        let request = demo::request().to_string();
        let ran = run(&workspace, request)
            .arg("--seed")
            .arg(file)
            .json()
            .run();
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{seed}: {ran:?}");
        assert!(!workspace.path().exists(), "{seed}");
    }
}

#[test]
fn a_seed_fills_a_new_workspace_only() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let seed = workspace.handed_in("seed.sql", "UPDATE inventory SET stock = 99;");
    let mut request = demo::request();
    request["id"] = "second".into();
    let before = workspace.content();
    let ran = run(&workspace, request.to_string())
        .arg("--seed")
        .arg(seed)
        .run();
    ran.refusal(2, "workspace-not-new");
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
}

#[test]
fn a_script_with_a_bad_line_is_refused_by_its_number() {
    let workspace = Workspace::new();
    let good = json!({"text": "x", "finishReason": "stop"});
    for bad in ["", "x", "[]", r#"{"text":"x"}"#, r#"{"error":"x"}"#] {
        let script = workspace.handed_in("script.jsonl", format!("{good}\n{bad}\n{good}\n"));
        let request = demo::request().to_string();
        let [what, ..] = refused(&workspace, "script-line", || {
            run(&workspace, &request).script(&script)
        });
        assert!(what.contains("line 2"), "{what}");
    }
}

#[test]
fn options_that_are_unknown_or_out_of_bounds_are_refused() {
    let workspace = Workspace::new();
    for (code, options) in [
        ("usage", "--colour yes"),
        ("usage", "--format yaml"),
        ("usage", "--quantity many"),
        ("usage", "--quantity -1"),
        ("usage", "--max-plans 1.5"),
        ("usage", "--stop-after snapshot"),
        ("usage", "--planner guess"),
        ("usage", "--planner script:"),
        ("usage", "--context memcached"),
        ("usage", "extra"),
        ("demo-scenario", "--scenario stabel"),
        ("request-out-of-bounds", "--max-plans 0"),
        ("request-out-of-bounds", "--max-plans 6"),
        ("request-out-of-bounds", "--max-actions 31"),
        ("request-out-of-bounds", "--deadline-seconds 0"),
        ("request-out-of-bounds", "--deadline-seconds 3601"),
        ("task-refused", "--quantity 0"),
        ("task-refused", "--quantity 101"),
        ("task-refused", "--max-shipping-cents 100001"),
    ] {
        refused(&workspace, code, || {
            demo::demo_of(&workspace).args(options.split(' '))
        });
    }
    refused(&workspace, "request-out-of-bounds", || {
        demo::demo_of(&workspace).args(["--goal", " "])
    });
}

#[test]
fn resume_takes_no_option_that_would_change_the_request() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    for option in [
        "--goal",
        "--quantity",
        "--max-plans",
        "--request",
        "--seed",
        "--plugin",
    ] {
        refused(&workspace, "usage", || {
            wharf("resume").dir(workspace.path()).args([option, "1"])
        });
    }
}

#[test]
fn what_is_not_there_is_refused_and_repeats_no_password() {
    let workspace = Workspace::new();
    refused(&workspace, "no-provider", || {
        demo::demo_of(&workspace).args(["--planner", "model"])
    });
    for (code, context) in [
        (
            "context-not-available",
            "rediss://:hunter2@localhost:6379/0",
        ),
        ("context-address", "redis://:hunter2@localhost:6379/first"),
        ("context-address", "redis://:hunter2@localhost:port"),
        ("usage", "redsi://:hunter2@localhost:6379/0"),
    ] {
        let lines = refused(&workspace, code, || {
            demo::demo_of(&workspace).args(["--context", context])
        });
        assert!(!lines.concat().contains("hunter2"), "{lines:?}");
    }
    // Typed in the wrong place.
    let lines = refused(&workspace, "usage", || {
        demo::demo_of(&workspace).arg("redis://:hunter2@localhost:6379/0")
    });
    assert!(!lines.concat().contains("hunter2"), "{lines:?}");
}

#[test]
fn where_there_is_no_task_nothing_is_resumed_shown_or_audited_or_made() {
    let missing = Workspace::new();
    let empty = Workspace::new();
    fs::create_dir(empty.path()).unwrap();
    let foreign = Workspace::new();
    fs::create_dir(foreign.path()).unwrap();
    fs::write(foreign.path().join("notes.txt"), "mine").unwrap();
    let file = Workspace::new();
    fs::write(file.path(), "a file").unwrap();
    for workspace in [missing, empty, foreign] {
        for command in ["resume", "status", "audit"] {
            refused(&workspace, "no-task", || {
                wharf(command).dir(workspace.path())
            });
            refused(&workspace, "no-task", || {
                wharf(command).dir(workspace.path()).args(["--task", TASK])
            });
        }
    }
    for command in ["resume", "status", "audit"] {
        wharf(command).dir(file.path()).run().refusal(2, "no-task");
    }
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "a file");
}

#[test]
fn a_task_that_a_workspace_does_not_hold_is_refused() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    for command in ["resume", "status", "audit"] {
        let before = workspace.content();
        let ran = wharf(command)
            .dir(workspace.path())
            .args(["--task", "other"])
            .run();
        ran.refusal(2, "no-task");
        assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    }
}

#[test]
fn a_directory_with_foreign_files_is_left_alone() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path()).unwrap();
    fs::write(workspace.path().join("notes.txt"), "mine").unwrap();
    let request = demo::request().to_string();
    refused(&workspace, "directory-foreign", || {
        demo::demo_of(&workspace)
    });
    refused(&workspace, "directory-foreign", || {
        run(&workspace, &request)
    });
}

#[test]
fn a_demo_wants_a_directory_without_a_task() {
    let workspace = Workspace::new();
    for scenario in ["stable", "price-change"] {
        let _ = demo::demo(&workspace, "stable")
            .args(["--stop-after", "plan"])
            .run();
        refused(&workspace, "directory-taken", || {
            demo::demo(&workspace, scenario)
        });
    }
}

#[test]
fn a_demo_takes_an_empty_directory() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path()).unwrap();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
}

#[test]
fn a_workspace_belongs_to_one_tenant() {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let mut request = demo::request();
    request["id"] = "second".into();
    request["tenant"] = "stranger".into();
    let before = workspace.content();
    run(&workspace, request.to_string())
        .run()
        .refusal(1, "workspace-other-tenant");
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
}

#[test]
fn a_demo_without_a_component_says_how_to_build_one() {
    let workspace = Workspace::new();
    let missing = workspace.path().with_file_name("missing.wasm");
    let [what, why, fix] = refused(&workspace, "component-missing", || {
        wharf("demo")
            .arg("--plugin")
            .arg(&missing)
            .dir(workspace.path())
    });
    assert!(
        why.contains("missing.wasm") && fix.contains("cargo xtask demo"),
        "{what}"
    );
    let alone = workspace.handed_in("alone.wasm", demo::component());
    refused(&workspace, "demo-missing", || {
        wharf("demo")
            .arg("--plugin")
            .arg(&alone)
            .dir(workspace.path())
    });
}

#[test]
fn a_log_filter_that_cannot_be_understood_is_refused() {
    let workspace = Workspace::new();
    refused(&workspace, "log-filter", || {
        demo::demo_of(&workspace).env("WHARF_LOG", "wharf=loud=very")
    });
}
