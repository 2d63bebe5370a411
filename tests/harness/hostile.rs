//! Attacks of a hostile guest (`tests/hostile`), and what must hold whatever the guest does.
//!
//! The guest is loaded through the library, and called beside a real business database. Each call ends within five times its
//! time; afterwards nothing of the attack is left in the database, its lock is free, and both the same guest and the honest one
//! work.

use std::{
    cell::Cell,
    fs,
    path::Path,
    sync::LazyLock,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;
use wharf::{
    Error, Kind, Request,
    business::{BusinessStore, SqlLimits},
    core::{
        contract::{
            Completed, Conclusion, Effect, Failure, Migration, OperationKey, Plan, PlanStatus,
            Step, Subject, Violation,
        },
        ports::{
            business::{Business as _, Operation, Performed, Read},
            domain::{Declared as _, Domain as _},
            journal::Position,
        },
    },
    plugin::{CompileCache, EngineLimits, Plugin, PluginEngine, PluginLimits, VerifiedBytes},
    words::{digest::Digest, json::JsonText},
};

use super::{
    alone::{alone, growth, is_alone},
    built,
    command::compile_cache,
    root,
};

/// The goal of a task in which a guest attacks nobody.
pub const BEHAVE: &str = "behave";

/// A goal of 77 bytes, as no other text in a task has: upon it an allocator attacks, while the host hands over the arguments.
pub const SIGNAL: &str =
    "attack-attack-attack-attack-attack-attack-attack-attack-attack-attack-attack.";

/// As `standard`.
pub const STANDARD: PluginLimits = PluginLimits::standard();

/// As `standard`, with 200 ms for a call: for those that use up whatever time they have.
pub const IMPATIENT: PluginLimits = PluginLimits {
    call_millis: std::num::NonZeroU64::new(200).expect("not zero"),
    ..PluginLimits::standard()
};

/// As `standard`, with 1,000 calls of the host: they end before the time does, on any machine.
pub const FEW_CALLS: PluginLimits = PluginLimits {
    host_calls: std::num::NonZeroU64::new(1_000).expect("not zero"),
    ..PluginLimits::standard()
};

/// The name of the test that says it, which is the name of its guest, with the path to it.
#[macro_export]
macro_rules! guest {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here);
        $crate::hostile::Named(path.trim_end_matches("::here"))
    }};
}

/// A guest, by the path of its test.
#[derive(Debug, Clone, Copy)]
pub struct Named(pub &'static str);

impl Named {
    /// The guest's name.
    pub fn guest(self) -> &'static str {
        self.0.rsplit("::").next().unwrap()
    }

    /// The test's name, as the runner knows it.
    pub fn test(self) -> &'static str {
        self.0.split_once("::").unwrap().1
    }
}

/// The engine that all attacks of this process share.
pub static ENGINE: LazyLock<PluginEngine> =
    LazyLock::new(|| PluginEngine::new(EngineLimits::standard()).unwrap());

/// The bytes of a guest: a component as it was built, or a module in the honest one.
pub fn component(guest: &str) -> Vec<u8> {
    let text = root().join(format!("tests/hostile/guests/{guest}.wat"));
    if text.is_file() {
        let module = wat::parse_file(&text).unwrap();
        return with_module(component("honest"), &module);
    }
    fs::read(built::hostile_guest(guest)).unwrap()
}

/// Loads a guest.
pub fn load(guest: &str, limits: PluginLimits) -> Result<Plugin, Error> {
    let bytes = VerifiedBytes::pin(component(guest), limits.component_bytes)?;
    let cache = CompileCache::open(compile_cache())?;
    Plugin::load(&ENGINE, &bytes, limits, Some(&cache))
}

/// Loads a guest and lets the test call it; see the module's documentation for what holds afterwards.
#[track_caller]
pub fn attack(named: Named, limits: PluginLimits, run: impl FnOnce(&Attack)) {
    let attack = Attack::on(named.guest(), limits);
    run(&attack);
    attack.leaves_no_trace();
    attack.behaves();
    honest_works();
}

/// Loads a guest none of whose migrations is one, and tries each as the first. The schema stays as it was, and the honest
/// guest's are installed afterwards.
#[track_caller]
pub fn cannot_be_installed(named: Named, code: &str) {
    let attack = Attack::new(load(named.guest(), STANDARD).unwrap());
    let schema = "SELECT group_concat(sql, ';') FROM sqlite_schema";
    let before: String = attack
        .outside()
        .query_row(schema, [], |row| row.get(0))
        .unwrap();
    let migrations = &attack.plugin.descriptor().migrations;
    assert!(!migrations.is_empty());
    for migration in migrations {
        let first = Migration {
            version: 1,
            sql: migration.sql.clone(),
        };
        let refused = in_time(&STANDARD, || attack.install(&[first]));
        let error = fails(refused, code);
        assert_eq!(
            error.kind(),
            Kind::InvalidInput,
            "{}: {error:?}",
            migration.sql
        );
        let after: String = attack
            .outside()
            .query_row(schema, [], |row| row.get(0))
            .unwrap();
        assert_eq!(after, before, "{}", migration.sql);
    }
    let honest = load("honest", STANDARD).unwrap();
    attack.install(&honest.descriptor().migrations).unwrap();
    attack.leaves_no_trace();
    honest_works();
}

/// As [`attack`], in a process of its own, whose memory grows by a tenth more than the plugin's limit at most.
#[track_caller]
pub fn attack_alone(named: Named, limits: PluginLimits, run: impl FnOnce(&Attack)) {
    compile(named, limits);
    alone(named.test(), || {
        attack(named, limits, |attack| {
            // What the first call takes for good is not the attack's.
            assert_eq!(subject_of(&attack.plugin), "subject");
            let _ = attack.snapshot_of(BEHAVE).unwrap().unwrap();
            grows_little(&limits, || run(attack));
        });
    });
}

/// As [`is_refused`], in a process of its own, whose memory grows by a tenth more than the plugin's limit at most.
#[track_caller]
pub fn is_refused_alone(named: Named, limits: PluginLimits, code: &str) {
    compile(named, limits);
    alone(named.test(), || {
        honest_works();
        grows_little(&limits, || is_refused(named, limits, code));
    });
}

/// Once, in the parent: what has to be compiled is not the guest's memory.
fn compile(named: Named, limits: PluginLimits) {
    if !is_alone(named.test()) {
        drop(load(named.guest(), limits));
    }
}

#[track_caller]
fn grows_little<T>(limits: &PluginLimits, run: impl FnOnce() -> T) -> T {
    let (bytes, result) = growth(run);
    let most = limits.memory_bytes.get() as u64 / 10 * 11;
    assert!(bytes <= most, "{bytes} of {most} bytes");
    result
}

/// A guest that cannot even be loaded, in time, with this code; others can.
#[track_caller]
pub fn is_refused(named: Named, limits: PluginLimits, code: &str) -> Error {
    // What has to be compiled is not the guest's time.
    let cached = load(named.guest(), limits).map(drop);
    let error = in_time(&limits, || load(named.guest(), limits).map(drop));
    assert_eq!(
        cached.as_ref().unwrap_err().code(),
        error.as_ref().unwrap_err().code()
    );
    honest_works();
    fails(error, code)
}

/// The call has failed with this code, and what is said of it is fit for a terminal.
#[track_caller]
pub fn fails<T: std::fmt::Debug>(result: Result<T, Error>, code: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error:?}");
    for text in [error.to_string(), error.why(), error.hint().into_owned()] {
        assert!(is_plain(&text), "{text:?}");
        assert!(text.len() < 6_000, "{} bytes", text.len());
    }
    error
}

/// No terminal would obey it, it is one line, and it is read in the order in which it stands.
pub fn is_plain(text: &str) -> bool {
    let reorders = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !text.chars().any(|c| c.is_control() || reorders(c))
}

/// The call has failed since the guest answered outside the contract.
#[track_caller]
pub fn violates<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    fails(result, "plugin-contract-violation").why()
}

/// The call has ended in a trap, for this reason.
#[track_caller]
pub fn traps<T: std::fmt::Debug>(result: Result<T, Error>, reason: &str) {
    let why = fails(result, "plugin-trap").why();
    assert!(why.contains(reason), "{why}");
}

/// Runs a call, which ends within five times its time.
#[track_caller]
pub fn in_time<T>(limits: &PluginLimits, call: impl FnOnce() -> T) -> T {
    let most = Duration::from_millis(limits.call_millis.get()) * 5;
    let started = Instant::now();
    let result = call();
    let took = started.elapsed();
    assert!(took < most, "{took:?} of {most:?}");
    result
}

/// The honest guest works.
#[track_caller]
pub fn honest_works() {
    let honest = load("honest", PluginLimits::standard()).unwrap();
    assert_eq!(subject_of(&honest), "subject");
}

fn subject_of(plugin: &Plugin) -> String {
    let subject = plugin.check_task(&request(BEHAVE)).unwrap().unwrap();
    subject.as_str().to_owned()
}

/// A loaded guest beside a business database of its own.
pub struct Attack {
    pub plugin: Plugin,
    folder: TempDir,
    store: BusinessStore,
    operations: Cell<u32>,
}

impl Attack {
    /// Loads a guest and installs it.
    #[track_caller]
    pub fn on(guest: &str, limits: PluginLimits) -> Self {
        let attack = Self::new(load(guest, limits).unwrap());
        attack
            .install(&attack.plugin.descriptor().migrations)
            .unwrap();
        attack
    }

    fn new(plugin: Plugin) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = BusinessStore::open(
            &folder.path().join("business.sqlite"),
            &"tenant".parse().unwrap(),
            SqlLimits::standard(),
            at(),
        )
        .unwrap();
        Self {
            plugin,
            folder,
            store,
            operations: Cell::new(0),
        }
    }

    fn install(&self, migrations: &[Migration]) -> Result<(), Error> {
        let name = self.plugin.descriptor().name.parse().unwrap();
        self.store.install(&name, migrations, at()).map(drop)
    }

    fn in_time<T>(&self, call: impl FnOnce() -> T) -> T {
        in_time(self.plugin.limits(), call)
    }

    /// The subject, or the violations.
    pub fn check_task(&self) -> Result<Result<Subject, Vec<Violation>>, Error> {
        self.check_task_of("attack")
    }

    /// The subject, which the plugin has given.
    #[track_caller]
    pub fn subject(&self, goal: &str) -> String {
        let subject = self.check_task_of(goal).unwrap().unwrap();
        subject.as_str().to_owned()
    }

    /// As [`Self::check_task`], of a task with this goal.
    pub fn check_task_of(&self, goal: &str) -> Result<Result<Subject, Vec<Violation>>, Error> {
        self.in_time(|| self.plugin.check_task(&request(goal)))
    }

    pub fn operation_key(&self, tool: &str) -> Result<Option<OperationKey>, Error> {
        self.operation_key_of("attack", tool)
    }

    /// As [`Self::operation_key`], of a task with this goal.
    pub fn operation_key_of(&self, goal: &str, tool: &str) -> Result<Option<OperationKey>, Error> {
        self.in_time(|| self.plugin.operation_key(&request(goal), tool, None))
    }

    pub fn check_plan(&self) -> Result<Vec<Violation>, Error> {
        self.check_plan_of("attack")
    }

    /// As [`Self::check_plan`], of a task with this goal.
    pub fn check_plan_of(&self, goal: &str) -> Result<Vec<Violation>, Error> {
        self.in_time(|| self.plugin.check_plan(&request(goal), &empty(), &plan()))
    }

    /// The first of these candidates that the plugin accepts, all judged in one sandbox.
    pub fn first_accepted(&self, candidates: usize) -> Result<Option<Plan>, Error> {
        self.in_time(|| {
            let mut candidates = std::iter::repeat_n(plan(), candidates);
            self.plugin
                .first_accepted(&request("attack"), &empty(), &mut candidates)
        })
    }

    pub fn conclude(&self) -> Result<Result<Conclusion, Vec<Violation>>, Error> {
        self.conclude_of("attack")
    }

    /// As [`Self::conclude`], of a task with this goal.
    pub fn conclude_of(&self, goal: &str) -> Result<Result<Conclusion, Vec<Violation>>, Error> {
        let completed = Completed {
            step: step("add"),
            operation_key: Some("add".to_owned()),
            declined: false,
            data: JsonText::of(&json!({"done": true})),
        };
        self.in_time(|| self.plugin.conclude(&request(goal), &empty(), &[completed]))
    }

    pub fn snapshot(&self) -> Result<Result<JsonText, Failure>, Error> {
        self.snapshot_of("attack")
    }

    /// As [`Self::snapshot`], of a task with this goal.
    pub fn snapshot_of(&self, goal: &str) -> Result<Result<JsonText, Failure>, Error> {
        let request = request(goal);
        let read = Read {
            plugin: self.plugin.descriptor().name.parse().unwrap(),
            subject: None,
        };
        let mut found = None;
        self.in_time(|| {
            self.store.read(&read, &mut |sql| {
                found = Some(self.plugin.snapshot(&request, sql)?);
                Ok(())
            })
        })?;
        Ok(found.unwrap())
    }

    /// Performs a step as the core does: under the write lock, and committed with a row of the ledger.
    pub fn perform(&self, tool: &str) -> Result<Performed, Error> {
        self.perform_of("attack", tool)
    }

    /// As [`Self::perform`], of a task with this goal.
    pub fn perform_of(&self, goal: &str, tool: &str) -> Result<Performed, Error> {
        let request = request(goal);
        let mut prepared = Some(self.plugin.prepare(&request, &step(tool))?);
        let operation = self.operation(&request, tool);
        self.in_time(|| {
            self.store
                .perform(&operation, &mut |sql| prepared.take().unwrap().perform(sql))
        })
    }

    fn operation(&self, request: &Request, tool: &str) -> Operation {
        self.operations.set(self.operations.get() + 1);
        let number = self.operations.get();
        Operation {
            plugin: self.plugin.descriptor().name.parse().unwrap(),
            subject: Subject::new("subject".into()).unwrap(),
            key: OperationKey::new(format!("{tool}-{number}")).unwrap(),
            task: request.id.clone(),
            principal: request.principal.clone(),
            fingerprint: request.fingerprint(),
            input_digest: request.input.digest(),
            tool: tool.to_owned(),
            arguments_digest: Digest::of("null"),
            effect: if tool == "add" {
                Effect::Write
            } else {
                Effect::Read
            },
            position: Position {
                sequence: number.into(),
                head: Digest::of(number.to_string()),
            },
            at: at(),
        }
    }

    /// What a query on the database yields, for somebody who waits for nobody.
    pub fn count(&self, sql: &str) -> i64 {
        self.outside().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn outside(&self) -> Connection {
        impatient(&self.folder.path().join("business.sqlite"))
    }

    /// The folder with the database and nothing else.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// No row, neither of the plugin's nor of the ledger, no file but the database, and the lock is free.
    #[track_caller]
    fn leaves_no_trace(&self) {
        self.lock_is_free();
        assert_eq!(self.count("SELECT count(*) FROM things"), 0);
        assert_eq!(self.count("SELECT count(*) FROM wharf_ledger"), 0);
        let foreign = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .find(|name| !name.starts_with("business.sqlite"));
        assert_eq!(foreign, None);
    }

    /// Whoever wants to write next does not wait.
    #[track_caller]
    pub fn lock_is_free(&self) {
        self.outside()
            .execute_batch("BEGIN IMMEDIATE; ROLLBACK")
            .unwrap();
    }

    /// The same guest works, now that it does not attack.
    #[track_caller]
    fn behaves(&self) {
        assert_eq!(subject_of(&self.plugin), "subject");
        let snapshot = self.snapshot_of(BEHAVE).unwrap().unwrap();
        assert_eq!(snapshot.as_str(), r#"{"things":0}"#);
        let performed = self.perform_of(BEHAVE, "add").unwrap();
        assert!(
            matches!(&performed, Performed::Done { replayed: false, row } if row.data.as_str() == r#"{"done":true}"#),
            "{performed:?}"
        );
        assert_eq!(self.count("SELECT count(*) FROM things"), 1);
    }
}

/// Adds a thing to a database, as somebody who does not wait for a lock.
pub fn writes_without_waiting(database: &Path) {
    impatient(database)
        .execute_batch("BEGIN IMMEDIATE; INSERT INTO things (id) VALUES ('other'); COMMIT")
        .unwrap();
}

fn impatient(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection
}

/// A task with this goal.
pub fn request(goal: &str) -> Request {
    let text = json!({
        "id": "task", "tenant": "tenant", "principal": "somebody", "goal": goal,
        "plugin": {"name": "hostile", "version": "0.1.0", "digest": Digest::of("").to_string()},
        "budgets": {"maxPlans": 1, "maxActions": 1, "deadlineSeconds": 60},
        "input": {},
    });
    Request::read(&text.to_string()).unwrap()
}

/// One step.
pub fn step(tool: &str) -> Step {
    Step {
        id: "s1".parse().unwrap(),
        tool: tool.to_owned(),
        depends_on: Vec::new(),
        expected: if tool == "add" { "added" } else { "seen" }.to_owned(),
        arguments: None,
    }
}

/// A plan of one step.
pub fn plan() -> Plan {
    Plan {
        goal: "Once.".to_owned(),
        status: PlanStatus::Ready,
        reason: "Asked for.".to_owned(),
        steps: vec![step("add")],
    }
}

fn empty() -> JsonText {
    JsonText::of(&json!({}))
}

fn at() -> Timestamp {
    "2030-01-02T03:04:05Z".parse().unwrap()
}

/// The component with one more core module, which is instantiated last and imports nothing: its start function runs whenever a
/// sandbox is made.
fn with_module(mut component: Vec<u8>, module: &[u8]) -> Vec<u8> {
    const CORE_MODULE: u8 = 1;
    const CORE_INSTANCE: u8 = 2;
    let mut modules = 0;
    let mut at = 8;
    while at < component.len() {
        let id = component[at];
        let (length, content) = number(&component, at + 1);
        modules += usize::from(id == CORE_MODULE);
        at = content + length;
    }
    section(&mut component, CORE_MODULE, module);
    let mut instance = vec![1, 0];
    instance.extend(leb128(modules));
    instance.push(0);
    section(&mut component, CORE_INSTANCE, &instance);
    component
}

fn section(component: &mut Vec<u8>, id: u8, content: &[u8]) {
    component.push(id);
    component.extend(leb128(content.len()));
    component.extend(content);
}

/// An unsigned LEB128 number, and where it ends.
fn number(bytes: &[u8], mut at: usize) -> (usize, usize) {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[at];
        at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return (value, at);
        }
    }
}

fn leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
