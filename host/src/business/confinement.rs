//! Keeps a plugin's SQL within the plugin's own tables and within its time, on a connection that the host uses as well.
//!
//! One authorizer, one commit hook and one progress handler are set when a connection is opened; what they allow depends
//! on the [`Phase`], a shared value. (Setting another authorizer for each call would expire every prepared statement and
//! double the cost of a transaction.) In the host's own phase everything is allowed. The authorizer is asked when a
//! statement is prepared, so a plugin's statement must never be one that was prepared for somebody else: what is kept of
//! a plugin's statements is kept under a key of its own (`plugin_sql`), and for one state of the schema.
//!
//! What SQLite's authorizer never sees, `OR ROLLBACK` and its kin, is found by looking at `is_autocommit` after each
//! statement (`plugin_sql`), and the commit hook turns what would then be committed into a rollback.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

use super::{
    catalog::{Objects, Owned, is_reserved},
    functions, search,
};

/// Who is at work on the connection.
#[derive(Debug, Clone)]
pub(super) enum Phase {
    /// The host.
    Host,
    /// A plugin, or a script on a plugin's behalf.
    Plugin(Rules),
}

/// What a plugin's statement may do.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    /// What is the plugin's.
    pub(super) own: Owned,
    /// Everything else that a name could stand for.
    pub(super) objects: Arc<Objects>,
    /// The state of the schema that all of these were read from.
    pub(super) version: i64,
    /// Beyond reading.
    pub(super) may: May,
}

/// What a statement may do beyond reading its own tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    /// Nothing.
    Read,
    /// Change rows.
    Write,
    /// `CREATE` of a table, an index or a view.
    Create,
    /// `CREATE TRIGGER` on an own table.
    CreateTrigger,
    /// `DROP` of own things.
    Drop,
    /// `ALTER TABLE` of an own table.
    Alter,
}

/// Shared by a connection's hooks and whoever uses the connection.
#[derive(Debug)]
pub(super) struct Gate {
    phase: Mutex<Phase>,
    refusal: Mutex<Option<String>>,
    /// The state of the schema that the connection's kept statements of plugins were authorized for.
    schema: AtomicI64,
    /// What the functions in the statement at hand weigh so far.
    weight: AtomicU32,
    /// Bytes of one value.
    value_bytes: AtomicU32,
    /// Microseconds since `start`; 0: none.
    deadline: AtomicU64,
    start: Instant,
}

impl Gate {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            phase: Mutex::new(Phase::Host),
            refusal: Mutex::new(None),
            schema: AtomicI64::new(-1),
            weight: AtomicU32::new(0),
            value_bytes: AtomicU32::new(1_000_000_000),
            deadline: AtomicU64::new(0),
            start: monotonic(),
        })
    }

    pub(super) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        self.deadline.store(0, Ordering::Relaxed);
        self.take_refusal();
    }

    /// Whether the schema is another one than when this was last asked.
    pub(super) fn has_another_schema(&self, version: i64) -> bool {
        self.schema.swap(version, Ordering::Relaxed) != version
    }

    /// The bytes of a value that a function makes.
    pub(super) fn limit_values(&self, bytes: u32) {
        self.value_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.value_bytes.load(Ordering::Relaxed) as usize
    }

    /// The next statement is interrupted at `moment`.
    pub(super) fn interrupt_at(&self, moment: Instant) {
        self.weigh_anew();
        let micros = moment.saturating_duration_since(self.start).as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX).max(1);
        self.deadline.store(micros, Ordering::Relaxed);
    }

    /// What is prepared next is weighed for itself.
    pub(super) fn weigh_anew(&self) {
        self.weight.store(0, Ordering::Relaxed);
    }

    /// Whether the authorizer has refused something that [`Self::take_refusal`] has not yielded yet.
    pub(super) fn has_refused(&self) -> bool {
        self.refusal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// What the authorizer refused since it was last asked.
    pub(super) fn take_refusal(&self) -> Option<String> {
        self.refusal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn is_late(&self) -> bool {
        let deadline = self.deadline.load(Ordering::Relaxed);
        deadline != 0 && monotonic() >= self.start + Duration::from_micros(deadline)
    }

    fn in_host_phase(&self) -> bool {
        matches!(
            *self.phase.lock().unwrap_or_else(PoisonError::into_inner),
            Phase::Host
        )
    }

    /// SQLite looks at the clock where it jumps, and not between two calls of functions in a row.
    fn weigh(&self, context: &AuthContext<'_>) -> Result<(), String> {
        let AuthAction::Function { function_name } = context.action else {
            return Ok(());
        };
        let weight = functions::weight(function_name);
        if self.weight.fetch_add(weight, Ordering::Relaxed) + weight > functions::HEAVIEST {
            return Err(functions::TOO_HEAVY.into());
        }
        Ok(())
    }

    fn authorize(&self, context: &AuthContext<'_>) -> Authorization {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let Phase::Plugin(rules) = &*phase else {
            return Authorization::Allow;
        };
        match rules.decide(context).and_then(|()| self.weigh(context)) {
            Ok(()) => Authorization::Allow,
            Err(refusal) => {
                // The first one is the statement's own; later ones follow from it.
                self.refusal
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(refusal);
                Authorization::Deny
            }
        }
    }
}

/// Sets the hooks, once per connection.
pub(super) fn confine(
    connection: &mut Connection,
    gate: &Arc<Gate>,
) -> Result<(), rusqlite::Error> {
    /// Instructions of SQLite's machine between two looks at the clock: a microsecond, or a few rows with a costly function
    /// in each. Ten times as many would not be measurably faster.
    const INSTRUCTIONS: i32 = 100;
    /// Prepared statements that a connection keeps, the host's and the plugins' together.
    const KEPT_STATEMENTS: usize = 64;
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    search::replace_builtins(connection, gate)?;
    let asked = Arc::clone(gate);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        asked.authorize(&context)
    }))?;
    let asked = Arc::clone(gate);
    connection.commit_hook(Some(move || !asked.in_host_phase()))?;
    let asked = Arc::clone(gate);
    connection.progress_handler(INSTRUCTIONS, Some(move || asked.is_late()))
}

/// Narrows SQLite's own limits while a plugin's SQL runs, and yields the host's, for [`widen`].
pub(super) fn narrow(
    connection: &Connection,
    value_bytes: u32,
    sql_bytes: i32,
    instructions: i32,
) -> Result<Vec<(Limit, i32)>, rusqlite::Error> {
    let value_bytes = i32::try_from(value_bytes).unwrap_or(i32::MAX);
    limits(value_bytes, sql_bytes, instructions)
        .into_iter()
        .map(|(limit, value)| Ok((limit, connection.set_limit(limit, value)?)))
        .collect()
}

const fn limits(value_bytes: i32, sql_bytes: i32, instructions: i32) -> [(Limit, i32); 12] {
    [
        (Limit::SQLITE_LIMIT_LENGTH, value_bytes),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, sql_bytes),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_COLUMN, 128),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 32),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 64),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 256),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 16),
        (Limit::SQLITE_LIMIT_VDBE_OP, instructions),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
}

/// What a statement is told that SQLite has no memory to compile: so it says as well where only the number of instructions
/// is bounded.
pub(super) const TOO_LARGE: &str = "the statement is too large: it compiles to more instructions than one may have, or needs too much \
     memory; split it, into fewer rows for instance";

/// Gives a connection the limits that another one has.
pub(super) fn narrow_like(
    connection: &Connection,
    like: &Connection,
) -> Result<(), rusqlite::Error> {
    for (limit, _) in limits(0, 0, 0) {
        connection.set_limit(limit, like.limit(limit)?)?;
    }
    Ok(())
}

/// Gives the host its limits back.
pub(super) fn widen(connection: &Connection, limits: &[(Limit, i32)]) {
    for (limit, value) in limits {
        // Cannot fail: the value was the limit before.
        let _ = connection.set_limit(*limit, *value);
    }
}

/// A reading of a clock that nobody can set. A time limit must not be stretched by setting the wall clock back.
#[expect(
    clippy::disallowed_methods,
    reason = "limits on elapsed time need a clock that never goes back"
)]
pub(super) fn monotonic() -> Instant {
    Instant::now()
}

const SCHEMA: &str = "sqlite_master";

impl Rules {
    fn decide(&self, context: &AuthContext<'_>) -> Result<(), String> {
        if !matches!(context.database_name, None | Some("main")) {
            // `ALTER TABLE ... RENAME` looks through the temporary schema for what refers to the table.
            if self.may == May::Alter
                && let AuthAction::Read { table_name, .. } | AuthAction::Update { table_name, .. } =
                    context.action
                && table_name == "sqlite_temp_master"
            {
                return Ok(());
            }
            return Err("only the main database may be used".into());
        }
        match context.action {
            AuthAction::Select | AuthAction::Recursive => match self.may {
                // `CREATE TABLE ... AS SELECT`: the schema is open while it is defined, and must not be copied.
                May::Create => Err("a table may not be created from a query".into()),
                _ => Ok(()),
            },
            AuthAction::Function { function_name } => self.function(function_name),
            AuthAction::Read {
                table_name,
                column_name,
            } => self.read(table_name, column_name),
            AuthAction::Insert { table_name }
            | AuthAction::Delete { table_name }
            | AuthAction::Update { table_name, .. } => self.write(table_name),
            other => self.define(other),
        }
    }

    fn owns(&self, name: &str) -> bool {
        self.own.names.contains(name) || self.own.names.contains(&name.to_ascii_lowercase())
    }

    fn defines(&self) -> bool {
        !matches!(self.may, May::Read | May::Write)
    }

    fn read(&self, table: &str, column: &str) -> Result<(), String> {
        if self.owns(table) {
            return Ok(());
        }
        let name = table.to_ascii_lowercase();
        if self.defines() && matches!(name.as_str(), SCHEMA | "sqlite_sequence") {
            return Ok(());
        }
        // A check of a table that is being created reads its columns.
        if self.may == May::Create && self.may_name(table) {
            return Ok(());
        }
        // `ALTER TABLE` checks the rows of the changed table with it.
        if self.may == May::Alter && name == "pragma_quick_check" {
            return Ok(());
        }
        if !self.objects.shadow_json() && (name == "json_each" || name == "json_tree") {
            return Ok(());
        }
        // A common table expression of which no column is used, as in `SELECT count(*) FROM cte`, is reported like a
        // table. Its name must stand for nothing else: then it cannot be anything but such an expression.
        if column.is_empty() && !self.objects.contains(&name) && !is_reserved(&name) {
            return Ok(());
        }
        Err(format!("the table {table} is not the plugin's own"))
    }

    fn write(&self, table: &str) -> Result<(), String> {
        if self.defines()
            && matches!(
                table,
                SCHEMA | "sqlite_sequence" | "sqlite_stat1" | "sqlite_stat4"
            )
        {
            return Ok(());
        }
        match self.may {
            // A definition begins with this.
            May::Read | May::Write if table == SCHEMA => {
                Err("the schema may not be changed here".into())
            }
            May::Read => Err("this call may only read".into()),
            _ if self.owns(table) => Ok(()),
            _ => Err(format!("the table {table} is not the plugin's own")),
        }
    }

    fn function(&self, name: &str) -> Result<(), String> {
        // `ALTER TABLE` rewrites the schema with functions that no statement can call itself.
        let internal = self.may == May::Alter
            && (name.starts_with("sqlite_rename_")
                || name.starts_with("sqlite_drop_")
                || name.starts_with("sqlite_add_")
                || name == "sqlite_fail");
        if internal || functions::is_allowed(name) {
            Ok(())
        } else {
            Err(format!("the function {name} may not be called"))
        }
    }

    fn define(&self, action: AuthAction<'_>) -> Result<(), String> {
        let allowed = match (self.may, action) {
            (May::Create, AuthAction::CreateTable { table_name: name })
            | (May::Create, AuthAction::CreateView { view_name: name }) => {
                name == "sqlite_sequence" || self.may_name(name)
            }
            (
                May::Create,
                AuthAction::CreateIndex {
                    index_name,
                    table_name,
                },
            ) => {
                (index_name.starts_with("sqlite_autoindex_") || !is_reserved(index_name))
                    && (self.owns(table_name) || self.may_name(table_name))
            }
            (May::Create | May::Alter, AuthAction::Reindex { .. }) => true,
            // `ALTER TABLE` runs it by itself, on the changed table.
            (May::Alter, AuthAction::Pragma { pragma_name, .. }) => pragma_name == "quick_check",
            (
                May::CreateTrigger,
                AuthAction::CreateTrigger {
                    trigger_name,
                    table_name,
                },
            ) => !is_reserved(trigger_name) && self.owns(table_name),
            (May::Drop, AuthAction::DropTable { table_name: name })
            | (May::Drop, AuthAction::DropView { view_name: name })
            | (
                May::Drop,
                AuthAction::DropIndex {
                    table_name: name, ..
                },
            )
            | (
                May::Drop,
                AuthAction::DropTrigger {
                    table_name: name, ..
                },
            )
            | (
                May::Alter,
                AuthAction::AlterTable {
                    table_name: name, ..
                },
            ) => self.owns(name),
            _ => false,
        };
        if allowed {
            Ok(())
        } else {
            Err(refusal_of(action))
        }
    }

    /// Whether a new table or view may have the name: neither reserved, nor anybody's.
    fn may_name(&self, name: &str) -> bool {
        !is_reserved(name)
            && (self.owns(name) || !self.objects.contains(&name.to_ascii_lowercase()))
    }
}

fn refusal_of(action: AuthAction<'_>) -> String {
    match action {
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            "the host begins and ends transactions".into()
        }
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name} may not be used"),
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            "no other database may be attached".into()
        }
        AuthAction::CreateTrigger { trigger_name, .. }
        | AuthAction::CreateTempTrigger { trigger_name, .. } => {
            format!("the trigger {trigger_name} may not be created here")
        }
        AuthAction::CreateTable { table_name } | AuthAction::CreateVtable { table_name, .. } => {
            format!("the table {table_name} may not be created here")
        }
        AuthAction::CreateView { view_name } => {
            format!("the view {view_name} may not be created here")
        }
        AuthAction::CreateIndex {
            index_name,
            table_name,
        } => format!("the index {index_name} on {table_name} may not be created here"),
        AuthAction::DropTable { table_name } | AuthAction::AlterTable { table_name, .. } => {
            format!("the table {table_name} may not be changed here")
        }
        _ => "the statement is of a kind that may not be used here".into(),
    }
}
