//! `wharf.toml`: every key does what it says, and what is wrong is refused with its place.

use std::{collections::BTreeSet, fs};

use serde_json::Value;
use wharf::{Config, business::DatabaseLimits, host::Allowance};
use wharf_tests::{Ran, Workspace, probe, root, wharf};

/// How the limit of a key is reached: by the probe with a goal, which then ends with this code; or by a test of the library,
/// since one program runs one task.
enum Reached {
    Run(&'static str, &'static str),
    Test(&'static str),
}

use Reached::{Run, Test};

/// Every key of a plugin's table, a value that is too small for the goal, and what comes of it.
const KEYS: &[(&str, u64, Reached)] = &[
    ("component_bytes", 1_000, Run("nothing", "plugin-too-large")),
    ("compile_millis", 1, Test("compile_millis")),
    (
        "concurrent_calls",
        1,
        Test("concurrent_calls_and_queue_millis"),
    ),
    ("queued_calls", 1, Test("queued_calls")),
    ("queue_millis", 1, Test("concurrent_calls_and_queue_millis")),
    (
        "memory_bytes",
        4 << 20,
        Run("allocate:5000000", "plugin-memory-limit"),
    ),
    ("table_elements", 1, Run("nothing", "plugin-table-limit")),
    ("instances", 1, Run("nothing", "plugin-instance-limit")),
    ("call_millis", 100, Run("spin", "plugin-deadline")),
    ("fuel", 100_000, Run("spin", "plugin-out-of-fuel")),
    (
        "guest_stack_bytes",
        16_384,
        Run("recurse:1000", "plugin-stack-overflow"),
    ),
    (
        "host_calls",
        10,
        Run("queries:50", "plugin-host-call-limit"),
    ),
    (
        "host_copy_bytes",
        65_536,
        Run("text:100000", "plugin-host-buffer-limit"),
    ),
    ("handles", 50, Run("handles:100", "plugin-handle-limit")),
    ("log_lines", 5, Run("logs:6", "plugin-log-limit")),
    ("log_bytes", 100, Run("log-bytes:101", "plugin-log-limit")),
    (
        "json_depth",
        3,
        Run("json-depth:4", "plugin-contract-violation"),
    ),
    (
        "descriptor_bytes",
        50,
        Run("nothing", "plugin-output-limit"),
    ),
    (
        "snapshot_bytes",
        50,
        Run("json-bytes:100", "plugin-output-limit"),
    ),
    (
        "record_bytes",
        50,
        Run("data-bytes:100", "plugin-output-limit"),
    ),
    ("conclusion_bytes", 5, Run("nothing", "plugin-output-limit")),
    (
        "artifact_bytes",
        10,
        Run("artifact-bytes:11", "plugin-output-limit"),
    ),
    ("artifacts", 1, Run("artifacts:2", "plugin-output-limit")),
    (
        "message_bytes",
        10,
        Run("rejected-bytes:11", "plugin-output-limit"),
    ),
];

/// Every key of a plugin's table `sql`, and how the plugin sees its limit: in the snapshot, which is what the query gave.
const SQL_KEYS: &[(&str, u64, Reached)] = &[
    (
        "rows_per_query",
        2,
        Run("select:VALUES (1), (2), (3)", "Limit("),
    ),
    (
        "bytes_per_call",
        1_000,
        Run("select:SELECT printf('%.2000c', 'x')", "Limit("),
    ),
    (
        "value_bytes",
        1_000,
        Run("select:SELECT printf('%.2000c', 'x')", "Limit("),
    ),
    (
        "sql_millis",
        50,
        Run(
            "select:WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
            "Limit(",
        ),
    ),
    (
        "lock_millis",
        50,
        Run(
            "execute-then-burn:INSERT INTO things VALUES ('slow')",
            "business-lock-held-too-long",
        ),
    ),
];

/// Every key of the table `database`, and the test of the library in which it is reached, unless it is here.
const DATABASE_KEYS: &[(&str, u64, Reached)] = &[
    (
        "install_millis",
        1,
        Test("an_installation_takes_at_most_so_long"),
    ),
    (
        "busy_millis",
        20,
        Test("another_process_is_waited_for_at_most_so_long"),
    ),
    (
        "heap_bytes",
        1 << 20,
        Test("sqlite_uses_at_most_so_much_memory"),
    ),
    (
        "workspace_bytes",
        1 << 20,
        Run(
            "execute:INSERT INTO things WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 2000) SELECT printf('%.1000c%d', 'x', x) FROM n",
            "workspace-full",
        ),
    ),
];

fn run(workspace: &Workspace, goal: &str, config: &str) -> Ran {
    let config = workspace.handed_in("wharf.toml", config);
    let run = probe::run(workspace, goal, "change")
        .arg("--config")
        .arg(config);
    run.run()
}

fn library_tests() -> String {
    fs::read_to_string(root().join("host/src/plugin/tests/limits.rs")).unwrap()
}

/// T4: each key is violated alone, and its own error comes of it; without an entry here a key does not pass.
#[test]
fn every_key_of_a_plugin_is_enforced() {
    let listed: BTreeSet<_> = KEYS.iter().map(|(key, ..)| (*key).to_owned()).collect();
    assert_eq!(
        listed,
        keys(serde_json::to_value(with_fuel().sandbox)),
        "a key without a test"
    );
    for (key, value, reached) in KEYS {
        match reached {
            Test(name) => assert!(library_tests().contains(&format!("fn {name}()")), "{name}"),
            Run(goal, code) => {
                let workspace = Workspace::new();
                let table = format!("[plugins.probe]\npreset = \"standard\"\n{key} = {value}\n");
                let ran = run(&workspace, goal, &table);
                assert!(
                    ran.stderr.contains(&format!("error[{code}]")),
                    "{key}: {ran:?}"
                );
                assert_ne!(ran.code, Some(0), "{key}");
                // Another plugin's table does not touch it.
                let workspace = Workspace::new();
                let other = table.replace("probe", "somebody");
                let ran = run(&workspace, goal, &other);
                // One that spins meets the standard limit instead, under the same code.
                if *key != "call_millis" {
                    let own = format!("error[{code}]");
                    assert!(!ran.stderr.contains(&own), "{key}: {ran:?}");
                }
            }
        }
    }
}

#[test]
fn every_key_of_a_plugins_sql_is_enforced() {
    let listed: BTreeSet<_> = SQL_KEYS.iter().map(|(key, ..)| (*key).to_owned()).collect();
    assert_eq!(
        listed,
        keys(serde_json::to_value(Allowance::standard().sql)),
        "a key without a test"
    );
    for (key, value, reached) in SQL_KEYS {
        let Run(goal, told) = reached else {
            unreachable!()
        };
        let workspace = Workspace::new();
        let table = format!(
            "[plugins.probe]\npreset = \"standard\"\ncall_millis = 20_000\n[plugins.probe.sql]\npreset = \"standard\"\n{key} = {value}\n"
        );
        let ran = run(&workspace, goal, &table);
        if ran.code == Some(0) {
            let report = workspace.report(probe::TASK);
            let snapshot = report["plans"][0]["snapshot"].to_string();
            assert!(snapshot.contains(told), "{key}: {snapshot}");
        } else {
            assert!(ran.stderr.contains(told), "{key}: {ran:?}");
        }
    }
}

#[test]
fn every_key_of_the_database_is_enforced() {
    let standard = DatabaseLimits::standard();
    let listed: BTreeSet<_> = DATABASE_KEYS
        .iter()
        .map(|(key, ..)| (*key).to_owned())
        .collect();
    assert_eq!(listed, keys(serde_json::to_value(standard)));
    let tests = fs::read_to_string(root().join("host/src/business/tests/limits.rs")).unwrap();
    for (key, value, reached) in DATABASE_KEYS {
        let table = format!("[database]\npreset = \"standard\"\n{key} = {value}\n");
        let mut expected = serde_json::to_value(standard).unwrap();
        expected[*key] = (*value).into();
        let read = Config::read(&table).unwrap().limits.database;
        assert_eq!(serde_json::to_value(read).unwrap(), expected);
        match reached {
            Test(name) => assert!(tests.contains(&format!("fn {name}()")), "{name}"),
            Run(goal, code) => {
                let workspace = Workspace::new();
                let ran = run(&workspace, goal, &table);
                assert!(ran.stderr.contains(&format!("error[{code}]")), "{ran:?}");
                // With room it goes on, and what found none did not happen.
                let _ = wharf("resume").dir(workspace.path()).run().exits(0);
            }
        }
    }
}

/// T3: zero is refused, for every key; and so are a key that nobody knows and one of another kind.
#[test]
fn a_zero_an_unknown_key_and_another_type_are_refused_with_their_place() {
    for (key, ..) in KEYS {
        for wrong in ["0", "-1", "\"many\"", "1.5"] {
            let text = format!("[plugins.probe]\npreset = \"standard\"\n{key} = {wrong}\n");
            let error = Config::read(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("`plugins.probe.{key}`")), "{error}");
        }
    }
    for (text, place) in [
        (
            "[engine]\npreset = \"standard\"\nsandboxes = 0",
            "engine.sandboxes",
        ),
        ("[engine]\nsandboxes = 1", "engine"),
        ("[engine]\npreset = \"huge\"", "engine.preset"),
        ("[plugin]\npreset = 1", "plugin.preset"),
        ("[plugin]\nmemory_bytes = 1", "plugin"),
        (
            "[plugin]\npreset = \"standard\"\nmemory = 1",
            "plugin.memory",
        ),
        ("[plugin.sql]\npreset = \"standard\"", "plugin"),
        (
            "[plugins.p]\npreset = \"standard\"\nsql = 1",
            "plugins.p.sql",
        ),
        (
            "[plugins.p]\npreset = \"standard\"\n[plugins.p.sql]\nrows = 1",
            "plugins.p.sql",
        ),
        ("[plugins.\"a b\"]\npreset = \"standard\"", "plugins.a b"),
        ("plugins = 1", "plugins"),
        ("[plugins]\np = 1", "plugins.p"),
        ("[database]\nbusy_millis = 1", "database"),
        (
            "[database]\npreset = \"standard\"\nheap_bytes = 0",
            "database.heap_bytes",
        ),
        ("database = 1", "database"),
        ("[limits]", "limits"),
        ("limits = 1", "limits"),
        ("[workspace]\nfuel = 0", "workspace.fuel"),
        ("[workspace]\nbudget = 1", "workspace.budget"),
        ("[workspace]\nfuel = 1", "workspace.fuel"),
        ("[workspace]\ntask_fuel = 1", "workspace.task_fuel"),
        ("[workspace]\nsync_outputs = 0", "workspace.sync_outputs"),
        (
            "[workspace]\nfuel = 1\n[plugin]\npreset = \"standard\"\nfuel = 1\n[plugins.p]\npreset = \"standard\"",
            "workspace.fuel",
        ),
    ] {
        let error = Config::read(text).expect_err(text);
        assert!(
            error.to_string().contains(&format!("`{place}")),
            "{text}: {error}"
        );
        assert_eq!(wharf::Error::from(error).code(), "config-invalid");
    }
    assert!(Config::read("[plugin").is_err());
}

#[test]
fn a_table_without_a_preset_has_every_key() {
    let full = Allowance::standard();
    let table = toml_of(serde_json::to_value(full.sandbox));
    let read = Config::read(&format!("[plugin]\n{table}")).unwrap();
    assert_eq!(read.limits.others, full);
    for line in table.lines() {
        let without = table.replace(&format!("{line}\n"), "");
        let error = wharf::Error::from(Config::read(&format!("[plugin]\n{without}")).unwrap_err());
        let key = line.split(' ').next().unwrap();
        assert!(error.why().contains(&format!("`{key}`")), "{}", error.why());
    }
}

#[test]
fn a_wrong_file_is_bad_input_and_nothing_is_done() {
    let workspace = Workspace::new();
    let ran = run(
        &workspace,
        "nothing",
        "[plugin]\npreset = \"standard\"\ncall_millis = 0\n",
    );
    let [what, why, fix] = ran.refusal(2, "config-invalid");
    assert!(
        what.contains("wharf.toml") && what.contains("`plugin.call_millis`"),
        "{what}"
    );
    assert!(why.contains("nonzero"), "{why}");
    assert!(fix.contains("docs/wharf.example.toml"), "{fix}");
    assert!(workspace.files().is_empty());
    let missing = wharf("audit")
        .dir(workspace.path())
        .args(["--config", "no-such.toml"]);
    let _ = missing.run().refusal(2, "file-unreadable");
}

/// A limit that fitted when the plan was accepted must fit when it is verified: `audit` takes the same file.
#[test]
fn audit_verifies_with_the_limits_that_it_is_given() {
    let workspace = Workspace::new();
    let _ = run(&workspace, "nothing", "").exits(0);
    let narrow = workspace.handed_in(
        "narrow.toml",
        "[plugins.probe]\npreset = \"standard\"\ndescriptor_bytes = 50\n",
    );
    let audit = || wharf("audit").dir(workspace.path());
    let _ = audit().run().exits(0);
    let told = audit().arg("--config").arg(narrow).run().exits(0);
    let skipped = told.stdout.contains("skipped") && told.stdout.contains("plugin-output-limit");
    assert!(skipped, "{told:?}");
}

/// The engine's table reaches the engine: what a plugin asks for must fit into it.
#[test]
fn the_engines_keys_are_enforced() {
    for (key, value) in [
        ("memory_bytes", 1 << 20),
        ("table_elements", 100),
        ("instances", 3),
        ("guest_stack_bytes", 16_384),
    ] {
        let table = format!("[engine]\npreset = \"standard\"\n{key} = {value}\n");
        let ran = run(&Workspace::new(), "nothing", &table);
        let [what, ..] = ran.refusal(2, "plugin-limit-too-high");
        assert!(
            what.contains(key) && what.contains(&value.to_string()),
            "{what}"
        );
    }
}

/// What the documents show is accepted, and means what they say.
#[test]
fn the_example_of_the_documents_is_read() {
    let text = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let example = text
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let limits = Config::read(example).unwrap().limits;
    let own = limits.of(&"fulfillment".parse().unwrap());
    assert_eq!(
        (own.sandbox.call_millis.get(), own.sql.rows_per_query.get()),
        (500, 1_000)
    );
    assert_eq!(
        limits.of(&"another".parse().unwrap()),
        &Allowance::standard()
    );
}

fn with_fuel() -> Allowance {
    let mut allowance = Allowance::standard();
    allowance.sandbox.fuel = std::num::NonZeroU64::new(1);
    allowance
}

/// The names of all fields.
fn keys(limits: serde_json::Result<Value>) -> BTreeSet<String> {
    let limits = limits.unwrap();
    limits.as_object().unwrap().keys().cloned().collect()
}

fn toml_of(limits: serde_json::Result<Value>) -> String {
    let value = limits.unwrap();
    let line = |(key, value): (&String, &Value)| format!("{key} = {value}\n");
    value.as_object().unwrap().iter().map(line).collect()
}
