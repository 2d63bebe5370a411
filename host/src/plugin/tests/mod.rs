//! Tests with a plugin that misbehaves on request (`tests/guests/probe`).
//!
//! Owns how that plugin is built, once per process, and loaded. Where machine code is kept from run to run, it is kept
//! beside the other build results.

mod answers;
mod caching;
mod files;
mod isolation;
mod limits;
mod loading;
mod metering;
mod scrubbing;
mod time;

use std::{
    num::NonZeroU64,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, LazyLock, Mutex},
};

use super::{runtime::Runtime, *};
use crate::{
    core::{
        contract::{Plan, PlanStatus, Step},
        ports::business::{RowSet, Sql, SqlFault, SqlValue},
        request::Request,
    },
    words::{digest::Digest, error::Error, json::JsonText},
};

/// The probe, built.
static PROBE: LazyLock<VerifiedBytes> = LazyLock::new(|| {
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/guests/Cargo.toml");
    let target = target().join("guests");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet"])
        .args(["--target", "wasm32-wasip2", "--manifest-path"])
        .arg(guests)
        .arg("--target-dir")
        .arg(&target)
        // What is meant for the host is not meant for the guest.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the guests do not build");
    let wasm = std::fs::read(target.join("wasm32-wasip2/release/probe.wasm")).unwrap();
    VerifiedBytes::pin(wasm, PluginLimits::standard().component_bytes).unwrap()
});

/// The engine that most tests share.
static ENGINE: LazyLock<PluginEngine> =
    LazyLock::new(|| PluginEngine::new(EngineLimits::standard()).unwrap());

/// The runtime of plugins with standard limits.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| ENGINE.runtime(&PluginLimits::standard()).unwrap());

const COMPILING: NonZeroU64 = PluginLimits::standard().compile_millis;

/// The build's own folder: the test binary is `<target>/<profile>/deps/<name>`.
fn target() -> PathBuf {
    let binary = std::env::current_exe().unwrap();
    binary.ancestors().nth(3).unwrap().to_owned()
}

fn try_load(limits: PluginLimits) -> Result<Plugin, Error> {
    let cache = CompileCache::open(target().join("guests/compiled")).unwrap();
    Plugin::load(&ENGINE, &PROBE, limits, Some(&cache))
}

fn load(limits: PluginLimits) -> Plugin {
    try_load(limits).unwrap()
}

fn probe() -> Plugin {
    load(PluginLimits::standard())
}

/// A request whose goal tells the probe what to do.
fn request(goal: &str) -> Request {
    let text = serde_json::json!({
        "id": "t1", "tenant": "a", "principal": "p", "goal": goal,
        "plugin": {"name": "probe", "version": "0.1.0", "digest": Digest::of("").to_string()},
        "budgets": {"maxPlans": 1, "maxActions": 1, "deadlineSeconds": 1},
        "input": {},
    });
    Request::read(&text.to_string()).unwrap()
}

fn step(tool: &str) -> Step {
    Step {
        id: "s1".parse().unwrap(),
        tool: tool.to_owned(),
        depends_on: Vec::new(),
        expected: if tool == "look" { "seen" } else { "changed" }.to_owned(),
        arguments: None,
    }
}

fn plan(steps: usize) -> Plan {
    Plan {
        goal: "g".to_owned(),
        status: PlanStatus::Ready,
        reason: "r".to_owned(),
        steps: vec![step("change"); steps],
    }
}

fn empty() -> JsonText {
    JsonText::of(&serde_json::json!({}))
}

/// The code of an error that must be there.
fn code<T: std::fmt::Debug>(result: Result<T, impl Into<Error>>) -> &'static str {
    result.unwrap_err().into().code()
}

/// A database that answers everything with one row, or fails as it is told.
#[derive(Default)]
struct Script {
    fault: Mutex<Option<SqlFault>>,
    seen: Mutex<Vec<(String, Vec<SqlValue>)>>,
}

impl Script {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn failing(fault: SqlFault) -> Arc<Self> {
        Arc::new(Self {
            fault: Mutex::new(Some(fault)),
            seen: Mutex::default(),
        })
    }

    fn note(&self, sql: &str, parameters: &[SqlValue]) -> Result<(), SqlFault> {
        let mut seen = self.seen.lock().unwrap();
        seen.push((sql.to_owned(), parameters.to_vec()));
        self.fault.lock().unwrap().take().map_or(Ok(()), Err)
    }
}

impl Sql for Script {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<RowSet, SqlFault> {
        self.note(sql, parameters)?;
        Ok(RowSet {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec![SqlValue::Integer(1), SqlValue::Text("x".to_owned())]],
        })
    }

    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SqlFault> {
        self.note(sql, parameters)?;
        Ok(3)
    }
}
