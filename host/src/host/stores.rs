//! The stores of one workspace, opened for one tenant.

use std::{path::Path, sync::Arc};

use jiff::Timestamp;

use super::{
    limits::{Allowance, HostLimits},
    run::RunError,
};
use crate::{
    business::{BusinessStore, SqlLimits},
    core::{
        ports::{domain::Declared as _, journal::Journal as _, permission::Permission},
        request::Request,
        task_request::TaskRequest,
    },
    plugin::Plugin,
    sqlite::{error::SqliteError, open::BUSY},
    technologies::{
        admission::{AdmissionError, Component, KeptComponents, stored},
        archive::FileArchive,
        journal::SqliteJournal,
        memories::SqliteMemories,
        memory_database::MemoryDatabase,
        policy_file::PolicyFile,
        workspace::{Workspace, WorkspaceError},
    },
    words::{
        clock::Clock,
        error::{Error, Facts, Fault, Kind},
        id::{PluginName, TaskId, TenantId},
    },
};

pub(super) struct Stores {
    pub(super) workspace: Workspace,
    pub(super) business: Arc<BusinessStore>,
    pub(super) journal: Arc<SqliteJournal>,
    /// In the database of the journal. No tool reaches it yet.
    pub(super) memories: Arc<SqliteMemories>,
    pub(super) archive: Arc<FileArchive>,
    pub(super) permission: Arc<dyn Permission>,
    pub(super) components: KeptComponents,
}

impl Stores {
    /// Opens the databases of a workspace, making them where they are missing.
    pub(super) fn open(
        workspace: Workspace,
        tenant: &TenantId,
        archive: FileArchive,
        permission: Option<Arc<dyn Permission>>,
        limits: &HostLimits,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let now = clock.now();
        let business = BusinessStore::open(
            &workspace.business_database(),
            tenant,
            SqlLimits::standard()
                .with_calls(limits.others.sql)
                .with_database(limits.database),
            now,
        )?;
        let own = |(name, plugin): (&PluginName, &Allowance)| (name.clone(), plugin.sql);
        let business = Arc::new(business.with_plugin_limits(limits.plugins.iter().map(own)));
        let memory =
            MemoryDatabase::open(&workspace.memory_database(), BUSY, Arc::clone(clock), now)?;
        let memory = Arc::new(memory);
        let permission = permission.unwrap_or_else(|| Arc::new(PolicyFile::new(workspace.clone())));
        Ok(Self {
            workspace,
            business,
            journal: Arc::new(SqliteJournal::new(Arc::clone(&memory))),
            memories: Arc::new(SqliteMemories::new(memory)),
            archive: Arc::new(archive),
            permission,
            components: KeptComponents::default(),
        })
    }

    /// Applies the plugin's migrations that are still to be applied; refused while an unfinished task pins another digest.
    /// Those that another process applied are durable with the first record of the task, before which the database is settled.
    pub(super) fn install(
        &self,
        plugin: &Plugin,
        request: &Request,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (name, migrations) = (&request.plugin.name, &plugin.descriptor().migrations);
        if self.business.pending_migrations(name, migrations)? > 0 {
            self.refuse_while_pinned(request)?;
            self.business.install(name, migrations, now)?;
        }
        Ok(())
    }

    /// Keeps the component of a plugin that runs here.
    pub(super) fn keep_component(&self, component: Component<'_>) -> Result<(), AdmissionError> {
        component.keep(&self.workspace, &self.components)
    }

    /// Fills the plugin's tables once, in a workspace without a task.
    pub(super) fn seed(&self, plugin: &PluginName, sql: &str, now: Timestamp) -> Result<(), Error> {
        self.refuse_seed()?;
        self.business.seed(plugin, sql, now)?;
        Ok(())
    }

    /// Refuses a seed where there is a task.
    pub(super) fn refuse_seed(&self) -> Result<(), Error> {
        let mut tasks = self.journal.tasks()?;
        tasks.extend(self.journal.removed()?);
        match tasks.into_iter().next() {
            Some(task) => Err(StoresError::NotNew { task }.into()),
            None => Ok(()),
        }
    }

    fn refuse_while_pinned(&self, request: &Request) -> Result<(), Error> {
        for task in self.journal.tasks()? {
            // An agent pins no digest.
            let Some(TaskRequest::PlanExecute(other)) = stored(&self.workspace, &task)? else {
                continue;
            };
            if other.plugin.name != request.plugin.name
                || other.plugin.digest == request.plugin.digest
            {
                continue;
            }
            let records = self.journal.load(&task)?;
            if !super::opening::fold(&Arc::from(other), &records)?.is_done() {
                return Err(StoresError::Pinned {
                    task,
                    plugin: request.plugin.name.clone(),
                }
                .into());
            }
        }
        Ok(())
    }
}

/// Whose workspace it is; none: its preparation did not end.
///
/// # Errors
/// The business database does not say, or is gone, although there are tasks.
pub(super) fn tenant_of(workspace: &Workspace) -> Result<Option<TenantId>, Error> {
    let business = workspace.business_database();
    if let Some(tenant) = BusinessStore::tenant_of(&business)? {
        return Ok(Some(tenant));
    }
    let journal = SqliteJournal::open_read_only(&workspace.memory_database(), BUSY)?;
    let tasks = journal.map_or_else(|| Ok(Vec::new()), |journal| journal.tasks())?;
    if tasks.is_empty() {
        Ok(None)
    } else if business.exists() {
        let directory = workspace.root().to_owned();
        Err(RunError::TenantMissing { directory }.into())
    } else {
        Err(SqliteError::Missing { path: business }.into())
    }
}

/// Whose workspace a directory is; none: it is none yet.
///
/// # Errors
/// As for a run: a business database that is gone or does not say.
pub fn tenant(directory: &Path) -> Result<Option<TenantId>, Error> {
    match Workspace::open(directory) {
        Ok(workspace) => tenant_of(&workspace),
        Err(WorkspaceError::NoTask { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The journals of a workspace, for reading; none: its preparation did not end.
///
/// # Errors
/// The journals cannot be read, or are gone, although there are tasks.
pub(super) fn journal_of(workspace: &Workspace) -> Result<Option<SqliteJournal>, Error> {
    let path = workspace.memory_database();
    if let Some(journal) = SqliteJournal::open_read_only(&path, BUSY)? {
        return Ok(Some(journal));
    }
    let Some(tenant) = BusinessStore::tenant_of(&workspace.business_database())? else {
        return Ok(None);
    };
    let business = BusinessStore::open_read_only(
        &workspace.business_database(),
        &tenant,
        SqlLimits::standard(),
    )?;
    if business.anchored_tasks()?.is_empty() {
        Ok(None)
    } else {
        Err(SqliteError::Missing { path }.into())
    }
}

/// Why a workspace cannot take a plugin or a seed.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoresError {
    /// A seed for a workspace that has tasks.
    #[error("a seed fills a new workspace only, and this one has the task `{task}`")]
    NotNew {
        /// A task.
        task: TaskId,
    },
    /// A schema change under an unfinished task.
    #[error(
        "the plugin `{plugin}` would change its tables while task `{task}` is unfinished under another version of it"
    )]
    Pinned {
        /// The task.
        task: TaskId,
        /// The plugin.
        plugin: PluginName,
    },
}

impl Fault for StoresError {
    fn facts(&self) -> Facts {
        match self {
            Self::NotNew { .. } => Facts::new(
                "workspace-not-new",
                Kind::InvalidInput,
                "leave out the seed, or use another directory",
            ),
            Self::Pinned { .. } => Facts::new(
                "plugin-pinned",
                Kind::Conflict,
                "finish that task with `wharf resume`, then try again",
            ),
        }
    }
}
