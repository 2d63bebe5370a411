//! `HostBuilder` and `Host`: one workspace, its plugins and whoever runs tasks in it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::runtime::Handle;

use super::{
    blocking,
    known_digests::KnownDigests,
    limits::HostLimits,
    run,
    stores::{self, Stores},
    task::{Outcome, PlanExecute, RunOptions, Task},
    tools::{self, MemoryChoice},
};
use crate::{
    core::{
        metering::{Meter, Outstanding},
        ports::{context::Context, journal::Journal, permission::Permission},
        request::PluginRef,
        tools::{ToolBody, ToolDescriptor, Toolbox, plans::PlanRules},
    },
    plugin::{CompileCache, Plugin, PluginEngine, VerifiedBytes},
    technologies::{
        admission::Component,
        archive::FileArchive,
        embedded_context::{ContextBounds, EmbeddedContext},
        task_lock::TaskLock,
        workspace::{Workspace, WorkspaceError},
    },
    words::{
        clock::{Clock, SystemClock},
        error::{Error, Facts, Fault, Kind},
        id::{TaskId, TenantId},
    },
};

/// Chooses what a [`Host`] stands on.
#[derive(Clone)]
pub struct HostBuilder {
    directory: PathBuf,
    compile_cache: Option<PathBuf>,
    limits: HostLimits,
    engine: Option<PluginEngine>,
    clock: Arc<dyn Clock>,
    context: Option<Arc<dyn Context>>,
    permission: Option<Arc<dyn Permission>>,
    tenant: Option<TenantId>,
    sync_outputs: bool,
    rules: PlanRules,
    pub(super) tools: Vec<(ToolDescriptor, ToolBody)>,
    pub(super) memory: MemoryChoice,
}

impl HostBuilder {
    /// A host of the workspace in this directory. Without further calls: no compile cache, [`HostLimits::standard`], the
    /// machine's clock, a Context in memory, and each task's `policy.json`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            compile_cache: None,
            limits: HostLimits::standard(),
            engine: None,
            clock: Arc::new(SystemClock),
            context: None,
            permission: None,
            tenant: None,
            sync_outputs: true,
            rules: PlanRules::STANDARD,
            tools: Vec::new(),
            memory: MemoryChoice::Workspace,
        }
    }

    /// Keeps compiled plugins in this folder, which must belong to this user alone.
    #[must_use]
    pub fn compile_cache(mut self, folder: Option<PathBuf>) -> Self {
        self.compile_cache = folder;
        self
    }

    /// What is allowed; of [`crate::PluginLimits`] alone: the same to every plugin, the rest standard.
    #[must_use]
    pub fn limits(mut self, limits: impl Into<HostLimits>) -> Self {
        self.limits = limits.into();
        self
    }

    /// Runs plugins in an engine that several hosts share, whose limits then hold instead of [`HostLimits::engine`]. The
    /// plugins of all hosts wait for the same sandboxes, and are served in rotation.
    #[must_use]
    pub fn engine(mut self, engine: PluginEngine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Where working sets are kept.
    #[must_use]
    pub fn context(mut self, context: Arc<dyn Context>) -> Self {
        self.context = Some(context);
        self
    }

    /// Who decides what a principal may do.
    #[must_use]
    pub fn permission(mut self, permission: Arc<dyn Permission>) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Whose workspace it becomes where a tool is called before there is one; without it, the tenant `default`'s. One that stands
    /// already must be that tenant's.
    #[must_use]
    pub fn tenant(mut self, tenant: TenantId) -> Self {
        self.tenant = Some(tenant);
        self
    }

    /// Whether the outputs of a task are synced before it counts as finished, as they are without this call. If not, a power loss
    /// may take those of the last seconds: the journal has them whole, and writes them again when the task is run once more.
    #[must_use]
    pub const fn sync_outputs(mut self, sync: bool) -> Self {
        self.sync_outputs = sync;
        self
    }

    /// What the plans of agents are held to; without it, [`PlanRules::STANDARD`].
    #[must_use]
    pub const fn plan_rules(mut self, rules: PlanRules) -> Self {
        self.rules = rules;
        self
    }

    /// Builds the sandbox engine. Touches no file of the workspace: that is for the first run, after its request was checked.
    ///
    /// # Errors
    /// The engine cannot set aside what its limits ask for; the compile cache is not safe to use.
    pub fn build(self) -> Result<Host, Error> {
        let engine = match self.engine {
            Some(engine) => engine,
            None => PluginEngine::new(self.limits.engine)?,
        };
        let cache = self.compile_cache.map(CompileCache::open).transpose()?;
        let context = self.context.unwrap_or_else(|| {
            let bounds = ContextBounds::standard();
            Arc::new(EmbeddedContext::new(Arc::clone(&self.clock), bounds))
        });
        let tasks = tools::task_view(self.directory.clone(), Arc::clone(&self.clock));
        Ok(Host(Arc::new(Inner {
            toolbox: tools::toolbox(self.tools, self.rules, &self.memory, tasks)?,
            memory: self.memory,
            tenant: self.tenant,
            sync_outputs: self.sync_outputs,
            directory: self.directory,
            engine,
            cache,
            limits: self.limits,
            outstanding: Arc::default(),
            clock: self.clock,
            context,
            permission: self.permission,
            digests: KnownDigests::default(),
            plugins: Mutex::default(),
            stores: Mutex::default(),
        })))
    }
}

/// Runs the tasks of one workspace. Clones share everything.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    directory: PathBuf,
    engine: PluginEngine,
    cache: Option<CompileCache>,
    limits: HostLimits,
    outstanding: Arc<Outstanding>,
    clock: Arc<dyn Clock>,
    context: Arc<dyn Context>,
    permission: Option<Arc<dyn Permission>>,
    digests: KnownDigests,
    plugins: Mutex<HashMap<PluginRef, Arc<Plugin>>>,
    stores: Mutex<Option<Arc<Stores>>>,
    toolbox: Toolbox,
    tenant: Option<TenantId>,
    sync_outputs: bool,
    memory: MemoryChoice,
}

impl Host {
    /// Runs a task until it is finished, stopped at a checkpoint, cancelled or failed. Whatever ends it, what is durable stays,
    /// and the task can be run again; a finished task answers with its report and calls
    /// neither model nor plugin.
    ///
    /// # Errors
    /// Kind `invalid-input`: the request, the component or the seed is wrong; nothing was written. Any other kind: the task
    /// stays as it is and can be resumed.
    pub async fn run(
        &self,
        pattern: &PlanExecute,
        task: Task,
        options: RunOptions,
    ) -> Result<Outcome, Error> {
        let (host, pattern, runtime) = (self.clone(), pattern.clone(), Handle::current());
        blocking::run(move || run::run(&host, &pattern, task, options, runtime)).await
    }

    /// How many components this host has compiled; a compile cache saves compiling, and no component is compiled twice.
    #[must_use]
    pub fn compiles(&self) -> u64 {
        self.0.engine.compiles()
    }

    /// The directory of the workspace.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.0.clock)
    }

    pub(super) fn memory_choice(&self) -> &MemoryChoice {
        &self.0.memory
    }

    pub(super) fn toolbox(&self) -> &Toolbox {
        &self.0.toolbox
    }

    pub(super) fn context(&self) -> Arc<dyn Context> {
        Arc::clone(&self.0.context)
    }

    /// A component and its digest, computed once for bytes that are handed in again.
    pub(super) fn component<'a>(&self, bytes: &'a Arc<[u8]>) -> Component<'a> {
        self.0.digests.component(bytes)
    }

    /// The plugin that a request names, loaded once.
    pub(super) fn plugin(
        &self,
        component: impl Into<Arc<[u8]>>,
        named: &PluginRef,
    ) -> Result<Arc<Plugin>, Error> {
        let mut plugins = self
            .0
            .plugins
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(plugin) = plugins.get(named) {
            return Ok(Arc::clone(plugin));
        }
        let limits = self.0.limits.of(&named.name).sandbox;
        let bytes = VerifiedBytes::expect(component, named.digest, limits.component_bytes)?;
        let plugin = Arc::new(Plugin::load(
            &self.0.engine,
            &bytes,
            limits,
            self.0.cache.as_ref(),
        )?);
        plugins.insert(named.clone(), Arc::clone(&plugin));
        Ok(plugin)
    }

    /// Counts the calls of a task that has burnt this much fuel before; no stores: of one in a workspace that is still to be
    /// made.
    pub(super) fn meter(&self, burnt: u64, stores: Option<&Stores>) -> Arc<Meter> {
        let journal = stores.map(|stores| Arc::clone(&stores.journal) as Arc<dyn Journal>);
        let outstanding = Arc::clone(&self.0.outstanding);
        Arc::new(Meter::new(self.0.limits.fuel, burnt, journal, outstanding))
    }

    /// The lock of a task that has a folder already; none: there is no such workspace or folder.
    pub(super) fn lock_existing(&self, task: &TaskId) -> Result<Option<TaskLock>, Error> {
        let folder = match Workspace::open(&self.0.directory) {
            Ok(workspace) => workspace.task_folder(task),
            Err(WorkspaceError::NoTask { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Whatever stands there: the lock says what is wrong with it.
        if folder.symlink_metadata().is_ok() {
            Ok(Some(TaskLock::acquire(&folder)?))
        } else {
            Ok(None)
        }
    }

    /// The stores, if the workspace stands.
    pub(super) fn existing_stores(&self) -> Result<Option<Arc<Stores>>, Error> {
        let mut stores = self.0.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stores) = &*stores {
            return Ok(Some(Arc::clone(stores)));
        }
        let workspace = match Workspace::open(&self.0.directory) {
            Ok(workspace) => workspace,
            Err(WorkspaceError::NoTask { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(tenant) = stores::tenant_of(&workspace)? else {
            return Ok(None);
        };
        let opened = self.open_stores(workspace, &tenant)?;
        *stores = Some(Arc::clone(&opened));
        Ok(Some(opened))
    }

    /// The stores of the workspace, making it for the builder's tenant if need be.
    pub(super) fn stores_of_tenant(&self) -> Result<Arc<Stores>, Error> {
        match (&self.0.tenant, self.existing_stores()?) {
            (None, Some(stores)) => Ok(stores),
            (Some(tenant), _) => self.stores_for(tenant),
            (None, None) => self.stores_for(&standard_tenant()),
        }
    }

    /// The stores for a tenant, making the workspace if need be.
    pub(super) fn stores_for(&self, tenant: &TenantId) -> Result<Arc<Stores>, Error> {
        let mut stores = self.0.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stores) = &*stores {
            stores.business.check_tenant(tenant)?;
            return Ok(Arc::clone(stores));
        }
        let workspace = Workspace::create(&self.0.directory)?;
        let opened = self.open_stores(workspace, tenant)?;
        *stores = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn open_stores(&self, workspace: Workspace, tenant: &TenantId) -> Result<Arc<Stores>, Error> {
        let archive = FileArchive::new(workspace.clone()).sync_outputs(self.0.sync_outputs);
        let permission = self.0.permission.clone();
        let (limits, clock) = (&self.0.limits, &self.0.clock);
        let stores = Stores::open(workspace, tenant, archive, permission, limits, clock)?;
        Ok(Arc::new(stores))
    }
}

/// The tenant of a workspace that is made without one: `default`.
#[must_use]
pub fn standard_tenant() -> TenantId {
    "default".parse().expect("it is an identifier")
}

/// Why a host cannot run.
#[derive(Debug, thiserror::Error)]
pub(super) enum HostError {
    /// The runtime ended under the run.
    #[error("the runtime ended before the run did")]
    RuntimeEnded,
}

impl Fault for HostError {
    fn facts(&self) -> Facts {
        Facts::new(
            "runtime-ended",
            Kind::Unavailable,
            "keep the runtime alive until the run has ended; the task can be resumed",
        )
    }
}
