//! Which tables a plugin owns, and which names stand for something else.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use rusqlite::Connection;

use super::{
    bytecode::{Pages, roots},
    own_schema::{OwnSchema, definitions},
};

/// The names of one state of the schema. Lower case throughout: SQLite compares names without case.
#[derive(Debug)]
pub(super) struct Catalog {
    /// SQLite's counter of schema changes that this was read at.
    version: i64,
    objects: Arc<Objects>,
    plugins: HashMap<String, Owned>,
}

/// What is a plugin's.
#[derive(Debug, Clone, Default)]
pub(super) struct Owned {
    /// Its tables and views.
    pub(super) names: Arc<HashSet<String>>,
    /// What it may open.
    pub(super) pages: Arc<Pages>,
    /// The same as a database of its own.
    pub(super) schema: Arc<OwnSchema>,
}

/// Everything that a name in a `FROM` could stand for, common table expressions aside.
#[derive(Debug, Default)]
pub(super) struct Objects {
    names: HashSet<String>,
    /// Whether one of the schema is called like a table-valued function that a plugin may use.
    is_shadowed: bool,
}

impl Objects {
    /// In the host's phase.
    pub(super) fn read(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let names = |sql| {
            connection
                .prepare_cached(sql)?
                .query_map((), |row| row.get(0))?
                .collect::<Result<HashSet<String>, rusqlite::Error>>()
        };
        let mut all = names("SELECT lower(name) FROM sqlite_schema")?;
        let is_shadowed = all.contains("json_each") || all.contains("json_tree");
        all.extend(names("SELECT lower(name) FROM pragma_module_list")?);
        Ok(Self {
            names: all,
            is_shadowed,
        })
    }

    /// Whether anything has the name, which is in lower case.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a table or view is called `json_each` or `json_tree`.
    pub(super) const fn shadow_json(&self) -> bool {
        self.is_shadowed
    }
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
        let mut names: HashMap<String, HashSet<String>> = HashMap::new();
        let mut rows = connection.prepare("SELECT plugin, lower(name) FROM wharf_tables")?;
        let mut rows = rows.query(())?;
        while let Some(row) = rows.next()? {
            names.entry(row.get(0)?).or_default().insert(row.get(1)?);
        }
        let (roots, definitions) = (roots(connection)?, definitions(connection)?);
        let owned = |(plugin, names): (String, HashSet<String>)| {
            let owned = Owned {
                pages: Arc::new(Pages::of(&roots, |table| names.contains(table))),
                schema: Arc::new(OwnSchema::of(&definitions, |table| names.contains(table))),
                names: Arc::new(names),
            };
            (plugin, owned)
        };
        Ok(Self {
            version,
            objects: Arc::new(Objects::read(connection)?),
            plugins: names.into_iter().map(owned).collect(),
        })
    }

    /// What is the plugin's.
    pub(super) fn owned_by(&self, plugin: &str) -> Owned {
        self.plugins.get(plugin).cloned().unwrap_or_default()
    }

    /// One of the plugin's tables and views that its migrations created and that is gone: what a plugin makes of that would
    /// be taken for the state of its business.
    pub(super) fn lost_by(&self, plugin: &str) -> Option<&str> {
        let mut owned = self.plugins.get(plugin)?.names.iter();
        owned
            .find(|name| !self.objects.contains(name))
            .map(String::as_str)
    }

    /// The state of the schema that it was read from.
    pub(super) const fn version(&self) -> i64 {
        self.version
    }

    /// Everything that a name could stand for.
    pub(super) fn objects(&self) -> Arc<Objects> {
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
