//! Which tables a plugin owns, and which names stand for something else.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use rusqlite::Connection;

use super::bytecode::{Pages, roots};

/// The names of one state of the schema. Lower case throughout: SQLite compares names without case.
#[derive(Debug)]
pub(super) struct Catalog {
    /// SQLite's counter of schema changes that this was read at.
    version: i64,
    /// Everything that a name in a `FROM` could stand for, common table expressions aside.
    objects: Arc<HashSet<String>>,
    /// Whether a table or view is called like a table-valued function that a plugin may use.
    is_shadowed: bool,
    /// The tables and views of each plugin.
    owned: HashMap<String, Arc<HashSet<String>>>,
    /// What each plugin may open.
    pages: HashMap<String, Arc<Pages>>,
}

impl Catalog {
    /// Reads it, or keeps `last` where the schema has not changed since. Inside the transaction that will rely on it.
    pub(super) fn current(
        connection: &Connection,
        last: Option<Arc<Self>>,
    ) -> Result<Arc<Self>, rusqlite::Error> {
        let version = connection
            .prepare_cached("PRAGMA schema_version")?
            .query_row((), |row| row.get(0))?;
        if let Some(last) = last
            && last.version == version
        {
            return Ok(last);
        }
        Self::read(connection, version).map(Arc::new)
    }

    fn read(connection: &Connection, version: i64) -> Result<Self, rusqlite::Error> {
        let objects: HashSet<String> = connection
            .prepare(
                "SELECT lower(name) FROM sqlite_schema UNION SELECT lower(name) FROM pragma_module_list",
            )?
            .query_map((), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut owned: HashMap<String, HashSet<String>> = HashMap::new();
        let mut rows = connection.prepare("SELECT plugin, lower(name) FROM wharf_tables")?;
        let mut rows = rows.query(())?;
        while let Some(row) = rows.next()? {
            owned.entry(row.get(0)?).or_default().insert(row.get(1)?);
        }
        let roots = roots(connection)?;
        let mut pages = HashMap::new();
        for (plugin, names) in &owned {
            let mut own = Pages::default();
            for (table, page) in &roots {
                own.add(table, *page, names.contains(table));
            }
            pages.insert(plugin.clone(), Arc::new(own));
        }
        let is_shadowed = connection
            .prepare("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE lower(name) IN ('json_each', 'json_tree'))")?
            .query_row((), |row| row.get(0))?;
        Ok(Self {
            is_shadowed,
            pages,
            version,
            objects: Arc::new(objects),
            owned: owned
                .into_iter()
                .map(|(plugin, names)| (plugin, Arc::new(names)))
                .collect(),
        })
    }

    /// The plugin's tables and views.
    pub(super) fn owned_by(&self, plugin: &str) -> Arc<HashSet<String>> {
        self.owned.get(plugin).cloned().unwrap_or_default()
    }

    /// What the plugin's statements may open.
    pub(super) fn pages_of(&self, plugin: &str) -> Arc<Pages> {
        self.pages.get(plugin).cloned().unwrap_or_default()
    }

    /// Whether a table or view is called `json_each` or `json_tree`.
    pub(super) const fn is_shadowed(&self) -> bool {
        self.is_shadowed
    }

    /// One of the plugin's tables and views that its migrations created and that is gone: what a plugin makes of that would
    /// be taken for the state of its business.
    pub(super) fn lost_by(&self, plugin: &str) -> Option<&str> {
        let mut owned = self.owned.get(plugin)?.iter();
        owned
            .find(|name| !self.objects.contains(*name))
            .map(String::as_str)
    }

    /// The state of the schema that it was read from.
    pub(super) const fn version(&self) -> i64 {
        self.version
    }

    /// Everything that a name could stand for.
    pub(super) fn objects(&self) -> Arc<HashSet<String>> {
        Arc::clone(&self.objects)
    }
}

/// Whether the host keeps names like this one for itself or for SQLite: nothing of a plugin may be called so.
pub(super) fn is_reserved(name: &str) -> bool {
    const USABLE: [&str; 4] = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"];
    is_hidden(name)
        || USABLE
            .iter()
            .any(|usable| name.eq_ignore_ascii_case(usable))
}

/// Whether a plugin may not even say the name: it could stand for a table of the host's, of SQLite's or of a module that
/// makes one up.
pub(super) fn is_hidden(name: &str) -> bool {
    const MODULES: [&str; 5] = [
        "bytecode",
        "dbstat",
        "fts3tokenize",
        "fts4aux",
        "tables_used",
    ];
    ["wharf_", "sqlite_", "pragma_"].iter().any(|prefix| {
        name.as_bytes()
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    }) || MODULES
        .iter()
        .any(|module| name.eq_ignore_ascii_case(module))
}
