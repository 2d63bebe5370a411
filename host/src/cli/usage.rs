//! From the typed words to a command, a help text or a usage error in our own form.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, builder::StyledStr, error::ErrorKind};
use wharf::Error;

use super::{args::Cli, demo, environment::Environment, error::CliError};

/// What was typed.
pub(super) enum Typed {
    /// A command.
    Command(Box<Cli>),
    /// A wish for help, or for the version.
    Help(StyledStr),
}

/// Reads the arguments.
pub(super) fn read(environment: &Environment) -> Result<Typed, Error> {
    let arguments = &environment.arguments;
    let error = match parse(Cli::command(), arguments) {
        Ok(cli) => return Ok(Typed::Command(Box::new(cli))),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp => {
            // The scenarios stand in a file, which only this help needs.
            let help = parse(demo::with_scenarios(Cli::command(), environment), arguments)
                .err()
                .unwrap_or(error);
            Ok(Typed::Help(help.render()))
        }
        ErrorKind::DisplayVersion => Ok(Typed::Help(error.render())),
        _ => Err(usage(&error.render().to_string(), arguments).into()),
    }
}

fn parse(command: clap::Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Rewrites clap's message, which has the fault first, then indented details, tips and the usage.
fn usage(rendered: &str, arguments: &[OsString]) -> CliError {
    let mut lines = rendered
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let mut what = lines
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    let (mut details, mut tips, mut form) = (Vec::new(), Vec::new(), None);
    for line in lines {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            form = Some(usage);
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            tips.push(tip);
        } else if !line.starts_with("For more information") {
            details.push(line.trim_start_matches('[').trim_end_matches(']'));
        }
    }
    if what.ends_with(':') {
        what = format!("{what} {}", details.join(", "));
        details.clear();
    }
    let why = match (details.is_empty(), form) {
        (false, _) => details.join("; "),
        (true, Some(form)) => format!("the form is `{form}`"),
        (true, None) => "the command does not take it so".into(),
    };
    let help = format!(
        "`{} --help` shows what can be given",
        command_path(arguments)
    );
    tips.push(&help);
    CliError::Usage {
        what,
        why,
        fix: tips.join("; "),
    }
}

/// The program and the commands among the arguments.
fn command_path(arguments: &[OsString]) -> String {
    let mut command = &Cli::command();
    let mut path = command.get_name().to_owned();
    for word in arguments.iter().skip(1) {
        if let Some(inner) = command.find_subcommand(word) {
            path = format!("{path} {}", inner.get_name());
            command = inner;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> [String; 3] {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = parse(Cli::command(), &arguments)
            .err()
            .expect("it is refused");
        let CliError::Usage { what, why, fix } = usage(&error.render().to_string(), &arguments)
        else {
            panic!("it is a usage error")
        };
        [what, why, fix]
    }

    #[test]
    fn a_mistyped_option_is_named_and_the_right_one_suggested() {
        let [what, why, fix] = refused("wharf status --drr x");
        assert_eq!(what, "unexpected argument '--drr' found");
        assert!(why.starts_with("the form is `wharf status"), "{why}");
        assert_eq!(
            fix,
            "a similar argument exists: '--dir'; `wharf status --help` shows what can be given"
        );
    }

    #[test]
    fn all_missing_options_stand_in_one_line() {
        let [what, ..] = refused("wharf run --dir d");
        assert_eq!(
            what,
            "the following required arguments were not provided: --plugin <FILE.wasm>, --request <FILE.json>"
        );
    }

    #[test]
    fn possible_values_and_commands_are_listed() {
        let [what, why, _] = refused("wharf demo --format yaml");
        assert_eq!(what, "invalid value 'yaml' for '--format <FORMAT>'");
        assert_eq!(why, "possible values: text, json");
        let [_, why, fix] = refused("wharf");
        assert!(why.contains("resume"), "{why}");
        assert_eq!(fix, "`wharf --help` shows what can be given");
    }
}
