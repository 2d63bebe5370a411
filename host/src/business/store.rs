//! The business database of one workspace.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    BusinessError, CallSqlLimits, SqlLimits, anchors,
    catalog::Catalog,
    confinement::{Gate, May, confine},
    denials::Caller,
    ledger,
    plugin_sql::{PluginSql, Terms, restrict},
    workspace::{Workspace, admit, workspace},
};
use crate::{
    core::{
        contract::{OperationKey, Subject},
        ports::{
            business::{
                Business, LedgerRow, Operation, Performed, Read, ReadOutcome, Sql, StepCall,
            },
            journal::Position,
        },
    },
    sqlite::{
        error::SqliteError,
        migrations::{self, BUSINESS},
        open,
        readers::Readers,
        writer::Writer,
    },
    words::{
        error::Error,
        id::{PluginName, TaskId, TenantId},
    },
};

/// `business.sqlite`: one writing connection, some reading ones. May be shared by any number of threads; several
/// processes may hold the same file.
pub struct BusinessStore {
    // Closed before the writer, so that the writer's close tidies up the files beside the database.
    readers: Readers<Confined>,
    writer: Option<Writer>,
    gate: Arc<Gate>,
    catalog: Mutex<Option<Arc<Catalog>>>,
    limits: SqlLimits,
    /// Of plugins that have their own.
    plugin_limits: BTreeMap<PluginName, CallSqlLimits>,
    workspace: Workspace,
    path: PathBuf,
}

/// A reading connection and what confines it.
struct Confined {
    connection: Connection,
    gate: Arc<Gate>,
}

impl BusinessStore {
    /// Opens the database of a tenant's workspace, brings its schema up to date, and creates it where there is none.
    /// `at` is the time that new rows of the host's own tables carry.
    ///
    /// # Errors
    /// `denied` for another tenant's workspace; a newer schema, a foreign or damaged file, all untouched; a file that
    /// cannot be opened, can only be read or stays locked.
    pub fn open(
        path: &Path,
        tenant: &TenantId,
        limits: SqlLimits,
        at: Timestamp,
    ) -> Result<Self, Error> {
        let of = |e| SqliteError::of(path, e);
        let busy = busy(&limits);
        let mut connection = open::read_write(path, busy, |connection| {
            migrations::check(connection, path, BUSINESS).map(|_| ())
        })?;
        // A stranger changes nothing, not even the schema.
        if let Some(workspace) = workspace(&connection, path)? {
            admit(&workspace, tenant)?;
        }
        migrations::apply(&mut connection, path, BUSINESS, at)?;
        open::limit_heap(&connection, limits.heap_bytes.get()).map_err(of)?;
        // To write is to wait for whoever is writing: not where there is nothing to write.
        if workspace(&connection, path)?.is_none() {
            connection
                .execute(
                    "INSERT OR IGNORE INTO wharf_workspace (id, tenant) VALUES (lower(hex(randomblob(16))), ?1)",
                    [tenant.as_str()],
                )
                .map_err(of)?;
        }
        let gate = Gate::new();
        let size = limits.workspace_bytes.get();
        confine(&mut connection, &gate).map_err(of)?;
        open::limit_size(&connection, size).map_err(of)?;
        let again = (path.to_owned(), Arc::clone(&gate));
        let writer = Writer::new(path, connection, move || {
            let (path, gate) = &again;
            let mut connection = open::read_write(path, busy, |connection| {
                migrations::require(connection, path, BUSINESS)
            })?;
            confine(&mut connection, gate)
                .and_then(|()| open::limit_size(&connection, size))
                .map_err(|e| SqliteError::of(path, e))?;
            Ok(connection)
        });
        let file = path.to_owned();
        let readers = Readers::new(move || Confined::new(&file, open::reader(&file, busy)?));
        Self::new(path, Some(writer), readers, gate, limits, tenant)
    }

    /// Opens an existing database without writing: [`Business::perform`] and [`Business::anchor`] are refused, and
    /// [`Business::settle`], with it [`Business::find`], settles nothing. Leaves no file beside it.
    ///
    /// # Errors
    /// As [`Self::open`]; also a missing file and an older schema.
    pub fn open_read_only(
        path: &Path,
        tenant: &TenantId,
        limits: SqlLimits,
    ) -> Result<Self, Error> {
        let busy = busy(&limits);
        let file = path.to_owned();
        let readers = Readers::new(move || {
            let connection = open::read_only(&file, busy)?;
            migrations::require(&connection, &file, BUSINESS)?;
            Confined::new(&file, connection)
        });
        Self::new(path, None, readers, Gate::new(), limits, tenant)
    }

    /// Whose workspace a database belongs to, without writing; none for a missing file and for one whose preparation did
    /// not get that far.
    ///
    /// # Errors
    /// As [`Self::open_read_only`].
    pub fn workspace_of(path: &Path) -> Result<Option<Workspace>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let connection = open::read_only(path, open::BUSY)?;
        migrations::check(&connection, path, BUSINESS)?;
        Ok(workspace(&connection, path)?)
    }

    /// Gives plugins limits of their own on what their calls may use.
    #[must_use]
    pub fn with_plugin_limits(
        mut self,
        limits: impl IntoIterator<Item = (PluginName, CallSqlLimits)>,
    ) -> Self {
        self.plugin_limits = limits.into_iter().collect();
        self
    }

    /// Whose workspace this is.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Whose workspace a database belongs to; as [`Self::workspace_of`].
    ///
    /// # Errors
    /// As [`Self::open_read_only`].
    pub fn tenant_of(path: &Path) -> Result<Option<TenantId>, Error> {
        Ok(Self::workspace_of(path)?.map(|workspace| workspace.tenant))
    }

    /// Refuses a tenant that this workspace does not belong to.
    ///
    /// # Errors
    /// Kind `denied`.
    pub fn check_tenant(&self, tenant: &TenantId) -> Result<(), BusinessError> {
        admit(&self.workspace, tenant)
    }

    /// All tasks that have an anchor.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn anchored_tasks(&self) -> Result<Vec<TaskId>, Error> {
        self.reading(|connection| Ok(anchors::tasks(connection, &self.path)?))
    }

    /// A table or view that a plugin's migrations created and that is gone.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn lost_table(&self, plugin: &PluginName) -> Result<Option<String>, Error> {
        self.reading(|connection| {
            let catalog = self.catalog(|last| Catalog::current(connection, last))?;
            Ok(catalog.lost_by(plugin.as_str()).map(str::to_owned))
        })
    }

    /// How many commits with a sync this store has made since it was opened, preparation aside.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::syncs)
    }

    #[cfg(test)]
    pub(super) fn synchronous(&self) -> i64 {
        let transaction = self.writer().unwrap().begin().unwrap();
        let connection = transaction.connection();
        connection
            .query_row("PRAGMA synchronous", (), |row| row.get(0))
            .unwrap()
    }

    fn new(
        path: &Path,
        writer: Option<Writer>,
        readers: Readers<Confined>,
        gate: Arc<Gate>,
        limits: SqlLimits,
        tenant: &TenantId,
    ) -> Result<Self, Error> {
        let reader = readers.take()?;
        open::limit_heap(&reader.connection, limits.heap_bytes.get())
            .map_err(|e| SqliteError::of(path, e))?;
        let workspace =
            workspace(&reader.connection, path)?.ok_or_else(|| SqliteError::Malformed {
                path: path.to_owned(),
                what: "a workspace",
            })?;
        admit(&workspace, tenant)?;
        readers.give_back(reader);
        Ok(Self {
            readers,
            writer,
            gate,
            catalog: Mutex::new(None),
            limits,
            plugin_limits: BTreeMap::new(),
            workspace,
            path: path.to_owned(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn writer(&self) -> Result<&Writer, BusinessError> {
        self.writer.as_ref().ok_or(BusinessError::ReadOnly)
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub(super) const fn limits(&self) -> &SqlLimits {
        &self.limits
    }

    /// What a plugin's calls may use.
    pub(super) fn limits_of(&self, plugin: &PluginName) -> SqlLimits {
        let own = self.plugin_limits.get(plugin).copied();
        own.map_or(self.limits, |own| self.limits.with_calls(own))
    }

    /// The catalog that the last caller saw, replaced by what `current` makes of it.
    pub(super) fn catalog(
        &self,
        current: impl FnOnce(Option<Arc<Catalog>>) -> Result<Arc<Catalog>, rusqlite::Error>,
    ) -> Result<Arc<Catalog>, SqliteError> {
        let last = self
            .catalog
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let catalog = current(last).map_err(|e| SqliteError::of(&self.path, e))?;
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&catalog));
        Ok(catalog)
    }

    /// Runs `read` on a connection of its own, outside any transaction.
    pub(super) fn reading<R>(
        &self,
        read: impl FnOnce(&Connection) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let reader = self.readers.take()?;
        let result = read(&reader.connection);
        self.readers.give_back(reader);
        result
    }

    fn read_in_transaction(
        &self,
        reader: Confined,
        read: &Read,
        call: &mut dyn FnMut(Arc<dyn Sql>) -> Result<(), Error>,
    ) -> Result<ReadOutcome, Error> {
        let run = |connection: &Connection, sql: &str| {
            connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(()))
                .map_err(|e| SqliteError::of(&self.path, e))
        };
        let Confined { connection, gate } = reader;
        run(&connection, "BEGIN")?;
        if let Some((subject, input)) = &read.subject
            && let Some(conflict) =
                ledger::conflict(&connection, &self.path, &read.plugin, subject, input)?
        {
            run(&connection, "COMMIT")?;
            self.readers.give_back(Confined { connection, gate });
            return Ok(ReadOutcome::SubjectConflict(conflict));
        }
        let limits = self.limits_of(&read.plugin);
        let terms = Terms {
            caller: Caller {
                plugin: read.plugin.clone(),
                task: None,
                tool: None,
            },
            rules: self.rules(&connection, read.plugin.as_str(), May::Read)?,
            limits,
            until: None,
        };
        let restricted =
            restrict(&connection, &limits).map_err(|e| SqliteError::of(&self.path, e))?;
        let sql = PluginSql::open(connection, restricted, &gate, terms);
        let answer = call(Arc::clone(&sql) as Arc<dyn Sql>);
        if let Some(returned) = sql.close() {
            // A connection that lost its transaction is closed rather than given to somebody else.
            match returned.lost {
                Some(lost) => {
                    answer?;
                    return Err(lost.into());
                }
                None => {
                    run(&returned.connection, "COMMIT")?;
                    self.readers.give_back(Confined {
                        connection: returned.connection,
                        gate,
                    });
                }
            }
        }
        answer?;
        Ok(ReadOutcome::Read)
    }
}

impl Business for BusinessStore {
    fn perform(&self, operation: &Operation, step: StepCall<'_>) -> Result<Performed, Error> {
        self.perform_once(operation, step)
    }

    fn read(
        &self,
        read: &Read,
        call: &mut dyn FnMut(Arc<dyn Sql>) -> Result<(), Error>,
    ) -> Result<ReadOutcome, Error> {
        // Any early way out closes the connection, and with it the transaction.
        self.read_in_transaction(self.readers.take()?, read, call)
    }

    fn find(
        &self,
        plugin: &PluginName,
        subject: &Subject,
        key: &OperationKey,
    ) -> Result<Option<LedgerRow>, Error> {
        let row = self.reading(|connection| {
            Ok(ledger::find(connection, &self.path, plugin, subject, key)?)
        })?;
        self.settle()?;
        Ok(row)
    }

    fn rows_of(&self, task: &TaskId) -> Result<Vec<LedgerRow>, Error> {
        self.reading(|connection| Ok(ledger::of_task(connection, &self.path, task)?))
    }

    /// A store that was opened for reading only settles nothing: whoever reads through it writes nothing that relies on it.
    fn settle(&self) -> Result<(), Error> {
        match &self.writer {
            Some(writer) => Ok(writer.settle()?),
            None => Ok(()),
        }
    }

    fn anchor(&self, task: &TaskId, position: &Position) -> Result<(), Error> {
        let transaction = self.writer()?.begin()?;
        anchors::check(transaction.connection(), &self.path, task, position)?;
        anchors::put(transaction.connection(), &self.path, task, position)
            .map_err(|e| self.told_apart(transaction.connection(), e))?;
        Ok(transaction.commit()?)
    }

    fn anchor_of(&self, task: &TaskId) -> Result<Option<Position>, Error> {
        self.reading(|connection| anchors::get(connection, &self.path, task))
    }
}

impl Confined {
    fn new(path: &Path, mut connection: Connection) -> Result<Self, SqliteError> {
        let gate = Gate::new();
        confine(&mut connection, &gate).map_err(|e| SqliteError::of(path, e))?;
        Ok(Self { connection, gate })
    }
}

pub(super) fn busy(limits: &SqlLimits) -> Duration {
    Duration::from_millis(limits.busy_millis.get().into())
}
