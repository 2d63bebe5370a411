//! What can be typed. What it means stands in the file of each command.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PathBufValueParser, TypedValueParser},
};
use wharf::TaskId;

use super::{
    agent::AgentArgs, config::ConfigArgs, decide::DecideArgs, demo::DemoArgs, doctor::DoctorArgs,
    gc::GcArgs, mcp::McpArgs, way::WayArgs,
};

const EXIT_CODES: &str = "\
Exit codes:
    0  completed
    2  bad usage, or bad input handed in
   10  needs a person
   11  partial: stopped before it was done
   12  stopped at the checkpoint that was asked for
   13  waits for `wharf approve` or `wharf deny`
  130  cancelled
    1  anything else

Environment:
  WHARF_LOG             what is logged to standard error, such as `info` or `wharf=debug`; default `warn`
  WHARF__TABLE__KEY     a key of the configuration, such as WHARF__DEFAULTS__PLANNER
  WHARF_REDIS_PASSWORD  the password of a Redis whose address has none; others can read command lines
  NO_COLOR              no colours
  XDG_CACHE_HOME        where compiled plugins are kept, in the folder `wharf`";

/// Runs plan-and-execute tasks whose business domain lives in sandboxed WebAssembly plugins.
#[derive(Debug, Parser)]
#[command(name = "wharf", version, after_help = EXIT_CODES)]
pub(super) struct Cli {
    /// How the result is printed; `json` is exactly one document.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    // Not documented one by one: clap would give each a line of its own in every help.
    Text,
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs one task of the reference domain in a fresh workspace: no server, no key.
    Demo(Box<DemoArgs>),
    /// Runs one task of any domain.
    Run(Box<RunArgs>),
    /// Goes on with a saved task.
    Resume(ResumeArgs),
    /// Tells what the journal knows of each task: stage, plans, steps, budgets, time left.
    Status(LookArgs),
    /// Verifies a workspace offline and changes nothing.
    Audit(AuditArgs),
    /// Tries what this machine offers: Redis, disk, SQLite, compile cache, sandbox, processor, servers of models.
    Doctor(DoctorArgs),
    /// Serves the workspace to clients of the Model Context Protocol: plans, memories, tasks.
    Mcp(McpArgs),
    /// Runs an agent that plans with tools over the workspace's memory.
    Agent(Box<AgentArgs>),
    /// Approves the call that an agent's task waits with.
    Approve(DecideArgs),
    /// Denies the call that an agent's task waits with.
    Deny(DecideArgs),
    /// Removes finished tasks that are old enough; what they did stays.
    Gc(GcArgs),
    /// Looks at plugins.
    Plugin {
        /// What to do.
        #[command(subcommand)]
        command: PluginCommand,
    },
}

/// The commands about plugins.
#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Tells what a component is: digest, size, contract version, imports, and what the plugin says of itself.
    Inspect(InspectArgs),
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The plugin's component; the request names it by digest.
    #[arg(long, value_name = "FILE.wasm")]
    pub(super) plugin: PathBuf,
    /// The request.
    #[arg(long, value_name = "FILE.json")]
    pub(super) request: PathBuf,
    /// The workspace: missing, empty, or one of the same tenant.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    pub(super) dir: PathBuf,
    /// Trusted SQL that fills the plugin's own tables once, in a new workspace.
    #[arg(long, value_name = "FILE.sql")]
    pub(super) seed: Option<PathBuf>,
    #[command(flatten)]
    pub(super) way: WayArgs,
}

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    pub(super) dir: PathBuf,
    /// The task; default: the only one, else the newest that is not finished.
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<TaskId>,
    #[command(flatten)]
    pub(super) way: WayArgs,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    #[command(flatten)]
    pub(super) look: LookArgs,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

/// Arguments of `status` and `audit`.
#[derive(Debug, Args)]
pub(super) struct LookArgs {
    /// The workspace.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    pub(super) dir: PathBuf,
    /// The task; default: all.
    #[arg(long, value_name = "ID")]
    pub(super) task: Option<TaskId>,
}

/// Arguments of `plugin inspect`.
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// The component, or a folder: all files in it whose name ends in `.wasm`.
    #[arg(value_name = "FILE.wasm|DIR")]
    pub(super) component: PathBuf,
}

/// A directory, as an absolute path: it is printed so, and means the same from everywhere.
pub(super) fn directory() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(std::path::absolute)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_takes_a_format_before_and_after_its_name() {
        for line in [
            "wharf --format json demo",
            "wharf demo --format json",
            "wharf run --plugin p --request r --dir d --format json",
            "wharf resume --dir d --format json",
            "wharf status --dir d --format json",
            "wharf audit --dir d --format json",
            "wharf doctor --format json",
            "wharf mcp --dir d --format json",
            "wharf plugin inspect f --format json",
        ] {
            assert_eq!(
                parse(line).map(|cli| cli.format).ok(),
                Some(Format::Json),
                "{line}"
            );
        }
        assert_eq!(parse("wharf demo").unwrap().format, Format::Text);
    }

    #[test]
    fn resume_takes_no_option_that_would_change_the_request() {
        for option in [
            "--goal g",
            "--max-plans 1",
            "--request r",
            "--seed s",
            "--plugin p",
            "--deadline-seconds 1",
        ] {
            assert!(
                parse(&format!("wharf resume --dir d {option}")).is_err(),
                "{option}"
            );
        }
    }

    #[test]
    fn a_task_is_named_by_an_identifier() {
        assert!(parse("wharf status --dir d --task TASK-1_a").is_ok());
        assert!(parse("wharf status --dir d --task ../x").is_err());
    }
}
