//! From the typed words to a command, a help text or a usage error in our own form.

use std::ffi::OsString;

use clap::{
    Command, CommandFactory as _, FromArgMatches as _, builder::StyledStr, error::ErrorKind,
};
use wharf::Error;

use super::{
    args::Cli, demo, environment::Environment, error::CliError, secret::without_credentials,
};

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
    let error = match parse(definition(), arguments) {
        Ok(cli) => return Ok(Typed::Command(Box::new(cli))),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp => {
            // The scenarios stand in a file, which only this help needs.
            let definition = demo::with_scenarios(definition(), environment);
            let help = parse(definition, arguments).err().unwrap_or(error);
            Ok(Typed::Help(help.render()))
        }
        ErrorKind::DisplayVersion => Ok(Typed::Help(error.render())),
        _ => Err(usage(&error, arguments).into()),
    }
}

/// A missing command is an error like any other, not a wish for help.
fn definition() -> Command {
    Cli::command()
        .arg_required_else_help(false)
        .mut_subcommand("plugin", |plugin| plugin.arg_required_else_help(false))
}

fn parse(command: Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Rewrites clap's message, which has the fault first, then indented details, tips and the form of the command.
fn usage(error: &clap::Error, arguments: &[OsString]) -> CliError {
    // An address that was typed in the wrong place stands in it.
    let rendered = without_credentials(&error.render().to_string());
    let mut lines = rendered
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let mut what = first.trim_start_matches("error: ").to_owned();
    let (mut details, mut tips, mut form) = (Vec::new(), Vec::new(), None);
    for line in lines {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            form = Some(format!("the form is `{usage}`"));
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            tips.push(tip.to_owned());
        } else if !line.starts_with("For more information") {
            let detail = line.trim_start_matches('[').trim_end_matches(']');
            details.push(detail.to_owned());
        }
    }
    let (path, command) = innermost(arguments);
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            what = format!("{what} {}", details.join(", "));
            details.clear();
        }
        ErrorKind::ValueValidation => {
            if let Some((value, reason)) = what.clone().split_once("': ") {
                what = format!("{value}'");
                details.push(reason.to_owned());
            }
        }
        ErrorKind::InvalidSubcommand => {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            details.push(format!("subcommands: {}", names.join(", ")));
        }
        _ => (),
    }
    let why = match form {
        _ if !details.is_empty() => details.join("; "),
        Some(form) => form,
        None => "the command does not take it so".to_owned(),
    };
    tips.push(format!("`{path} --help` shows what can be given"));
    CliError::Usage {
        what,
        why,
        fix: tips.join("; "),
    }
}

/// The innermost command that the arguments name, and its full name.
fn innermost(arguments: &[OsString]) -> (String, Command) {
    let mut command = definition();
    let mut path = command.get_name().to_owned();
    for word in arguments.iter().skip(1) {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            path = format!("{path} {}", inner.get_name());
            command = inner;
        }
    }
    (path, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> [String; 3] {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = parse(definition(), &arguments).err();
        let CliError::Usage { what, why, fix } = usage(&error.expect("it is refused"), &arguments)
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
    fn a_password_that_was_typed_in_the_wrong_place_is_not_repeated() {
        for line in [
            "wharf demo redis://me:secret@host",
            "wharf redis://:secret@host",
            "wharf demo --contxt=redis://:secret@host",
            "wharf demo --format redis://:secret@host",
        ] {
            let said = refused(line).concat();
            assert!(!said.contains("secret"), "{said}");
        }
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
    fn what_a_value_should_have_been_stands_in_the_second_line() {
        let [what, why, _] = refused("wharf demo --format yaml");
        assert_eq!(what, "invalid value 'yaml' for '--format <FORMAT>'");
        assert_eq!(why, "possible values: text, json");
        let [what, why, _] = refused("wharf status --dir d --task a/b");
        assert_eq!(what, "invalid value 'a/b' for '--task <ID>'");
        assert!(why.starts_with("an identifier has 1 to 80"), "{why}");
    }

    #[test]
    fn a_missing_or_unknown_command_lists_those_there_are() {
        let [what, why, fix] = refused("wharf");
        assert_eq!(
            what,
            "'wharf' requires a subcommand but one was not provided"
        );
        assert!(
            why.starts_with("subcommands: demo, run, resume, status, audit"),
            "{why}"
        );
        assert_eq!(fix, "`wharf --help` shows what can be given");
        let [what, why, _] = refused("wharf plugin frob");
        assert_eq!(what, "unrecognized subcommand 'frob'");
        assert_eq!(why, "subcommands: inspect");
    }
}
