//! How a task is run: options of `demo`, `run` and `resume` alike, neither part of the request nor remembered.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use clap::{
    Args, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser as _},
};
use wharf::{
    Checkpoint, Config, Error, PlanExecute, Planner,
    core::ports::context::Context,
    technologies::{redis_context::RedisContext, script_planner::ScriptPlanner},
};

use super::{
    config::ConfigArgs,
    context::{ContextChoice, context},
    environment::Environment,
    error::CliError,
};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct WayArgs {
    /// Who proposes plans: `search` needs no model; `script:FILE` holds a model's answers, one JSON object per line.
    #[arg(long, value_name = "search|script:FILE", default_value = "search", value_parser = OsStringValueParser::new().try_map(planner))]
    planner: PlannerChoice,
    /// Where working sets are kept while the task runs: in memory, or in a Redis at `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    #[arg(long, value_name = "embedded|ADDRESS", default_value = "embedded", value_parser = context())]
    context: ContextChoice,
    /// Stops when a plan was accepted, before its effects; when one step was completed; or when the report is durable, before
    /// anything is published.
    #[arg(long, value_name = "CHECKPOINT", value_enum)]
    stop_after: Option<StopAfter>,
    #[command(flatten)]
    config: ConfigArgs,
}

/// As the library takes it.
pub(super) struct Way {
    /// The pattern with its planner.
    pub(super) pattern: PlanExecute,
    /// Where working sets are kept; none: in the host's own memory.
    pub(super) context: Option<Arc<dyn Context>>,
    /// Where to stop, if anywhere.
    pub(super) stop_after: Option<Checkpoint>,
    /// What is allowed.
    pub(super) config: Config,
}

impl WayArgs {
    /// Reads the script, where one is named. Writes nothing, connects to nothing.
    pub(super) fn resolve(&self, environment: &Environment) -> Result<Way, Error> {
        let address = self.context.address(environment)?;
        let planner = match &self.planner {
            PlannerChoice::Search => Planner::Search,
            PlannerChoice::Script(path) => Planner::Model(Arc::new(ScriptPlanner::read(path)?)),
            PlannerChoice::Model => return Err(CliError::NoModel.into()),
        };
        let stop_after = self.stop_after.map(|stop| match stop {
            StopAfter::Plan => Checkpoint::Plan,
            StopAfter::Step => Checkpoint::Step,
            StopAfter::Report => Checkpoint::Report,
        });
        Ok(Way {
            pattern: PlanExecute::new(planner),
            context: address.map(|address| Arc::new(RedisContext::new(address)) as _),
            stop_after,
            config: self.config.read()?,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PlannerChoice {
    Search,
    Script(PathBuf),
    Model,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StopAfter {
    // Documented at the option.
    Plan,
    Step,
    Report,
}

fn planner(typed: OsString) -> Result<PlannerChoice, &'static str> {
    match typed.to_str() {
        Some("search") => return Ok(PlannerChoice::Search),
        Some("model") => return Ok(PlannerChoice::Model),
        _ => (),
    }
    let file = typed
        .as_encoded_bytes()
        .strip_prefix(b"script:")
        .filter(|file| !file.is_empty());
    // Whatever follows a prefix of ASCII is as the operating system gave it.
    file.and_then(path)
        .map(PlannerChoice::Script)
        .ok_or("it is `search`, or `script:` and a file")
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
        assert_eq!(planner("search".into()), Ok(PlannerChoice::Search));
        assert_eq!(planner("model".into()), Ok(PlannerChoice::Model));
        assert_eq!(
            planner("script:a:b.jsonl".into()),
            Ok(PlannerChoice::Script("a:b.jsonl".into()))
        );
        assert!(planner("script:".into()).is_err());
        assert!(planner("Search".into()).is_err());
    }

    #[test]
    fn what_belongs_to_a_later_version_is_refused_as_bad_input() {
        let way = WayArgs {
            planner: PlannerChoice::Model,
            context: ContextChoice::Embedded,
            stop_after: None,
            config: ConfigArgs::none(),
        };
        let error = way.resolve(&Environment::read()).err().unwrap();
        assert_eq!(
            (error.code(), error.kind()),
            ("planner-not-available", wharf::Kind::InvalidInput)
        );
    }
}
