//! What a sandbox costs a call: the same plugin natively, in bare wasmtime, and in the host with all its limits, in one run.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use fulfillment::Fulfillment;
use jiff::Timestamp;
use rusqlite::{Connection, params_from_iter, types::ValueRef};
use serde::Serialize;
use serde_json::json;
use wharf::{
    Digest, Request,
    business::{BusinessStore, SqlLimits},
    core::{
        chain,
        contract::{Effect, OperationKey, Plan, Subject},
        plan_execute::plan_reader,
        ports::{
            business::{Business as _, Operation, Performed},
            domain::{Declared as _, Domain as _},
        },
    },
    plugin::{
        CompileCache, EngineLimits, Plugin, PluginEngine, PluginLimits, VerifiedBytes,
        sandbox_times,
    },
    words::json::JsonText,
};
use wharf_plugin::{
    Plugin as _, RowSet, Sql, SqlError, Tx, Value,
    adapter::Adapter,
    bindings::exports::wharf::domain::validator::Guest as _,
    testing::{chain as chained, step, task},
};

use crate::{
    bare::Bare,
    scaling::{self, Scaling},
    scenario::{Names, Scenario},
    statistics::Spread,
    table::spread,
};

/// Calls of each contender in a round.
const CALLS: u32 = 200;
/// Steps of each contender in a round: each is a commit with a sync.
const STEPS: u32 = 50;
/// Plugins that are loaded at a warm start.
const PLUGINS: u32 = 20;

const SNAPSHOT: &str =
    r#"{"state":"new","stock":1000000,"standard":300,"economy":400,"carrier":null,"cost":null}"#;
const INPUT: &str = r#"{"orderId":"ORDER-000000","quantity":2,"maxShippingCents":500}"#;
const TOOLS: [(&str, &str); 4] = [
    ("reserve_stock", "reserved"),
    ("pack_order", "packed"),
    ("ship_standard", "shipped"),
    ("read_receipt", "receipt"),
];

/// All that was measured, in microseconds where nothing else is said.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sandboxes {
    rounds: u32,
    check_native: Spread,
    check_bare: Spread,
    check_host: Spread,
    check_metered: Spread,
    /// Of each round.
    host_to_bare: Spread,
    step_native: Spread,
    step_host: Spread,
    step_to_native: Spread,
    /// Milliseconds for all plugins.
    warm_start_millis: Spread,
    plugin_bytes: usize,
    /// Milliseconds that a spinning guest was given, and after which it was stopped.
    spin_allowed_millis: f64,
    spin_stopped_millis: Spread,
    scaling: Scaling,
}

/// Checks the plan once, in a fresh sandbox.
pub(crate) trait Checks: Sync {
    fn check(&self) -> Result<()>;
}

/// In one of the host.
pub(crate) struct HostChecks {
    plugin: Plugin,
    asked: Request,
    snapshot: JsonText,
    plan: Plan,
}

/// In one of bare wasmtime.
pub(crate) struct BareChecks(Bare);

impl HostChecks {
    pub(crate) fn load(bytes: &[u8]) -> Result<Self> {
        let limits = PluginLimits::standard();
        let pinned = VerifiedBytes::pin(bytes, limits.component_bytes)?;
        let engine = PluginEngine::new(EngineLimits::standard())?;
        Self::new(
            Plugin::load(&engine, &pinned, limits, None)?,
            pinned.digest(),
        )
    }

    fn new(plugin: Plugin, digest: Digest) -> Result<Self> {
        let text = Scenario::Stable.request(&Names::of(0), &digest);
        Ok(Self {
            plugin,
            asked: Request::read(&text)?,
            snapshot: JsonText::of(&serde_json::from_str::<serde_json::Value>(SNAPSHOT)?),
            plan: plans()?.0,
        })
    }
}

impl Checks for HostChecks {
    fn check(&self) -> Result<()> {
        let found = self
            .plugin
            .check_plan(&self.asked, &self.snapshot, &self.plan)?;
        ensure!(black_box(found).is_empty(), "refused by the plugin");
        Ok(())
    }
}

impl BareChecks {
    pub(crate) fn load(bytes: &[u8]) -> Result<Self> {
        Ok(Self(Bare::load(bytes)?))
    }
}

impl Checks for BareChecks {
    fn check(&self) -> Result<()> {
        self.0
            .check_plan(&Names::of(0).task, INPUT, SNAPSHOT, &TOOLS)
    }
}

/// Measures in a new folder inside `folder`.
pub(crate) fn measure(component: &Path, folder: &Path, rounds: u32) -> Result<Sandboxes> {
    eprintln!("measuring sandboxes ...");
    let folder = folder.join("sandboxes");
    fs::create_dir_all(&folder)?;
    let bytes = fs::read(component).with_context(|| component.display().to_string())?;
    let limits = PluginLimits::standard();
    let pinned = VerifiedBytes::pin(bytes.as_slice(), limits.component_bytes)?;
    let engine = PluginEngine::new(EngineLimits::standard())?;
    let host = Plugin::load(&engine, &pinned, limits, None)?;
    let mut with_fuel = limits;
    with_fuel.fuel = 1_000_000_000.try_into().ok();
    let digest = pinned.digest();
    let metered = HostChecks::new(Plugin::load(&engine, &pinned, with_fuel, None)?, digest)?;
    let checks_of_host = HostChecks::new(host.clone(), digest)?;
    let bare = BareChecks::load(&bytes)?;
    let request = |number| {
        let text = Scenario::Stable.request(&Names::of(number), &digest);
        Request::read(&text).map_err(|error| anyhow!("{error}"))
    };

    let asked = request(0)?;
    let (plan, native_plan) = plans()?;
    let native_task = || task(asked.id.as_str(), INPUT);
    let (mut checks, mut steps) = ([vec![], vec![], vec![], vec![]], [vec![], vec![]]);
    let native = Native::open(&folder.join("native.sqlite"))?;
    let store = store(&folder.join("business.sqlite"), &host)?;
    // The first round warms up.
    for round in 0..=rounds {
        let took = [
            timed(CALLS, |_| {
                let found = Adapter::<Fulfillment>::check_plan(
                    native_task(),
                    SNAPSHOT.to_owned(),
                    native_plan.clone(),
                );
                ensure!(black_box(found).is_ok(), "refused natively");
                Ok(())
            })?,
            timed(CALLS, |_| bare.check())?,
            timed(CALLS, |_| checks_of_host.check())?,
            timed(CALLS, |_| metered.check())?,
        ];
        let first = round * STEPS;
        let performed = [timed(STEPS, |n| native.reserve(&Names::of(first + n)))?, {
            let requests: Vec<_> = (0..STEPS)
                .map(|n| request(first + n))
                .collect::<Result<_>>()?;
            timed(STEPS, |n| {
                reserve(&host, &store, &requests[n as usize], &plan)
            })?
        }];
        if round > 0 {
            checks
                .iter_mut()
                .zip(took)
                .for_each(|(all, one)| all.push(one));
            steps
                .iter_mut()
                .zip(performed)
                .for_each(|(all, one)| all.push(one));
        }
    }

    let (mut stopped, mut allowed) = (Vec::new(), Duration::ZERO);
    for _ in 0..5 {
        let times = sandbox_times()?;
        allowed = times.allowed;
        stopped.push(millis(times.stopped));
    }
    let [check_native, check_bare, check_host, check_metered] = &checks;
    let [step_native, step_host] = &steps;
    Ok(Sandboxes {
        rounds,
        host_to_bare: Spread::of(&ratios(check_host, check_bare)),
        check_native: Spread::of(check_native),
        check_bare: Spread::of(check_bare),
        check_host: Spread::of(check_host),
        check_metered: Spread::of(check_metered),
        step_to_native: Spread::of(&ratios(step_host, step_native)),
        step_native: Spread::of(step_native),
        step_host: Spread::of(step_host),
        warm_start_millis: Spread::of(&warm_starts(&bytes, &folder, rounds.min(10))?),
        plugin_bytes: bytes.len(),
        spin_allowed_millis: millis(allowed),
        spin_stopped_millis: Spread::of(&stopped),
        scaling: scaling::measure(component, rounds.min(10))?,
    })
}

/// The same plan for the host and for the plugin's own code.
fn plans() -> Result<(Plan, wharf_plugin::Plan)> {
    let id = |n: usize| format!("s{n}");
    let steps: Vec<_> = TOOLS
        .iter()
        .enumerate()
        .map(|(n, (tool, expected))| {
            let before: Vec<_> = n.checked_sub(1).map(id).into_iter().collect();
            json!({"id": id(n), "tool": tool, "dependsOn": before, "expected": expected})
        })
        .collect();
    let text = json!({"goal": "g", "status": "ready", "reason": "r", "steps": steps}).to_string();
    let plan = plan_reader::read(&text, "stop").map_err(|faults| anyhow!("{faults:?}"))?;
    let steps = TOOLS.iter().enumerate();
    let native = chained(steps.map(|(n, (tool, expected))| step(&id(n), tool, expected, None)));
    Ok((plan, native))
}

/// Reserves the stock of an order in a business transaction: ledger row, anchor and commit with a sync.
fn reserve(plugin: &Plugin, store: &BusinessStore, asked: &Request, plan: &Plan) -> Result<()> {
    let step = &plan.steps[0];
    let mut prepared = Some(plugin.prepare(asked, step)?);
    let operation = Operation {
        plugin: asked.plugin.name.clone(),
        subject: Subject::new(asked.id.as_str().to_owned()).context("it is short")?,
        key: OperationKey::new(step.tool.clone()).context("it is short")?,
        task: asked.id.clone(),
        principal: asked.principal.clone(),
        fingerprint: asked.fingerprint(),
        input_digest: asked.input_digest(),
        tool: step.tool.clone(),
        arguments_digest: Digest::of("null"),
        effect: Effect::Write,
        position: chain::origin(Digest::of("bench")),
        at: Timestamp::UNIX_EPOCH,
    };
    let done = store.perform(&operation, &mut |sql| match prepared.take() {
        Some(prepared) => prepared.perform(sql),
        None => unreachable!("it is called once"),
    })?;
    ensure!(matches!(done, Performed::Done { .. }), "{done:?}");
    Ok(())
}

fn store(path: &Path, plugin: &Plugin) -> Result<BusinessStore> {
    let tenant = "bench".parse()?;
    let at = Timestamp::UNIX_EPOCH;
    let store = BusinessStore::open(path, &tenant, SqlLimits::standard(), at)?;
    let name = "fulfillment".parse()?;
    store.install(&name, &plugin.descriptor().migrations, at)?;
    store.seed(&name, SEED, at)?;
    Ok(store)
}

const SEED: &str = "INSERT INTO inventory (sku, stock) VALUES ('ARTICLE-1', 100000000);
    INSERT INTO rates (carrier, cents) VALUES ('standard', 300), ('economy', 400);";

/// The plugin's rules as native code, on a connection that syncs each commit.
struct Native(Connection);

impl Native {
    fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        for migration in Fulfillment::describe().migrations {
            connection.execute_batch(&migration.sql)?;
        }
        connection.execute_batch(SEED)?;
        Ok(Self(connection))
    }

    fn reserve(&self, names: &Names) -> Result<()> {
        let input = INPUT.replace("ORDER-000000", &names.order);
        let task = task(&names.task, &input);
        let input = Fulfillment::input(&task).map_err(|faults| anyhow!("{faults:?}"))?;
        let request = wharf_plugin::Request { task, input };
        let step = step("s0", TOOLS[0].0, TOOLS[0].1, None);
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let done = Fulfillment::perform(&request, &step, &Tx::over(self));
        ensure!(
            matches!(done, Ok(wharf_plugin::Answer::Done(_))),
            "{done:?}"
        );
        Ok(self.0.execute_batch("COMMIT")?)
    }
}

impl Sql for Native {
    fn query(&self, sql: &str, params: &[Value]) -> Result<RowSet, SqlError> {
        let mut statement = self.0.prepare_cached(sql).map_err(failed)?;
        let columns: Vec<_> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement
            .query(params_from_iter(params.iter().map(bound)))
            .map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let cells = (0..columns.len()).map(|n| row.get_ref(n).map(read).map_err(failed));
            found.push(cells.collect::<Result<_, _>>()?);
        }
        Ok(RowSet {
            columns,
            rows: found,
        })
    }

    fn execute(&self, sql: &str, params: &[Value]) -> Result<u64, SqlError> {
        let mut statement = self.0.prepare_cached(sql).map_err(failed)?;
        let changed = statement.execute(params_from_iter(params.iter().map(bound)));
        changed.map(|rows| rows as u64).map_err(failed)
    }
}

fn failed(error: rusqlite::Error) -> SqlError {
    SqlError::Failed(error.to_string())
}

fn bound(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Integer(value) => (*value).into(),
        Value::Real(value) => (*value).into(),
        Value::Text(value) => value.clone().into(),
        Value::Blob(value) => value.clone().into(),
    }
}

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(value) => Value::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Value::Blob(value.to_vec()),
    }
}

/// Engines that find all plugins compiled: the same component, each time with another name in it.
fn warm_starts(bytes: &[u8], folder: &Path, rounds: u32) -> Result<Vec<f64>> {
    let cache = CompileCache::open(folder.join("cache"))?;
    let limits = PluginLimits::standard();
    let plugins: Vec<_> = (0..PLUGINS)
        .map(|n| {
            let mut bytes = bytes.to_vec();
            // A custom section that nobody reads.
            bytes.extend([0, 3, 1, b'n', u8::try_from(n)?]);
            Ok(VerifiedBytes::pin(bytes, limits.component_bytes)?)
        })
        .collect::<Result<_>>()?;
    let start = || -> Result<(f64, u64)> {
        let begun = Instant::now();
        let engine = PluginEngine::new(EngineLimits::standard())?;
        let loaded: Vec<_> = plugins
            .iter()
            .map(|bytes| Plugin::load(&engine, bytes, limits, Some(&cache)))
            .collect::<Result<_, _>>()?;
        black_box(&loaded);
        Ok((millis(begun.elapsed()), engine.compiles()))
    };
    start()?;
    (0..rounds)
        .map(|_| {
            let (took, compiles) = start()?;
            ensure!(compiles == 0, "the cache misses {compiles}");
            Ok(took)
        })
        .collect()
}

/// Microseconds of one call.
fn timed(calls: u32, mut call: impl FnMut(u32) -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    for number in 0..calls {
        call(number)?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(calls))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    of.iter().zip(to).map(|(of, to)| of / to).collect()
}

impl Display for Sandboxes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "sandboxes, {} rounds of {CALLS} calls and {STEPS} steps; medians, in brackets the quartiles of the rounds\n",
            self.rounds
        )?;
        writeln!(f, "| what | measured | aim |\n|---|--:|---|")?;
        for (what, value, aim) in [
            ("4-step plan checked natively, us", &self.check_native, ""),
            (
                "in a fresh instance of bare wasmtime, us",
                &self.check_bare,
                "",
            ),
            (
                "in a fresh sandbox of the host, all limits on, us",
                &self.check_host,
                "under 40",
            ),
            ("the same, metered, us", &self.check_metered, ""),
            ("host to bare wasmtime", &self.host_to_bare, ""),
            (
                "step natively, a commit with a sync, us",
                &self.step_native,
                "",
            ),
            (
                "step in a fresh sandbox, with ledger row and anchor, us",
                &self.step_host,
                "",
            ),
            ("step to native", &self.step_to_native, "at most 1.25"),
            (
                "warm start of 20 plugins, ms",
                &self.warm_start_millis,
                "under 200",
            ),
            (
                "a guest that spins for 50 ms is stopped after, ms",
                &self.spin_stopped_millis,
                "within 20 %",
            ),
        ] {
            writeln!(f, "| {what} | {} | {aim} |", spread(*value))?;
        }
        write!(f, "{}", self.scaling)
    }
}
