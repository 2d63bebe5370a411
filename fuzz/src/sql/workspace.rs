//! A workspace per input: two plugins, some rows of the host's and of theirs. Copied from one that is made once.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    num::{NonZeroU32, NonZeroU64},
    path::Path,
    sync::LazyLock,
    time::Duration,
};

use rusqlite::{Connection, types::ValueRef};
use tempfile::TempDir;

use super::{
    super::{
        business::{BusinessStore, SqlLimits},
        core::{
            contract::{Effect, Migration, StepAnswer},
            ports::business::{Business as _, Operation},
        },
        sqlite::open,
        words::{digest::Digest, error::Error, json::JsonText},
    },
    Call, operation,
};

/// Stands in the ledger.
pub(super) const CANARY_OF_HOST: &str = "canary-4c1d";
/// Stands in the other plugin's table.
pub(super) const CANARY_OF_OTHERS: &str = "canary-9e07";

const TABLES_OF_P: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, n INTEGER NOT NULL CHECK (n >= 0), body TEXT) STRICT;
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE parts (item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE, label TEXT NOT NULL);
    CREATE TABLE later (item INTEGER REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE INDEX items_small ON items (n) WHERE n < 10;
    CREATE VIEW small_items AS SELECT id, name FROM items WHERE n < 10;
    CREATE VIEW smaller_items AS SELECT id, name FROM small_items AS s WHERE s.id < 5;
";
const TABLES_OF_Q: &str = "CREATE TABLE others (x); CREATE VIEW glimpse AS SELECT x FROM others;";
const SEED_OF_P: &str = "
    INSERT INTO items (name, n, body) VALUES ('a', 1, '{\"tags\": [1]}'), ('b', 2, NULL), ('c', 30, 'text');
    INSERT INTO counters VALUES ('a', 1), ('b', 2);
    INSERT INTO parts VALUES (1, 'x'), (2, 'y');
    CREATE TRIGGER react AFTER UPDATE OF n ON items WHEN NEW.n = 7 BEGIN INSERT OR REPLACE INTO counters VALUES (NEW.name, 7); END;
    CREATE TRIGGER stop BEFORE DELETE ON parts WHEN OLD.label = 'x' BEGIN SELECT RAISE(ROLLBACK, 'stop'); END;
";

/// Of each table its rows, as text.
type State = BTreeMap<String, Vec<String>>;

/// One workspace.
pub(super) struct Workspace {
    pub(super) store: BusinessStore,
    outside: Connection,
    folder: TempDir,
    /// Of `p`, those that were applied.
    migrations: Vec<Migration>,
}

/// What somebody else sees of the database.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Seen {
    state: State,
    version: i64,
}

impl Workspace {
    pub(super) fn new() -> Self {
        let folder = folder();
        let path = folder.path().join("business.sqlite");
        fs::write(&path, &*TEMPLATE).expect("the folder takes a file");
        Self {
            store: store(&path),
            outside: open::read_write(&path, Duration::ZERO, |_| Ok(()))
                .expect("another connection fits"),
            folder,
            migrations: vec![migration(1, TABLES_OF_P)],
        }
    }

    /// Applies a migration of `p`, which changes nothing but what is `p`'s, or nothing at all.
    pub(super) fn migrate(&mut self, script: &str) -> Result<(), Error> {
        let before = self.all();
        let mut list = self.migrations.clone();
        let version = u32::try_from(list.len()).expect("there are few") + 1;
        list.push(migration(version, script));
        let plugin = "p".parse().expect("it is a name");
        let at = jiff::Timestamp::UNIX_EPOCH;
        if let Err(error) = self.store.install(&plugin, &list, at) {
            assert_eq!(self.all(), before, "{error:?}");
            return Err(error);
        }
        self.migrations = list;
        let after = self.all();
        let is_shared = |name: &str| {
            [
                "sqlite_schema",
                "sqlite_sequence",
                "wharf_plugin_migrations",
                "wharf_tables",
            ]
            .contains(&name)
        };
        let of_others = |seen: &Seen| -> State {
            let mut state = seen.state.clone();
            state.retain(|name, _| {
                name == "others" || (name.starts_with("wharf_") && !is_shared(name))
            });
            state
        };
        assert_eq!(of_others(&after), of_others(&before), "{script}");
        self.assert_nothing_copied(&after.state);
        Ok(())
    }

    /// Migrations of the other plugin, at which SQLite looks at everything that there is.
    pub(super) fn migrate_others(&self) {
        let plugin = "q".parse().expect("it is a name");
        let list = [
            migration(1, TABLES_OF_Q),
            migration(
                2,
                "ALTER TABLE others RENAME COLUMN x TO y; ALTER TABLE others RENAME TO theirs; ALTER TABLE theirs RENAME TO others;",
            ),
        ];
        let result = self
            .store
            .install(&plugin, &list, jiff::Timestamp::UNIX_EPOCH);
        result.expect("another plugin's migration is applied");
    }

    /// Whether `p` has other tables than at first.
    pub(super) fn is_migrated(&self) -> bool {
        self.migrations.len() > 1
    }

    /// The tables and views of a plugin.
    fn owned_by(&self, plugin: &str) -> Vec<String> {
        self.outside
            .prepare(
                "SELECT name FROM wharf_tables WHERE plugin = ?1 UNION SELECT 'sqlite_sequence'",
            )
            .and_then(|mut names| names.query_map([plugin], |row| row.get(0))?.collect())
            .expect("the host's tables can be read")
    }

    fn assert_nothing_copied(&self, state: &State) {
        let own = self.owned_by("p");
        for (name, rows) in state.iter().filter(|(name, _)| own.contains(name)) {
            for row in rows {
                let is_foreign = row.contains(CANARY_OF_HOST) || row.contains(CANARY_OF_OTHERS);
                assert!(!is_foreign, "{name}: {row}");
            }
        }
    }

    /// Every committed row.
    pub(super) fn all(&self) -> Seen {
        let names: Vec<String> = self
            .outside
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' UNION SELECT 'sqlite_schema' UNION SELECT 'pragma_user_version'")
            .and_then(|mut names| names.query_map((), |row| row.get(0))?.collect())
            .expect("the schema can be read");
        let state = names
            .into_iter()
            .map(|name| {
                let rows = rows(&self.outside, &name).expect("a table can be read");
                (name, rows)
            })
            .collect();
        Seen {
            state,
            version: self.version(),
        }
    }

    /// Whether nobody has committed since.
    pub(super) fn is_unchanged(&self, before: &Seen) -> bool {
        self.version() == before.version
    }

    fn version(&self) -> i64 {
        self.outside
            .query_row("PRAGMA data_version", (), |row| row.get(0))
            .expect("it can be asked")
    }

    /// Whether somebody holds the write lock.
    pub(super) fn is_locked(&self) -> bool {
        let begun = self.outside.execute_batch("BEGIN IMMEDIATE");
        if begun.is_ok() {
            self.outside
                .execute_batch("ROLLBACK")
                .expect("it was begun");
        }
        begun.is_err()
    }

    /// Nothing changed but the plugin's own rows, and one row each of the ledger and the anchors.
    pub(super) fn assert_done(&self, before: &Seen, operation: &Operation) {
        let after = self.all().state;
        let mut before = before.state.clone();
        let own = self.owned_by(operation.plugin.as_str());
        self.assert_nothing_copied(&after);
        assert!(before.keys().eq(after.keys()));
        for (name, rows) in after {
            let mut old = before.remove(&name).unwrap_or_default();
            if own.contains(&name) {
                continue;
            }
            if name == "wharf_ledger" || name == "wharf_anchors" {
                let new: Vec<_> = rows.iter().filter(|row| !old.contains(row)).collect();
                assert_eq!(new.len(), 1, "{name}: {new:?}");
                assert!(new[0].contains(operation.task.as_str()), "{name}: {new:?}");
                old.push(new[0].clone());
                old.sort();
            }
            assert_eq!(rows, old, "{name}");
        }
    }

    /// Whether nothing stands beside the database but what SQLite itself puts there.
    pub(super) fn holds_only_its_files(&self) -> bool {
        let known = [
            "business.sqlite",
            "business.sqlite-wal",
            "business.sqlite-shm",
        ];
        fs::read_dir(self.folder.path()).is_ok_and(|mut entries| {
            entries.all(|entry| {
                entry.is_ok_and(|entry| known.iter().any(|known| entry.file_name() == *known))
            })
        })
    }
}

/// The bytes of a database with all that a plugin must not reach.
static TEMPLATE: LazyLock<Vec<u8>> =
    LazyLock::new(|| template().expect("an honest workspace can be made"));

fn template() -> Result<Vec<u8>, Error> {
    let folder = folder();
    let path = folder.path().join("business.sqlite");
    let store = store(&path);
    let at = jiff::Timestamp::UNIX_EPOCH;
    for (plugin, tables, seed) in [
        ("p", TABLES_OF_P.to_owned(), SEED_OF_P.to_owned()),
        (
            "q",
            TABLES_OF_Q.to_owned(),
            format!("INSERT INTO others VALUES ('{CANARY_OF_OTHERS}')"),
        ),
    ] {
        let plugin = plugin.parse().expect("it is a name");
        store.install(&plugin, &[migration(1, &tables)], at)?;
        store.seed(&plugin, &seed, at)?;
    }
    let honest = Call {
        plugin: "p",
        effect: Some(Effect::Write),
        migrations: vec![],
        statements: vec![],
    };
    let mut first = operation(&honest, 1000, Effect::Write);
    first.tool = CANARY_OF_HOST.to_owned();
    first.input_digest = Digest::of(CANARY_OF_HOST);
    store.perform(&first, &mut |_| {
        Ok(Ok(StepAnswer::Done {
            state: "done".to_owned(),
            data: JsonText::of(&CANARY_OF_HOST),
        }))
    })?;
    drop(store);
    Ok(fs::read(&path).expect("the database was closed"))
}

fn migration(version: u32, sql: &str) -> Migration {
    Migration {
        version,
        sql: sql.to_owned(),
    }
}

fn store(path: &Path) -> BusinessStore {
    let some = |value| NonZeroU32::new(value).expect("it is not zero");
    let limits = SqlLimits {
        sql_millis: some(40),
        install_millis: some(2_000),
        rows_per_query: some(1000),
        workspace_bytes: NonZeroU64::new(8 << 20).expect("it is not zero"),
        ..SqlLimits::standard()
    };
    let tenant = "tenant".parse().expect("it is an id");
    BusinessStore::open(path, &tenant, limits, jiff::Timestamp::UNIX_EPOCH)
        .expect("the workspace opens")
}

/// In memory where the machine has such a place: every commit is synced.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a folder can be made")
}

fn rows(connection: &Connection, table: &str) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let width = statement.column_count();
    let mut found = Vec::new();
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let mut text = String::new();
        for index in 0..width {
            let value = match row.get_ref(index)? {
                ValueRef::Text(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
                other => format!("{other:?}"),
            };
            let _ = write!(text, "{value}|");
        }
        found.push(text);
    }
    found.sort();
    Ok(found)
}
