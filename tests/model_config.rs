//! Providers and defaults in `wharf.toml` and in the environment: what is taken, what is refused with its place, and what is
//! published about it.

use std::{collections::BTreeSet, fs};

use model_server::{Reply, Server};
use serde_json::{Value, json};
use wharf::{
    Config,
    host::{HostLimits, config_schema},
};
use wharf_tests::{
    Wharf, Workspace,
    demo::{self, TASK},
    model::{KEY, MODEL, streamed},
    redis::free_port,
    root,
    script::{WHOLE, ready, says},
    wharf,
};

fn plan() -> Value {
    ready(&WHOLE)
}

/// The demo's stable order with this configuration.
fn configured(workspace: &Workspace, text: &str) -> Wharf {
    let file = workspace.handed_in("wharf.toml", text);
    demo::demo(workspace, "stable").arg("--config").arg(file)
}

fn provider(name: &str, server: &Server) -> String {
    format!(
        "[providers.{name}]\nbase_url = '{}'\nmodel = '{name}'\n",
        server.base_url()
    )
}

#[test]
fn a_file_names_the_provider_and_the_planner() {
    let (one, other) = (
        Server::start(vec![streamed(&plan())]).unwrap(),
        Server::start(Vec::new()).unwrap(),
    );
    let text = format!(
        "[defaults]\nplanner = 'model'\nprovider = 'one'\n{}{}",
        provider("one", &one),
        provider("other", &other)
    );
    let _ = configured(&Workspace::new(), &text).run().exits(0);
    assert_eq!(one.received().len(), 1);
    assert_eq!(one.received()[0].header("authorization"), None);
    assert_eq!(other.received().len(), 0);
    // What is typed comes first.
    let _ = configured(&Workspace::new(), &text)
        .args(["--planner", "search"])
        .run()
        .exits(0);
    assert_eq!(one.received().len(), 1);
}

#[test]
fn the_environment_comes_before_the_file_and_what_is_typed_before_both() {
    let server = Server::start(vec![streamed(&plan())]).unwrap();
    let text = format!("{}temperature = 0.5\n", provider("My-Own", &server));
    let _ = configured(&Workspace::new(), &text)
        .env("WHARF__DEFAULTS__PLANNER", "model")
        .env("WHARF__PROVIDERS__MY_OWN__MODEL", MODEL)
        .env("WHARF__PROVIDERS__MY_OWN__TEMPERATURE", "0")
        .env("WHARF__PROVIDERS__MY_OWN__OPTIONS__TOP_P", "0.25")
        .env("WHARF__PROVIDERS__MY_OWN__STREAM", "false")
        .run()
        .exits(0);
    let body = server.received()[0].json();
    assert_eq!(body["model"], MODEL);
    assert_eq!(body["temperature"], 0.0);
    assert_eq!(body["top_p"], 0.25);
    assert_eq!(body["stream"], false);
    let _ = demo::demo(&Workspace::new(), "stable")
        .env("WHARF__DEFAULTS__PLANNER", "model")
        .args(["--planner", "search"])
        .run()
        .exits(0);
}

#[test]
fn a_default_script_is_sought_beside_the_file() {
    let workspace = Workspace::new();
    let _ = workspace.script(&[says(plan())]);
    let ran = configured(&workspace, "[defaults]\nplanner = 'script:script.jsonl'\n")
        .json()
        .run()
        .exits(0);
    assert_eq!(ran.document()["report"]["plans"][0]["plan"], plan());
}

#[test]
fn what_is_wrong_is_refused_with_its_key_its_reason_and_what_to_write() {
    let base = "base_url = 'http://127.0.0.1:1/v1'\nmodel = 'm'\n";
    for (text, place, part) in [
        ("[provider.a]\n".to_owned(), "`provider`", "known are"),
        (
            "[providers]\na = 1\n".to_owned(),
            "`providers.a`",
            "not a table",
        ),
        (
            format!("[providers.'a b']\n{base}"),
            "`providers.a b`",
            "letters",
        ),
        (
            "[providers.a]\nmodel = 'm'\n".to_owned(),
            "`providers.a`",
            "base_url",
        ),
        (
            format!("[providers.a]\n{base}api_key = '{KEY}'\n"),
            "`providers.a.api_key`",
            "unknown field",
        ),
        (
            format!("[providers.a]\n{base}api_key_env = '{KEY}'\n"),
            "`providers.a.api_key_env`",
            "NAME",
        ),
        (
            format!("[providers.a]\n{base}temperature = 3\n"),
            "`providers.a.temperature`",
            "0 to 2",
        ),
        (
            format!("[providers.a]\n{base}retries = 9\n"),
            "`providers.a.retries`",
            "0 to 4",
        ),
        (
            format!("[providers.a]\n{base}max_tokens = 'many'\n"),
            "`providers.a.max_tokens`",
            "whole number",
        ),
        (
            format!("[providers.a]\n{base}response_format = 'xml'\n"),
            "`providers.a.response_format`",
            "json_schema",
        ),
        (
            format!("[providers.a]\nbase_url = 'http://me:{KEY}@h/v1'\nmodel = 'm'\n"),
            "`providers.a.base_url`",
            "write",
        ),
        (
            format!("[providers.a]\n{base}headers = {{ Authorization = '{KEY}' }}\n"),
            "`providers.a.headers.Authorization`",
            "env",
        ),
        (
            "[defaults]\nprovider = 'b'\n".to_owned(),
            "`defaults.provider`",
            "providers.b",
        ),
        (
            "[defaults]\nplanner = 'best'\n".to_owned(),
            "`defaults.planner`",
            "`search`",
        ),
        (
            "[defaults]\ncontext = 'redis://:hunter2@h'\n".to_owned(),
            "`defaults.context`",
            "WHARF_REDIS_PASSWORD",
        ),
        (
            "[defaults]\ncontext = 'hunter2'\n".to_owned(),
            "`defaults.context`",
            "embedded",
        ),
        (
            "[defaults]\nmodel = 'm'\n".to_owned(),
            "`defaults.model`",
            "unknown field",
        ),
    ] {
        let workspace = Workspace::new();
        let ran = configured(&workspace, &text).run();
        let [what, why, fix] = ran.refusal(2, "config-invalid");
        assert!(what.contains(place), "{text}: {what}");
        assert!(why.contains(part), "{text}: {why}");
        assert!(fix.contains("docs/wharf.example.toml"), "{fix}");
        for secret in [KEY, "hunter2"] {
            assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        }
        assert!(!workspace.path().exists());
    }
}

#[test]
fn a_variable_that_sets_what_cannot_be_is_named() {
    let refused = |name: &str, value: &str| {
        let ran = demo::demo(&Workspace::new(), "stable")
            .env(name, value)
            .run();
        let [what, why, _] = ran.refusal(2, "config-invalid");
        assert!(!ran.stderr.contains(KEY));
        format!("{what} {why}")
    };
    for (name, value) in [
        ("WHARF__ENGINE", "1"),
        ("WHARF__PLUGIN__CALL_MILLIS", "100"),
        ("WHARF__DEFAULTS__PLANNER", "best"),
        ("WHARF__PROVIDERS__A__API_KEY", KEY),
        ("WHARF__NOTHING__OF__THIS", "1"),
        ("WHARF____A", "1"),
    ] {
        let said = refused(name, value);
        assert!(
            said.contains(name) || said.contains("`plugin`"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_planner_without_a_provider_says_what_to_write() {
    let none = demo::demo(&Workspace::new(), "stable")
        .args(["--planner", "model"])
        .run();
    let [_, why, fix] = none.refusal(2, "no-provider");
    assert!(
        why.contains("no provider") && fix.contains("[providers.NAME]"),
        "{why} {fix}"
    );
    let two = ["a", "b"].map(|name| {
        format!("[providers.{name}]\nbase_url = 'http://127.0.0.1:1/v1'\nmodel = 'm'\n")
    });
    let several = configured(&Workspace::new(), &two.concat())
        .args(["--planner", "model"])
        .run();
    let [_, why, fix] = several.refusal(2, "no-provider");
    assert!(
        why.contains("a, b") && fix.contains("[defaults]"),
        "{why} {fix}"
    );
}

#[test]
fn a_key_that_is_not_set_is_found_before_anything_is_written() {
    let workspace = Workspace::new();
    let text = "[providers.a]\nbase_url = 'http://127.0.0.1:1/v1'\nmodel = 'm'\napi_key_env = 'NOBODY_SETS_THIS'\n";
    let ran = configured(&workspace, text)
        .args(["--planner", "model"])
        .run();
    let [what, _, fix] = ran.refusal(2, "provider-variable");
    assert!(what.contains("NOBODY_SETS_THIS") && fix.contains("NOBODY_SETS_THIS"));
    assert!(!workspace.path().exists());
    // Nobody asks for it where no model is wanted.
    let _ = configured(&workspace, text).run().exits(0);
    assert!(workspace.output(TASK, "report.json").exists());
}

fn example() -> String {
    fs::read_to_string(root().join("docs/wharf.example.toml")).unwrap()
}

/// With the keys that have no default.
fn whole_example() -> String {
    let is_key = |line: &str| {
        let name = line
            .strip_prefix('#')
            .and_then(|rest| rest.split_once(" = "));
        name.is_some_and(|(name, _)| !name.is_empty() && !name.contains(' '))
    };
    let line = |line: &str| {
        if is_key(line) {
            line[1..].to_owned()
        } else {
            line.to_owned()
        }
    };
    example().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_shows_every_key_and_its_default() {
    let read = Config::read(&example()).unwrap();
    let mut standard = HostLimits::standard();
    standard.plugins = read.limits.plugins.clone();
    assert_eq!(read.limits, standard);
    assert!(
        read.limits
            .plugins
            .values()
            .all(|plugin| *plugin == standard.others)
    );
    // What it writes out of a provider is what holds if it does not.
    let (_, shown) = read.provider().unwrap();
    let mut bare = wharf::technologies::chat::ChatSettings::new(&shown.base_url, &shown.model);
    bare.api_key_env.clone_from(&shown.api_key_env);
    bare.options.clone_from(&shown.options);
    assert_eq!(*shown, bare);

    let whole: Value = toml::from_str(&whole_example()).unwrap();
    let _ = Config::read(&whole_example()).unwrap();
    let mut written = BTreeSet::new();
    keys(&whole, &mut written);
    let mut known = BTreeSet::new();
    properties(&config_schema(), &mut known);
    let missing: Vec<_> = known.difference(&written).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        found.insert(key.clone());
        keys(value, found);
    }
}

fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let named = members.get("properties").and_then(Value::as_object);
            found.extend(named.into_iter().flatten().map(|(name, _)| name.clone()));
            members.values().for_each(|value| properties(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| properties(value, found)),
        _ => (),
    }
}

/// `WHARF_WRITE_SCHEMA=1` writes it anew.
#[test]
fn the_published_schema_is_that_of_the_reader() {
    let file = root().join("docs/wharf.schema.json");
    let text = serde_json::to_string_pretty(&config_schema()).unwrap() + "\n";
    if std::env::var_os("WHARF_WRITE_SCHEMA").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap() == text,
        "run this test with WHARF_WRITE_SCHEMA=1"
    );
}

/// The schema takes what the reader takes, and knows the commonest mistakes.
#[test]
fn the_schema_judges_as_the_reader_does() {
    let schema = jsonschema::validator_for(&config_schema()).unwrap();
    let fits = |text: &str| {
        let value: Value = toml::from_str(text).unwrap();
        let faults: Vec<_> = schema
            .iter_errors(&value)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(
            faults.is_empty(),
            Config::read(text).is_ok(),
            "{text}: {faults:?}"
        );
        faults.is_empty()
    };
    assert!(fits(&example()) && fits(&whole_example()) && fits(""));
    for wrong in [
        "[provider]",
        "[defaults]\nplanner = 'best'",
        "[providers.a]\nmodel = 'm'",
        "[providers.a]\nbase_url = 'http://h'\nmodel = 'm'\napi_key = 'x'",
        "[providers.a]\nbase_url = 'http://h'\nmodel = 'm'\nheaders = { a = 1 }",
        "[providers.a]\nbase_url = 'http://h'\nmodel = 'm'\nresponse_format = 'xml'",
        "[plugin]\ncall_millis = 1",
        "[plugin]\npreset = 'huge'",
        "[plugin]\npreset = 'standard'\ncall_millis = 0",
        "[plugin]\npreset = 'standard'\nsql = { preset = 'standard', rows = 1 }",
        "[engine]\npreset = 'small'\nqueue = 'long'",
    ] {
        assert!(!fits(wrong), "{wrong}");
    }
}

#[test]
fn the_doctor_asks_each_provider_for_its_models_and_pays_nothing() {
    let (good, without, locked) = (
        Server::start(Vec::new()).unwrap(),
        Server::start(vec![Reply::error(404, "no such page")]).unwrap(),
        Server::start(vec![Reply::error(401, &format!("wrong key {KEY}"))]).unwrap(),
    );
    good.models(["good", "another"]);
    let workspace = Workspace::new();
    let text = format!(
        "{}{}{}api_key_env = 'TEST_MODEL_KEY'\n[providers.gone]\nbase_url = 'http://127.0.0.1:{}/v1'\nmodel = 'm'\n\
         [providers.unset]\nbase_url = 'http://h/v1'\nmodel = 'm'\napi_key_env = 'NOBODY_SETS_THIS'\n",
        provider("good", &good),
        provider("without", &without),
        provider("locked", &locked),
        free_port(),
    );
    let file = workspace.handed_in("wharf.toml", text);
    let ran = wharf("doctor")
        .arg("--config")
        .arg(file)
        .env("TEST_MODEL_KEY", KEY)
        .json()
        .run()
        .exits(1);
    let document = ran.document();
    let probes = document["probes"].as_array().unwrap();
    let of = |name: &str| {
        let detail = |probe: &&Value| {
            probe["detail"]
                .as_str()
                .unwrap()
                .starts_with(&format!("{name}: "))
        };
        let probe = probes
            .iter()
            .find(detail)
            .unwrap_or_else(|| panic!("{name}: {document}"));
        assert_eq!(probe["name"], "model-endpoint");
        (
            probe["ok"].clone(),
            probe["detail"].as_str().unwrap().to_owned(),
        )
    };
    for (name, ok, part) in [
        ("good", true, "lists 2 models, `good` among them"),
        ("without", true, "no list of models"),
        ("locked", false, "model-unauthorized"),
        ("gone", false, "model-connect"),
        ("unset", false, "NOBODY_SETS_THIS"),
    ] {
        let (found, detail) = of(name);
        assert_eq!(found, json!(ok), "{detail}");
        assert!(detail.contains(part), "{detail}");
    }
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    assert_eq!(good.received()[0].method, "GET");
    assert_eq!(good.received()[0].target, "/v1/models");
}

/// What stands on a line that is no TOML may be a key.
#[test]
fn a_file_that_is_no_toml_is_refused_by_its_line_and_not_repeated() {
    for text in [
        format!("[providers.a]\napi_key = {KEY}\n"),
        format!("[providers.a]\napi_key = \"{KEY}\n"),
        format!("[providers.a]\nmodel = 'm'\nmodel = '{KEY}'\n"),
        format!("[defaults]\nprovider = '{KEY}'\n"),
        format!("[providers.a]\nbase_url = 'http://h'\nmodel = '{KEY}'\n"),
        "[providers.a]\nbase_url = 'http://h'\nmodel = 'm'\nretries = 'hunter2-plain'\n".to_owned(),
    ] {
        let ran = configured(&Workspace::new(), &text).run();
        let [what, why, _] = ran.refusal(2, "config-invalid");
        assert!(what.contains('`') || why.contains("line "), "{what}: {why}");
        for secret in [KEY, "hunter2"] {
            assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
        }
    }
}
