//! Any statements, run as a plugin's SQL in a real workspace.
//!
//! Whatever they are: nothing but the call's own ledger row and anchor changes among the host's tables, nothing of another
//! plugin, nothing of the schema; nothing is committed before the call ends; no value that the plugin may not read is
//! returned; and the next call works.

mod grammar;
mod vocabulary;
mod workspace;

use std::{path::Path, sync::Arc, thread};

use self::{
    grammar::{Call, Grammar, Statement},
    workspace::{CANARY_OF_HOST, CANARY_OF_OTHERS, Workspace},
};
use super::{
    core::{
        contract::{Effect, OperationKey, StepAnswer, Subject},
        ports::{
            business::{Business, Operation, Performed, Read, Sql, SqlFault, SqlValue},
            journal::Position,
        },
    },
    words::{digest::Digest, error::Error, json::JsonText},
};

/// Where a statement that got out would put a file.
const ESCAPED: &str = "escaped.sqlite";
/// How a call may end that was not done.
const ENDS: [&str; 7] = [
    "business-lock-held-too-long",
    "sql-deferred-constraint",
    "sql-returned-too-much",
    "sql-time-limit",
    "sql-transaction-ended",
    "workspace-full",
    "trial-ends",
];
/// How a migration may end that was not applied.
const REFUSED: [&str; 4] = [
    "plugin-script-failed",
    "plugin-script-limit",
    "plugin-script-refused",
    "workspace-full",
];
/// Bytes by which the process may grow: SQLite's own limit and some.
const GROWTH: u64 = 512 << 20;

/// How many statements ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Run.
    pub run: u64,
    /// Refused.
    pub denied: u64,
    /// Stopped by a limit.
    pub limited: u64,
    /// The call was lost by it, or before it.
    pub lost: u64,
    /// A constraint did not hold.
    pub constraint: u64,
    /// Not SQL, or not for this schema.
    pub failed: u64,
    /// Migrations that were applied.
    pub migrated: u64,
}

/// The bytes choose from the grammar, which makes calls of them; see the module.
pub fn sql(data: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let calls = Grammar::of(data).calls();
    let told = Told(&calls);
    let before = resident_bytes();
    let mut workspace = Workspace::new();
    for (number, call) in calls.iter().enumerate() {
        for script in &call.migrations {
            tally.migrated(workspace.migrate(script));
        }
        match call.effect {
            None => read(&workspace, call, &mut tally),
            Some(effect) => {
                let operation = operation(call, number, effect);
                perform(&workspace, call, operation, &mut tally);
            }
        }
    }
    // Whatever a plugin made of its own tables, another one's migrations and calls go on.
    workspace.migrate_others();
    let (plugin, text) = if workspace.is_migrated() {
        ("q", "INSERT INTO others VALUES ('honest')")
    } else {
        (
            "p",
            "INSERT INTO counters VALUES ('honest', 1) ON CONFLICT (name) DO UPDATE SET value = 1",
        )
    };
    let honest = Call {
        plugin,
        effect: Some(Effect::Write),
        migrations: vec![],
        statements: vec![Statement {
            text: text.to_owned(),
            parameters: vec![],
        }],
    };
    let done = perform(
        &workspace,
        &honest,
        operation(&honest, calls.len(), Effect::Write),
        &mut Tally::default(),
    );
    assert!(done, "the next call is not done");
    assert!(workspace.holds_only_its_files());
    assert!(!Path::new(ESCAPED).exists(), "there is another database");
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < GROWTH, "memory grew by {grown} bytes");
    drop(told);
    tally
}

impl Tally {
    fn migrated(&mut self, result: Result<(), Error>) {
        match result {
            Ok(()) => self.migrated += 1,
            Err(error) => assert!(REFUSED.contains(&error.code()), "{error:?}"),
        }
    }

    fn count(&mut self, result: &Result<(), SqlFault>) {
        *match result {
            Ok(()) => &mut self.run,
            Err(SqlFault::Denied(_)) => &mut self.denied,
            Err(SqlFault::Limit(_)) => &mut self.limited,
            Err(SqlFault::Fatal(_)) => &mut self.lost,
            Err(SqlFault::Constraint(_)) => &mut self.constraint,
            Err(SqlFault::Failed(_)) => &mut self.failed,
        } += 1;
    }
}

/// Prints what was run, if it failed.
struct Told<'a>(&'a [Call]);

impl Drop for Told<'_> {
    #[allow(clippy::print_stdout, reason = "a failure names its input")]
    fn drop(&mut self) {
        if thread::panicking() {
            for call in self.0 {
                println!("{} {:?}", call.plugin, call.effect);
                for script in &call.migrations {
                    println!("  migration {script:?}");
                }
                for statement in &call.statements {
                    println!("  {:?} {:?}", statement.text, statement.parameters);
                }
            }
        }
    }
}

fn read(workspace: &Workspace, call: &Call, tally: &mut Tally) {
    let before = workspace.all();
    let asked = Read {
        plugin: call.plugin.parse().expect("it is a name"),
        subject: None,
    };
    let result = workspace.store.read(&asked, &mut |sql| {
        for statement in &call.statements {
            tally.count(&run(&*sql, call, statement));
            assert!(workspace.is_unchanged(&before), "a read committed");
            assert!(!workspace.is_locked(), "a read holds the write lock");
        }
        Ok(())
    });
    if let Err(error) = result {
        assert!(ENDS.contains(&error.code()), "{error:?}");
    }
    assert_eq!(workspace.all(), before);
}

/// Whether it was done.
fn perform(workspace: &Workspace, call: &Call, operation: Operation, tally: &mut Tally) -> bool {
    let before = workspace.all();
    let mut lost = false;
    let mut kept = None;
    let result = workspace
        .store
        .perform(&operation, &mut |sql: Arc<dyn Sql>| {
            for statement in &call.statements {
                let result = run(&*sql, call, statement);
                tally.count(&result);
                lost |= matches!(result, Err(SqlFault::Fatal(_)));
                assert!(workspace.is_unchanged(&before), "a statement committed");
                assert!(
                    lost || workspace.is_locked(),
                    "the transaction is gone, and nobody was told"
                );
            }
            kept = Some(sql);
            Ok(Ok(StepAnswer::Done {
                state: "done".to_owned(),
                data: JsonText::of(&1),
            }))
        });
    if let Some(kept) = kept {
        assert!(matches!(
            kept.query("SELECT 1", &[]),
            Err(SqlFault::Denied(_))
        ));
    }
    match result {
        Ok(Performed::Done {
            replayed: false, ..
        }) => {
            assert!(!lost, "what was lost is committed");
            workspace.assert_done(&before, &operation);
            true
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            assert!(ENDS.contains(&error.code()), "{error:?}");
            assert_eq!(workspace.all(), before, "{error:?}");
            false
        }
    }
}

/// By both doors; nothing that is returned is anybody else's.
fn run(sql: &dyn Sql, call: &Call, statement: &Statement) -> Result<(), SqlFault> {
    let Statement { text, parameters } = statement;
    match sql.query(text, parameters) {
        Ok(set) => {
            for value in set.rows.iter().flatten() {
                assert_nobody_elses(call, value);
            }
            Ok(())
        }
        Err(SqlFault::Failed(why)) if why.contains("use execute") => {
            sql.execute(text, parameters).map(|_| ())
        }
        Err(fault) => Err(fault),
    }
}

fn assert_nobody_elses(call: &Call, value: &SqlValue) {
    let bytes = match value {
        SqlValue::Text(text) => text.as_bytes(),
        SqlValue::Blob(bytes) => bytes,
        _ => return,
    };
    let holds = |canary: &str| bytes.windows(canary.len()).any(|w| w == canary.as_bytes());
    assert!(!holds(CANARY_OF_HOST), "a value of the host's was read");
    assert!(
        call.plugin == "q" || !holds(CANARY_OF_OTHERS),
        "a value of another plugin was read"
    );
}

fn operation(call: &Call, number: usize, effect: Effect) -> Operation {
    let task = format!("task-{number}");
    Operation {
        plugin: call.plugin.parse().expect("it is a name"),
        subject: Subject::new(task.clone()).expect("it is short"),
        key: OperationKey::new("key".to_owned()).expect("it is short"),
        fingerprint: Digest::of(&task),
        task: task.parse().expect("it is an id"),
        principal: "someone".parse().expect("it is an id"),
        input_digest: Digest::of("input"),
        tool: "tool".to_owned(),
        arguments_digest: Digest::of("null"),
        effect,
        position: Position {
            sequence: 1,
            head: Digest::of("head"),
        },
        at: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// Of the whole process.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').nth(1).and_then(|n| n.parse().ok());
    pages.unwrap_or(0u64) * 4096
}
