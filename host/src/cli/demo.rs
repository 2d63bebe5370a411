//! `wharf demo`: one task of the reference domain, in a fresh workspace.
//!
//! The only file under `host/src` in which words of a domain may stand: the options that the reference domain's demo has. Where
//! they go, its `demo.json` says.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::Value;
use wharf::{
    Error, Kind, host,
    technologies::admission::MAX_COMPONENT_BYTES,
    words::error::{Facts, Fault},
};

use super::{
    Session, answer::Reply, args::directory, demo_files::DemoFiles, drive::drive,
    environment::Environment, error::CliError, escape::escaped, input, stderr, way::WayArgs,
};

/// From the folder of the executable.
const COMPONENT: &str = "../plugins/fulfillment.wasm";

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// What happens to the order while it is being processed.
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// The workspace: missing or empty; default: a new temporary folder.
    #[arg(long, value_name = "DIR", value_parser = directory())]
    dir: Option<PathBuf>,
    /// A component with a demo beside it; default: the reference domain's.
    #[arg(long, value_name = "FILE.wasm")]
    plugin: Option<PathBuf>,
    /// What is wanted, in words.
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// How many are ordered.
    #[arg(long, value_name = "N", value_parser = number)]
    quantity: Option<u64>,
    /// The most that shipping may cost.
    #[arg(long, value_name = "N", value_parser = number)]
    max_shipping_cents: Option<u64>,
    /// The most plans that may be asked for: 1 to 5.
    #[arg(long, value_name = "N", value_parser = number)]
    max_plans: Option<u64>,
    /// The most actions that may be taken: 0 to 30.
    #[arg(long, value_name = "N", value_parser = number)]
    max_actions: Option<u64>,
    /// The most seconds that it may take, pauses included: 1 to 3600.
    #[arg(long, value_name = "N", value_parser = number)]
    deadline_seconds: Option<u64>,
    #[command(flatten)]
    way: WayArgs,
}

impl DemoArgs {
    /// The options that were given.
    fn options(&self) -> Vec<(&'static str, Value)> {
        let number = |value: Option<u64>| value.map(Value::from);
        let all = [
            ("goal", self.goal.clone().map(Value::from)),
            ("quantity", number(self.quantity)),
            ("max-shipping-cents", number(self.max_shipping_cents)),
            ("max-plans", number(self.max_plans)),
            ("max-actions", number(self.max_actions)),
            ("deadline-seconds", number(self.deadline_seconds)),
        ];
        all.into_iter()
            .filter_map(|(option, value)| Some((option, value?)))
            .collect()
    }
}

fn number(typed: &str) -> Result<u64, &'static str> {
    typed.parse().map_err(|_| "it is not a whole number")
}

/// Prepares a workspace and runs the scenario's task in it.
pub(super) fn run(session: &Session, arguments: &DemoArgs) -> Result<Reply, Error> {
    let component = arguments
        .plugin
        .clone()
        .or_else(|| default_component(&session.environment))
        .ok_or(NoComponent { path: None })?;
    if !component.is_file() {
        return Err(NoComponent {
            path: Some(component),
        }
        .into());
    }
    let bytes = input::bytes("component", &component, MAX_COMPONENT_BYTES)?;
    let task = DemoFiles::beside(&component)?.task(
        arguments.scenario.as_deref(),
        &arguments.options(),
        bytes,
    )?;
    let way = arguments.way.resolve(&session.environment)?;
    match &arguments.dir {
        Some(directory) => {
            refuse_taken(directory)?;
            drive(session, directory, task, way)
        }
        None => {
            let directory = temporary_folder(&session.environment)?;
            let outcome = drive(session, &directory, task, way);
            // A task that was refused leaves nothing in it; `remove_dir` takes nothing but an empty folder.
            if outcome.is_err() {
                let _ = fs::remove_dir(&directory);
            }
            outcome
        }
    }
}

/// The command line with the scenarios in the help of `demo`, where its files can be found.
pub(super) fn with_scenarios(command: clap::Command, environment: &Environment) -> clap::Command {
    let files =
        default_component(environment).and_then(|component| DemoFiles::beside(&component).ok());
    match files {
        Some(files) => command.mut_subcommand("demo", |demo| {
            demo.after_help(format!("Scenarios:\n{}", files.list()))
        }),
        None => command,
    }
}

fn default_component(environment: &Environment) -> Option<PathBuf> {
    let folder = environment.executable.as_deref()?.parent()?;
    Some(folder.join(COMPONENT))
}

/// A workspace that holds a task is not fresh. Foreign files are for the host to find, before it writes anything.
fn refuse_taken(directory: &Path) -> Result<(), Error> {
    match host::tasks(directory) {
        Ok(tasks) => match tasks.into_iter().next() {
            Some(task) => Err(CliError::DirectoryTaken {
                directory: directory.into(),
                task,
            }
            .into()),
            None => Ok(()),
        },
        Err(error) if error.code() == "no-task" => Ok(()),
        Err(error) => Err(error),
    }
}

/// A new folder that stays, told at once: a killed demo's workspace can be found.
fn temporary_folder(environment: &Environment) -> Result<PathBuf, Error> {
    let made = tempfile::Builder::new()
        .prefix("wharf-demo-")
        .tempdir_in(&environment.temporary);
    let folder = made
        .map_err(|source| CliError::NoDirectory {
            directory: environment.temporary.clone(),
            source,
        })?
        .keep();
    stderr::write(&format!(
        "workspace {}\n",
        escaped(&folder.display().to_string())
    ));
    Ok(folder)
}

/// The demo's component is not there.
#[derive(Debug, thiserror::Error)]
#[error("the demo's component is missing")]
struct NoComponent {
    path: Option<PathBuf>,
}

impl Fault for NoComponent {
    fn facts(&self) -> Facts {
        Facts::new(
            "component-missing",
            Kind::InvalidInput,
            "run `cargo xtask demo`, which builds it, or name it with `--plugin`",
        )
    }

    fn why(&self) -> Option<String> {
        Some(match &self.path {
            Some(path) => format!("there is no file {}", path.display()),
            None => "the executable's own folder is not known".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: DemoArgs,
    }

    #[test]
    fn only_the_options_that_were_given_change_the_request() {
        let options = |line: &str| Line::parse_from(line.split(' ')).arguments.options();
        assert!(options("demo --scenario stable").is_empty());
        assert_eq!(
            options("demo --quantity 3 --max-plans 1 --goal now"),
            [
                ("goal", "now".into()),
                ("quantity", 3.into()),
                ("max-plans", 1.into())
            ]
        );
    }
}
