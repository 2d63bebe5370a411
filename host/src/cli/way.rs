//! How a task is run: options of `demo`, `run` and `resume` alike, neither part of the request nor remembered.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{
    Args, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser as _},
};
use wharf::{
    Checkpoint, Config, Error, HostBuilder, PlanExecute, Planner,
    core::ports::{agent_model::AgentModel, context::Context},
    host::PlannerName,
    technologies::{redis_context::RedisContext, script_planner::ScriptPlanner},
};

use super::{
    config::{ConfigArgs, Configured},
    context::{ContextChoice, context},
    environment::Environment,
    model,
};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct WayArgs {
    #[command(flatten)]
    means: MeansArgs,
    /// Stops when a plan was accepted, before its effects; when one step was completed; or when the report is durable, before
    /// anything is published.
    #[arg(long, value_name = "CHECKPOINT", value_enum)]
    stop_after: Option<StopAfter>,
    #[command(flatten)]
    config: ConfigArgs,
}

/// As typed, of whatever tasks are run.
#[derive(Debug, Args)]
pub(super) struct MeansArgs {
    /// Who proposes plans: `search` needs no model; `script:FILE` holds a model's answers, one JSON object per line; `model` is
    /// one of a provider in the configuration. Default: the configuration's, else `search`.
    #[arg(long, value_name = "PLANNER", value_parser = OsStringValueParser::new().try_map(planner))]
    planner: Option<PlannerName>,
    /// Where working sets are kept while the task runs: in memory, or in a Redis at `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    /// Default: the configuration's, else `embedded`.
    #[arg(long, value_name = "embedded|ADDRESS", value_parser = context())]
    context: Option<ContextChoice>,
}

/// As the library takes it.
pub(super) struct Way {
    /// What it is run with.
    pub(super) means: Means,
    /// Where to stop, if anywhere.
    pub(super) stop_after: Option<Checkpoint>,
}

/// What tasks are run with, as the library takes it.
pub(super) struct Means {
    /// The pattern with its planner.
    pub(super) pattern: PlanExecute,
    /// The model of an agent; none: the planner is none.
    pub(super) model: Option<Arc<dyn AgentModel>>,
    /// Where working sets are kept; none: in the host's own memory.
    pub(super) context: Option<Arc<dyn Context>>,
    /// What is allowed.
    pub(super) config: Config,
}

impl Means {
    /// A host of this workspace that stands on them, as yet without anything else.
    pub(super) fn host(&self, workspace: &Path) -> HostBuilder {
        let host = HostBuilder::new(workspace)
            .limits(self.config.limits.clone())
            .sync_outputs(self.config.sync_outputs);
        match &self.context {
            Some(context) => host.context(Arc::clone(context)),
            None => host,
        }
    }
}

impl WayArgs {
    /// As [`MeansArgs::resolve`].
    pub(super) fn resolve(&self, environment: &Environment) -> Result<Way, Error> {
        let stop_after = self.stop_after.map(|stop| match stop {
            StopAfter::Plan => Checkpoint::Plan,
            StopAfter::Step => Checkpoint::Step,
            StopAfter::Report => Checkpoint::Report,
        });
        Ok(Way {
            means: self.means.resolve(&self.config, environment)?,
            stop_after,
        })
    }
}

impl MeansArgs {
    /// Reads the configuration, and the script, where one is named. Writes nothing, connects to nothing.
    pub(super) fn resolve(
        &self,
        config: &ConfigArgs,
        environment: &Environment,
    ) -> Result<Means, Error> {
        let Configured { config, folder } = config.read(environment)?;
        let address = match (&self.context, &config.defaults.context) {
            (Some(typed), _) => typed.address(environment)?,
            (None, Some(default)) => {
                ContextChoice::from(OsString::from(default)).address(environment)?
            }
            (None, None) => None,
        };
        let planner = match (&self.planner, &config.defaults.planner) {
            (Some(typed), _) => typed.clone(),
            (None, Some(PlannerName::Script(file))) => PlannerName::Script(folder.join(file)),
            (None, Some(name)) => name.clone(),
            (None, None) => PlannerName::Search,
        };
        let (planner, model): (_, Option<Arc<dyn AgentModel>>) = match &planner {
            PlannerName::Search => (Planner::Search, None),
            PlannerName::Script(path) => {
                let script = Arc::new(ScriptPlanner::read(path)?);
                (Planner::Model(script.clone()), Some(script))
            }
            PlannerName::Model => {
                let model = Arc::new(model::planner(&config, &folder)?);
                (Planner::Model(model.clone()), Some(model))
            }
        };
        Ok(Means {
            pattern: PlanExecute::new(planner),
            model,
            context: address.map(|address| Arc::new(RedisContext::new(address)) as _),
            config,
        })
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StopAfter {
    // Documented at the option.
    Plan,
    Step,
    Report,
}

fn planner(typed: OsString) -> Result<PlannerName, &'static str> {
    match typed.to_str() {
        Some("search") => return Ok(PlannerName::Search),
        Some("model") => return Ok(PlannerName::Model),
        _ => (),
    }
    let file = typed
        .as_encoded_bytes()
        .strip_prefix(b"script:")
        .filter(|file| !file.is_empty());
    // Whatever follows a prefix of ASCII is as the operating system gave it.
    file.and_then(path)
        .map(PlannerName::Script)
        .ok_or("it is `search`, `model`, or `script:` and a file")
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planner_is_a_name_or_a_script() {
        assert_eq!(planner("search".into()), Ok(PlannerName::Search));
        assert_eq!(planner("model".into()), Ok(PlannerName::Model));
        assert_eq!(
            planner("script:a:b.jsonl".into()),
            Ok(PlannerName::Script("a:b.jsonl".into()))
        );
        assert!(planner("script:".into()).is_err());
        assert!(planner("Search".into()).is_err());
    }
}
