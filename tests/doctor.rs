//! `wharf doctor`: every line is a probe that ran, and one that fails is named.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use wharf_tests::{
    Wharf, demo,
    redis::{Redis, free_port},
    wharf,
};

const PROBES: [&str; 7] = [
    "redis",
    "disk-durability",
    "database",
    "compile-cache",
    "sandbox",
    "processor",
    "model-endpoint",
];

fn doctor(directory: &Path) -> Wharf {
    wharf("doctor").dir(directory)
}

/// The probes by name.
fn probes(run: Wharf, exit: i32) -> Value {
    let document = run.json().run().exits(exit).document();
    let probes = document["probes"].as_array().unwrap();
    let names: Vec<_> = probes.iter().map(|probe| &probe["name"]).collect();
    assert_eq!(names, PROBES);
    for probe in probes {
        assert!(!probe["detail"].as_str().unwrap().is_empty());
        let measured = probe["value"].is_number() && probe["unit"].is_string();
        assert_eq!(measured, probe["ok"] == true, "{probe}");
    }
    let by_name = |probe: &Value| (probe["name"].as_str().unwrap().to_owned(), probe.clone());
    probes.iter().map(by_name).collect()
}

fn failed(probes: &Value) -> Vec<&str> {
    let failed = PROBES.into_iter();
    failed.filter(|name| probes[name]["ok"] == false).collect()
}

fn value(probe: &Value) -> f64 {
    probe["value"].as_f64().unwrap()
}

#[test]
fn a_sound_machine_is_told_what_it_offers_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let probes = probes(doctor(folder.path()), 0);
    assert_eq!(failed(&probes), [""; 0]);
    for name in ["redis", "model-endpoint"] {
        assert_eq!(probes[name]["ok"], Value::Null);
    }
    assert!(probes["redis"]["detail"].as_str().unwrap() == "not asked for");
    // It was stopped by its deadline of 50 ms, and not long after.
    assert!(
        (50.0..250.0).contains(&value(&probes["sandbox"])),
        "{probes}"
    );
    assert!(value(&probes["processor"]) >= 1.0);
    assert!(value(&probes["database"]) > 0.0);
    let version = rusqlite::version();
    assert!(
        probes["database"]["detail"]
            .as_str()
            .unwrap()
            .contains(version)
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn people_get_a_line_for_each_probe() {
    let folder = tempfile::tempdir().unwrap();
    let ran = doctor(folder.path()).run().exits(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    let named: Vec<_> = lines
        .iter()
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(named, PROBES);
    let missing = folder.path().join("missing");
    let ran = doctor(&missing).run().exits(1);
    assert_eq!(
        ran.stdout.lines().last(),
        Some("failed: disk-durability, database")
    );
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_folder_that_cannot_be_used_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for (path, code) in [
        (folder.path().join("missing"), "folder-missing"),
        (file, "path-taken"),
    ] {
        let probes = probes(doctor(&path), 1);
        assert_eq!(failed(&probes), ["disk-durability", "database"]);
        let detail = probes["disk-durability"]["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{code}: ")), "{detail}");
    }
}

#[test]
fn a_disk_that_is_faster_than_a_disk_can_be_is_doubted() {
    let folder = tempfile::tempdir().unwrap();
    // Memory, on most systems.
    for directory in [folder.path(), Path::new("/dev/shm")] {
        if directory.is_dir() {
            let probes = probes(doctor(directory), 0);
            let disk = &probes["disk-durability"];
            let doubted = disk["detail"]
                .as_str()
                .unwrap()
                .contains("may ignore syncs");
            assert_eq!(doubted, value(disk) < 20.0, "{disk}");
        }
    }
}

#[test]
fn a_compile_cache_that_others_can_write_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("wharf");
    let run = || doctor(folder.path()).env("XDG_CACHE_HOME", folder.path());
    let sound = probes(run(), 0);
    let detail = sound["compile-cache"]["detail"].as_str().unwrap();
    assert!(detail.contains("1 entries"), "{detail}");
    fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
    let insecure = probes(run(), 1);
    assert_eq!(failed(&insecure), ["compile-cache"]);
    let detail = insecure["compile-cache"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("plugin-cache-insecure: "), "{detail}");
    // Where there is no place for one, none is asked for.
    let nowhere = doctor(folder.path())
        .env("XDG_CACHE_HOME", "")
        .env("HOME", "");
    assert_eq!(probes(nowhere, 0)["compile-cache"]["ok"], Value::Null);
}

#[test]
fn a_redis_is_tried_as_a_run_would_use_it() {
    let Some(redis) = Redis::start_with(&["--requirepass", "hunter2"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |address: &str| doctor(folder.path()).args(["--context", address]);
    let open = redis.address();
    let found = probes(run(&open).env("WHARF_REDIS_PASSWORD", "hunter2"), 0);
    let detail = found["redis"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("version ") && !detail.contains("hunter2"),
        "{detail}"
    );
    assert!(value(&found["redis"]) > 0.0);
    let refused = probes(run(&open), 1);
    assert_eq!(failed(&refused), ["redis"]);
    run("redis://:hunter2@host:port")
        .run()
        .refusal(2, "context-address");
}

#[test]
fn a_redis_that_no_run_could_use_fails_in_time() {
    let Some(redis) = Redis::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let fails = |address: &str, code: &str| {
        let run = doctor(folder.path()).args(["--context", address]);
        let begun = Instant::now();
        let probes = probes(run, 1);
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert_eq!(failed(&probes), ["redis"]);
        let detail = probes["redis"]["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{code}: ")), "{detail}");
    };
    fails(
        &format!("redis://127.0.0.1:{}", free_port()),
        "context-unavailable",
    );
    redis.does(&["CONFIG", "SET", "maxmemory", "1"]);
    fails(&redis.address(), "context-out-of-memory");
    redis.does(&["CONFIG", "SET", "maxmemory", "0"]);
    redis.does(&["REPLICAOF", "127.0.0.1", &free_port().to_string()]);
    fails(&redis.address(), "context-read-only");
    redis.freeze();
    fails(&redis.address(), "context-timeout");
    redis.thaw();
    redis.does(&["REPLICAOF", "NO", "ONE"]);
    let sound = doctor(folder.path()).args(["--context", &redis.address()]);
    probes(sound, 0);
    assert_eq!(redis.keys(), [""; 0]);
}

#[test]
fn a_workspace_that_is_looked_at_stays_as_it_is() {
    let workspace = wharf_tests::Workspace::new();
    let _ = demo::demo(&workspace, "stable").run().exits(0);
    let before = workspace.files();
    probes(doctor(&workspace.path()), 0);
    assert_eq!(wharf_tests::changes(&before, &workspace.files()), [""; 0]);
}
